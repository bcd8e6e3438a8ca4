"""The report of an EDGE plan (``--plan-only``), and columns that it shares with the tables of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING

from protocols.edge.plan import ExtremesPlan
from protocols.report.commands.sequences import FOUND, in_words
from protocols.report.commands.sequences import to_json as sequences_to_json
from protocols.report.edge.notes import of_plan
from protocols.report.notes import Note, note
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
    Table,
    Value,
    table,
)
from protocols.report.view import Tile, View
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
    "Plan",
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
SHOWN = 500
"""Classes that are shown first; those of more are among the further tables."""
LARGE = 100e6
"""Bytes of a matrix beside which what else a process has is little."""
TASKS = Layout("tasks", "Sequences", (SEQUENCE, Column("task", "task"), Column("classes", "classes")))


def view(s: PlanSummary | None, results: object = None) -> View:
    """The extremes found and a random sequence, with the classes of each task; an unfinished plan has no summary."""
    if s is None:
        return View(section="edge", name="-", kind="plan", headline=note("run.unfinished", reached="planning"))
    sequences, many = sequences_to_json(s.sequences), sum(s.plan.sizes) > SHOWN
    return View(
        section="edge",
        name=s.plan.label,
        kind="plan",
        headline=headline(s.plan),
        tiles=tuple(tiles(s.plan)),
        key=(planned(s.plan, s.random[:1]), *([] if many else [tasks(s)])),
        tables=(tasks(s),) if many else (),
        notes=tuple(notes(s)),
        data={**asdict(s.plan), "random": list(s.random), "sequences": sequences},
    )


def headline(p: ExtremesPlan) -> Note:
    """Whether hard and easy mean anything."""
    if p.mean is None:
        return note("edge.plan_undefined")
    found = note("edge.planned", classes=sum(p.sizes), tasks=len(p.sizes))
    return note("edge.plan_flat") if p.says_nothing else found


def tiles(p: ExtremesPlan) -> Iterator[Tile]:
    """S of the extremes and of random sequences."""
    if p.mean is None:
        return
    for end, found, colour in (("hard", p.hard, "found"), ("easy", p.easy, "easy")):
        yield Tile(S.text(found[0].value), f"S of the {end} sequence", colour)
    yield Tile(S.text(p.mean), "mean S of random sequences", "random")
    yield Tile(S.text(p.sd), "sd of S of random sequences")


def notes(s: PlanSummary) -> Iterator[Note]:
    """Sizes of the tasks, remarks on the extremes, and the time of the plan where it is known."""
    yield note("edge.plan_sizes", sizes=grouped(s.plan.sizes))
    yield from of_plan(s.plan)
    if s.seconds is not None:
        yield note("edge.plan_time", seconds=s.seconds)
        if s.budget:
            yield note("edge.plan_budget", ratio=(s.seconds - s.compiling) / s.budget, budget=s.budget)
        if s.matrix >= LARGE:
            yield note("edge.plan_memory", gigabytes=s.memory / 1e9, ratio=s.memory / s.matrix)
        if s.compiling >= 0.005:
            yield note("edge.plan_compiling", seconds=s.compiling)
        yield note("edge.plan_holds", random=len(s.random))
    if (random := sum(x.sequence.kind not in FOUND for x in s.sequences)) > 1:
        yield note("edge.plan_shown", random=random)


def tasks(s: PlanSummary) -> Table:
    """The sequences of `planned` by the names of their classes, if there are any."""
    random = [x for x in s.sequences if x.sequence.kind not in FOUND]
    shown = [x for x in s.sequences if x.sequence.kind in FOUND] + random[:1]
    rows = [(x.sequence.sequence_id, str(i), in_words(task)) for x in shown for i, task in enumerate(x.tasks, 1)]
    return table(TASKS, "", rows)


def planned(p: ExtremesPlan, random: Sequence[float | None]) -> Table:
    """Each extreme, its bound, the distance to the bound, and the cost of the search."""
    rows: list[tuple[Value, ...]] = [
        (f"{kind}-{i}", e.value, e.bound, way(p, e), beyond(p, e.value), e.planner, e.moves, e.seconds)
        for kind, extremes in (("hard", p.hard), ("easy", p.easy))
        for i, e in enumerate(extremes)
    ]
    rows += [(f"random-{i}", value, "", "", beyond(p, value), "", "", "") for i, value in enumerate(random)]
    return table(PLANNED, f"Similarity: {p.source}. S is of the objective {p.objective}.", rows)


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


def grouped(sizes: Sequence[int]) -> str:
    """Sizes of tasks, in their order.

    >>> grouped([3, 3, 3, 3]), grouped([6, 2, 2])
    ('4 x 3', '6, 2 x 2')
    """
    runs = [(m, len(list(of))) for m, of in groupby(sizes)]
    return ", ".join(f"{n} x {m}" if n > 1 else str(m) for m, n in runs)
