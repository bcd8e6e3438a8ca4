"""The tables of an MCIL summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from protocols.mcil.compared import Difference, Noise
from protocols.mcil.evaluated import Evaluated
from protocols.mcil.summary import Summary
from protocols.report.table import (
    COUNT,
    DIFFERENCE,
    DOWN,
    MCIL,
    MEAN,
    MEGABYTES,
    METHOD,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    POINTS,
    SECONDS,
    SPREAD,
    UP,
    Column,
    Layout,
    Marked,
    Table,
    Value,
    size,
    stored,
    table,
)
from seqsearch.core.text import counted
from seqsearch.results.rows import model_bytes, stored_bytes
from seqsearch.stats.mean import OverRuns

MOST_PAIRS = 30
"""Rows of the table of pairs: those beyond noise first."""
MOST_EXPERIENCES = 10
"""Columns of the table of experiences; of more there are the chart and experiences.parquet."""

RUNS = "runs: class orders, or training seeds of a single one"
PAIRED = "runs, paired"
OWN = f"{OURS}, docs/mcil.md"
SAID = Column("said", "result")

AVERAGE = Column(
    "average",
    "Avg [95 %]",
    "balanced accuracy, averaged over experiences",
    PERCENT,
    UP,
    f"{MCIL}, section 4.2 and appendix B (no equation)",
    "1/T sum over t of A_t",
    RUNS,
)
PRINTED = Column(
    "pd_printed",
    "PD A_1 - Avg",
    "performance drop as the paper's tables print it",
    POINTS,
    DOWN,
    f"{MCIL}, Tables 2 to 4",
    "A_1 - Avg",
)
FINAL = Column(
    "pd_final",
    "PD A_1 - A_T",
    "performance drop as the paper's text defines it: first experience to last",
    POINTS,
    DOWN,
    f"{MCIL}, appendix B (no equation)",
    "A_1 - A_T",
)
METHODS = Layout(
    "methods",
    "Methods",
    (
        METHOD,
        AVERAGE,
        PRINTED,
        FINAL,
        stored("stored_mb", "stored, MB"),
        size("size_mb", "size, MB"),
        Column("train_seconds", "training, s", "time of the trainings of a run, mean", SECONDS, DOWN, OWN),
        Column(
            "runs", "runs", "runs that came to their end, and how the first ended that did not", COUNT, NEITHER, OWN
        ),
    ),
)
FURTHER = Layout(
    "further",
    "Further figures of methods",
    (
        METHOD,
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
        Column(
            "exemplars_mb", "exemplars, MB", "stored images with their texts at the end", MEGABYTES, DOWN, OWN,
            f"bytes / 10^6, {MEAN}; 8-bit images",
        ),
        Column("judge_seconds", "evaluation, s", "time of evaluating a run, mean", SECONDS, DOWN, OWN),
    ),
)  # fmt: skip
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
        Column("p", "p", "p-value of the difference being 0, Holm's over the table", P_VALUE, NEITHER, OWN),
        Column("order", "order"),
    ),
)  # fmt: skip
MODALITIES = Layout(
    "modalities",
    "Modality ablation",
    (
        METHOD,
        Column("judged_by", "evaluated by"),
        Column(
            "average", "Avg", "balanced accuracy, averaged over experiences, of the same states evaluated otherwise", PERCENT, UP,
            OWN, "1/T sum over t of A_t", RUNS,
        ),
        Column(
            "lost", "lost [95 %]", "what the same states lose when they are evaluated otherwise", DIFFERENCE, NEITHER, OWN,
            "Avg of pairs as they are - Avg", PAIRED,
        ),
        Column("p", "p", "p-value of nothing being lost, Holm's over the table", P_VALUE, NEITHER, OWN),
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
        Column("seed_sd", "seeds", "standard deviation of Avg: of trainings of one order", SPREAD, DOWN, OWN, COMPONENTS),
        Column("p", "p", "p-value of orders that differ within seed-to-seed variation (permutations of the runs), Holm's over "
               "methods", P_VALUE, NEITHER, OWN),
        SAID,
    ),
)  # fmt: skip
LAYOUTS = (METHODS, FURTHER, EXPERIENCES, PAIRS, MODALITIES, NOISE)
"""Of all tables that a run may have."""


def tables(s: Summary) -> list[Table]:
    """All but that of `key`."""
    return [further(s), experiences(s), pairs(s), modality_ablation(s), noise(s)]


def key(s: Summary) -> Table:
    """Every method; those that did not come to their end last. Bold: those that no other is significantly above."""
    bold = best(s)
    rows = [(h.label, *_figures(h, METHODS.columns[1:4], h.label in bold), *_key_costs(h), status(h)) for h in s.heads]
    rows += [(m, *[None] * (len(METHODS.columns) - 2), "no experience evaluated") for m in s.absent]
    lead = f"Avg in percent, PD in pp: means over runs. Intervals are over {s.unit}.{test_texts(s)}"
    return table(METHODS, lead, rows, title="" if s.run.finished else "Methods, so far")


def test_texts(s: Summary) -> str:
    """A sentence on the texts of test images, where they are not as they are."""
    return {"full": "", "none": " Test images have an empty text."}.get(
        s.run.text_at_test, " Test texts are class-free."
    )


def best(s: Summary) -> list[str]:
    """Methods that may be the best: none is significantly above them. Empty if that excludes none, or nothing is compared."""
    below = {d.second if d.pair.over.interval.value > 0 else d.first for d in s.pairs if d.pair.differs}
    return [h.label for h in s.whole if h.label not in below] if below else []


def _figures(h: Evaluated, columns: Sequence[Column], bold: bool = False) -> Iterator[Value]:
    for column in columns:
        found = h.over[column.key].interval if h.over else None
        value = found if found is None or column.over else found.value
        yield Marked(value, bold=True) if bold and column is AVERAGE else value


def _key_costs(h: Evaluated) -> tuple[Value, ...]:
    if not h.ended:
        return None, None, None
    return _megabytes(stored_bytes(h.costs)), _megabytes(model_bytes(h.costs)), h.costs["train_seconds"]


def _megabytes(number: float | None) -> float | None:
    return None if number is None else number / 1e6


def status(h: Evaluated) -> str:
    """Runs, and how the first ended that did not come to its end."""
    return str(h.runs) if h.status == "ok" else f"{h.ended} of {h.runs} ({h.status})"


def further(s: Summary) -> Table:
    """Figures beside those of `key`."""
    rows = [
        (h.label, *_figures(h, FURTHER.columns[1:6]), _megabytes(h.costs["exemplar_bytes"]), h.costs["judge_seconds"])
        for h in s.heads
        if h.ended
    ]
    lead = f"Percent and pp, means over runs. Times are of the machines of this run.{test_texts(s)}"
    return table(FURTHER, lead, rows)


def experiences(s: Summary) -> Table:
    """A_t of each method, unless there are too many experiences for a table."""
    there = [(h.label, h.curve) for h in s.heads if h.curve]
    T = max((len(c.mean) for _, c in there), default=0)
    rows = [(label, *c.mean, *[None] * (T - len(c.mean))) for label, c in there] if T <= MOST_EXPERIENCES else []
    lead = f"A_t, percent, means over the runs that came to their end.{test_texts(s)}"
    return table(EXPERIENCES, lead, rows, (METHOD, *(EXPERIENCE.named(str(t)) for t in range(1, T + 1))))


# ------------------------------------------------------------------------------------------------ differences


def beyond_noise_first(s: Summary) -> list[Difference]:
    """Pairs that differ beyond noise, the largest difference first, then the others."""
    return sorted(s.pairs, key=lambda d: (not d.pair.differs, -abs(d.pair.over.interval.value)))


def pairs(s: Summary) -> Table:
    """Of an unfinished run none."""
    there = beyond_noise_first(s)
    rows = [(f"{d.first} - {d.second}", d.pair.over.interval, d.pair.p, verdict(d)) for d in there[:MOST_PAIRS]]
    left = f" {counted(len(there) - MOST_PAIRS, 'further pair')}: --json." if len(there) > MOST_PAIRS else ""
    lead = f"Each interval holds by itself; p is Holm's over all pairs, and the order goes by it.{left}{test_texts(s)}"
    return table(PAIRS, lead, rows)


def verdict(d: Difference) -> str:
    """Which is above the other, as far as can be said."""
    if d.pair.alike:
        return "equal in every run"
    if d.pair.over.unavailable_because:
        return "no interval"
    return f"{d.first if d.pair.over.interval.value > 0 else d.second} above" if d.pair.differs else "undecided"


def modality_ablation(s: Summary) -> Table:
    """The loss of a method when it is evaluated otherwise than on pairs as they are."""
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
        for w in s.modality_ablation
    ]
    lead = f"The same states, evaluated otherwise. Each interval holds by itself, over {s.unit}; all share the test images."
    return table(MODALITIES, lead, rows)


def _lost(over: OverRuns, p: float) -> str:
    if over.unavailable_because:
        return "no interval"
    return {1: "worse", -1: "better"}.get(over.interval.sign if p <= 0.05 else 0, "undecided")


def noise(s: Summary) -> Table:
    """Noise of orders and of seeds, where both were varied."""
    rows = [(n.label, n.of.order, n.of.seed, n.p, _noisy(n)) for n in s.noise]
    lead = (
        f"Estimates of standard deviations from {s.orders} orders with {s.seeds} seeds each. They have no interval, since none "
        f"holds for so few runs that are skewed (docs/mcil_statistics.md).{test_texts(s)}"
    )
    return table(NOISE, lead, rows)


def _noisy(n: Noise) -> str:
    if n.unseeded:
        return "seeds change nothing"
    return n.of.unavailable_because or ("orders matter" if n.p <= 0.05 else "within seed-to-seed variation")
