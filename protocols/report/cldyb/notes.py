"""The notes of a CLDyB summary, its headline and its tiles; score uses some of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from protocols.cldyb.compared import Placed
from protocols.cldyb.joint import Gap
from protocols.cldyb.steps import Screened
from protocols.cldyb.summary import MethodSummary, Side, Summary
from protocols.cldyb.surrogates import Agreement, Surrogates
from protocols.report.cldyb.tables import Gaps, best, gaps, one_task
from protocols.report.cldyb.tables import marks as stars_of
from protocols.report.common_notes import at_chance, cost, provenance, without_interval
from protocols.report.notes import Note, note
from protocols.report.text import p_text, percent
from protocols.report.view import Tile
from seqsearch.core.text import shown
from seqsearch.stats.contrast import IMAGES, SEEDS
from seqsearch.stats.difference import SEARCHES, HeldOut
from seqsearch.stats.drop import FOUND, Drop
from seqsearch.stats.interval import AGREE, shows
from seqsearch.stats.rank_test import LEVEL, fewest_random

NARROWS = {FOUND: "--searches", "random sequences": "--random-sequences", SEEDS: "--score-seeds"}
"""The option that narrows an interval, by the largest contribution to the interval's width."""


# ------------------------------------------------------------------------------------------------ verdict


def headline(s: Summary) -> Note:
    """The verdict of the rank test, or why there is none."""
    drop, placed = s.overall.drop, s.placed
    if s.unfinished:
        return note("run.unfinished", reached=s.unfinished.reached)
    if one_task(s):
        return note("cldyb.one_task")
    if drop is None or placed is None:
        return note("cldyb.no_comparison" if s.random_sequences else "cldyb.no_random")
    t = placed.test
    of: dict[str, Any] = {"found": t.found, "end": t.end, "p": t.p, "as_extreme": t.as_extreme, "random": t.random}
    if s.placebo:
        return Note("cldyb.placebo_significant" if claimed(drop, placed) else "cldyb.placebo_undecided", of)
    if drop.nothing_differs:
        return note("cldyb.equal")
    if percent(drop.found) == percent(drop.random):
        return note("cldyb.same_digits")
    if not t.significant and t.needed:
        return note("cldyb.too_few", **of, needed=t.needed, enough=t.random + t.needed)
    if s.baseline != "uniform":
        of |= {"baseline": s.baseline}
        return Note("cldyb.significant_than" if t.significant else "cldyb.undecided_than", of)
    if not t.significant:
        return Note("cldyb.undecided", of)
    if unselected(s):
        return Note("cldyb.unselected", of)
    whole = s.gap is not None and len(s.gap.methods) == len(s.methods)
    larger = whole and s.gap is not None and s.gap.of.difference.sign > 0 and t.end == "harder"
    return Note("cldyb.continually" if larger else "cldyb.significant", of)


def claimed(drop: Drop | None, placed: Placed | None) -> bool:
    """Whether the verdict is that found sequences are harder (easier)."""
    if drop is None or placed is None or drop.nothing_differs or percent(drop.found) == percent(drop.random):
        return False
    return placed.test.significant


def harder(drop: Drop | None, placed: Placed | None) -> bool:
    """Whether the verdict is that found sequences are harder."""
    return claimed(drop, placed) and placed is not None and placed.test.end == "harder"


def unselected(s: Summary) -> bool:
    """No step had two evaluated candidates, or J separated none of them; not if that is unknown."""
    of = s.steps
    return bool(of.alone) if not of.number else not (of.told or of.unknown)


def tiles(s: Summary) -> Iterator[Tile]:
    """The figures of the headline."""
    if s.overall.drop is not None and not one_task(s):
        yield from tiles_of(s.overall.drop, s.placed)


def seeds_alone(drop: Drop) -> bool:
    """Whether the accuracies shown differ only because found sequences have more training seeds."""
    return drop.nothing_differs and percent(drop.found) != percent(drop.random)


def tiles_of(drop: Drop, placed: Placed | None) -> Iterator[Tile]:
    """Accuracies, the relative drop, and where the found sequences stand among the random ones."""
    if seeds_alone(drop):
        return
    yield Tile(f"{percent(drop.found)} %", "final Acc, found sequences", "found")
    yield Tile(f"{percent(drop.random)} %", "final Acc, random sequences", "random")
    if drop.nothing_differs:
        return
    r = drop.relative
    bounds = f"95 % [{percent(r.low)}, {percent(r.high)}]" if math.isfinite(r.low) else "no interval"
    yield Tile(f"{percent(r.value)} %", f"relative drop, {bounds}")
    if placed:
        t = placed.test
        side, n = "below" if t.end == "harder" else "above", t.random - t.as_extreme
        yield Tile(f"{side} {n} of {t.random}", f"random sequences{' on average' * (t.found > 1)}, p = {p_text(t.p)}")


# ------------------------------------------------------------------------------------------------ notes


def notes(s: Summary) -> Iterator[Note]:
    """Conditions, missing figures, reasons for the difficulty of found sequences, and cost; of an unfinished run its progress."""
    if s.unfinished:
        yield note("run.resume", command=shown(s.unfinished.resume))
        for name, n in s.unfinished.decided:
            yield note("cldyb.decided", search=name, decided=n, tasks=s.unfinished.tasks)
        yield note("cldyb.rescored", rollouts=s.unfinished.scored)
    else:
        yield from _finished(s)
    yield from cost(s.stats)


def _finished(s: Summary) -> Iterator[Note]:
    several = not one_task(s)
    drop = s.overall.drop
    if s.placed:
        yield from tested(s.placed, drop)
    if s.same and (drop.nothing_differs if drop else not several):
        yield note("cldyb.same", why=s.same)
    if several and s.random_sequences:
        yield from _compared(s)
    yield from bold(best(s), "found")
    if s.images:
        yield note("cldyb.images", trained=s.images.trained, test=s.images.test)
        if several and s.images.searched != s.images.trained:
            yield note("cldyb.images_searched", searched=s.images.searched)
    for trouble in s.troubles:
        yield note("cldyb.trouble", what=shown(trouble))
    yield from at_chance(s.at_chance)
    yield from provenance(s.provenance)
    yield from _steps(s)
    if several:
        yield from statement(s.gap, drop, s.placed)
        yield from jointly(gaps(s), drop, s.placed)
        yield from _robustness(s)
        yield from _searches(s)
    yield from confusion(s.overall)


def _compared(s: Summary) -> Iterator[Note]:
    first = next((m.drop for m in (s.overall, *s.methods) if m.drop), None)
    if first is None:
        return
    if not first.nothing_differs:
        yield from marks(s.placed, stars_of(s))
    own = s.separate or any(m.searched for m in s.methods)
    yield from covered(first, len(s.methods) if own else 1)
    if len(s.methods) > 1 and not first.unavailable_because and not first.nothing_differs:
        yield note("cldyb.each")
    if s.mean:
        yield from without_interval([(m.method, m.drop) for m in s.methods if m.drop])


def covered(drop: Drop, searches: int = 1, shared_first: bool = True) -> Iterator[Note]:
    """Conditions of the drop's interval, and the option that would narrow it; without an interval the reason.

    ``searches``: groups of methods that have found sequences of their own; ``shared_first``: all sequences begin with one task.
    """
    if seeds_alone(drop):
        yield note("cldyb.other_seeds", found=drop.found, random=drop.random)
    if drop.nothing_differs:
        return
    if drop.unavailable_because:
        yield note("cldyb.no_interval", why=drop.unavailable_because)
        return
    parts = {FOUND: drop.over_searches, "random sequences": True, SEEDS: drop.over_seeds, IMAGES: not drop.these_images}
    given = ["first task"] * shared_first + ["split of the images"] + [part for part, over in parts.items() if not over]
    yield note(
        "cldyb.over_searches" if drop.over_searches else "cldyb.these_found",
        over=["searches" if part == FOUND else part for part, over in parts.items() if over],
        given=given,
        found=drop.found_sequences,
        random=drop.random_sequences,
        seeds=drop.seeds,
    )
    if searches > 1 and not drop.over_searches:
        yield note("cldyb.own_sequences", searches=searches)
    if not drop.over_seeds:
        yield note("cldyb.these_seeds")
    if drop.over_searches or drop.over_seeds:
        c = drop.conditional
        yield note("cldyb.conditional", low=c.low, high=c.high)
        if c.sign and not drop.relative.sign:
            yield note("cldyb.only_these")
    part, share = max(drop.shares.items(), key=lambda pair: pair[1], default=("", 0.0))
    if share < 0.5:
        return
    if part == IMAGES:
        yield note("cldyb.widest_images", share=share)
    else:
        yield note("cldyb.widest", share=share, part=part, flag=NARROWS[part])


def tested(placed: Placed, drop: Drop | None) -> Iterator[Note]:
    """That the search was for easy sequences, if it was; and why a test may show nothing where the interval excludes 0."""
    if placed.test.end == "easier":
        yield note("cldyb.easy")
    searched = 1 if placed.test.end == "harder" else -1
    if drop and drop.relative.sign == searched and not placed.test.significant and not placed.test.needed:
        yield note("cldyb.test_alone")


def marks(placed: Placed | None, shown_marks: Sequence[str], which: str = "found") -> Iterator[Note]:
    """The meaning of stars in a table, or that no row has one; none with one method, or if no row could have one.

    ``which``: of the found sequences, where a table has two kinds.
    """
    if placed is None or (n := len(placed.adjusted_p)) < 2:
        return
    t, tests = placed.test, 1 if placed.shared else n
    if t.random < fewest_random(t.found, LEVEL / tests):
        return
    correction = "step-down max-T" if placed.shared else "Holm"
    of = {"which": which, "end": t.end, "level": LEVEL, "correction": correction, "methods": n}
    yield Note("cldyb.stars" if any(shown_marks) else "cldyb.no_stars", of)


def bold(methods: Sequence[str], which: str) -> Iterator[Note]:
    """Which methods are bold."""
    if methods:
        yield note("cldyb.bold", which=which, methods=list(methods))


# ------------------------------------------------------------------------------------------------ search


def _steps(s: Summary) -> Iterator[Note]:
    """At how many steps J did not separate candidates; steps with one candidate do not count where another had two."""
    of = s.steps
    if of.alone and not of.number:
        yield note("cldyb.one_candidate")
    if of.equal + of.noise:
        yield note("cldyb.flat", flat=of.equal + of.noise, steps=of.number)
        yield note("cldyb.flat_steps", equal=of.equal, noise=of.noise, unknown=of.unknown)
    if unselected(s):
        yield note("cldyb.by_chance" if s.baseline == "greedy" else "cldyb.no_signal")
    elif s.baseline == "greedy" and not s.placebo and s.placed and claimed(s.overall.drop, s.placed):
        yield note("cldyb.by_choosing", end=s.placed.test.end)


def _robustness(s: Summary) -> Iterator[Note]:
    """Robustness of methods that were searched alone, and methods whose own search fell short."""
    if not s.separate:
        return
    yield note("cldyb.robustness")
    for m in s.methods:
        own, low = dict(m.elsewhere).get(m.method), m.robustness
        if own is not None and low is not None and shows(own - low) and percent(own) != percent(low):
            others = [name for name, acc in m.elsewhere if acc <= low + AGREE]
            yield note("cldyb.fell_short", method=m.method, own=own, low=low, others=others)


def _searches(s: Summary) -> Iterator[Note]:
    if s.surrogates:
        yield from _surrogates(s.surrogates)
    if s.screened:
        yield from _screened(s.screened)
    if any(m.searched for m in s.methods):
        yield note("cldyb.left_out")
    if s.held_out:
        yield from _held_out(s.held_out)


def _surrogates(s: Surrogates) -> Iterator[Note]:
    """Who searched, and how much that says of the methods."""
    yield note("cldyb.surrogates", surrogates=list(s.labels))
    if s.tuned:
        yield note("cldyb.surrogates_tuned")
    elif not s.agreements:
        yield note("cldyb.surrogates_unknown")
    else:
        yield from map(_agreement, s.agreements)
        yield note("cldyb.agreement_given", seeds=s.agreements[0].seeds)


def _agreement(a: Agreement) -> Note:
    c = a.coefficient.value
    of = {"surrogate": a.surrogate, "method": a.method, "sequences": a.sequences, "rho": c.value}
    if not math.isfinite(c.low):
        return Note("cldyb.agreement_unclear", of)
    return note("cldyb.agreement", **of, low=c.low, high=c.high)


def _screened(s: Screened) -> Iterator[Note]:
    """Candidates that were left untrained, and how well their rewards were predicted."""
    yield note("cldyb.screened", spared=s.spared, candidates=s.candidates, narrowed=s.narrowed, steps=s.steps)
    if s.predicted > s.narrowed:
        yield note("cldyb.screened_all", steps=s.predicted - s.narrowed)
    if not s.correlations:
        yield note("cldyb.screened_unknown")
        return
    low, mean, high = min(s.correlations), sum(s.correlations) / len(s.correlations), max(s.correlations)
    yield note("cldyb.screened_rank", mean=mean, steps=len(s.correlations), low=low, high=high)
    if s.narrowed:
        yield note("cldyb.screened_narrowed")


def _held_out(h: HeldOut) -> Iterator[Note]:
    """The cost of being searched for, and the conditions of its interval."""
    yield note("cldyb.held_out", difference=h.difference)
    if h.unavailable_because:
        yield note("cldyb.held_out_no_interval", why=h.unavailable_because)
        return
    given = ["methods", "first task", "split", *(p for p in (SEARCHES, SEEDS, IMAGES) if p not in h.parts)]
    yield note("cldyb.held_out_over", over=list(h.parts), given=given, groups=h.groups, seeds=h.seeds)
    c = h.conditional
    if {SEARCHES, SEEDS} & {*h.parts} and math.isfinite(c.low):
        yield note("cldyb.held_out_conditional", low=c.low, high=c.high)


# ------------------------------------------------------------------------------------------------ harder for whom


def for_whom(gap: Gap | None, drop: Drop | None, placed: Placed | None) -> str:
    """`statement` as text, for JSON; may be empty."""
    return " ".join(n.text for n in statement(gap, drop, placed))


def statement(gap: Gap | None, drop: Drop | None, placed: Placed | None) -> Iterator[Note]:
    """Whether harder sequences are harder to learn continually, or made of harder classes; nothing without that verdict."""
    if gap is None or not harder(drop, placed):
        return
    g, d = gap.of, gap.of.difference
    loss = g.joint_random - g.joint_found
    of = {"methods": list(gap.methods), "gap": d}
    if d.sign > 0:
        yield Note("cldyb.gap_larger_too" if loss > 0 and shows(loss) else "cldyb.gap_larger", of)
    else:
        most = d.high if math.isfinite(d.high) else 2 * abs(d.value)  # by which the gap may be larger
        sure = loss > 0 and loss + d.value > most
        yield Note("cldyb.harder_classes" if sure else "cldyb.maybe_harder_classes", of)
    yield note("cldyb.joint_loss", joint=loss, sequence=loss + d.value)


def jointly(rows: Gaps, drop: Drop | None, placed: Placed | None) -> Iterator[Note]:
    """Which methods were not trained jointly, and why a difference of gaps has no interval."""
    without = [method for method, g in rows if g is None]
    if len(without) == len(rows):
        if harder(drop, placed):
            yield note("cldyb.no_joint")
        return
    if not harder(drop, placed) and not (placed and placed.test.end == "easier"):
        yield note("cldyb.joint_unsaid")
    if without:
        yield note("cldyb.not_jointly", methods=without)
    for why in dict.fromkeys(g.unavailable_because for _, g in rows if g and g.unavailable_because):
        yield note("cldyb.gap_no_interval", why=why)


def confusion(row: MethodSummary) -> Iterator[Note]:
    """Task difficulty apart from confusion between tasks: with scores masked to its own classes a task stands alone.

    Nothing of one task. The parts of a difference have a note where it or one of them shows.
    """
    found, random = row.found, row.random
    if found is None or random is None or not random.masked_by_step or len(found.masked_by_step) < 2:
        return
    acc, tasks = random.acc - found.acc, random.masked_by_step[-1] - found.masked_by_step[-1]
    if shows(acc) or shows(tasks) or shows(acc - tasks):
        yield note("cldyb.confusion", acc=acc, tasks=tasks, confusion=acc - tasks)
    yield note("cldyb.confusion_steps", found=_gaps(found), random=_gaps(random))


def _gaps(side: Side) -> list[float]:
    return [m - a for m, a in zip(side.masked_by_step, side.acc_by_step, strict=True)]
