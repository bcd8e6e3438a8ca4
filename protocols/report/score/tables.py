"""The tables of a score summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.cldyb.tables import JOINT, Gaps, stars
from protocols.report.table import (
    CLDYB,
    METHOD,
    NEITHER,
    NONE,
    OURS,
    PERCENT,
    POINTS,
    SHARE,
    UP,
    Column,
    Layout,
    Marked,
    Table,
    Value,
    table,
)
from seqsearch.stats.drop import Drop

SIDES = {"random": "random", "heldout": "held-out pool", "hard": "hard", "easy": "easy", "given": "given"}
"""Headings by kind of sequence, beside the found ones."""
KINDS = {"searched": "found", **SIDES}

OWN = f"{OURS}, docs/score.md"
DISTRIBUTION = f"{OURS}, docs/drop.md"
MEAN = "1/T sum over i <= T of a_Ti, mean over sequences and the training seeds of each"
DROPS = "found and random sequences, training seeds and test images, as the notes say"
HARDER = "lower is better; higher: harder sequences"


def _found(key: str, heading: str, which: str, section: str) -> Column:
    about = f"Acc on found sequences that {which} searched with the method; bold: this method may be the best (95 %)"
    return Column(key, heading, about, PERCENT, UP, f"{CLDYB}, section {section}", MEAN)


def _of_kind(kind: str, heading: str) -> Column:
    if kind == "heldout":
        about, section = "Acc on random sequences of a pool that no search saw", "5.2 and Table 1"
    else:
        about, section = "Acc on sequences of this kind", "5.1"
    return Column(f"acc_{kind}", heading, about, PERCENT, UP, f"{CLDYB}, section {section}", MEAN)


DROP = Column(
    "drop_...",
    "drop (...)",
    "how much lower Acc is on these found sequences than on random ones; *: harder (easier) for this method by itself, adjusted "
    "p at most 0.05",
    SHARE,
    HARDER,
    DISTRIBUTION,
    "(Acc random - Acc found) / Acc random",
    DROPS,
)
BOUND = Column(
    "bound_...",
    "bound, ...",
    "Acc of joint training on all classes of the sequence at once, the best of three learners",
    PERCENT,
    NEITHER,
    OWN,
    "mean over tasks of its accuracy, as Acc",
)
OVER_MEAN = Column(
    "over_ncm_...",
    "over NCM, ...",
    "what Acc has more than the nearest class mean of frozen features",
    POINTS,
    UP,
    OWN,
    "Acc - Acc of simplecil",
)
BEFORE = (
    METHOD,
    _found("acc_searched", "found (searched)", "were", "5.1"),
    _found("acc_unseen", "found (held out)", "were not", "5.2"),
    *(_of_kind(kind, heading) for kind, heading in SIDES.items()),
    DROP.named("searched"),
    DROP.named("held out", "unseen"),
)
METHODS = Layout("methods", "Methods", BEFORE)
BOUNDS = Layout("bounds", "Bound and nearest class mean", (METHOD, BOUND, OVER_MEAN))
TRANSFER = Layout(
    "transfer",
    "Transfer between methods",
    (
        Column("searched_with", "Searched with"),
        replace(DROP, heading="...", about="relative drop of the method on the sequences that were searched with the methods of "
                "the row"),
    ),
)  # fmt: skip
TASK_BOUND = Column("bound_...", "bound (...)", "accuracy of joint training on the task", PERCENT, NEITHER, OWN)
TASK_MEAN = Column(
    "ncm_...", "NCM (...)", "accuracy of the nearest class mean of frozen features on the task", PERCENT, NEITHER, OWN
)
ALONE = (replace(TASK_BOUND, key="bound", heading="bound"), replace(TASK_MEAN, key="ncm", heading="NCM"))
"""Where all methods have one backbone."""
TASKS = Layout(
    "tasks",
    "Tasks",
    (
        Column("sequence", "Sequence"),
        Column("task", "task"),
        Column(
            "acc_...", "...", "final accuracy of the method on the task, mean over training seeds", PERCENT, UP,
            f"{CLDYB}, section 2", "a_Ti",
        ),
        *ALONE,
        TASK_BOUND,
        TASK_MEAN,
    ),
)  # fmt: skip
LAYOUTS = (METHODS, BOUNDS, JOINT, TRANSFER, TASKS)


def key(s: ScoreSummary) -> Table:
    """One row a method; columns that nobody has a figure for are left out."""
    found = any(m.searched or m.unseen for m in s.methods)
    bold = best(s)
    rows = [_row(m, found, marked, bold) for m, *marked in zip(s.methods, *stars_of(s), strict=True)]
    lead = "Final Acc in percent: means over sequences and the training seeds of each, test images."
    return table(METHODS, lead, *_there(rows, BEFORE))


def bounds(s: ScoreSummary) -> Table:
    """Accuracy of joint training and of frozen features, by kind of sequence."""
    columns = [METHOD, *(c.named(name, kind) for kind, name in KINDS.items() for c in (BOUND, OVER_MEAN))]
    rows = [(m.method, *(of.get(kind) for kind in KINDS for of in (m.bound, m.over_mean))) for m in s.methods]
    there, columns = _there(rows, columns)
    return table(BOUNDS, "Percent and pp, as measured, without intervals.", there if len(columns) > 1 else (), columns)


def _there(rows: Sequence[Sequence[Value]], columns: Sequence[Column]) -> tuple[list[list[Value]], list[Column]]:
    """Those columns that some row has a figure for."""
    there = [i for i, c in enumerate(columns) if c is METHOD or any(c.text(row[i]) != NONE for row in rows)]
    return [[row[i] for i in there] for row in rows], [columns[i] for i in there]


def best(s: ScoreSummary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods that are bold on sequences that were searched with each method, and on the others; none if it may be any."""
    compared = [[m.searched_drop for m in s.methods], [m.unseen_drop for m in s.methods]]
    searched, unseen = (sum(d is not None for d in drops) for drops in compared)
    return (
        s.searched_best if len(s.searched_best) < searched else (),
        s.unseen_best if len(s.unseen_best) < unseen else (),
    )


def stars_of(s: ScoreSummary) -> tuple[list[str], list[str]]:
    """The marks of the drops on the sequences that were searched with each method, and on the others."""
    searched = stars([(m.searched_drop, m.searched_adjusted_p) for m in s.methods])
    return searched, stars([(m.unseen_drop, m.unseen_adjusted_p) for m in s.methods])


def joint_rows(s: ScoreSummary) -> Gaps:
    """Of each method on the found sequences of the headline, and of the mean over those that were trained jointly."""
    unseen = s.unseen_drop is not None
    mean = s.unseen_gap if unseen else s.searched_gap
    rows = [
        (m.method, m.unseen_gap if unseen else m.searched_gap)
        for m in s.methods
        if (m.unseen_drop if unseen else m.searched_drop)
    ]
    return rows if mean is None or len(rows) == 1 else [*rows, ("mean", mean.of)]


def _row(m: MethodScore, found: bool, marked: Sequence[str], bold: Sequence[Sequence[str]]) -> tuple[Value, ...]:
    """All its cells; hard sequences stand among the ``found`` ones where there are such."""
    return (
        m.method,
        *(
            Marked(side.acc if side else None, bold=m.method in best)
            for side, best in zip((m.searched, m.unseen), bold, strict=True)
        ),
        *(None if kind == "hard" and found else _acc(m, kind) for kind in SIDES),
        _drop(m.searched_drop, marked[0]),
        _drop(m.unseen_drop, marked[1]),
    )


def _acc(m: MethodScore, kind: str) -> float:
    """Mean final Acc; of random sequences over those that the drop is from, if there is one."""
    drop = (m.unseen_drop or m.searched_drop) if kind == "random" else None
    return drop.random if drop else m.sides[kind].acc if kind in m.sides else math.nan


def _drop(drop: Drop | None, mark: str = "") -> Value:
    return None if drop is None or drop.nothing_differs else Marked(drop.relative, mark)


def transfer(s: ScoreSummary) -> Table:
    """Drop of each method on the sequences found for each group of methods; no rows of one group."""
    group, drop = TRANSFER.columns
    labels = [m.method for m in s.methods]
    rows = [(g, *(_drop(s.transfer[g, m]) for m in labels)) for g in dict.fromkeys(g for g, _ in s.transfer)]
    lead = (
        "Relative drop of Acc in percent [95 %]. Rows are the methods that searched, columns those that were evaluated."
    )
    return table(TRANSFER, lead, rows, [group, *map(drop.named, labels)])


def tasks(s: ScoreSummary) -> Table:
    """Final accuracy task by task."""
    sequence, task, accuracy, *_ = TASKS.columns
    labels = [m.method for m in s.methods]
    backbones = list(dict.fromkeys(b for t in s.tasks for b in t.bound))
    of_bounds = ALONE if len(backbones) == 1 else [c.named(b) for b in backbones for c in (TASK_BOUND, TASK_MEAN)]
    rows = [
        (
            t.sequence,
            t.step,
            *(t.accuracy.get(m) for m in labels),
            *(of.get(b) for b in backbones for of in (t.bound, t.mean)),
        )
        for t in s.tasks
    ]
    lead = "Percent, with scores over all classes of the sequence, mean over training seeds."
    return table(TASKS, lead, rows, [sequence, task, *map(accuracy.named, labels), *of_bounds])
