"""Keywords and values of Python as settings: the names of the command line, its texts, and classes besides."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from protocols.api.callbacks import Callback
from protocols.api.choice import one_of
from protocols.api.custom_code import CustomCode, custom_code
from protocols.running.protocol import Protocol, flags_of
from protocols.running.runtime import OPTIONS, Runtime, runtime_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.settings import Names
from seqsearch.core.text import did_you_mean, shown

KINDS: Mapping[Names, str] = {"methods": "method", "learners": "learner", "pools": "pool", "stream": "stream"}
"""Kinds of items that a class can stand for, by what a setting names."""
WATCHING = {"quiet": "No progress.", "callbacks": "Objects of seqsearch.Callback, called as results arrive."}
"""Keywords of every function that computes, beside the options of the runtime, with their help."""
HERE = {**WATCHING, "out": "Run folder to make.  [default: runs/NAME-DATE-TIME]"}
"""All keywords that are no settings and no options of the runtime."""


INSTEAD = {
    "config": "give its keys as keywords",
    "dry_run": "call seqsearch.cost",
    "json": "the result is a seqsearch.Run",
    "resume": "call seqsearch.resume",
}
"""Of flags that are no keywords."""


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises UserError: a keyword that the function does not have."""
    known = list(known)
    for name in given:
        if name not in known:
            negated = name.removeprefix("no_")
            meant = f"write {negated}=False; " if negated in known else did_you_mean(name, known)
            instead = f"{INSTEAD[name]}; " if name in INSTEAD else meant
            raise UserError(f"{function}: no keyword {name!r}; {instead}it has {', '.join(known)}")


def keywords(protocols: Collection[Protocol]) -> dict[str, dataclasses.Field[Any] | None]:
    """Settings of these protocols and flags of their command, by name; None for a flag."""
    found: dict[str, dataclasses.Field[Any] | None] = {}
    for p in protocols:
        found |= {
            f.name: f
            for f in dataclasses.fields(p.settings)
            if not f.metadata.get("hidden") or f.metadata.get("argument")
        }
    return found | dict.fromkeys(flags_of(protocols))


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
        self.out = _path(values.get("out"))
        self.quiet = bool(values.get("quiet", False))
        self.callbacks = _callbacks(values.get("callbacks") or ())
        self.options = {n: _plain(v) for n, v in values.items() if n in OPTIONS}
        self._values = {n: v for n, v in values.items() if n in known and not _is_left_out(known[n], v)}
        self._values = {n: list(v) if isinstance(v, Iterator) else v for n, v in self._values.items()}
        self._known = known
        self.code: dict[type, CustomCode] = {}
        """Of each class."""
        for f in flags_of(protocols).values():
            if f.choices and f.name in self._values:
                one_of(self._values[f.name], f.choices, f"{command}: there is no {f.name}")
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
    return value is None and (f is None or f.default is not None)


def _path(out: Any) -> Path | None:
    """Raises UserError: something else than a path."""
    if out is None or isinstance(out, str | os.PathLike):
        return None if out is None else Path(os.path.expanduser(out))
    raise UserError(f"out={shown(repr(out))[:80]} must be a path")


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
    if type(value).__module__ == "numpy" and np.ndim(value):
        raise UserError(f"{f.name if f else 'this'} must be one value or a list, not an array of numpy")
    if f is not None and (kind := KINDS.get(_names(f))):
        items = _items(value, kind, targets)
        several = isinstance(f.default, tuple) or " " in f.metadata.get("argument", "")
        return tuple(items) if several else ",".join(items)
    if f is not None and isinstance(f.default, tuple) and isinstance(value, str | os.PathLike):
        return (_plain(value),)
    if f is not None and f.type == "str" and not isinstance(value, str | bool):  # as --windows 64,256
        return ",".join(str(_plain(v)) for v in (value if isinstance(value, list | tuple) else [value]))
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return _plain(value)


def pool_text(pool: Any, run: Path) -> str:
    """Pools in the grammar of the command line; classes as their files in a run.

    Raises:
        UserError: something else than pools.
    """
    targets = {made: custom_code(made, "pool").target(run) for made in _classes(pool)}
    return ",".join(_items(pool, "pool", targets))


def _items(value: Any, kind: str, targets: Mapping[type, str]) -> list[str]:
    """Items in the grammar of the command line: ``NAME:key=value,key=value``."""
    if isinstance(value, Mapping):
        return [_item(name, params, kind, targets) for name, params in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, str | type | bytes | os.PathLike):
        return [text for part in value for text in _items(part, kind, targets)]
    return [_item(value, None, kind, targets)]


def _item(name: Any, params: Any, kind: str, targets: Mapping[type, str]) -> str:
    if not isinstance(name, str | type | os.PathLike):
        meant = "" if type(name).__module__ == "builtins" else f", e.g. {type(name).__name__}"
        raise UserError(f"{kind} {shown(repr(name))[:80]}: give a name, a path or a class{meant}")
    if params is not None and not isinstance(params, Mapping):
        raise UserError(f"{shown(str(name))[:80]}: its parameters must be a mapping, as {{'M': 5000}}")
    if inspect.isclass(name) and name not in targets:
        raise UserError(
            f"{name.__name__}: a run continues with the code that it began with: leave the class out; to mend it, edit its file "
            "in the folder code of the run"
        )
    target = targets[name] if inspect.isclass(name) else str(_plain(name))
    if not params:
        return target
    if not inspect.isclass(name) and parse_item(target, kind).params:
        raise UserError(f"{kind} {shown(target)[:80]}: its name has parameters already: write all in the mapping")
    return f"{target}:{','.join(_parameter(key, _plain(value), target, kind) for key, value in params.items())}"


def _parameter(key: Any, value: Any, target: str, kind: str) -> str:
    """A parameter in this grammar.

    Raises:
        UserError: it cannot be written in it.
    """
    text = str(value)
    if not (isinstance(key, str) and key.isidentifier()) or not isinstance(value, str | int | float):
        wrong = "parameters are names with numbers, texts, True or False"
    elif "," in text or text != text.strip() or not text:
        wrong = "a text may not be empty, have a comma, or begin or end with a blank"
    elif (
        kind in ("pool", "stream")
        and isinstance(value, str)
        and dict(parse_item(f"x:{key}={text}", kind).params)[key] != text
    ):
        wrong = "a text that reads as a number, or as true or false, would become one"
    else:
        return f"{key}={text}"
    raise UserError(f"{kind} {shown(target)[:80]}: {shown(repr(key))[:80]}: {shown(repr(value))[:80]}: {wrong}")


def _plain(value: Any) -> Any:
    """A path as text, a number of numpy as Python's."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
