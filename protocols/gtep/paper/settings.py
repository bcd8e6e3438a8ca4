"""The settings in Appendix A of "Hyperparameters in Continual Learning: A Reality Check" (GTEP), as printed and as ours.

There are the original ones, of public code, and for each scenario those that were best on the data set of the tuning phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from protocols.gtep.paper.sets import set_of, sets_of
from protocols.gtep.paper.tables import DIVERGED
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Value
from seqsearch.core.installation import shipped
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief
from seqsearch.core.yaml_file import read_mapping, record

FILE = Path(__file__).parent / "settings.yaml"
SCHEMA = "seqsearch-gtep-settings/1"
LARGEST, DEEPEST = 1 << 20, 8
"""Bytes of the file; lists and mappings within each other."""


@dataclass(frozen=True)
class LeftOut:
    """A setting that is printed under ``key`` for a method and is no parameter here, with the reason ``why``."""

    method: str
    key: str
    why: str


@dataclass(frozen=True)
class Heading:
    """Name and origin of a list of settings.

    Attributes:
        name: the name by which users ask for it.
        tuned_on: data set, as printed; empty: the settings of public code.
        tasks: number of tasks of the scenario in which the settings were chosen. For the original settings, of the
            scenario in which they were used.
    """

    name: str
    tuned_on: str
    tasks: int


@dataclass(frozen=True, kw_only=True)
class PrintedList(Heading):
    """One list; ``methods``: what is printed, by our names of methods and printed keys; None: NaN is printed."""

    methods: Mapping[str, Mapping[str, Value] | None]


@dataclass(frozen=True)
class Outside:
    """A printed ``value`` that is not in the set which the paper says it drew from: ``allowed``, empty if it prints none."""

    method: str
    key: str
    value: Value
    allowed: tuple[Value, ...]


def printed_settings(name: str) -> dict[str, dict[str, Value]]:
    """The parameters of each method's setting, by our names; other parameters keep their defaults. Diverged methods lack.

    ``original`` has both the methods from scratch and those on pre-trained networks, ``paper:imagenet100-10`` and the like what
    was best on that data set in so many tasks. The first task of the methods from scratch has a schedule of its own (Table 3),
    their default, and lists do not say how much the memory holds. `left_out` names what is no parameter here, and `unprinted`
    what keeps our default because the list lacks it. Where a number of milestones is printed, they are placed by the paper's
    rule, not where public code has them.

    Raises:
        UserError: there is no list of this name.
    """
    found = printed_list(name)
    omitted = {(each.method, each.key) for each in left_out(name)}
    return {
        method: {
            (known := set_of(method, key)).parameter: known.ours(value, found.tasks)
            for key, value in printed.items()
            if (method, key) not in omitted
        }
        for method, printed in found.methods.items()
        if printed is not None
    }


def left_out(name: str) -> tuple[LeftOut, ...]:
    """Return the settings that a list prints and `printed_settings` does not have.

    Raises:
        UserError: there is no list of this name.
    """
    return tuple(
        LeftOut(method, key, known.why)
        for method, printed in printed_list(name).methods.items()
        for key in printed or ()
        if not (known := set_of(method, key)).parameter
    )


def outside_sets(name: str) -> tuple[Outside, ...]:
    """Return the settings that a list prints and that lie outside the sets of Tables 4 and 5.

    Raises:
        UserError: there is no list of this name.
    """
    return tuple(
        Outside(method, key, value, known.values)
        for method, printed in printed_list(name).methods.items()
        for key, value in (printed or {}).items()
        if not (known := set_of(method, key)).prints(value)
    )


def unprinted(name: str) -> tuple[tuple[str, str], ...]:
    """(method, key) of what Tables 4 and 5 have a set for and a list has no value of.

    Raises:
        UserError: there is no list of this name.
    """
    return tuple(
        (method, known.key)
        for method, printed in printed_list(name).methods.items()
        if printed is not None
        for known in sets_of(method)
        if known.values and known.key not in printed
    )


def printed_list(name: str) -> PrintedList:
    """One list as printed.

    Raises:
        UserError: there is none of this name.
    """
    lists = printed_lists()
    if name not in lists:
        near = nearest(name, lists) or f"; there are: {', '.join(lists)}"
        raise UserError(f"no settings of the GTEP paper are called {brief(name)}{near}")
    return lists[name]


@cache
def printed_lists() -> Mapping[str, PrintedList]:
    """All lists, by name, in the paper's order."""
    return MappingProxyType({each.name: each for each in read_lists(shipped(FILE))})


def read_lists(path: Path) -> tuple[PrintedList, ...]:
    """The lists in a file.

    Raises:
        UserError: it cannot be read, something in it is missing or of another kind, or `sets.yaml` does not say what a key is.
    """
    content = read_mapping(path, LARGEST, DEEPEST, SCHEMA).get("lists")
    if not isinstance(content, list):
        raise UserError(f"{path}: lists must be a list")
    return tuple(_list(f"{path}: list {place}", each) for place, each in enumerate(content, 1))


def _list(where: str, content: Any) -> PrintedList:
    methods = content.get("methods") if isinstance(content, dict) else None
    if not isinstance(methods, dict):
        raise UserError(f"{where}: methods are missing")
    head = record(where, {key: value for key, value in content.items() if key != "methods"}, Heading)
    made = {str(method): _setting(f"{where}: {method}", str(method), each) for method, each in methods.items()}
    return PrintedList(head.name, head.tuned_on, head.tasks, methods=MappingProxyType(made))


def _setting(where: str, method: str, content: Any) -> Mapping[str, Value] | None:
    if content == DIVERGED:
        return None
    if not isinstance(content, dict) or not all(isinstance(v, str | int | float) for v in content.values()):
        raise UserError(f"{where} must hold `key: value` pairs, or {DIVERGED}")
    for key in content:
        set_of(method, str(key))
    return MappingProxyType({str(key): value for key, value in content.items()})
