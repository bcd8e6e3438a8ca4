"""Reads the ledger of published results, ``published.yaml``, and refuses entries that contradict themselves."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from protocols.evaluate.published.records import Data, Entry, Ledger, Paper
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.core.yaml_file import read_mapping, record

SCHEMA = "seqsearch-published/1"
LARGEST, DEEPEST = 1 << 20, 8
"""Bytes of the file; lists and mappings within each other."""


def read_ledger(path: Path) -> Ledger:
    """The ledger in a file, checked.

    Raises:
        UserError: it cannot be read, or something in it is unknown, missing, of another kind, twice or contradictory.
    """
    content = read_mapping(path, LARGEST, DEEPEST, SCHEMA)
    parts = {"papers": Paper, "data": Data, "entries": Entry}
    if unknown := sorted(content.keys() - parts.keys()):
        raise UserError(f"{path}: unknown key {brief(unknown[0])}; keys are schema, {', '.join(parts)}")
    lists = {key: _records(path, key, content.get(key), kind) for key, kind in parts.items()}
    ledger = Ledger(*lists.values())
    check_ledger(path, ledger)
    return ledger


def check_ledger(path: Path, ledger: Ledger) -> None:
    """Raises UserError: something in it contradicts itself; ``path`` begins the line."""
    if odd := next((d for d in ledger.data if d.classes < 0 or d.images < 0), None):
        raise UserError(f"{path}: data: {odd.name}: classes and images must not be negative")
    for entry in ledger.entries:
        if wrong := _wrong(ledger, entry):
            raise UserError(f"{path}: {entry.name}: {wrong}")


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


def _wrong(ledger: Ledger, e: Entry) -> str:
    """Return the first contradiction within an entry; empty if there is none."""
    known, rows = {d.name for d in ledger.data}, [r[0] for r in e.rows if r]
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", e.name):
        return "its name must be small letters, digits, dots and dashes"
    if e.paper not in {p.key for p in ledger.papers}:
        return f"unknown paper {brief(e.paper)}"
    if missing := [d for d in e.data if d not in known]:
        return f"unknown data {brief(missing[0])}"
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
    return _wrong_hours(e)


def _wrong_hours(e: Entry) -> str:
    if any(not math.isfinite(n) or n < 0 for n in (e.hours, e.rate, e.extra)):
        return "`hours`, `rate` and `extra` must be finite and not negative"
    if bool(e.loads) != (e.rate > 0) or (e.loads and e.hours):
        return "`loads` and `rate` go together, without `hours`, which follow from them"
    if odd := next(
        (w for w in e.loads if not (math.isfinite(w.seen) and min(w.images, w.epochs, w.trainings) > 0)), None
    ):
        return f"load {brief(odd.of)}: images, epochs and trainings must be above 0"
    return "" if not e.commands or e.hours_how else "`hours_how` is missing"


def _wrong_columns(e: Entry, rows: Sequence[str]) -> str:
    named = [
        *(c for r in e.read for c, _ in r.columns),
        *(d.column for d in e.derive),
        *(c for d in e.derive for c in d.of),
    ]
    if lost := next((c for c in named if c not in e.columns), None):
        return f"no column is called {brief(lost)}"
    read = [row for r in e.read for row, _ in r.rows] + [d.row for d in e.derive if d.row]
    if strange := next((r for r in read if r not in rows), None):
        return f"no row is called {brief(strange)}"
    if any((d.how == "sum of the rows above") != bool(d.row) or bool(d.row) == bool(d.of) for d in e.derive):
        return "a sum names its `row`, a mean and a difference the columns they are `of`"
    return ""
