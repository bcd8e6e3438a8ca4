"""The tables of an MCIL summary as cells, for the terminal and the report alike."""

from __future__ import annotations

import math

from protocols.mcil.compared import Difference, Noise
from protocols.mcil.judged import Judged
from protocols.mcil.summary import Summary
from protocols.report.column import SIZES
from protocols.report.edge_cells import interval, signed
from protocols.report.tables import Cells
from protocols.report.text import count, megabytes, percent
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.runs import OverRuns
from seqsearch.results.rows import model_bytes, stored_bytes

MOST_PAIRS = 30
"""Rows of the table of pairs: those that are told first."""
MOST_EXPERIENCES = 10
"""Columns of the table of experiences; of more there are the chart and experiences.parquet."""


def tables(s: Summary) -> list[Cells]:
    """All that have rows."""
    return [t for t in (overview(s), costs(s), experiences(s), pairs(s), worth(s), noise(s)) if t.rows]


def overview(s: Summary) -> Cells:
    """Every method; those that did not come to their end last."""
    rows = [(h.label, *_figures(h), status(h)) for h in s.heads]
    rows += [(m, *("-",) * 8, "no experience judged") for m in s.absent]
    headings = (
        "Method", "Avg [95 %]", "pooled", "A_1", "A_T", "PD A_1 - Avg", "PD A_1 - A_T", "forgetting", "transfer", "runs",
    )  # fmt: skip
    lead = (
        "Percent, and points; means over runs. A_t: balanced accuracy over all classes seen after experience t, the mean over "
        f"classes of the share of a class's test images that is right. Avg: mean of A_1 to A_{_last(s)}; pooled: Avg of the "
        "share of all images that is right. PD A_1 - Avg is what the paper prints, PD A_1 - A_T what its text defines. "
        "Forgetting and backward transfer: of earlier experiences, against their best, and against right after they were "
        f"learned. Intervals are over {s.unit}."
    )
    return Cells("Methods" if s.run.finished else "Methods, so far", lead, headings, tuple(rows))


def _last(s: Summary) -> str:
    T = max((len(h.curve.mean) for h in s.heads if h.curve), default=0)
    return str(T or "T")


def _figures(h: Judged) -> tuple[str, ...]:
    if not h.over:
        return ("-",) * 8
    names = ("average_pooled", "first", "last", "pd_printed", "pd_final", "forgetting", "backward_transfer")
    return (interval(h.over["average"].interval), *(percent(h.over[n].interval.value) for n in names))


def status(h: Judged) -> str:
    """Runs, and how the first ended that did not come to its end."""
    return str(h.runs) if h.status == "ok" else f"{h.ended} of {h.runs} ({h.status})"


def costs(s: Summary) -> Cells:
    """What each method trains, keeps and takes."""
    rows = tuple((h.label, *_costs(h)) for h in s.heads if h.ended)
    headings = ("Method", "stored, MB", "of it exemplars", "size, MB", "training, s", "judging, s")
    lead = f"Of a run, means. {SIZES} Times are of the machines of this run."
    return Cells("Costs", lead, headings, rows)


def _costs(h: Judged) -> tuple[str, ...]:
    c = h.costs
    stored, images, size = (
        "-" if b is None else megabytes(b / 1e6) for b in (stored_bytes(c), c["exemplar_bytes"], model_bytes(c))
    )
    return (stored, images, size, *(_seconds(c[n]) for n in ("train_seconds", "judge_seconds")))


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def experiences(s: Summary) -> Cells:
    """A_t of each method, unless there are too many experiences for a table."""
    there = [(h.label, h.curve) for h in s.heads if h.curve]
    T = max((len(c.mean) for _, c in there), default=0)
    rows = (
        [(label, *map(percent, c.mean), *("-",) * (T - len(c.mean))) for label, c in there]
        if T <= MOST_EXPERIENCES
        else []
    )
    lead = "A_t, percent, means over the runs that came to their end."
    return Cells("After each experience", lead, ("Method", *(str(t) for t in range(1, T + 1))), tuple(rows))


# ------------------------------------------------------------------------------------------------ differences


def told_first(s: Summary) -> list[Difference]:
    """Pairs that are told, the largest difference first, then the others."""
    return sorted(s.pairs, key=lambda d: (not d.pair.told, -abs(d.pair.over.interval.value)))


def pairs(s: Summary) -> Cells:
    """Of an unfinished run none."""
    there = told_first(s)
    rows = [
        (f"{d.first} - {d.second}", signed(d.pair.over.interval), p_value(d.pair.p), verdict(d))
        for d in there[:MOST_PAIRS]
    ]
    left = f" {count(len(there) - MOST_PAIRS, 'further pair')}: --json." if len(there) > MOST_PAIRS else ""
    lead = (
        "Avg of the first minus that of the second, points, over the same runs. Each interval holds by itself; p is Holm's over "
        f"all pairs, and the order goes by it (--json has intervals that hold together).{left}"
    )
    return Cells("Methods, pair by pair", lead, ("Pair", "difference [95 %]", "p", "order"), tuple(rows))


def verdict(d: Difference) -> str:
    """Which is above the other, as far as can be said."""
    if d.pair.alike:
        return "equal in every run"
    if d.pair.over.lacking:
        return "no interval"
    return f"{d.first if d.pair.over.interval.value > 0 else d.second} above" if d.pair.told else "not told"


def p_value(p: float) -> str:
    """Two digits; a very small one as a bound."""
    return "-" if math.isnan(p) else "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def worth(s: Summary) -> Cells:
    """What a method loses when it is judged otherwise than on pairs as they are."""
    of = {(o.label, o.classifier): o for o in s.others}
    rows = []
    for w in s.worth:
        avg = of[w.label, w.classifier].over["average"].interval
        rows.append((w.label, w.classifier, interval(avg), signed(w.over.interval), p_value(w.p), _lost(w.over, w.p)))
    lead = (
        "Avg, percent, of the same states judged otherwise; lost: Avg of the pairs as they are minus that, points, over the same "
        "runs. Each "
        f"interval holds by itself, over {s.unit} alone: test images are shared, and what others would show is in none. p is "
        "Holm's over this table."
    )
    return Cells(
        "What each modality is worth", lead, ("Method", "judged by", "Avg", "lost [95 %]", "p", ""), tuple(rows)
    )


def _lost(over: OverRuns, p: float) -> str:
    if over.lacking:
        return "no interval"
    return {1: "worse", -1: "better"}.get(over.interval.sign if p <= 0.05 else 0, "not told")


def noise(s: Summary) -> Cells:
    """Noise of orders and of seeds, where both were varied."""
    rows = tuple((n.label, percent(n.of.order), percent(n.of.seed), p_value(n.p), _noisy(n)) for n in s.noise)
    lead = (
        "Standard deviations of Avg, points: of class orders, each over all training seeds, and of one training of a given "
        f"order ({s.orders} orders, {s.seeds} seeds of its own each): estimates, without intervals, which from so few runs "
        "would not hold where runs are skewed (docs/mcil.md). p: that orders differ by no more than seeds explain (permutations "
        "of the runs; Holm's over methods)."
    )
    return Cells("Orders and seeds", lead, ("Method", "orders", "seeds", "p", ""), rows)


def _noisy(n: Noise) -> str:
    if n.unseeded:
        return "seeds change nothing"
    return n.of.lacking or ("orders matter" if n.p <= 0.05 else "not told from seeds")


def as_interval(i: Interval) -> dict[str, float]:
    """Plain."""
    return {"value": i.value, "low": i.low, "high": i.high}
