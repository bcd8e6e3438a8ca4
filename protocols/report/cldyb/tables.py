"""The tables of a CLDyB summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols.cldyb.summary import MethodSummary, Summary
from protocols.report.table import (
    CLDYB,
    COUNT,
    DOWN,
    METHOD,
    NEITHER,
    NONE,
    OURS,
    PERCENT,
    POINTS,
    SHARE,
    UP,
    WORDS,
    Column,
    Layout,
    Marked,
    Mentioned,
    Scale,
    Table,
    Value,
    size,
    stored,
    table,
)
from protocols.report.text import percent
from seqsearch.results.rows import Row
from seqsearch.stats.drop import Drop, GapDifference
from seqsearch.stats.interval import AGREE, shows
from seqsearch.stats.rank_test import LEVEL

Gaps = Sequence[tuple[str, GapDifference | None]]
"""Joint training beside training in sequence, by method, and of the mean."""

CAPTION = "Percent. Re-scored sequences, test images, means over sequences and training seeds."
ONE_TASK = "Percent. The one task, which is the same in all sequences, test images, means over training seeds."
ACC = Column(
    "acc_...",
    "Acc",
    "average accuracy: all tasks, after the last; bold (found): this method may be the best (95 %)",
    PERCENT,
    UP,
    f"{CLDYB}, section 5.1 (no equation)",
    "1/T sum over i <= T of a_Ti",
    below="...",
)
WORST = Column(
    "worst_found",
    "worst",
    "lowest Acc of a found sequence, mean over its training seeds",
    PERCENT,
    UP,
    OURS,
    "min over found sequences of Acc",
    below="found",
)
AR = Column(
    "ar_...",
    "AR",
    "average retention (elsewhere backward transfer): what earlier tasks kept since they were learned; 0 for T = 1",
    POINTS,
    UP,
    f"{CLDYB}, section 5.1, footnote 1: Eq. 2 with its sign turned",
    "1/(T-1) sum over i < T of (a_Ti - a_ii) = -AFM",
    below="...",
)
ALA = Column(
    "ala_...",
    "ALA",
    "average learning accuracy: each task right after it was learned",
    PERCENT,
    UP,
    f"{CLDYB}, Eq. 1",
    "1/T sum over i <= T of a_ii",
    below="...",
)
ROBUSTNESS = Column(
    "robustness",
    "Robust-",
    "lowest Acc on the sequences found for any one of the methods (--separate)",
    PERCENT,
    UP,
    f"{OURS}; section 5.2 of {CLDYB} takes the mean over the method's own sequences, which is Acc (own found)",
    "min over methods m of the mean Acc on the sequences found for m",
    below="ness",
)
OF_DROPS = f"{OURS}, docs/drop.md"
DROP = Column(
    "relative_drop",
    "Relative drop",
    "how much lower Acc is on found than on random sequences; below 0: a rise; *: harder (easier) for this method by itself, "
    "adjusted p at most 0.05",
    SHARE,
    "lower is better; higher: harder sequences",
    OF_DROPS,
    "(Acc random - Acc found) / Acc random",
    "found and random sequences, training seeds and test images, as the caption says",
    below="of Acc [95 %]",
)
SEARCHED_DROP = Column(
    "drop_searched",
    "Drop",
    "the relative drop on the sequences that were searched with the method, not those held out",
    SHARE,
    "lower is better; higher: harder sequences",
    OF_DROPS,
    "(Acc random - Acc searched) / Acc random",
    below="searched",
)
SIZES = (replace(stored("stored_mb", "Stored"), below="MB"), replace(size("size_mb", "Size"), below="MB"))
JOINTLY = Column(
    "joint_...",
    "Joint",
    "Acc of joint training: the method learns all classes of a sequence at once, with the same seeds",
    PERCENT,
    UP,
    f"{OURS}, docs/cldyb.md",
    "mean over tasks of its accuracy, as Acc",
    below="...",
)
GAP = Column(
    "gap_...",
    "Gap",
    "gap to joint training",
    POINTS,
    DOWN,
    f"{OURS}, docs/cldyb.md",
    "Acc of joint training - Acc",
    below="...",
)
GAP_LARGER = Column(
    "gap_difference",
    "Gap larger",
    "how much larger the gap is on found than on random sequences",
    POINTS,
    "higher: harder to learn continually",
    OF_DROPS,
    "gap found - gap random",
    "the same as the relative drop",
    below="by [95 %]",
)
FOUND = Layout(
    "methods", "Found against random sequences", (METHOD, ROBUSTNESS, ACC, AR, ALA, JOINTLY, DROP, GAP_LARGER, *SIZES)
)
FURTHER = Layout("further", "Further figures of methods", (METHOD, WORST, SEARCHED_DROP, *SIZES))
JOINT = Layout(
    "joint",
    "Joint training",
    (METHOD, *(c.named(side) for c in (JOINTLY, GAP) for side in ("found", "random")), GAP_LARGER),
)
"""Also of ``seqsearch score``."""
REWARD = Scale("accuracy", "any", "{:.3f}".format)
J = Column(
    "j_lowest",
    "J from",
    "values J of the candidates of a step: the least",
    REWARD,
    "higher: harder tasks",
    f"{CLDYB}, Eq. 7; rewards: Eq. 3",
    "mean over simulations of the rewards of the candidate and of the tasks looked ahead to",
)
STEPS = Layout(
    "steps",
    "Candidates evaluated",
    (
        Column("search", "Search"),
        Column("task", "Task"),
        Column("candidates", "Candidates", "candidates of the step that were evaluated by training", COUNT, NEITHER, OURS),
        J,
        replace(J, key="j_highest", heading="to", about="the greatest of them"),
        Column("j_chosen", "chosen", "that of the candidate taken", WORDS, "higher: harder tasks", f"{CLDYB}, Eq. 7"),
        Column("simulations", "Simulations", "simulations of all candidates of the step", COUNT, NEITHER, NONE,
               f"{CLDYB}, section 3.3"),
        Column("failed", "Failed", "candidates that could not be evaluated", COUNT, NEITHER, OURS),
    ),
)  # fmt: skip
LAYOUTS = (FOUND, FURTHER, JOINT, STEPS)
MENTIONED = (
    Mentioned("rewards", Column(
        "afm", "AFM", "average forgetting measure: what earlier tasks lost since they were learned; 0 for T = 1", POINTS, DOWN,
        f"{CLDYB}, Eq. 2", "1/(T-1) sum over i < T of (a_ii - a_Ti)")),
    Mentioned("trace.parquet", Column(
        "reward", "reward", "how hard a step was (--reward paper)", REWARD, "higher: harder tasks", f"{CLDYB}, Eq. 3",
        "AFM - ALA")),
)  # fmt: skip
"""Figures that stand in no table."""


def one_task(summary: Summary) -> bool:
    """Whether there is nothing but one task, which all sequences share, and nothing differs: nothing is to be compared."""
    sides = [s for m in summary.methods for s in (m.found, m.random) if s is not None]
    drops = [m.drop for m in (summary.overall, *summary.methods) if m.drop]
    return bool(sides) and all(len(s.acc_by_step) == 1 for s in sides) and all(d.nothing_differs for d in drops)


def key(summary: Summary) -> Table:
    """A row a method; with several methods the last row is their mean. Of `one_task` there is one accuracy."""
    if one_task(summary):
        sides = [(m, m.found or m.random) for m in summary.methods]
        lone = [(m.method, s.acc if s else None, m.footprint_mb, m.size_mb) for m, s in sides]
        return table(FOUND, ONE_TASK, lone, (METHOD, replace(ACC, key="acc", below=""), *SIZES), "The one task")
    columns = _columns(summary)
    marked = [*marks(summary), ""][: len(_rows(summary))]
    rows = [
        [_value(m, c.key, mark, m.method in best(summary)) for c in columns]
        for m, mark in zip(_rows(summary), marked, strict=True)
    ]
    return replace(table(FOUND, CAPTION, rows, columns), total=summary.mean is not None)


def further(summary: Summary) -> Table:
    """Figures beside those of `key`, such as the worst found sequence where a method has several. Empty for `one_task`."""
    several = any(m.found is not None and m.found.sequences > 1 for m in summary.methods)
    searched = any(m.searched for m in summary.methods)
    columns = [METHOD, *[WORST] * several, *[SEARCHED_DROP] * searched, *SIZES]
    there = _rows(summary) if several or searched else summary.methods
    rows = [[_value(m, c.key) for c in columns] for m in there]
    made = table(FURTHER, "Means over sequences and training seeds.", () if one_task(summary) else rows, columns)
    return replace(made, total=len(there) > len(summary.methods))


def _rows(summary: Summary) -> tuple[MethodSummary, ...]:
    """The methods, and their mean with its gap where all were trained jointly."""
    if summary.mean is None:
        return summary.methods
    gap = summary.gap
    whole = gap is not None and len(gap.methods) == len(summary.methods)
    return (*summary.methods, replace(summary.mean, gap=gap.of if gap and whole else None))


def _columns(summary: Summary) -> list[Column]:
    searched = any(m.searched for m in summary.methods)
    found = [ACC.named(side, side.replace(" ", "_")) for side in (["held out", "searched"] if searched else ["found"])]
    if summary.separate:
        found = [ROBUSTNESS, ACC.named("own found", "own_found")]
    jointly = any(m.gap for m in summary.methods)
    sides = [c.named(side) for c in (AR, ALA, *[JOINTLY] * jointly) for side in ("found", "random")]
    drops = [d for m in _rows(summary) for d in (m.drop, m.searched.drop if m.searched else None) if d]
    rises = any(d.relative.value < 0 and shows(d.relative.value) for d in drops)
    drop = replace(DROP, below="(negative: a rise) [95 %]") if rises else DROP
    return [METHOD, *found, ACC.named("random"), *sides, drop, *[GAP_LARGER] * jointly]


def _value(m: MethodSummary, key: str, mark: str = "", best: bool = False) -> Value:
    """Of a column of `FOUND` or `FURTHER`."""
    if key in ("acc_found", "acc_own_found", "acc_held_out"):
        return Marked(m.found.acc if m.found else None, bold=best)
    figure, _, side = key.partition("_")
    if figure in ("acc", "ar", "ala", "worst") and side in ("found", "random"):
        return getattr(getattr(m, side), figure, None)
    if key == "relative_drop":
        return Marked(m.drop.relative, mark) if m.drop else None
    if key == "drop_searched":
        return m.searched.drop.relative.value if m.searched and m.searched.drop else None
    if figure in ("joint", "gap"):
        return (getattr(m.gap, key) if side != "difference" else m.gap.difference) if m.gap else None
    values: dict[str, Value] = {
        "method": m.method,
        "robustness": m.robustness,
        "acc_searched": m.searched.acc if m.searched else None,
        "stored_mb": m.footprint_mb,
        "size_mb": m.size_mb,
    }
    return values[key]


def gaps(summary: Summary) -> Gaps:
    """Of each method, and of the mean over those that were trained jointly; nothing of `one_task`."""
    rows = [(m.method, m.gap) for m in summary.methods]
    if one_task(summary):
        return []
    return rows if summary.gap is None or len(rows) == 1 else [*rows, ("mean", summary.gap.of)]


def joint(rows: Gaps) -> Table:
    """Joint training beside training in sequence; a dash where a method was not trained jointly. No rows if none was."""
    mean = bool(rows) and rows[-1][0] == "mean"
    lead = "Percent and pp." + " The last row is the mean over the methods that were trained jointly." * mean
    made = [
        (method, *((g.joint_found, g.joint_random, g.found, g.random, g.difference) if g else [None] * 5))
        for method, g in rows
    ]
    return replace(table(JOINT, lead, made if any(g for _, g in rows) else ()), total=mean)


def best(summary: Summary) -> tuple[str, ...]:
    """The methods whose accuracy on found sequences is bold; none if any method may be the best."""
    return summary.best if len(summary.best) < len(summary.methods) else ()


def marks(summary: Summary) -> list[str]:
    """Of each method: a star where found sequences are harder (easier) for it by itself."""
    return stars([(m.drop, m.adjusted_p) for m in summary.methods])


def stars(rows: Sequence[tuple[Drop | None, float | None]]) -> list[str]:
    """The mark of each row, from its drop and its adjusted p: a star or nothing.

    No row has one if only one was compared, since the headline is its test; nor has a row whose sides show the same digits.
    """
    there = sum(p is not None for _, p in rows)
    return ["*" if there > 1 and d and p is not None and _claimed(d, p) else "" for d, p in rows]


def _claimed(d: Drop, p: float) -> bool:
    return p <= LEVEL * (1 + AGREE) and percent(d.found) != percent(d.random)


def steps_of(trace: Sequence[Row]) -> dict[tuple[str, int], list[Row]]:
    """The candidates that were evaluated by training, by search and step."""
    found: dict[tuple[str, int], list[Row]] = {}
    for row in trace:
        if not row.get("spared"):
            found.setdefault((row["search_id"], row["step"]), []).append(row)
    return found


def steps(trace: Sequence[Row]) -> Table:
    """A row a step of a search."""
    return table(STEPS, "", [_step(search, step, rows) for (search, step), rows in steps_of(trace).items()])


def _step(search: str, step: int, rows: Sequence[Row]) -> tuple[Value, ...]:
    values = [r["value"] for r in rows if r["value"] is not None]
    chosen = ", ".join(f"{r['value']:.3f}" for r in rows if r["chosen"] and r["value"] is not None) or NONE
    low, high = (min(values), max(values)) if values else (None, None)
    failed = sum(r["status"] != "ok" for r in rows)
    return search, step, len(rows), low, high, chosen, sum(r["visits"] for r in rows), failed or None
