"""The tables of an MCIL summary."""

from __future__ import annotations

from collections.abc import Iterator

from protocols.mcil.compared import Difference, Noise
from protocols.mcil.judged import Judged
from protocols.mcil.summary import Summary
from protocols.report.table import (
    COUNT,
    DIFFERENCE,
    DOWN,
    MCIL,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    POINTS,
    SECONDS,
    SIZES,
    SPREAD,
    UP,
    Column,
    Layout,
    Table,
    Value,
    size,
    stored,
    table,
)
from protocols.report.text import count
from seqsearch.distribution.runs import OverRuns
from seqsearch.results.rows import model_bytes, stored_bytes

MOST_PAIRS = 30
"""Rows of the table of pairs: those beyond noise first."""
MOST_EXPERIENCES = 10
"""Columns of the table of experiences; of more there are the chart and experiences.parquet."""

RUNS = "runs: class orders, or training seeds of a single one"
PAIRED = "runs, paired"
OWN = f"{OURS}, docs/mcil.md"
TWO_DIGITS = P_VALUE._replace(text=lambda p: "< 0.0001" if p < 0.0001 else f"{p:.2g}")
METHOD = Column("method", "Method")
SAID = Column("said", "")

METHODS = Layout(
    "methods",
    "Methods",
    (
        METHOD,
        Column(
            "average", "Avg [95 %]", "balanced accuracy, averaged over experiences", PERCENT, UP,
            f"{MCIL}, section 4.2 and appendix B (no equation)", "1/T sum over t of A_t", RUNS,
        ),
        Column(
            "average_pooled", "pooled", "accuracy averaged over experiences: images weigh alike", PERCENT, UP,
            f"{MCIL}, Eq. 2 as printed", "1/T sum over t of (sum over c of right_c) / (sum over c of images_c)",
        ),
        *(
            Column(
                key, heading, f"balanced accuracy after the {which} experience, over all classes seen: classes weigh alike",
                PERCENT, UP, f"{MCIL}, the text below Eq. 2", "A_t = mean over classes c seen of right_c / images_c",
            )
            for key, heading, which in (("first", "A_1", "first"), ("last", "A_T", "last"))
        ),
        Column(
            "pd_printed", "PD A_1 - Avg", "performance drop as the paper's tables print it", POINTS, DOWN,
            f"{MCIL}, Tables 2 to 4", "A_1 - Avg",
        ),
        Column(
            "pd_final", "PD A_1 - A_T", "performance drop as the paper's text defines it: first experience to last", POINTS,
            DOWN, f"{MCIL}, appendix B (no equation)", "A_1 - A_T",
        ),
        Column(
            "forgetting", "forgetting", "what earlier experiences lost since their best; 0 for T = 1", POINTS, DOWN,
            "Riemannian Walk for Incremental Learning: Understanding Forgetting and Intransigence (Chaudhry et al., 2018), "
            "Eq. 3",
            "1/(T-1) sum over i < T of ((max over i <= t < T of a_ti) - a_Ti)",
        ),
        Column(
            "backward_transfer", "transfer",
            "backward transfer: what earlier experiences gained since they were learned; 0 for T = 1", POINTS, UP,
            "Gradient Episodic Memory for Continual Learning (Lopez-Paz and Ranzato, 2017), Eq. 3",
            "1/(T-1) sum over i < T of (a_Ti - a_ii)",
        ),
        Column("runs", "runs", "runs that came to their end, and how the first ended that did not", COUNT, NEITHER, OWN),
    ),
)  # fmt: skip
COSTS = Layout(
    "costs",
    "Costs",
    (
        METHOD,
        stored("stored_mb", "stored, MB"),
        stored("exemplars_mb", "of it exemplars"),
        size("size_mb", "size, MB"),
        Column("train_seconds", "training, s", "time of the trainings of a run, mean", SECONDS, DOWN, OWN),
        Column("judge_seconds", "judging, s", "time of judging a run, mean", SECONDS, DOWN, OWN),
    ),
)
EXPERIENCE = Column(
    "after_...",
    "...",
    "balanced accuracy after this experience, over all classes seen: classes weigh alike",
    PERCENT,
    UP,
    f"{MCIL}, the text below Eq. 2",
    "A_t = mean over classes c seen of right_c / images_c",
)
EXPERIENCES = Layout("experiences", "After each experience", (METHOD, EXPERIENCE))
PAIRS = Layout(
    "pairs",
    "Methods, pair by pair",
    (
        Column("pair", "Pair"),
        Column(
            "difference", "difference [95 %]", "of two methods over the same runs", DIFFERENCE,
            "higher: the first is better", OWN, "Avg of the first - Avg of the second", PAIRED,
        ),
        Column("p", "p", "p-value of the difference being 0, Holm's over the table", TWO_DIGITS, NEITHER, OWN),
        Column("order", "order"),
    ),
)  # fmt: skip
WORTH = Layout(
    "modalities",
    "What each modality is worth",
    (
        METHOD,
        Column("judged_by", "judged by"),
        Column(
            "average", "Avg", "balanced accuracy, averaged over experiences, of the same states judged otherwise", PERCENT, UP,
            OWN, "1/T sum over t of A_t", RUNS,
        ),
        Column(
            "lost", "lost [95 %]", "what the same states lose when they are judged otherwise", DIFFERENCE, NEITHER, OWN,
            "Avg of pairs as they are - Avg", PAIRED,
        ),
        Column("p", "p", "p-value of nothing being lost, Holm's over the table", TWO_DIGITS, NEITHER, OWN),
        SAID,
    ),
)  # fmt: skip
COMPONENTS = "sqrt of the variance components of orders and of seeds within them"
NOISE = Layout(
    "noise",
    "Orders and seeds",
    (
        METHOD,
        Column("order_sd", "orders", "standard deviation of Avg: of class orders over all their seeds", SPREAD, DOWN, OWN,
               COMPONENTS),
        Column("seed_sd", "seeds", "standard deviation of Avg: of trainings of a given order", SPREAD, DOWN, OWN, COMPONENTS),
        Column("p", "p", "p-value of orders that differ by no more than seeds explain (permutations of the runs), Holm's over "
               "methods", TWO_DIGITS, NEITHER, OWN),
        SAID,
    ),
)  # fmt: skip
LAYOUTS = (METHODS, COSTS, EXPERIENCES, PAIRS, WORTH, NOISE)
"""Of all tables that a run may have."""


def tables(s: Summary) -> list[Table]:
    """All that have rows."""
    return [t for t in (overview(s), costs(s), experiences(s), pairs(s), worth(s), noise(s)) if t.rows]


def overview(s: Summary) -> Table:
    """Every method; those that did not come to their end last."""
    rows = [(h.label, *_figures(h), status(h)) for h in s.heads]
    rows += [(m, *[None] * (len(METHODS.columns) - 2), "no experience judged") for m in s.absent]
    lead = (
        "Percent, and points; means over runs. A_t: balanced accuracy over all classes seen after experience t, the mean over "
        f"classes of the share of a class's test images that is right. Avg: mean of A_1 to A_{_last(s)}; pooled: Avg of the "
        "share of all images that is right. PD A_1 - Avg is what the paper prints, PD A_1 - A_T what its text defines. "
        "Forgetting and backward transfer: of earlier experiences, against their best, and against right after they were "
        f"learned. Intervals are over {s.unit}."
    )
    return table(METHODS, lead, rows, title="" if s.run.finished else "Methods, so far")


def _last(s: Summary) -> str:
    T = max((len(h.curve.mean) for h in s.heads if h.curve), default=0)
    return str(T or "T")


def _figures(h: Judged) -> Iterator[Value]:
    """Of the columns between the method and its runs."""
    for column in METHODS.columns[1:-1]:
        found = h.over[column.key].interval if h.over else None
        yield found if found is None or column.over else found.value


def status(h: Judged) -> str:
    """Runs, and how the first ended that did not come to its end."""
    return str(h.runs) if h.status == "ok" else f"{h.ended} of {h.runs} ({h.status})"


def costs(s: Summary) -> Table:
    """What each method trains, keeps and takes."""
    lead = f"Of a run, means. {SIZES} Times are of the machines of this run."
    return table(COSTS, lead, [(h.label, *_costs(h)) for h in s.heads if h.ended])


def _costs(h: Judged) -> Iterator[Value]:
    c = h.costs
    for found in (stored_bytes(c), c["exemplar_bytes"], model_bytes(c)):
        yield None if found is None else found / 1e6
    yield from (c["train_seconds"], c["judge_seconds"])


def experiences(s: Summary) -> Table:
    """A_t of each method, unless there are too many experiences for a table."""
    there = [(h.label, h.curve) for h in s.heads if h.curve]
    T = max((len(c.mean) for _, c in there), default=0)
    rows = [(label, *c.mean, *[None] * (T - len(c.mean))) for label, c in there] if T <= MOST_EXPERIENCES else []
    lead = "A_t, percent, means over the runs that came to their end."
    return table(EXPERIENCES, lead, rows, (METHOD, *(EXPERIENCE.named(str(t)) for t in range(1, T + 1))))


# ------------------------------------------------------------------------------------------------ differences


def beyond_noise_first(s: Summary) -> list[Difference]:
    """Pairs that differ beyond noise, the largest difference first, then the others."""
    return sorted(s.pairs, key=lambda d: (not d.pair.told, -abs(d.pair.over.interval.value)))


def pairs(s: Summary) -> Table:
    """Of an unfinished run none."""
    there = beyond_noise_first(s)
    rows = [(f"{d.first} - {d.second}", d.pair.over.interval, d.pair.p, verdict(d)) for d in there[:MOST_PAIRS]]
    left = f" {count(len(there) - MOST_PAIRS, 'further pair')}: --json." if len(there) > MOST_PAIRS else ""
    lead = (
        "Avg of the first minus that of the second, points, over the same runs. Each interval holds by itself; p is Holm's over "
        f"all pairs, and the order goes by it (--json has intervals that hold together).{left}"
    )
    return table(PAIRS, lead, rows)


def verdict(d: Difference) -> str:
    """Which is above the other, as far as can be said."""
    if d.pair.alike:
        return "equal in every run"
    if d.pair.over.lacking:
        return "no interval"
    return f"{d.first if d.pair.over.interval.value > 0 else d.second} above" if d.pair.told else "not told"


def worth(s: Summary) -> Table:
    """What a method loses when it is judged otherwise than on pairs as they are."""
    of = {(o.label, o.classifier): o for o in s.others}
    rows = [
        (
            w.label,
            w.classifier,
            of[w.label, w.classifier].over["average"].interval,
            w.over.interval,
            w.p,
            _lost(w.over, w.p),
        )
        for w in s.worth
    ]
    lead = (
        "Avg, percent, of the same states judged otherwise; lost: Avg of the pairs as they are minus that, points, over the same "
        f"runs. Each interval holds by itself, over {s.unit} alone: test images are shared, and what others would show is in "
        "none. p is Holm's over this table."
    )
    return table(WORTH, lead, rows)


def _lost(over: OverRuns, p: float) -> str:
    if over.lacking:
        return "no interval"
    return {1: "worse", -1: "better"}.get(over.interval.sign if p <= 0.05 else 0, "not told")


def noise(s: Summary) -> Table:
    """Noise of orders and of seeds, where both were varied."""
    rows = [(n.label, n.of.order, n.of.seed, n.p, _noisy(n)) for n in s.noise]
    lead = (
        "Standard deviations of Avg, points: of class orders, each over all training seeds, and of one training of a given "
        f"order ({s.orders} orders, {s.seeds} seeds of its own each): estimates, without intervals, which from so few runs "
        "would not hold where runs are skewed (docs/mcil.md). p: that orders differ by no more than seeds explain (permutations "
        "of the runs; Holm's over methods)."
    )
    return table(NOISE, lead, rows)


def _noisy(n: Noise) -> str:
    if n.unseeded:
        return "seeds change nothing"
    return n.of.lacking or ("orders matter" if n.p <= 0.05 else "not told from seeds")
