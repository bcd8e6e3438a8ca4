"""Lines of a journal: JSON with a checksum of itself, so that one that was edited is named and not believed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import typing
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from seqsearch.core.bits import unpacked
from seqsearch.core.outcomes import HEAD, ClassifierCounts, Counts, EdgeResult, ProbeResult
from seqsearch.core.typed import brief, built, fits, sensible
from seqsearch.storage.reading import parsed

LONGEST = 4 << 20
"""Bytes of a line; a result takes a few thousand."""
SUM = re.compile(rb',"sum":"([0-9a-f]{32})"}\r?\n?\Z')
"""The end of a line."""
HASH = re.compile("[0-9a-f]{32}")
ANY_NUMBERS = ("notes", "counters")
"""Fields that may hold any numbers: a method's notes of its training, and its counters."""

Entry = dict[str, dict[str, Any]]
"""``edge``, ``probe`` or ``note``, and its values."""


def written(entry: Entry) -> bytes:
    """The line of an entry."""
    text = json.dumps(entry, separators=(",", ":")).encode()
    return text[:-1] + f',"sum":"{_sum(text)}"}}\n'.encode()


def understood(line: bytes) -> Entry:
    """The entry of a line.

    Raises:
        ValueError: it is not as it was written, or says what cannot be.
    """
    if len(line) > LONGEST:
        raise ValueError(f"longer than {LONGEST >> 20} MB")
    end = SUM.search(line)
    if end is None:
        raise ValueError("no checksum at its end")
    text = line[: end.start()] + b"}"
    if _sum(text) != end[1].decode():
        raise ValueError("it was changed after it was written")
    entry = parsed(text)  # whoever computed the checksum anew may have written anything
    kind, values = next(iter(entry.items()), ("", None)) if isinstance(entry, dict) else ("", None)
    if kind not in ("edge", "probe", "note") or not isinstance(values, dict) or len(entry) > 1:
        raise ValueError("neither a result nor a note")
    if kind == "edge":
        return {kind: _edge(values)}
    if kind == "probe":
        return {kind: _probe(values)}
    if values.get("session") == "end":
        times = [
            values.get("wall_seconds"),
            *(values[n] for n in ("starting_seconds", "budget_seconds") if n in values),
        ]
        if not all(fits(seconds, float) and sensible(seconds) for seconds in times):
            raise ValueError("the end of a session without its time")
    return {kind: values}


def _edge(values: dict[str, Any]) -> dict[str, Any]:
    found = _checked(values, EdgeResult)
    evaluated, classifiers = found["judged"], found["classifiers"]
    if found["status"] == "ok" and not (evaluated and classifiers and classifiers[0].name == HEAD):
        raise ValueError("a result without what was evaluated")
    if any(not sum(group) for group in evaluated) or (classifiers and not evaluated):
        raise ValueError("nothing was evaluated of a group")
    if len({c.name for c in classifiers}) < len(classifiers):
        raise ValueError("two classifiers of one name")
    for c in classifiers:
        _check_counts(c, evaluated)
    if found["steps"]:
        _check_steps(found["steps"], [sum(group) for group in evaluated], classifiers)
    return found


def _check_steps(steps: Counts, counts: list[int], classifiers: tuple[ClassifierCounts, ...]) -> None:
    """Raises ValueError: rows that are no triangle of so many images, or whose last is not what was counted."""
    last = [sum(group) for group in classifiers[0].correct] if classifiers else []
    if [len(row) for row in steps] != list(range(1, len(counts) + 1)) or list(steps[-1]) != last:
        raise ValueError("rows of results that are not whole")
    if any(k > n for row in steps for k, n in zip(row, counts, strict=False)):
        raise ValueError("more images right than were evaluated")


def _check_counts(c: ClassifierCounts, evaluated: Counts) -> None:
    """Raises ValueError: counts of a classifier that do not go with the images evaluated, or with each other."""
    for counts in (c.correct, *([c.masked] if c.masked else [])):
        if [len(group) for group in counts] != [len(group) for group in evaluated]:
            raise ValueError("a row of results that is not whole")
        pairs = zip(chain(*counts), chain(*evaluated), strict=True)
        if any(right > n for right, n in pairs):
            raise ValueError("more images right than were evaluated")
    if c.images:
        ends = np.cumsum(list(chain(*evaluated)))
        right = np.concatenate(([0], np.cumsum(unpacked(c.images, int(ends[-1])))))[ends]
        if np.diff(right, prepend=0).tolist() != list(chain(*c.correct)):
            raise ValueError("other images right than are counted")


def _probe(values: dict[str, Any]) -> dict[str, Any]:
    sha = values.get("sha")
    if not (isinstance(sha, str) and HASH.fullmatch(sha)):  # it names a file
        raise ValueError("an answer without the hash of its array")
    return {**_checked({k: v for k, v in values.items() if k != "sha"}, ProbeResult, but="values"), "sha": sha}


def _checked(values: dict[str, Any], record: type, but: str = "") -> dict[str, Any]:
    """All fields of a record (lists as tuples), those that are not there by their defaults."""
    kinds, defaults = _fields(record, but)
    if unknown := values.keys() - kinds.keys():
        raise ValueError(f"unknown field {brief(min(unknown))}")
    if missing := kinds.keys() - defaults.keys() - values.keys():
        raise ValueError(f"no field {min(missing)!r}")
    for name, value in values.items():
        if not fits(value, kinds[name]) or (name not in ANY_NUMBERS and not sensible(value)):
            raise ValueError(f"{name} is {brief(value)}")
    return {**defaults, **{name: built(value, kinds[name]) for name, value in values.items()}}


@cache
def _fields(record: type, but: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Type of each field of a record, and the default of those that have one."""
    hints = typing.get_type_hints(record)
    fields = [f for f in dataclasses.fields(record) if f.name != but]
    known = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    return {f.name: hints[f.name] for f in fields}, known


def _sum(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=16).hexdigest()
