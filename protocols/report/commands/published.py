"""The output of ``seqsearch reproduce``: the ledger of published results, and one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.published.dataset_on_disk import DatasetOnDisk
from protocols.evaluate.published.figures import Figure, number
from protocols.evaluate.published.miniature import networks
from protocols.evaluate.published.records import Data, Entry, Ledger, Status
from protocols.evaluate.published.results import RUN, Result
from protocols.evaluate.published.running import Places, commands, kept
from protocols.report.table import NEITHER, OURS, WORDS, Column, Layout, table
from protocols.report.terminal import Grid, columns_of
from protocols.report.text import enumerated, line
from seqsearch.core.text import counted

OWN = f"{OURS}, docs/published.md"


def _words(key: str, about: str, source: str = OWN, formula: str = "", heading: str = "", over: str = "") -> Column:
    """A column of words, or of figures as a paper prints them."""
    return Column(key, heading or key.replace("_", " "), about, WORDS, NEITHER, source, formula, over)


ENTRIES = Layout(
    "entries",
    "Published results",
    (
        *(Column(name, name) for name in ("name", "paper", "where")),
        _words("published", "figures of the entry that are compared"),
        _words("ours", "figures by verdict", formula="reproduced, compatible, differs: docs/published.md"),
        _words(
            "largest_difference", "ours minus the printed figure, the largest of an entry", formula="ours - published"
        ),
        *(Column(name, name) for name in ("status", "run")),
        _words(
            "hours",
            "hours on a GPU, of all commands of the entry",
            formula="(1 + extra) images learned / rate / 3600",
            heading="hours, estimated",
        ),
    ),
)
ROW = (Column("row", "row"), Column("column", "column"))
ONE = Layout(
    "figures",
    "Figures of an entry",
    (
        *ROW,
        _words("published", "the figure as printed", "the paper that the entry names"),
        _words("ours", "the figure that the command gave here"),
        _words("interval", "of ours", heading="95 % interval", over="what the command's own table says"),
        _words("difference", "ours minus the printed figure", formula="ours - published"),
        Column("verdict", "verdict"),
    ),
)
MINIATURE = Layout(
    "miniature",
    "Figures of a miniature",
    (
        *ROW,
        _words(
            "on_stand_in_data", "what the command of a miniature gave: it means nothing", heading="on stand-in data"
        ),
    ),
)
LAYOUTS = (ENTRIES, ONE, MINIATURE)
ORDER: tuple[Status, ...] = (*RUN, "not run", "not possible yet")
"""Of the entries in the table: those that were run first."""
Pair = tuple[Entry, Result | None]


def run_first(pairs: Sequence[Pair]) -> list[Pair]:
    """Entries by `ORDER`, and within each as they are in the ledger: the papers' order."""
    return sorted(pairs, key=lambda pair: ORDER.index(pair[0].status))


def row(ledger: Ledger, entry: Entry, result: Result | None) -> list[str]:
    """An entry in a row of `ENTRIES`."""
    read = _counted(entry)
    largest = result.largest if result else None
    return [
        entry.name,
        ledger.paper(entry).split(":")[0],
        entry.where,
        counted(read, "figure"),
        verdicts(result.figures) if result else "",
        _difference(largest) if largest else "",
        entry.status,
        f"{result.date}, {result.version}" if result else "",
        hours(entry) if entry.data and entry.commands else "",
    ]


def summary(pairs: Sequence[Pair]) -> str:
    """The ledger in a sentence."""
    parts = Counter(e.status for e, _ in run_first(pairs))
    trained = sum(1 for e, r in pairs if r and e.data)
    by_status = enumerated([f"{n} {status}" for status, n in parts.items()])
    return f"{counted(len(pairs), 'entry')}: {by_status}. " + (
        f"{trained} of those that were run trained anything on the papers' data."
        if trained
        else "Those that were run need no data: counts, and figures that follow from printed ones. "
        "No accuracy of a paper has been reproduced here yet."
    )


def listing(ledger: Ledger, pairs: Sequence[Pair]) -> RenderableType:
    """The ledger for a terminal."""
    grid = Grid(table(ENTRIES, "", [row(ledger, entry, result) for entry, result in run_first(pairs)]))
    more = "seqsearch reproduce NAME runs one; --dry-run says what it needs and costs"
    return Group(grid, line(""), line(summary(pairs)), line(more), columns_of("published"))


def needs(
    ledger: Ledger, entry: Entry, missing: Sequence[Data], there: Mapping[str, DatasetOnDisk], places: Places
) -> list[str]:
    """An entry, its data and its commands; ``there``: its data sets on disk."""
    lines = [f"{entry.name}: {ledger.paper(entry)}, {entry.where}: {entry.of}"]
    for d in ledger.needed(entry):
        odd = there[d.name].odd if d.name in there else ""
        found = f"MISSING: {d.where}" if d in missing else f"there{f', {odd}' if odd else ''}"
        lines.append(f"  data: {d.path} ({found}){f', licence {d.licence}' if d.licence else ''}")
    for name in ("weights", "preprocessing", "augmentation", "order", "seeds"):
        if text := getattr(entry, name):
            more = " (timm or the hub has them; downloaded when they are first used)" if name == "weights" else ""
            lines.append(f"  {name}: {text}{more}")
    if entry.hours_how:
        lines.append(f"  hours: {f'{hours(entry)}, ' * bool(entry.estimated)}{entry.hours_how}")
    lines += [f"    {w.of}: {w.trainings:,} trainings of {w.images:,} images, {w.epochs:g} epochs" for w in entry.loads]
    if entry.notes:
        lines.append(f"  {entry.notes}")
    lines += [f"  $ {c}" for c in commands(entry, places)]
    if kept(entry):
        lines.append(f"  runs are kept in {places.out}; the same command goes on with them")
    return lines


def outcome(entry: Entry, figures: Sequence[Figure]) -> RenderableType:
    """Printed figures and ours."""
    rows = []
    for f in figures:
        between = "" if f.low is None or f.high is None else f"[{_number(f, f.low)}, {_number(f, f.high)}]"
        rows.append((f.row, f.column, f.printed, _number(f, f.ours), between, _difference(f), f.verdict))
    parts: list[RenderableType] = [
        Grid(table(ONE, "", rows)),
        line(""),
        line(f"{verdicts(figures)}. {_meaning(figures)}"),
    ]
    if entry.conditional:
        parts.append(line(f"ours are conditional on: {entry.conditional}"))
    return Group(*parts, columns_of("published"))


STANDS = "STAND-IN DATA: these figures mean nothing, and are compared with no published figure"


def in_miniature(ledger: Ledger, entry: Entry, small: Entry, places: Places) -> list[str]:
    """A miniature of an entry, the data that it stands in for, and its commands."""
    lines = [f"MINIATURE of {entry.name} on STAND-IN DATA: {ledger.paper(entry)}, {entry.where}: {entry.of}"]
    lines += [f"  stand-in data: {places.data}/{d.path} instead of {d.name}" for d in ledger.needed(entry)]
    if text := networks(entry):
        lines.append(f"  network: {text}")
    lines += [f"  $ {c}" for c in commands(small, places)]
    return [*lines, f"  runs are kept in {places.out}; the same command goes on with them"]


def miniature_outcome(small: Entry, figures: Sequence[Figure]) -> RenderableType:
    """The figures of a miniature, without the published ones."""
    grid = Grid(table(MINIATURE, "", [(f.row, f.column, _number(f, f.ours)) for f in figures]))
    there = sum(f.ours is not None for f in figures)
    text = f"{small.name} runs to its end here: {there} of {counted(len(figures), 'figure')} came out"
    return Group(line(STANDS, "bold"), line(""), grid, line(""), line(text))


def miniature_json(small: Entry, figures: Sequence[Figure]) -> dict[str, Any]:
    """The same as plain values."""
    found = [{"row": f.row, "column": f.column, "on_stand_in_data": f.ours} for f in figures]
    return {"name": small.name, "stand_in": STANDS, "figures": found}


def verdicts(figures: Sequence[Figure]) -> str:
    """How many figures have each verdict.

    >>> verdicts([Figure("a", "b", "1", 1.0), Figure("a", "b", "2", 1.0)])
    'reproduced 1 of 2, differs 1'
    """
    n = Counter(f.verdict for f in figures)
    rest = [f"{v} {n[v]}" for v in RUN[1:] if n[v]]
    return ", ".join([f"reproduced {n['reproduced']} of {len(figures)}", *rest])


def _meaning(figures: Sequence[Figure]) -> str:
    with_interval = next((f for f in figures if f.low is not None), None)
    if with_interval:
        return (
            f"Reproduced: the 90 % interval of ours minus the published figure lies within {with_interval.margin:g} of 0. "
            "Differs: its 95 % interval excludes 0. Compatible: neither. The published figure is taken to be as noisy as ours. "
            "A figure without an interval is reproduced if ours rounds to it."
        )
    if any(f.printed.startswith(">") for f in figures):
        return "Reproduced: ours, or all of its interval, is above the number that the claim names (>)."
    if any(f.slack for f in figures):
        return "Reproduced: ours is the published figure within the rounding of the figures that it follows from."
    return "Reproduced: ours rounds to the published figure."


def to_json(ledger: Ledger, entry: Entry, result: Result | None) -> dict[str, Any]:
    """An entry as plain values."""
    return {
        "name": entry.name,
        "paper": ledger.paper(entry),
        "where": entry.where,
        "of": entry.of,
        "status": entry.status,
        "needs": entry.needs,
        "data": [{"path": d.path, "where": d.where} for d in ledger.needed(entry)],
        "commands": list(entry.commands),
        "hours": entry.estimated,
        "hours_how": entry.hours_how,
        "columns": list(entry.columns),
        "rows": [list(r) for r in entry.rows],
        "notes": entry.notes,
        "date": result.date if result else None,
        "version": result.version if result else None,
        "figures": [figure_json(f) for f in result.figures] if result else None,
    }


def figure_json(f: Figure) -> dict[str, Any]:
    """A figure as plain values."""
    return {
        "row": f.row,
        "column": f.column,
        "published": f.printed,
        "ours": f.ours,
        "difference": f.difference,
        "low": f.low,
        "high": f.high,
        "verdict": f.verdict,
    }


def _counted(entry: Entry) -> int:
    """Figures that are compared; of an entry that cannot be run, those that are printed."""
    if entry.needs:
        return sum(number(c) is not None for r in entry.rows for c in r[1:])
    read = sum(len(r.columns) * len(r.rows) for r in entry.read)
    return read + sum(1 if d.row else len(entry.rows) for d in entry.derive)


def hours(entry: Entry) -> str:
    """To two digits, which is more than is known."""
    return f"{float(f'{entry.estimated:.2g}'):g}"


def _number(f: Figure, value: float | None) -> str:
    """As many decimals as the printed one has, and one more where it is no whole number."""
    there = number(f.printed)
    decimals = there[1] if there else 3
    return "-" if value is None else f"{value:.{decimals + (decimals > 0)}f}"


def _difference(f: Figure) -> str:
    return "-" if f.difference is None else f"{'+' if f.difference > 0 else ''}{_number(f, f.difference)}"
