"""The tables of an online summary, and which learners are compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from protocols.online.intervals import Estimate
from protocols.online.summary import UNDECIDED, Figure, Learned, Pair, Shuffled, Summary
from protocols.report.table import (
    DIFFERENCE,
    DOWN,
    NEAR_FUTURE,
    NEITHER,
    OURS,
    PERCENT,
    UP,
    WORDS,
    Column,
    Layout,
    Marked,
    Mentioned,
    Scale,
    Table,
    Value,
    table,
)
from seqsearch.core.text import counted
from seqsearch.stats.interval import Interval

OVER_SEEDS = "Over training seeds"
"""The table of intervals that are for other training seeds as well."""
MOST_PAIRS = 30
"""Rows of the table of pairs: those that flip first."""
SAID = {"flips": "flips", "same": "same order", UNDECIDED: "undecided"}

BLOCKS = "blocks of the stream and seeds"
OWN = f"{OURS}, docs/online.md"
SHIFT = f"{OURS}, docs/shift.md"
LEARNER = Column("learner", "Learner")
ORDER = Column(
    "order",
    "order",
    "flips: both intervals exclude 0, with opposite signs; same order: with the same sign; undecided: one of them includes 0",
    WORDS,
    NEITHER,
    OWN,
)
ONLINE = Column(
    "online", "online [95 %]", "accuracy on each batch before it is learned", PERCENT, UP,
    f"{NEAR_FUTURE}, section 3.1 (no equation number)",
    "1/n sum over samples evaluated of [f_t(x) = y], x of the batch after the last one learned, t", BLOCKS,
)  # fmt: skip
FUTURE = Column(
    "near_future", "S = ... [95 %]", "near-future accuracy: on the batch that begins S samples after the last one learned",
    PERCENT, UP, f"{NEAR_FUTURE}, section 3.5 (no equation number)", "the same, x of the batch that begins at t + 1 + S", BLOCKS,
)  # fmt: skip
DROP = Column(
    "drop", "drop [95 %]", "what is lost from the next batch to S samples ahead, on the same samples", DIFFERENCE, DOWN, OWN,
    "online - near-future accuracy", BLOCKS,
)  # fmt: skip
RETENTION = Column(
    "retention", "retention [95 %]", "accuracy of the final model on the holdout", PERCENT, UP,
    f"{NEAR_FUTURE}, section 3.1: information retention, there backward transfer at the last step on a test stream",
    "right / evaluated of the holdout", BLOCKS,
)  # fmt: skip
PER_STEP = Scale("count", "from 0", lambda value: f"{value:.3g}")
LEARNERS = Layout(
    "learners",
    "Learners",
    (
        LEARNER,
        ONLINE,
        FUTURE,
        RETENTION,
        Column("ms", "ms", "time of learning, a step", PER_STEP._replace(unit="ms"), DOWN, OWN),
        Column("status", "status"),
    ),
)
FURTHER = Layout(
    "further",
    "Drop and updates",
    (LEARNER, DROP, Column("updates", "updates", "updates of a learner, a step", PER_STEP, NEITHER, OWN)),
)
AT_SHIFT = replace(FUTURE, key="at_...", heading="S = ...")
BY_SHIFT = Layout("shifts", "Accuracy by shift", (LEARNER, AT_SHIFT))
OF_TWO = Column(
    "online", "online", "difference of two learners on the same samples, online", DIFFERENCE, "higher: the first is better", OWN,
    "accuracy of the first - that of the second", "blocks of the stream and seeds, all pairs together",
)  # fmt: skip
PAIRS = Layout(
    "pairs",
    "Rankings, pair by pair",
    (
        Column("pair", "Pair"),
        OF_TWO,
        replace(OF_TWO, key="near_future", heading="S = ...", about="the same, S samples ahead"),
        ORDER,
    ),
)
SEEDS = Layout("over_seeds", OVER_SEEDS, (Column("of", "Learner, or pair"), ONLINE, FUTURE, DROP, RETENTION, ORDER))
EVALUATED = "online accuracy evaluated {} of a learner trained {}"
GAINED = Column(
    "difference_in_order", "difference", "what training in order gains, evaluated in order", DIFFERENCE, NEITHER, OWN, "o - s",
    "blocks of the stream and seeds, both of a row together",
)  # fmt: skip
SHUFFLED = Layout(
    "shuffled",
    "Trained and evaluated, in order and shuffled",
    (
        LEARNER,
        Column("window", "window"),
        *(
            Column(key, heading, EVALUATED.format(evaluated, trained), PERCENT, UP, OWN, "right / evaluated")
            for key, heading, evaluated, trained in (
                ("in_order_o", "in order: o", "in order of time", "in order"),
                ("in_order_s", "s", "in order of time", "on the shuffled stream"),
            )
        ),
        GAINED,
        *(
            Column(
                key,
                heading,
                EVALUATED.format("shuffled within the window", trained),
                PERCENT,
                UP,
                OWN,
                "right / evaluated",
            )
            for key, heading, trained in (
                ("shuffled_o", "shuffled: o", "in order"),
                ("shuffled_s", "s", "on the shuffled stream"),
            )
        ),
        replace(GAINED, key="difference_shuffled", about="what training in order gains, evaluated shuffled"),
    ),
)
LAYOUTS = (LEARNERS, FURTHER, BY_SHIFT, PAIRS, SEEDS, SHUFFLED)
"""Of all tables that a run may have."""
IN_NO_TABLE = "sentences, map and curve of the report, JSON"
MENTIONED = (
    Mentioned(IN_NO_TABLE, Column(
        "accuracy", "accuracy of the blind classifier",
        "of what predicts the most frequent of the last k labels, S samples ahead", PERCENT, NEITHER,
        f"{NEAR_FUTURE}, sections 3.2 and 3.5", "a(k, S) = share of samples with prediction = y")),
    Mentioned(IN_NO_TABLE, Column(
        "chance", "chance", "what it would get of independent labels", PERCENT, NEITHER, SHIFT,
        "e(k, S) = sum over classes c of P(predicted c) P(y = c)")),
    Mentioned(IN_NO_TABLE, Column(
        "kappa", "kappa", "its agreement beyond chance; S is where this is gone", Scale("1", "at most 1", str),
        "higher: labels are more correlated", SHIFT, "(a - e) / (1 - e)")),
)  # fmt: skip
"""Figures that stand in sentences, charts and JSON alone."""


def baseline(s: Summary) -> str | None:
    """The label of the blind baseline: it has figures, and no code with an identity."""
    return next((r["method_id"] for r in s.run.figures if not r["config_digest"]), None)


def whole(s: Summary) -> list[Learned]:
    """Learners that came to their end (the baseline among them), by near-future accuracy, highest first."""
    ended = [x for x in s.ranked(s.shift) if x.status == "ok" and 0 in x.at]
    return [x for x in ended if math.isfinite(x.at[0].accuracy) and math.isfinite(x.at[s.shift].accuracy)]


def learners(s: Summary) -> list[Learned]:
    """`whole`, and after them all others."""
    there = whole(s)
    return [*there, *(x for x in s.learners if x not in there)]


def absent(s: Summary) -> list[str]:
    """Labels of learners of the study that no figure is of: they failed before their first checkpoint, or have not begun."""
    return [str(m) for m in s.run.identity("methods") if m not in {x.label for x in s.learners}]


def checked(s: Summary) -> list[Shuffled]:
    """The checks by shuffling whose runs all came to their end, so that each pair of figures is of the same samples."""
    cut = {(r["method_id"], r["learned_window"]) for r in s.run.figures if r["status"] != "ok"}
    return [x for x in s.shuffled if not {(x.label, 0), (x.label, x.window)} & cut]


def ahead(shift: int) -> str:
    """Where a shift evaluates, in words."""
    return f"{shift:,} samples ahead" if shift else "online"


def figure(f: Figure | None) -> Interval | None:
    """An accuracy with its interval."""
    return None if f is None else f.estimate.interval


def points(t: Estimate) -> str:
    """A difference in pp, with its interval, as it is shown."""
    return DROP.text(t.interval)


def has_bounds(interval: Interval) -> bool:
    """The interval is known."""
    return math.isfinite(interval.low)


def per_step(value: float | None, scale: float = 1.0) -> float | None:
    """Something a step; None where it was not measured."""
    return None if value is None or not (math.isfinite(value) and value >= 0) else scale * value


def tables(s: Summary) -> list[Table]:
    """All but that of `key`."""
    return [further(s), by_shift(s), pairs(s), over_seeds(s), shuffled(s)]


# ------------------------------------------------------------------------------------------------ learners


def key(s: Summary) -> Table:
    """Every learner and the blind baseline. Bold: those that no other is significantly above."""
    online, future = best(s)
    rows: list[tuple[Value, ...]] = [
        (
            x.label,
            _bold(figure(x.at.get(0)), x.label in online),
            _bold(figure(x.at.get(s.shift)), x.label in future),
            figure(x.retention),
            per_step(x.seconds, 1000),
            status(s, x),
        )
        for x in _shown(s)
    ]
    lost = "nothing kept yet" if not s.run.finished else "failed before its first checkpoint"
    rows += [(label, *[None] * (len(LEARNERS.columns) - 2), lost) for label in absent(s)]
    columns = [c.named(f"{s.shift:,}") for c in LEARNERS.columns]
    lead = f"Percent, means over training seeds. S = {s.shift:,}: near-future accuracy, so many samples ahead."
    return table(LEARNERS, lead, rows, columns, "" if s.run.finished else "Learners, so far")


def _shown(s: Summary) -> list[Learned]:
    """All that have figures; the baseline that is evaluated by sample last."""
    return [*learners(s), *([s.by_sample] if s.by_sample else [])]


def _bold(found: Interval | None, bold: bool) -> Value:
    return Marked(found, bold=True) if bold and found is not None else found


def best(s: Summary) -> tuple[set[str], set[str]]:
    """Learners that may be the best, online and ahead: none is significantly above them. Empty where that excludes none."""
    names = {x.label for x in whole(s)} if s.run.finished else set()
    sides = [[(p, p.online.sign) for p in s.pairs], [(p, p.future.sign) for p in s.pairs]]
    below = [{p.second if sign > 0 else p.first for p, sign in side if sign} for side in sides]
    online, future = (names - those if those else set() for those in below)
    return online, future


def further(s: Summary) -> Table:
    """Figures beside those of `key`."""
    rows = [(x.label, None if x.drop is None else x.drop.interval, per_step(x.updates)) for x in _shown(s)]
    return table(FURTHER, "Drop: online minus near-future accuracy, pp. Updates: a step.", rows)


def status(s: Summary, x: Learned) -> str:
    """``ok``, or how and after how many steps the first of its runs ended that did not come to its end."""
    if x.status == "ok":
        return "ok"
    cut = [r for r in s.run.figures if r["method_id"] == x.label and not r["learned_window"] and r["status"] != "ok"]
    steps, of = min((r["steps"] for r in cut), default=0), s.stream.get("steps")
    return f"{x.status} after {steps:,}" + (f" of {of:,} steps" if isinstance(of, int) else " steps")


def by_shift(s: Summary) -> Table:
    """Accuracy at every shift, where there is more than one beside 0."""
    shifts = sorted({shift for x in s.learners for shift in x.at})
    rows = [(x.label, *(figure(x.at.get(shift)) for shift in shifts)) for x in learners(s)] if len(shifts) > 2 else []
    lead = (
        "Percent, on the samples that are evaluated at every shift. On all samples of each shift: --json, as_published."
    )
    return table(BY_SHIFT, lead, rows, (LEARNER, *(AT_SHIFT.named(f"{shift:,}", str(shift)) for shift in shifts)))


# ------------------------------------------------------------------------------------------------ pairs


def reversals_first(found: Iterable[Pair]) -> list[Pair]:
    """Pairs that flip, then those in the same order, then the undecided ones."""
    return sorted(found, key=lambda p: ("flips", "same", UNDECIDED).index(p.flips))


def order(p: Pair) -> str:
    """Whether the order of a pair flips, as far as its intervals say."""
    return "no interval" if p.online.unavailable_because or p.future.unavailable_because else SAID[p.flips]


def pairs(s: Summary) -> Table:
    """Of an unfinished run, none."""
    there = reversals_first(s.pairs) if s.run.finished and s.shift else []
    rows = [(f"{p.first} - {p.second}", p.online.interval, p.future.interval, order(p)) for p in there[:MOST_PAIRS]]
    left = f" {counted(len(there) - MOST_PAIRS, 'further pair')}: --json." if len(there) > MOST_PAIRS else ""
    lead = f"First minus second, pp, on the same samples. The intervals of all pairs hold together (95 %).{left}"
    return table(PAIRS, lead, rows, [c.named(f"{s.shift:,}") for c in PAIRS.columns])


def over_seeds(s: Summary) -> Table:
    """Intervals for other training seeds as well, of learners and pairs with three seeds or more; of an unfinished run, none."""
    rows: list[list[Value]] = []
    for x in whole(s) if s.run.finished else []:
        found = [x.at[shift].estimate.over_seeds for shift in dict.fromkeys((0, s.shift))]
        if any(map(has_bounds, found)):
            others = (x.drop, None if x.retention is None else x.retention.estimate)
            rows.append([x.label, *found, *(None if t is None else t.over_seeds for t in others), None])
    for p in reversals_first(s.pairs)[:MOST_PAIRS] if s.run.finished and s.shift else []:
        both = [t.over_seeds for t in (p.online, p.future)]
        if any(map(has_bounds, both)):
            rows.append([f"{p.first} - {p.second}", *both, None, None, SAID[p.flips_over_seeds]])
    lead = (
        "Intervals that hold for other training seeds as well. They assume that accuracies of different seeds are about "
        "normal."
    )
    columns = [c.named(f"{s.shift:,}") for c in SEEDS.columns if s.shift or c is not FUTURE]
    return table(SEEDS, lead, rows, columns)


# ------------------------------------------------------------------------------------------------ shuffled


def shuffled(s: Summary) -> Table:
    """The two by two of each learner and window."""
    orders = ("ordered", "shuffled")
    rows: list[tuple[Value, ...]] = [
        (
            x.label,
            f"{x.window:,}",
            *(x.cells[t, "ordered"] for t in orders),
            x.ordered.interval,
            *(x.cells[t, "shuffled"] for t in orders),
            x.shuffled.interval,
        )
        for x in checked(s)
    ]
    lead = "Online accuracy, percent: o trained in order of time, s on the shuffled stream. Difference: o minus s, pp."
    return table(SHUFFLED, lead, rows)
