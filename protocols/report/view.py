"""A report of results, the same for terminal, page and JSON. The function `view` of a protocol's module makes it."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from protocols.report.notes import Note, by_importance
from protocols.report.plain import plain
from protocols.report.table import Table
from protocols.running.protocol import Exported, Protocol, protocols
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.pools.base import Pool
from seqsearch.results.run import read_config

if TYPE_CHECKING:
    from protocols.report.figures import Panels
    from protocols.report.gallery import Gallery


class Tile(NamedTuple):
    """A figure below the headline, its description, and a colour of the page (may be empty)."""

    value: str
    label: str
    colour: str = ""


@dataclass(frozen=True, kw_only=True)
class View:
    """A report of results.

    Attributes:
        section: of docs/metrics.md, which explains the columns.
        name: of the run, or of what was compared.
        kind: the title of a page beside the name.
        headline: the result in a sentence.
        tiles: the figures that it rests on.
        key: tables that are never folded away.
        tables: all others.
        notes: in any order.
        draws: makes the figures; the first ``key_figures`` of them are never folded away.
        pictures: pictures of tasks, from pools whose images may be shown.
        how: paragraphs on how it was computed.
        configs: of the runs.
        data: values of JSON beside headline, notes and tables.
        more: the command that prints further tables and notes.
    """

    section: str
    name: str
    kind: str
    headline: Note
    tiles: Sequence[Tile] = ()
    key: Sequence[Table] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[Note] = ()
    draws: Callable[[], Sequence[Panels]] = tuple
    key_figures: int = 1
    pictures: Callable[[Sequence[Pool]], Sequence[Gallery]] = lambda pools: ()
    how: Sequence[str] = ()
    configs: Sequence[Mapping[str, Any]] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    more: str = "seqsearch show RUN --details"

    @property
    def ordered(self) -> tuple[list[Note], list[Note]]:
        """Notes that are shown first, and the others."""
        return by_importance(self.notes)

    @property
    def details(self) -> bool:
        """Whether anything of it is folded away in a terminal."""
        return bool(self.ordered[1]) or any(t.rows for t in self.tables)

    def all_tables(self) -> Iterator[Table]:
        """Those that have rows."""
        return (t for t in (*self.key, *self.tables) if t.rows)

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is not a finite number is None."""
        first, more = self.ordered
        found: dict[str, Any] = plain(self.data)
        return {
            "headline": self.headline.text,
            "notes": [n.text for n in (*first, *more)],
            **found,
            "coded": {"headline": self.headline.record(), "notes": [n.record() for n in (*first, *more)]},
            "tables": {t.name: t.records() for t in self.all_tables()},
        }


def run_name(config: Mapping[str, Any]) -> str:
    """The name of a run, from its ``config.json``."""
    return str(config.get("run_id") or "-")


def progress(config: Mapping[str, Any], finished: bool, stats: Mapping[str, Any] | None) -> dict[str, Any]:
    """The name of a run and how far it came, for JSON."""
    return {"run": run_name(config), "finished": finished, "reached": (stats or {}).get("reached") or ""}


def view_of(protocol: Protocol, exported: Exported) -> View:
    """The report of a run."""
    view: View = importlib.import_module(protocol.view).view(exported.summary, exported.results)
    return view


def protocol_of(run: Path) -> Protocol:
    """Return the protocol that the run's ``config.json`` names.

    Raises:
        UserError: the folder is no run, or ``config.json`` names no known protocol.
    """
    name = read_config(run).get("protocol")
    protocol = protocols().get(name) if isinstance(name, str) else None
    if protocol is None:
        raise UserError(
            f"{run}/config.json: protocol is {shown(json.dumps(name)[:60])}, none of {', '.join(protocols())}"
        )
    return protocol


def view_of_run(run: Path) -> View:
    """The report of a run, by its folder.

    Raises:
        UserError: the folder is no run, or nothing of it was exported yet.
    """
    protocol = protocol_of(run)
    return view_of(protocol, protocol.read(run))


def names_of(runs: Sequence[Path]) -> list[str]:
    """Names of runs, those of their folders; one that came before has a number behind it."""
    found: list[str] = []
    for name in (run.resolve().name for run in runs):
        again = itertools.count(2)
        unused = name
        while unused in found:
            unused = f"{name}-{next(again)}"
        found.append(unused)
    return found
