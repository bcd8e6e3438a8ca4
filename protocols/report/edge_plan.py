"""The extreme sequences of an EDGE plan, in words: for ``--plan-only``, and for the tables of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from protocols.edge.plan import ExtremesPlan
from protocols.report.sequences import FOUND
from protocols.report.sequences import render as render_sequences
from protocols.report.sequences import to_json as sequences_to_json
from protocols.report.table import (
    COUNT,
    EDGE,
    NEITHER,
    OURS,
    SECONDS,
    WORDS,
    Column,
    Layout,
    Scale,
    Value,
    table,
)
from protocols.report.terminal import Grid, columns_of
from protocols.report.text import count, line
from seqsearch.extremes.find import Extreme

if TYPE_CHECKING:
    from protocols.edge.plan_only import PlanSummary

SCORE = Scale("that of the similarity", "any", lambda score: f"{score + 0.0:.5g}")
SEQUENCE = Column("sequence", "sequence")
S = Column(
    "s",
    "S",
    "similarity of the classes of neighbouring tasks, or what --objective names",
    SCORE,
    "higher: easier, by the paper",
    f"{EDGE}, Eq. 5 but for that factor",
    "mean over neighbouring tasks of the mean of Sim(c, c'); Eq. 5 is (N/K) S for N classes in K equal tasks",
)
BOUND = Column(
    "bound",
    "bound",
    "certified: S of no sequence goes beyond",
    SCORE,
    NEITHER,
    "A new lower bound via projection for the quadratic assignment problem (Hadley, Rendl and Wolkowicz, 1992)",
)
FROM_RANDOM = Column(
    "from_random",
    "from random",
    "how far S is from that of random sequences",
    Scale("sd", "any", lambda distance: f"{distance:+.1f} sd"),
    NEITHER,
    OURS,
    "(S - mean) / sd of random S",
)
WAY = Column(
    "way",
    "of the way",
    "how near the search came to the bound, or that the optimum is proven",
    Scale("%", "at most 100", lambda share: f"{100 * share:.0f} %"),
    "higher: more extreme",
    OURS,
    "(S - mean of random S) / (bound - mean of random S)",
)
PLANNED = Layout(
    "plan",
    "",
    (
        SEQUENCE,
        S,
        BOUND,
        replace(WAY, heading="of the way to it"),
        replace(FROM_RANDOM, heading="beyond random"),
        Column("planner", "planner", "what searched", WORDS, NEITHER, OURS),
        Column("moves", "moves", "exchanges tried", COUNT, NEITHER, OURS),
        Column("seconds", "seconds", "time of the search", SECONDS._replace(text=lambda s: f"{s:.2f}"), NEITHER, OURS),
    ),
)


def render(s: PlanSummary) -> RenderableType:
    """What was found, and a random sequence beside it, with the classes of each task."""
    found = Group(planned(s.plan, s.random[:1]), *_sequences(s))
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


def planned(p: ExtremesPlan, random: Sequence[float | None]) -> RenderableType:
    """A table: each extreme, its bound and how near to it, and what it took."""
    rows: list[tuple[Value, ...]] = [
        (f"{kind}-{i}", e.value, e.bound, way(p, e), beyond(p, e.value), e.planner, e.moves, e.seconds)
        for kind, extremes in (("hard", p.hard), ("easy", p.easy))
        for i, e in enumerate(extremes)
    ]
    rows += [(f"random-{i}", value, "", "", beyond(p, value), "", "", "") for i, value in enumerate(random)]
    about = f"similarity: {p.source}; {shape(p.sizes)}; S ({p.objective}) of random sequences: "
    about += (
        "not defined, so that hard and easy mean nothing"
        if p.mean is None
        else f"mean {S.text(p.mean)}, sd {S.text(p.sd)}"
    )
    notes = [line(said) for said in (p.says_nothing, p.cut_short) if said]
    return Group(line(about), *notes, line(""), Grid(table(PLANNED, "", rows)), columns_of("edge"))


def way(p: ExtremesPlan, e: Extreme) -> str | float | None:
    """How far from the random mean to the bound an extreme comes, as a share; None where no bound was asked for.

    The first of all sequences is the optimum itself, whatever its bound.
    """
    if p.mean is None or e.value is None or p.mean == e.bound:
        return None
    if e.planner == "exact" and e in (p.hard[0], p.easy[0]):
        return "proven optimum"
    return None if e.bound is None else (e.value - p.mean) / (e.bound - p.mean)


def beyond(p: ExtremesPlan, value: float | None) -> float | None:
    """Distance from the random mean in standard deviations of random sequences."""
    return None if value is None or p.mean is None or not p.sd else (value - p.mean) / p.sd


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
