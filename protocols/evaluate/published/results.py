"""Outcomes of the published results that were run: ``published.json``."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.evaluate.published.figures import Figure, Verdict, cell
from protocols.evaluate.published.records import Entry, Ledger
from seqsearch.core.errors import UserError
from seqsearch.core.typed import built, fits

RUN: tuple[Verdict, ...] = ("reproduced", "compatible", "differs")


@dataclass(frozen=True)
class Result:
    """An entry that was run.

    Attributes:
        name: of the entry.
        commands: as they were then.
        digest: `Entry.digest` of then.
        date: year-month-day; ``version``: of seqsearch.
        figures: of the table, ours beside the printed ones.
    """

    name: str
    commands: tuple[str, ...]
    digest: str
    date: str
    version: str
    figures: tuple[Figure, ...]

    @property
    def status(self) -> Verdict:
        """The worst verdict on a figure."""
        return max((f.verdict for f in self.figures), key=RUN.index)

    @property
    def largest(self) -> Figure | None:
        """The figure with the largest difference; None: none has one."""
        there = [f for f in self.figures if f.difference is not None]
        return max(there, key=lambda f: abs(f.difference or 0.0), default=None)


def to_json(results: dict[str, Result]) -> dict[str, Any]:
    """Plain values, as `read_results` reads them."""
    return {"results": [dataclasses.asdict(r) for r in results.values()]}


def read_results(path: Path) -> dict[str, Result]:
    """Results by the entry's name.

    Raises:
        UserError: the file is not what `to_json` gives.
    """
    try:
        content = json.loads(path.read_text())["results"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(
            f"{path} cannot be read: write it again with python -m benchmarks.parity.published --write"
        ) from None
    if not fits(content, tuple[Result, ...]):
        raise UserError(f"{path} is not as this version writes it: python -m benchmarks.parity.published --write")
    return {r.name: r for r in built(content, tuple[Result, ...])}


def joined(ledger: Ledger, results: dict[str, Result]) -> list[tuple[Entry, Result | None]]:
    """Each entry with what came of it.

    Raises:
        UserError: the ledger claims what no result shows, or it is another entry than the one that was run.
    """
    pairs = []
    for entry in ledger.entries:
        result = results.get(entry.name)
        if wrong := _wrong(entry, result):
            raise UserError(f"ledger of published results: {entry.name}: {wrong}")
        pairs.append((entry, result))
    return pairs


def _wrong(entry: Entry, result: Result | None) -> str:
    if result is None:
        return "it says that it was run, and no result is there" if entry.status in RUN else ""
    if entry.status != result.status:
        return f"it says `{entry.status}`, its result `{result.status}`"
    if entry.commands != result.commands:
        return "its commands are not those that were run: run it again"
    rows = {r[0] for r in entry.rows}
    for f in result.figures:
        if f.row not in rows or f.column not in entry.columns or cell(entry, f.row, f.column) != f.printed:
            return f"the printed figure of {f.row}, {f.column} is not that of its result: run it again"
    if entry.digest != result.digest:
        return "it is not the entry that was run (figures, columns, what is read or derived, settings): run it again"
    return ""
