"""The tables of an online summary as cells, for the terminal and the report alike; which learners are compared; the stream."""

from __future__ import annotations

import math
from collections.abc import Iterable

from protocols.online.intervals import Estimate
from protocols.online.summary import Figure, Learned, Pair, Shuffled, Summary
from protocols.report.edge_cells import interval, signed
from protocols.report.tables import Cells
from protocols.report.text import count, percent
from seqsearch.distribution.interval import Interval

OVER_SEEDS = "Over training seeds"
"""The table of intervals that are for other training seeds as well."""
MOST_PAIRS = 30
"""Rows of the table of pairs: those that flip first."""
SAID = {"flips": "flips", "same": "same order", "not told": "undecided"}


def baseline(s: Summary) -> str | None:
    """The label of the blind baseline: what has figures and no code that could have an identity."""
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
    """Where a shift judges, in words."""
    return f"{shift:,} samples ahead" if shift else "online"


def figure(f: Figure | None) -> str:
    """An accuracy in percent, with its interval."""
    return "-" if f is None else interval(f.estimate.interval)


def points(t: Estimate | None, seeds: bool = False) -> str:
    """A difference in points, with its interval; ``seeds``: that for other training seeds as well."""
    return "-" if t is None or not math.isfinite(t.interval.value) else signed(t.over_seeds if seeds else t.interval)


def has_bounds(interval: Interval) -> bool:
    """The interval is known."""
    return math.isfinite(interval.low)


def per_step(value: float | None, scale: float = 1.0) -> str:
    """Something a step, three digits."""
    return "-" if value is None or not (math.isfinite(value) and value >= 0) else f"{scale * value:.3g}"


def tables(s: Summary) -> list[Cells]:
    """All that have rows."""
    return [t for t in (overview(s), by_shift(s), pairs(s), over_seeds(s), shuffled(s)) if t.rows]


# ------------------------------------------------------------------------------------------------ learners


def overview(s: Summary) -> Cells:
    """Every learner and the blind baseline."""
    rows = [_row(s, x) for x in (*learners(s), *([s.by_sample] if s.by_sample else []))]
    lost = "nothing kept yet" if not s.run.finished else "failed before its first checkpoint"
    rows += [(label, *("-",) * 6, lost) for label in absent(s)]
    future = f"S = {s.shift:,} [95 %]" if s.shift else "near future (S = 0)"
    headings = ("Learner", "online [95 %]", future, "drop [95 %]", "retention", "updates", "ms", "status")
    lead = (
        "Percent, means over training seeds; intervals are conditional on these seeds. Online: each batch before it is learned. "
        f"S = {s.shift:,}: the batch that begins so many samples after the last one learned (near-future accuracy). Both on the "
        "samples that are judged at every shift. Drop: online minus near-future, points. Retention: of the final model on the "
        "holdout. Updates and ms (learning): a step."
    )
    if s.by_sample:
        lead += (
            " Blind: the most frequent of the last k labels. By sample it sees labels of the batch that is judged, too, which "
            "learners do not: it shows what repeated labels give away, and is compared with none."
        )
    if any(x.status != "ok" for x in s.learners):
        lead += " A learner that did not come to its end was judged on fewer samples, and is compared with none."
    return Cells("Learners" if s.run.finished else "Learners, so far", lead, headings, tuple(rows))


def _row(s: Summary, x: Learned) -> tuple[str, ...]:
    return (
        x.label, figure(x.at.get(0)), figure(x.at.get(s.shift)), points(x.drop), figure(x.retention), per_step(x.updates),
        per_step(x.seconds, 1000), status(s, x),
    )  # fmt: skip


def status(s: Summary, x: Learned) -> str:
    """``ok``, or how and after how many steps the first of its runs ended that did not come to its end."""
    if x.status == "ok":
        return "ok"
    cut = [r for r in s.run.figures if r["method_id"] == x.label and not r["learned_window"] and r["status"] != "ok"]
    steps, of = min((r["steps"] for r in cut), default=0), s.stream.get("steps")
    return f"{x.status} after {steps:,}" + (f" of {of:,} steps" if isinstance(of, int) else " steps")


def by_shift(s: Summary) -> Cells:
    """Accuracy at every shift, where there is more than one beside 0."""
    shifts = sorted({shift for x in s.learners for shift in x.at})
    rows = [(x.label, *(figure(x.at.get(shift)) for shift in shifts)) for x in learners(s)] if len(shifts) > 2 else []
    lead = "Percent, on the samples that are judged at every shift. On all samples judged at each shift: --json, as_published."
    headings = ("Learner", *(f"S = {shift:,}" for shift in shifts))
    return Cells("Accuracy by shift", lead, headings, tuple(rows))


# ------------------------------------------------------------------------------------------------ pairs


def told_first(found: Iterable[Pair]) -> list[Pair]:
    """Pairs that flip, then those in the same order, then the undecided ones."""
    return sorted(found, key=lambda p: ("flips", "same", "not told").index(p.flips))


def order(p: Pair) -> str:
    """Whether the order of a pair flips, as far as its intervals say."""
    return "no interval" if p.online.unavailable_because or p.future.unavailable_because else SAID[p.flips]


def pairs(s: Summary) -> Cells:
    """Of an unfinished run, none."""
    there = told_first(s.pairs) if s.run.finished and s.shift else []
    rows = [(f"{p.first} - {p.second}", points(p.online), points(p.future), order(p)) for p in there[:MOST_PAIRS]]
    left = f" {count(len(there) - MOST_PAIRS, 'further pair')}: --json." if len(there) > MOST_PAIRS else ""
    lead = (
        "First minus second, points, on the same samples, conditional on these training seeds. The intervals of all pairs hold "
        "together (95 %). A trend that both learners share cancels. Flips: both differ "
        f"from 0, with opposite signs. Undecided: one of them may be 0.{left}"
    )
    return Cells("Rankings, pair by pair", lead, ("Pair", "online", f"S = {s.shift:,}", "order"), tuple(rows))


def over_seeds(s: Summary) -> Cells:
    """Intervals for other training seeds as well, of learners and pairs with three seeds or more; of an unfinished run, none."""
    rows = []
    for x in whole(s) if s.run.finished else []:
        found = [x.at[shift].estimate.over_seeds for shift in dict.fromkeys((0, s.shift))]
        if any(map(has_bounds, found)):
            kept = interval(x.retention.estimate.over_seeds) if x.retention else "-"
            rows.append((x.label, *map(interval, found), points(x.drop, seeds=True), kept, "-"))
    for p in told_first(s.pairs)[:MOST_PAIRS] if s.run.finished and s.shift else []:
        if any(has_bounds(t.over_seeds) for t in (p.online, p.future)):
            both = (points(t, seeds=True) for t in (p.online, p.future))
            rows.append((f"{p.first} - {p.second}", *both, "-", "-", SAID[p.flips_over_seeds]))
    lead = (
        "As above, with intervals that hold for other training seeds as well, drawn independently for each learner. They assume "
        "that accuracies of different seeds are about normal."
    )
    headings = ["Learner, or pair", "online [95 %]", "drop [95 %]", "retention [95 %]", "order"]
    if s.shift:
        headings.insert(2, f"S = {s.shift:,} [95 %]")
    return Cells(OVER_SEEDS, lead, tuple(headings), tuple(rows))


# ------------------------------------------------------------------------------------------------ shuffled


def shuffled(s: Summary) -> Cells:
    """The two by two of each learner and window."""
    orders = ("ordered", "shuffled")
    rows = [
        (
            x.label,
            f"{x.window:,}",
            *(percent(x.cells[t, "ordered"]) for t in orders), points(x.ordered),
            *(percent(x.cells[t, "shuffled"]) for t in orders), points(x.shuffled),
        )
        for x in checked(s)
    ]  # fmt: skip
    lead = (
        "Online accuracy, percent, of a learner trained in order of time (o) and of one trained on the stream shuffled within "
        "the window (s), judged in either order, on samples that neither had seen. Difference: o minus s, points; the two of a "
        "row hold together (95 %). Needs no S: what comes of having learned the very last samples shows judged in order, not "
        "judged shuffled, where s has seen more of the window."
    )
    headings = ("Learner", "window", "in order: o", "s", "difference", "shuffled: o", "s", "difference")
    return Cells("Trained and judged, in order and shuffled", lead, headings, tuple(rows))


def played(s: Summary) -> str:
    """What the stream is, as far as the run says."""
    names_ = ("samples", "classes", "search", "main", "holdout", "steps", "batch")
    found = {n: v for n in names_ if isinstance(v := s.stream.get(n), int)}
    if len(found) < len(names_):
        return ""
    classes, held_out = found["classes"], found["holdout"]
    text = (
        f"Stream {s.stream.get('name')}: {count(found['samples'], 'sample')} of "
        f"{count(classes, 'class').replace('classs', 'classes')}; {found['search']:,} to choose k and S on, {found['main']:,} "
        f"played in {count(found['steps'], 'step')} of {found['batch']:,}, "
        f"{f'{held_out:,} held out' if held_out else 'none held out, so that there is no retention'}."
    )
    chance = percent(1 / classes) if classes > 0 else "-"
    return f"{text} A class guessed at random is right in {chance} %."
