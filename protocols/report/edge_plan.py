"""The extreme sequences of an EDGE plan, in words: for ``--plan-only``, and for the tables of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table

from protocols.edge.plan import ExtremesPlan
from protocols.report.sequences import FOUND
from protocols.report.sequences import render as render_sequences
from protocols.report.sequences import to_json as sequences_to_json
from protocols.report.tables import columns_of
from protocols.report.text import count, line
from seqsearch.extremes.find import Extreme

if TYPE_CHECKING:
    from protocols.edge.plan_only import PlanSummary


def render(s: PlanSummary) -> RenderableType:
    """What was found, and a random sequence beside it, with the classes of each task."""
    found = Group(table(s.plan, s.random[:1]), *_sequences(s))
    if s.seconds is None:
        return found
    holds = f"sequences.parquet holds hard, easy and {len(s.random)} random sequences"
    compiling = f", {s.compiling:.2f} s of them compiling, or loading what was compiled" if s.compiling >= 0.005 else ""
    return Group(found, line(f"{s.seconds:.2f} s in all{compiling}; {holds}"))


def _sequences(s: PlanSummary) -> Iterator[RenderableType]:
    """Those of the table by the names of their classes, if there are any."""
    random = [x for x in s.sequences if x.sequence.kind not in FOUND]
    shown = [x for x in s.sequences if x.sequence.kind in FOUND] + random[:1]
    if shown:
        yield line("")
        first = f" (of {count(len(random), 'random sequence')} the first)" if len(random) > 1 else ""
        yield render_sequences(f"Sequences shown{first}", shown)
        yield line("")


def to_json(s: PlanSummary) -> dict[str, Any]:
    """The plan, the scores of the random sequences, and all sequences by names."""
    sequences = sequences_to_json(s.sequences)
    return {**asdict(s.plan), "cut_short": s.plan.cut_short, "random": list(s.random), "sequences": sequences}


def table(p: ExtremesPlan, random: Sequence[float | None]) -> RenderableType:
    """A table: each extreme, its bound and how near to it, and what it took."""
    grid = Table(box=None, pad_edge=False, header_style="")
    headings = ("sequence", "S", "bound", "of the way to it", "beyond random", "planner", "moves", "seconds")
    for heading in headings:
        grid.add_column(heading, justify="left" if heading in ("sequence", "planner") else "right")
    for kind, extremes in (("hard", p.hard), ("easy", p.easy)):
        for i, e in enumerate(extremes):
            grid.add_row(
                f"{kind}-{i}", number(e.value), number(e.bound), way(p, e), beyond(p, e.value), e.planner, f"{e.moves:,}",
                f"{e.seconds:.2f}",
            )  # fmt: skip
    for i, value in enumerate(random):
        grid.add_row(f"random-{i}", number(value), "", "", beyond(p, value), "", "", "")
    about = f"similarity: {p.source}; {shape(p.sizes)}; S ({p.objective}) of random sequences: "
    about += (
        "not defined, so that hard and easy mean nothing"
        if p.mean is None
        else f"mean {number(p.mean)}, sd {number(p.sd)}"
    )
    notes = [line(said) for said in (p.says_nothing, p.cut_short) if said]
    return Group(line(about), *notes, line(""), grid, columns_of("edge"))


def number(value: float | None) -> str:
    """A score, or ``-``."""
    return "-" if value is None else f"{value + 0.0:.5g}"


def way(p: ExtremesPlan, e: Extreme) -> str:
    """How far from the random mean to the bound an extreme comes, in percent; ``-`` where no bound was asked for.

    The first of all sequences is the optimum itself, whatever its bound.
    """
    if p.mean is None or e.value is None or p.mean == e.bound:
        return "-"
    if e.planner == "exact" and e in (p.hard[0], p.easy[0]):
        return "proven optimum"
    if e.bound is None:
        return "-"
    return f"{100 * (e.value - p.mean) / (e.bound - p.mean):.0f} %"


def beyond(p: ExtremesPlan, value: float | None) -> str:
    """Distance from the random mean in standard deviations of random sequences."""
    if value is None or p.mean is None or not p.sd:
        return "-"
    return f"{(value - p.mean) / p.sd:+.1f} sd"


def shape(sizes: Sequence[int]) -> str:
    """How many classes there are in tasks of these ``sizes``, in their order.

    >>> shape([3, 3, 3, 3])
    '12 classes in 4 tasks of 3 each'
    >>> shape([6, 2, 2])
    '10 classes in 3 tasks, 1 of 6, then 2 of 2'
    """
    said = f"{count(sum(sizes), 'class')} in {count(len(sizes), 'task')}"
    if len(sizes) == 1:
        return said
    parts = [f"{len(list(of))} of {m}" for m, of in groupby(sizes)]
    return f"{said} of {sizes[0]} each" if len(parts) == 1 else f"{said}, {', then '.join(parts)}"
