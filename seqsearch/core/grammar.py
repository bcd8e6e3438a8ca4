"""The item grammar of the command line: ``NAME|FILE:OBJ [@BACKBONE] [:k=v,...]``, items separated by commas.

Blanks around a name do not count, and names of ours are understood in any case: ``RanPAC , er`` is ``ranpac,er``.
A comma piece that begins with ``k=`` continues the item before it, so that ``ranpac:M=500,ridge=1,er`` are two methods.
A method may also be a command, ``cmd:WORD WORD ...`` (`seqsearch.core.command_line`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.kinds import is_ours, spelled
from seqsearch.core.limits import wrong_text
from seqsearch.core.typed import brief

_CONTINUES = re.compile(r"^\s*[A-Za-z_]\w*\s*=")
_PARAMS = re.compile(r":(?=\s*[A-Za-z_]\w*\s*=)")

Value = str | int | float | bool


@dataclass(frozen=True)
class Item:
    """One parsed item; ``text`` is its canonical form and its label."""

    text: str
    target: str
    backbone: str | None
    params: tuple[tuple[str, Value], ...]


def parse_items(text: str, kind: str) -> list[Item]:
    """Parse a comma-separated list.

    >>> [i.text for i in parse_items("ranpac:M=500,ridge=1,er@vit", "method")]
    ['ranpac:M=500,ridge=1', 'er@vit']

    Raises:
        UserError: empty item, a parameter without a value, or the same item twice.
    """
    if wrong := wrong_text(text):
        raise UserError(f"{kind} {brief(text)}: {wrong}")
    pieces: list[str] = []
    for piece in command_line.split(text) if kind == "method" else text.split(","):
        if pieces and _CONTINUES.match(piece) and _PARAMS.search(pieces[-1]) and not command_line.is_one(pieces[-1]):
            pieces[-1] += "," + piece
        else:
            pieces.append(piece)
    items = [parse_item(p, kind) for p in pieces]
    [(most, times)] = Counter(i.text for i in items).most_common(1)
    if times > 1:
        other = "parts of other classes, e.g. half=1 and half=2" if kind == "pool" else "different parameters"
        raise UserError(f"{kind} {most!r} is named twice: each may appear once (or give them {other})")
    return items


def parse_item(text: str, kind: str) -> Item:
    """Parse one item.

    >>> parse_item("mine.py:Mine@vit_b:lr=1e-3", "method")
    Item(text='mine.py:Mine@vit_b:lr=0.001', target='mine.py:Mine', backbone='vit_b', params=(('lr', 0.001),))

    Raises:
        UserError: see `parse_items`.
    """
    text = text.strip()
    if kind == "method" and command_line.is_one(text):
        canonical = command_line.target_of(command_line.words(text))
        return Item(canonical, canonical, None, ())
    found = _PARAMS.search(text)
    head, tail = (text[: found.start()], text[found.end() :]) if found else (text, "")
    target, at, backbone = head.partition("@") if kind in ("method", "learner") else (head, "", "")
    target, backbone = spelled(kind, target.strip()), backbone.strip()
    if not target or (at and not backbone):
        forms = "NAME, NAME@BACKBONE or" if kind in ("method", "learner") else "NAME or"
        raise UserError(f"empty {kind} name in {text!r}: write {forms} NAME:key=value,key=value")
    if kind != "backbone":  # which may have a variant, as scratch:tiny
        check_valued(kind, target)
    name, colon, variant = backbone.partition(":")
    backbone = spelled("backbone", name) + colon + variant
    params = tuple(_param(p, text, kind) for p in tail.split(",")) if found else ()
    names = [n for n, _ in params]
    if len(set(names)) < len(names):
        raise UserError(f"{kind} {text!r} gives a parameter twice")
    canonical = target + (f"@{backbone}" if backbone else "")
    if params:
        canonical += ":" + ",".join(f"{n}={v}" for n, v in params)
    return Item(canonical, target, backbone or None, params)


def check_valued(kind: str, target: str) -> None:
    """Raises UserError: ``NAME:PARAMETER``, of a name of ours. A file or a module of the user's is no such name."""
    name, colon, parameter = target.partition(":")
    if colon and is_ours(kind, name.lower()):
        raise UserError(f"{kind} {target!r}: parameter {parameter!r} has no value: write {target}=VALUE")


def _param(piece: str, text: str, kind: str) -> tuple[str, Value]:
    name, equals, raw = (part.strip() for part in piece.partition("="))
    if not equals or not name or not raw:
        raise UserError(f"{kind} {text!r}: {piece!r} is not key=value")
    return name, _value(raw)


def _value(raw: str) -> Value:
    if raw.lower() in ("true", "false"):
        return raw.lower() == "true"
    for convert in (int, float):
        try:
            return convert(raw)
        except ValueError:
            continue
    return raw
