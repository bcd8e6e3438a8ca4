"""The tables of a comparison."""

from __future__ import annotations

from dataclasses import replace

from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN
from protocols.evaluate.compare.studies import Studies
from protocols.report.compare.ranks import AGREEMENT, BY_METHOD, OWN, accuracy, correlations, printed
from protocols.report.table import (
    CLDYB,
    DIFFERENCE,
    GTEP,
    METHOD,
    NEITHER,
    PERCENT,
    POINTS,
    SMALL,
    UP,
    WORDS,
    Column,
    Layout,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import percent, points
from seqsearch.core.text import counted
from seqsearch.stats.difference import Estimate

GROUPS_SHOWN = 5

BOTH = "sequences, training seeds and test images"
RUN = Column("run", "Run")
FIGURES = {
    "acc": Column(
        "acc",
        "Acc",
        "final accuracy, mean over sequences and training seeds",
        PERCENT,
        UP,
        f"{CLDYB}, section 5.1",
        "1/T sum over i <= T of a_Ti",
        BOTH,
    ),
    "avg_acc": Column(
        "avg_acc",
        "AvgAcc",
        "accuracy averaged over steps",
        PERCENT,
        UP,
        f"average incremental accuracy; section 4.1 of {GTEP}",
        "1/T sum over t of Acc_t",
    ),
    "ar": Column(
        "ar",
        "AR",
        "average retention",
        POINTS,
        UP,
        f"{CLDYB}, section 5.1, footnote 1: Eq. 2 with its sign turned",
        "1/(T-1) sum over i < T of (a_Ti - a_ii)",
    ),
    "ala": Column(
        "ala",
        "ALA",
        "average learning accuracy",
        PERCENT,
        UP,
        f"{CLDYB}, Eq. 1",
        "1/T sum over i <= T of a_ii",
    ),
    "upcoming": Column(
        "upcoming",
        "upcoming Acc",
        "final accuracy on the tasks from step s on, when the first pool grew",
        PERCENT,
        UP,
        f"{CLDYB}, section 5.3 and Fig. 5 (no equation)",
        "1/(T-s+1) sum over s <= i <= T of a_Ti",
        BOTH,
    ),
}
BY_FIGURE = Layout("figures", "Runs by figure", (RUN, METHOD, *FIGURES.values()))

RANGE = Scale("%", "0 to 100", lambda v: f"{percent(v[0])} ({percent(v[1])} to {percent(v[2])})")
OVER_STUDIES = {
    name: replace(
        c,
        about=f"{c.heading} of runs that differ in their seed alone: mean over the runs, and the lowest and the highest run",
        scale=RANGE._replace(unit=c.scale.unit, bounds=c.scale.bounds),
        source=OWN,
        formula="mean, min and max over studies",
        over="",
        parts=("", "_lowest", "_highest"),
    )
    for name, c in FIGURES.items()
}
STUDIES = Layout(
    "studies",
    "Over studies",
    (
        Column("sequences", "Sequences"),
        METHOD,
        Column("studies", "Studies", "runs that have the figure, each with a seed of its own", SMALL, NEITHER, OWN),
        *OVER_STUDIES.values(),
    ),
)
DIFFERING = Layout(
    "differing",
    "From study to study",
    (
        Column("part", "Part"),
        Column(
            "differs", "Study by study", "whether a part of the design differs between the runs", WORDS, NEITHER, OWN
        ),
        Column("values", "Values", "of the part, run by run: the seeds", WORDS, NEITHER, OWN),
    ),
)
EASIER = "higher: easier than the first"
CHANGES = {
    name: replace(
        c,
        about=f"{c.heading} of this run minus that of the first, mean over shared methods",
        scale=DIFFERENCE,
        direction=EASIER,
        source=f"{OWN}; Fig. 6 of {CLDYB}",
        formula="figure of the run - figure of the first",
    )
    for name, c in FIGURES.items()
}
THESE = Column(
    "acc_these_sequences",
    "Acc, these sequences",
    "the difference of Acc, with the interval conditional on these found sequences and trainings",
    DIFFERENCE,
    EASIER,
    OWN,
    "as Acc",
    "random sequences and test images",
)
WITHOUT = Column("no_interval_because", "why no interval")
MINUS = Layout("changes", "Minus ...", (RUN, *CHANGES.values(), THESE, WITHOUT))
GROWTH = Layout(
    "growth",
    "Taken from the grown pool",
    (
        RUN,
        Column(
            "taken", "Classes", "found classes of the task that came with --grow, of all its classes",
            SMALL._replace(text=lambda v: f"{v[0]} of {v[1]}"), NEITHER, f"{CLDYB}, Fig. 21", parts=("", "_of"),
        ),
        Column("share", "Share, %", "share of such classes in the found task", PERCENT, NEITHER, f"{OWN}; Fig. 21 of {CLDYB}"),
        Column(
            "left", "Left, %", "share of such classes among the classes that were left to take", PERCENT, NEITHER,
            f"{OWN}; Fig. 21 of {CLDYB}",
        ),
    ),
)  # fmt: skip
REWARD = Scale("pp", "any", lambda reward: f"{100 * reward:.1f}")
ABOVE = REWARD._replace(text=points)
BY_STEP = REWARD._replace(text=lambda v: f"{points(v[0])} to {points(v[1])} ({v[2]})")
HARDER = "higher: harder tasks"
GROUPS = Layout(
    "groups",
    "Reward by group of classes",
    (
        RUN,
        Column("group", "Group"),
        Column("candidates", "Candidates", "evaluated candidates with classes of the group", SMALL, NEITHER, OWN),
        Column(
            "reward", "Reward", "mean reward of these candidates, each with its share of classes of the group", REWARD, HARDER,
            f"{CLDYB}, section 5.3; reward: Eq. 3", "reward: AFM - ALA, or what --reward says",
        ),
        Column(
            "above", "Above", "that, less the mean of all candidates of the same step", ABOVE, HARDER, OWN,
            "reward - mean reward of the step",
        ),
        Column(
            "by_step", "By step (steps)", "the same step by step: its range over steps", BY_STEP, HARDER, OWN,
            "reward - mean reward of the step", parts=("_lowest", "_highest", "_steps"),
        ),
    ),
)  # fmt: skip
LAYOUTS = (BY_METHOD, AGREEMENT, BY_FIGURE, MINUS, STUDIES, DIFFERING, GROWTH, GROUPS)


def key(c: Comparison) -> tuple[Table, ...]:
    """Accuracy by method, and differences to the first run; of studies their spread."""
    return (over_studies(c, c.studies),) if c.studies else (_accuracies(c), changes(c))


def tables(c: Comparison) -> tuple[Table, ...]:
    """All but those of `key`."""
    studies = (differing(c.studies), _accuracies(c)) if c.studies else ()
    return (*studies, *([correlations(c.ranks)] if c.ranks else []), means(c), growth(c), groups(c))


def _accuracies(c: Comparison) -> Table:
    return printed(c.table, c.ranks, c.reach.tolist())


def _of(c: Comparison) -> str:
    return f"mean of {len(c.shared)}"


def means(c: Comparison) -> Table:
    """Acc, AvgAcc, AR and ALA of each run, mean over the shared methods, then of each method."""
    sides = [s for s in c.sides if s.method == MEAN] + [s for s in c.sides if s.method != MEAN]
    names = [n for n in FIGURES if sides and n in sides[0].values]
    rows: list[tuple[Value, ...]] = []
    for s in sides:
        figures = [s.estimates[n].value for n in names]
        rows.append((f"{s.run}, {s.side}", s.method or _of(c), *(accuracy(i.value, i.half_width) for i in figures)))
    lead = "Percent, AR in pp; means over sequences and training seeds [95 %]."
    return table(BY_FIGURE, lead, rows, [RUN, METHOD, *(FIGURES[n] for n in names)])


def over_studies(c: Comparison, studies: Studies) -> Table:
    """The spread of runs that differ in their seed alone."""
    of: dict[tuple[str, str], dict[str, Value]] = {}
    number: dict[tuple[str, str], int] = {}
    for s in studies.spreads:
        of.setdefault((s.side, s.method), {})[s.figure] = (s.mean, *s.range)
        number[s.side, s.method] = len(s.values)
    names = [n for n in FIGURES if any(n in figures for figures in of.values())]
    rows = [
        (side, m or _of(c), number[side, m], *(figures.get(n, "") for n in names)) for (side, m), figures in of.items()
    ]
    lead = "Percent, AR in pp: mean over studies, and the lowest and highest study in brackets."
    return table(STUDIES, lead, rows, [*STUDIES.columns[:3], *(OVER_STUDIES[n] for n in names)])


def differing(studies: Studies) -> Table:
    """The parts of the design that differ with the seed."""
    rows = [(d.what, "differs" if d.differs else "same", ", ".join(d.values)) for d in studies.differing]
    return table(DIFFERING, "", rows)


def changes(c: Comparison) -> Table:
    """Each run minus the first (Fig. 6)."""
    of: dict[tuple[str, str], dict[str, Estimate]] = {}
    for d in c.differences:
        of.setdefault((d.run, d.side), {})[d.figure] = d.estimate
    names = [n for n in FIGURES if of and n in next(iter(of.values()))]
    more_general = any(e["acc"].conditional != e["acc"].value for e in of.values())
    rows: list[tuple[Value, ...]] = [
        (
            f"{r}, {side}",
            *(e[n].value for n in names),
            *([e["acc"].conditional] if more_general else []),
            e["acc"].unavailable_because,
        )
        for (r, side), e in of.items()
    ]
    lead = f"In pp, mean over {counted(len(c.shared), 'shared method')}. Each interval holds by itself."
    columns = [RUN, *(CHANGES[n] for n in names), *([THESE] if more_general else []), WITHOUT]
    return table(MINUS, lead, rows, columns, f"Minus {c.runs[0].name}")


def growth(c: Comparison) -> Table:
    """Fig. 21."""
    rows = [(f"{n.run}, task {n.step}", (n.taken, n.classes), n.share, n.left) for n in c.new]
    lead = "Random choice takes the share that is left, on average. Counts of these searches have no interval."
    return table(GROWTH, lead, rows)


def groups(c: Comparison) -> Table:
    """Section 5.3."""
    rows = [
        (run, g.group, g.candidates, g.reward, g.above, (g.lowest, g.highest, g.steps))
        for run, rewards in c.groups.items()
        for g in rewards.groups[:GROUPS_SHOWN]
    ]
    lead = f"In pp; the {GROUPS_SHOWN} most rewarding groups of a run."
    return table(GROUPS, lead, rows)
