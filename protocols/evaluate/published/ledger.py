"""The ledger of published results, ``benchmarks/published.yaml``: what is in it, and how it is read."""

from __future__ import annotations

import dataclasses
import re
import shlex
import string
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, built, fits, in_words
from seqsearch.core.yaml_file import read_plain

SCHEMA = "seqsearch-published/1"
LARGEST, DEEPEST = 1 << 20, 8
"""Bytes of the file; lists and mappings within each other."""

Status = Literal["reproduced", "differs", "not run", "not possible yet"]
How = Literal["mean", "first minus last", "first minus mean", "sum of the rows above"]
R = TypeVar("R")


@dataclass(frozen=True)
class Paper:
    """A paper, by the short name that entries use."""

    key: str
    title: str


@dataclass(frozen=True)
class Data:
    """A data set that commands read.

    Attributes:
        name: as entries name it.
        path: file or folder below the one that ``--data`` names.
        where: how to get it.
        licence: as its source says; empty: it says none.
        classes: how many there are.
        images: how many there are; 0: not known.
        groups: of its classes, in the file; none: one group.
    """

    name: str
    path: str
    where: str
    licence: str = ""
    classes: int = 0
    images: int = 0
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Read:
    """Where our figures of a part of the table stand in what a command prints with ``--json``.

    Attributes:
        value: path, see `protocols.evaluate.published.figures.found`; ``{column}`` and ``{row}`` are what stands beside their names.
        columns: (name, what stands for ``{column}``).
        rows: (name, what stands for ``{row}``); what is not named is not read.
        low: as ``value``, of the interval's lower end; empty: there is none.
        high: of its upper end.
        times: factor to the unit that is printed.
        command: number of the command, from 1; 0: the last.
    """

    value: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str], ...]
    low: str = ""
    high: str = ""
    times: float = 1.0
    command: int = 0


@dataclass(frozen=True)
class Derived:
    """Figures that follow from others of the same table.

    Attributes:
        column: what is computed, in every row; or, for a sum of rows, the column summed.
        how: of the columns ``of``; the sum is of the rows above ``row``.
        of: columns.
        row: of the sum.
    """

    column: str
    how: How
    of: tuple[str, ...] = ()
    row: str = ""


@dataclass(frozen=True)
class Entry:
    """A table, or what is said in a text, of a paper.

    Attributes:
        name: what ``seqsearch reproduce`` calls it.
        paper: a `Paper.key`.
        where: table, rows, columns.
        of: what the figures are of.
        status: what came of it here; ``not possible yet`` names in ``needs`` what is lacking.
        columns: of the table, without that of the rows' names.
        rows: (name, figures as they are printed...).
        data: names of `Data`.
        weights: of the backbone, as timm calls them.
        preprocessing: of the images; ``augmentation``, ``order`` of the classes, ``seeds``: as the paper says, and as here.
        commands: in this order; ``{data}``, ``{out}`` and ``{table}`` are folders and the printed table as a CSV file.
        read: where our figures are; ``derive``: what is computed from the printed table itself.
        hours: on one GPU for all commands; ``hours_how``: how that was estimated.
        needs: the command that is lacking.
        conditional: on what our intervals are conditional.
        notes: what a reader must know beside this.
    """

    name: str
    paper: str
    where: str
    of: str
    status: Status
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    data: tuple[str, ...] = ()
    weights: str = ""
    preprocessing: str = ""
    augmentation: str = ""
    order: str = ""
    seeds: str = ""
    commands: tuple[str, ...] = ()
    read: tuple[Read, ...] = ()
    derive: tuple[Derived, ...] = ()
    hours: float = 0.0
    hours_how: str = ""
    needs: str = ""
    conditional: str = ""
    notes: str = ""

    def words(self) -> list[list[str]]:
        """The commands, each as its words, with placeholders."""
        return [shlex.split(command) for command in self.commands]


@dataclass(frozen=True)
class Ledger:
    """All of the file."""

    papers: tuple[Paper, ...]
    data: tuple[Data, ...]
    entries: tuple[Entry, ...]

    def entry(self, name: str) -> Entry:
        """
        Raises:
            UserError: there is none of this name; the nearest ones are named.
        """
        import difflib

        for e in self.entries:
            if e.name == name:
                return e
        names = [e.name for e in self.entries]
        near = difflib.get_close_matches(name, names, 3, 0.4) or names[:3]
        raise UserError(f"no published result is called {brief(name)}: did you mean {', '.join(near)}? (seqsearch reproduce)")

    def paper(self, entry: Entry) -> str:
        """Title of its paper."""
        return next(p.title for p in self.papers if p.key == entry.paper)

    def needed(self, entry: Entry) -> list[Data]:
        """The data sets of an entry."""
        return [d for n in entry.data for d in self.data if d.name == n]


def read_ledger(path: Path) -> Ledger:
    """The ledger in a file, checked.

    Raises:
        UserError: it cannot be read, or something in it is unknown, lacking, of another kind, twice or contradictory.
    """
    import yaml

    try:
        content = read_plain(path, LARGEST, DEEPEST)
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"{path} cannot be read as YAML: {' '.join(str(error).split())[:300]}") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise UserError(f"{path} is no ledger of published results: it must begin with `schema: {SCHEMA}`")
    parts = {"papers": Paper, "data": Data, "entries": Entry}
    if unknown := sorted(content.keys() - parts.keys() - {"schema"}):
        raise UserError(f"{path}: unknown key {brief(unknown[0])}; keys are schema, {', '.join(parts)}")
    lists = {key: _records(path, key, content.get(key), kind) for key, kind in parts.items()}
    ledger = Ledger(*lists.values())
    for entry in ledger.entries:
        if wrong := _wrong(ledger, entry):
            raise UserError(f"{path}: {entry.name}: {wrong}")
    return ledger


def _records(path: Path, key: str, content: Any, kind: Any) -> tuple[Any, ...]:
    """Raises UserError: no list of such records, or two of one name."""
    if not isinstance(content, list) or not content:
        raise UserError(f"{path}: {key} must be a list of records")
    made = tuple(record(f"{path}: {key}: {_called(c, i)}", c, kind) for i, c in enumerate(content, 1))
    names = [getattr(m, "key", None) or m.name for m in made]
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise UserError(f"{path}: {key}: {brief(twice)} is there twice: keep one, or rename it")
    return made


def _called(content: Any, number: int) -> str:
    name = content.get("name", content.get("key")) if isinstance(content, dict) else None
    return str(name)[:60] if isinstance(name, str) else f"number {number}"


def record(where: str, content: Any, kind: type[R]) -> R:
    """A record of plain values, with the defaults of ``kind`` for what is left out.

    Raises:
        UserError: an unknown key, one that lacks, or a value of another kind; ``where`` begins the line.
    """
    if not isinstance(content, dict):
        raise UserError(f"{where} must hold `key: value` lines")
    fields = {f.name: f for f in dataclasses.fields(typing.cast(Any, kind))}
    if unknown := [k for k in content if k not in fields]:
        raise UserError(f"{where}: unknown key {brief(unknown[0])}; keys are {', '.join(fields)}")
    hints, values = typing.get_type_hints(kind), {}
    for name, f in fields.items():
        if name not in content:
            if f.default is dataclasses.MISSING:
                raise UserError(f"{where}: {name} is lacking")
            continue
        inner = typing.get_args(hints[name])
        if len(inner) == 2 and dataclasses.is_dataclass(inner[0]) and isinstance(content[name], list):
            values[name] = tuple(record(f"{where}: {name}", c, typing.cast(Any, inner[0])) for c in content[name])
        elif not fits(content[name], hints[name]):
            raise UserError(f"{where}: {name} is {brief(content[name])}, must be {_wanted(hints[name])}")
        else:
            values[name] = built(content[name], hints[name])
    return kind(**values)


def _wanted(kind: Any) -> str:
    texts = typing.get_origin(kind) is tuple and "str" in str(kind)
    return "a list of texts (numbers as they are printed: in quotes)" if texts else in_words(kind)


def _wrong(ledger: Ledger, e: Entry) -> str:
    """What contradicts itself in an entry; empty: nothing."""
    known, rows = {d.name for d in ledger.data}, [r[0] for r in e.rows if r]
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", e.name):
        return "its name must be small letters, digits, dots and dashes"
    if e.paper not in {p.key for p in ledger.papers}:
        return f"unknown paper {brief(e.paper)}"
    if lacking := [d for d in e.data if d not in known]:
        return f"unknown data {brief(lacking[0])}"
    if odd := next((r for r in e.rows if len(r) != len(e.columns) + 1), None):
        return f"row {brief(odd[0] if odd else '')} has {len(odd) - 1} figures, there are {len(e.columns)} columns"
    if doubled := next((r for r in [*rows] if rows.count(r) > 1), ""):
        return f"two rows are called {brief(doubled)}"
    if (e.status == "not possible yet") != bool(e.needs):
        return "`needs` and the status `not possible yet` go together"
    if bool(e.needs) == bool(e.commands or e.derive):
        return "it must have commands, something to derive, or what it `needs` (one of these)"
    return _wrong_commands(e) or _wrong_columns(e, rows)


def _wrong_commands(e: Entry) -> str:
    for command, words in zip(e.commands, e.words(), strict=True):
        fields = {f for w in words for _, f, _, _ in string.Formatter().parse(w) if f is not None}
        if words[:1] != ["seqsearch"]:
            return f"command {brief(command)} must begin with seqsearch"
        if fields - {"data", "out", "table"}:
            return f"command {brief(command)}: unknown placeholder {brief(sorted(fields)[0])}"
        if "data" in fields and not e.data:
            return f"command {brief(command)} reads {{data}}, and the entry names none"
    if bool(e.commands) != bool(e.read):
        return "commands and `read` go together"
    if any(not 0 <= r.command <= len(e.commands) for r in e.read):
        return "`read` names a command that is not there"
    return "" if not e.commands or e.hours_how else "`hours_how` is lacking"


def _wrong_columns(e: Entry, rows: Sequence[str]) -> str:
    named = [*(c for r in e.read for c, _ in r.columns), *(d.column for d in e.derive), *(c for d in e.derive for c in d.of)]
    if lost := next((c for c in named if c not in e.columns), None):
        return f"no column is called {brief(lost)}"
    read = [row for r in e.read for row, _ in r.rows] + [d.row for d in e.derive if d.row]
    if strange := next((r for r in read if r not in rows), None):
        return f"no row is called {brief(strange)}"
    if any((d.how == "sum of the rows above") != bool(d.row) or bool(d.row) == bool(d.of) for d in e.derive):
        return "a sum names its `row`, a mean and a difference the columns they are `of`"
    return ""
