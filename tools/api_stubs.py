"""Write ``seqsearch/__init__.pyi``, the types of the public names: ``python -m tools.api_stubs``.

The keywords of a function are the settings of its command, so that their types are read from the records of the settings.
"""

from __future__ import annotations

import inspect
import typing
from pathlib import Path
from typing import Any

import seqsearch
from actors.options import EngineOptions
from protocols.api.given import KINDS, keywords
from protocols.running.protocol import of_command
from protocols.running.runtime import QUANTITIES

STUB = Path(seqsearch.__file__).with_suffix(".pyi")
COMMANDS = ("cldyb", "edge", "gtep", "online", "mcil", "score", "explain", "duel")
"""Functions that make runs."""
HEAD = '''\
"""Types of the public names. Written by ``python -m tools.api_stubs``, and held by a test."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import pandas as pd

from protocols.api.callbacks import Callback as Callback
from protocols.api.callbacks import TrainingResult as TrainingResult
from protocols.api.calls import Interrupted as Interrupted
from protocols.api.run import Run as Run
from protocols.api.summary import Summary
from protocols.running.costs import Cost
from seqsearch.core.errors import UserError as UserError

_Path = str | PathLike[str]
_Text = _Path | float | Sequence[str | float]
_Item = _Path | type | Mapping[str | type, Mapping[str, Any] | None]
_Items = _Item | Sequence[_Item]
'''
TAIL = """
def cost(command: str, *arguments: Any, **values: Any) -> Cost: ...
def resume(run: _Path | Run, **options: Any) -> Run: ...
def assess(
    *runs: _Path | Run | Sequence[_Path | Run], pool: str | None = None, images: int = 20, latency: bool = False
) -> Summary: ...
def compare(*runs: _Path | Run | Sequence[_Path | Run], reference: str = "", table: _Path | None = None) -> Summary: ...
def open(path: _Path | Run) -> Run: ...
def runs(folder: _Path = "runs") -> list[Run]: ...
def runs_df(*runs: _Path | Run | Sequence[_Path | Run], table: str = "results") -> pd.DataFrame: ...
def methods(name: str | None = None) -> Any: ...
def pools(name: str | None = None) -> Any: ...
"""
OWN = {
    "a": "_Item",
    "b": "_Item",
    "source": "_Path | Run",
    "quiet": "bool",
    "out": "_Path | None",
    "time_budget": "str | float | None",
    "callbacks": "Sequence[Callback]",
}
"""Types of keywords that are in no record."""


def written() -> str:
    """The text of the stub."""
    return HEAD + "\n" + "\n".join(map(_function, COMMANDS)) + TAIL


def _function(command: str) -> str:
    function = getattr(seqsearch, command)
    known = keywords(of_command(command))
    hints: dict[str, Any] = dict(typing.get_type_hints(EngineOptions))
    for p in of_command(command):
        hints |= typing.get_type_hints(p.settings)
    flags = {flag.name: flag.choices for p in of_command(command) for flag in p.flags}
    lines = [f"def {command}("]
    named = False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            lines.append("    *,")
            named = True
        f = known.get(name)
        if name in OWN:
            kind = OWN[name]
        elif f is not None and f.metadata.get("names") in KINDS:
            kind = "_Items"
        elif flags.get(name):
            kind = f"Literal[{', '.join(repr(c) for c in flags[name])}]"
        elif name in known and f is None:
            kind = "bool"
        else:
            kind = "_Text" if f is not None and hints[name] is str else _text(name, hints[name])
        lines.append(f"    {name}: {kind}{'' if parameter.default is parameter.empty else ' = ...'},")
    return "\n".join([*lines, ") -> Run: ..."]).replace("'", '"')


def _text(name: str, kind: Any) -> str:
    """A type as a caller may give it: quantities with units as well, paths for texts, any sequence for a tuple."""
    if name in QUANTITIES:
        return "str | float | None"
    if kind is str:
        return "_Path"
    if typing.get_origin(kind) is tuple:
        return "Sequence[_Path]"
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "").replace("str", "_Path")


if __name__ == "__main__":
    STUB.write_text(written(), encoding="utf-8")
