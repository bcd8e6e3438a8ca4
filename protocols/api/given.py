"""Keywords and values of Python as settings: the names of the command line, its texts, and classes besides."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from protocols.api.callbacks import Callback
from protocols.api.custom_code import CustomCode, custom_code
from protocols.running.protocol import Protocol
from protocols.running.runtime import OPTIONS, Runtime, runtime_of
from seqsearch.core.errors import UserError
from seqsearch.core.settings import Names
from seqsearch.core.text import did_you_mean, shown

KINDS: Mapping[Names, str] = {"methods": "method", "learners": "learner", "pools": "pool", "stream": "stream"}
"""Kinds of items that a class can stand for, by what a setting names."""
WATCHING = {"quiet": "No progress.", "callbacks": "Objects of seqsearch.Callback, called as results arrive."}
"""Keywords of every function that computes, beside the options of the runtime, with their help."""
HERE = {**WATCHING, "out": "Run folder to make.  [default: runs/NAME-DATE-TIME]"}
"""All keywords that are no settings and no options of the runtime."""


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises UserError: a keyword that the function does not have."""
    known = list(known)
    for name in given:
        if name not in known:
            raise UserError(f"{function}: no keyword {name!r}; {did_you_mean(name, known)}it has {', '.join(known)}")


def keywords(protocols: Iterable[Protocol]) -> dict[str, dataclasses.Field[Any] | None]:
    """Settings of these protocols and flags of their command, by name; None for a flag."""
    found: dict[str, dataclasses.Field[Any] | None] = {}
    for p in protocols:
        found |= {
            f.name: f
            for f in dataclasses.fields(p.settings)
            if not f.metadata.get("hidden") or f.metadata.get("argument")
        }
        found |= dict.fromkeys(f.name for f in [*p.flags, *([p.chosen_by] if p.chosen_by else [])])
    return found


class Given:
    """What a call was given: settings as texts and numbers, options of the runtime, and custom code.

    Args:
        command: the name of the function.
        protocols: of the command.
        values: keywords.

    Raises:
        UserError: an unknown keyword, or a class whose source is unknown.
    """

    def __init__(self, command: str, protocols: tuple[Protocol, ...], values: Mapping[str, Any]) -> None:
        known = keywords(protocols)
        check_keywords(command, values, [*known, *OPTIONS, *HERE])
        self.out = Path(os.path.expanduser(values["out"])) if values.get("out") is not None else None
        self.quiet = bool(values.get("quiet", False))
        self.callbacks = _callbacks(values.get("callbacks") or ())
        self.options = {n: _plain(v) for n, v in values.items() if n in OPTIONS}
        self._values = {n: v for n, v in values.items() if n in known and not _is_left_out(known[n], v)}
        self._values = {n: list(v) if isinstance(v, Iterator) else v for n, v in self._values.items()}
        self._known = known
        self.code: dict[type, CustomCode] = {}
        """Of each class."""
        for name, value in self._values.items():
            if kind := KINDS.get(_names(known[name])):
                for made in _classes(value):
                    self.code[made] = custom_code(made, kind).beside(self.code.values())

    def settings(self, run: Path | None) -> dict[str, Any]:
        """Settings and flags by name; classes as the files in the folder ``run``."""
        targets = {made: code.target(run) for made, code in self.code.items()} if run is not None else {}
        return {name: _value(self._known[name], value, targets) for name, value in self._values.items()}

    def runtime(self) -> Runtime:
        """Raises UserError: options that are out of bounds or contradict each other."""
        return runtime_of(self.options, quiet=self.quiet)


def _is_left_out(f: dataclasses.Field[Any] | None, value: Any) -> bool:
    """Whether a value of None stands for the default."""
    return value is None and f is not None and f.default is not None


def _callbacks(given: Any) -> tuple[Callback, ...]:
    """Raises UserError: something else than callbacks."""
    found = (given,) if isinstance(given, Callback) else tuple(given) if isinstance(given, Iterable) else (given,)
    if wrong := next((c for c in found if not isinstance(c, Callback)), None):
        raise UserError(f"callbacks: {shown(repr(wrong))[:80]} is no object of a class derived from seqsearch.Callback")
    return found


def _names(f: dataclasses.Field[Any] | None) -> Names:
    names: Names = "" if f is None else f.metadata.get("names", "")
    return names


def _classes(value: Any) -> list[type]:
    """The classes in a value: in itself, in a list, as the key of a mapping, or at the beginning of a pair."""
    if inspect.isclass(value):
        return [value]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return []
    return list(dict.fromkeys(made for part in value for made in _classes(part)))


def _value(f: dataclasses.Field[Any] | None, value: Any, targets: Mapping[type, str]) -> Any:
    if f is not None and _names(f) in KINDS:
        items = _items(value, targets)
        several = isinstance(f.default, tuple) or " " in f.metadata.get("argument", "")
        return tuple(items) if several else ",".join(items)
    if f is not None and f.type == "str" and not isinstance(value, str | bool):  # as --windows 64,256
        return ",".join(str(_plain(v)) for v in (value if isinstance(value, list | tuple) else [value]))
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return _plain(value)


def _items(value: Any, targets: Mapping[type, str]) -> list[str]:
    """Items in the grammar of the command line: ``NAME:key=value,key=value``."""
    if isinstance(value, Mapping):
        return [_item(name, params, targets) for name, params in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, str | type | os.PathLike):
        return [text for part in value for text in _items(part, targets)]
    return [_item(value, None, targets)]


def _item(name: Any, params: Any, targets: Mapping[type, str]) -> str:
    if params is not None and not isinstance(params, Mapping):
        raise UserError(f"{shown(str(name))[:80]}: its parameters must be a mapping, as {{'M': 5000}}")
    if inspect.isclass(name) and name not in targets:
        raise UserError(f"{name.__name__}: a run continues with the code that it began with: leave the class out")
    target = targets[name] if inspect.isclass(name) else str(_plain(name))
    settings = ",".join(f"{key}={_plain(value)}" for key, value in (params or {}).items())
    return f"{target}:{settings}" if settings else target


def _plain(value: Any) -> Any:
    """A path as text, a number of numpy as Python's."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
