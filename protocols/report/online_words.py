"""An online summary in words: its headline, findings and notes, for the terminal and the report alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from protocols.online.intervals import Estimate
from protocols.online.summary import Pair, Summary
from protocols.report import online_blind as blind
from protocols.report.online_shift import how_chosen
from protocols.report.online_tables import (
    OVER_SEEDS,
    absent,
    ahead,
    baseline,
    checked,
    has_bounds,
    learners,
    played,
    points,
    status,
    whole,
)
from protocols.report.text import cost, count, enumerated
from seqsearch.core.text import shown
from seqsearch.distribution.contrast import FEWEST_OVER
from seqsearch.distribution.interval import shows

NAMED = 3
"""Pairs that a sentence names, and half as many as learners."""
REVERSES = "With these training seeds near-future accuracy reverses"
CONDITIONS = (
    "They are conditional on these training seeds, and on how accuracy changes along this stream. They hold for other samples of "
    "these classes, with this split into search part, main part and holdout, these settings and this S"
)
ELSEWHERE = "Another stream, another order of the same samples, and S chosen on other samples are in no interval"


# ------------------------------------------------------------------------------------------------ headline


def headline(s: Summary) -> str:
    """The verdict in one line: which rankings flip between online and near-future accuracy, and whether that is beyond noise."""
    if not s.run.finished:
        return f"Not finished (it stopped at: {(s.run.stats or {}).get('reached') or 'not known'}): nothing is claimed yet."
    there = whole(s)
    if not [x for x in there if x.label != baseline(s)]:
        return "No learner came to its end: nothing is claimed."
    if not s.shift:
        return "S = 0: near-future accuracy is online accuracy here, and no ranking can flip."
    if not s.pairs:
        return f"{there[0].label} alone has figures online and {ahead(s.shift)}: there is no ranking that could flip."
    return _flipped(s) or _not_flipped(s)


def _flipped(s: Summary) -> str:
    """Empty if no pair flips."""
    flips = [p for p in s.pairs if p.flips == "flips"]
    if not flips:
        return ""
    flips.sort(key=lambda p: -min(abs(p.online.interval.value), abs(p.future.interval.value)))
    if len(s.pairs) == 1 or len(flips) == 1:
        first, second = _ordered(flips[0])
        of = f" 1 of {len(s.pairs)} pairs" if len(s.pairs) > 1 else " the ranking"
        said = f"{REVERSES}{of}, beyond noise: online {first} is above {second}, {ahead(s.shift)} below"
    else:
        named = enumerated(["{} above {}".format(*_ordered(p)) for p in flips[:NAMED]])
        more = f", and {len(flips) - NAMED} more" if len(flips) > NAMED else ""
        said = (
            f"{REVERSES} {len(flips)} of {count(len(s.pairs), 'pair')}, beyond noise: online "
            f"{named}{more}; {ahead(s.shift)} the other way round"
        )
    left = sum(p.flips == "not told" for p in s.pairs)
    return f"{said}. {count(left, 'pair')} {'is' if left == 1 else 'are'} undecided." if left else f"{said}."


def _ordered(p: Pair) -> tuple[str, str]:
    """The one that is above the other online, and that."""
    return (p.first, p.second) if p.online.sign > 0 else (p.second, p.first)


def _not_flipped(s: Summary) -> str:
    same, untold = ([p for p in s.pairs if p.flips == f] for f in ("same", "not told"))
    if not same:
        if all(p.online.unavailable_because or p.future.unavailable_because for p in s.pairs):
            return (
                f"Whether rankings flip cannot be said: {_reasons([t for p in s.pairs for t in (p.online, p.future)])}."
            )
        what = "the one pair" if len(untold) == 1 else f"none of {len(untold)} pairs"
        told = "is not" if len(untold) == 1 else "is"
        number = sum(bool(p.online.unavailable_because or p.future.unavailable_because) for p in untold)
        without = f"; {number} of them have no interval" if number > 1 else ""
        return f"No ranking is shown to flip: {what} {told} told from noise both online and {ahead(s.shift)}{without}."
    if not untold:
        if len(same) == 1:
            first, second = _ordered(same[0])
            return f"No ranking flips: {first} is above {second} online and {ahead(s.shift)}, beyond noise."
        return (
            f"No ranking flips: all {len(same)} pairs are in the same order online and {ahead(s.shift)}, beyond noise."
        )
    return (
        f"No ranking is shown to flip: {len(same)} of {len(s.pairs)} pairs are in the same order online and {ahead(s.shift)}, "
        f"beyond noise; the order of {'the other' if len(untold) == 1 else f'the other {len(untold)}'} cannot be told."
    )


# ------------------------------------------------------------------------------------------------ findings


def findings(s: Summary) -> list[str]:
    """What the data say; empty sentences are left out. Nothing of a run that is not finished."""
    if not s.run.finished:
        return []
    said = [
        how_chosen(s),
        blind.against_chance(s),
        *blind.below(s),
        turned(s),
        over_seeds(s),
        dropped(s),
        *by_order(s),
        *failed(s),
        bare(s),
    ]
    return [text for text in said if text]


def turned(s: Summary) -> str:
    """Pairs whose means change their order, and whose intervals do not say so."""
    means = [(p.online.interval.value, p.future.interval.value) for p in s.pairs if p.flips == "not told"]
    n = sum(shows(now) and shows(later) and (now > 0) != (later > 0) for now, later in means)
    if not n or not s.shift:
        return ""
    of = "the one pair" if len(s.pairs) == 1 else f"{n} of {len(s.pairs)} pairs"
    return f"The means of {of} change their order without an interval that tells it: this may be noise."


def over_seeds(s: Summary) -> str:
    """Which rankings that flip with these training seeds flip with others as well; empty below three seeds."""
    flips = [p for p in s.pairs if p.flips == "flips"]
    known = [p for p in flips if has_bounds(p.online.over_seeds) and has_bounds(p.future.over_seeds)]
    if not known:
        return ""
    wider = [p for p in known if p.flips_over_seeds == "flips"]
    which = "; --seeds adds seeds."
    if wider:
        more = f" and {len(wider) - NAMED} more" if len(wider) > NAMED else ""
        which = f" ({enumerated([' - '.join(_ordered(p)) for p in wider[:NAMED]])}{more})."
    number = str(len(wider)) if wider else "none"
    return f"Flips that hold over other training seeds as well: {number} of {len(known)}{which}"


def dropped(s: Summary) -> str:
    """Which learners lose accuracy ahead beyond noise, each by an interval of its own."""
    there = [x for x in whole(s) if x.drop is not None and x.drop.sign > 0]
    if not there:
        return ""
    there.sort(key=lambda x: -x.drop.interval.value if x.drop else 0.0)
    named = [f"{x.label} {points(x.drop)}" for x in there[: 2 * NAMED]]
    more = f", and {len(there) - 2 * NAMED} more" if len(there) > 2 * NAMED else ""
    return (
        f"Lower {ahead(s.shift)} than online, in points, each by an interval of its own: {enumerated(named)}{more}. The drop has "
        "in it what labels of neighbours gave away, and what changes in the stream within S samples."
    )


def by_order(s: Summary) -> list[str]:
    """What the two by two tells, learner by learner."""
    said = []
    for x in checked(s):
        if x.ordered.sign > 0 and x.shuffled.sign < 0:
            said.append(
                f"{x.label}, windows of {x.window:,}: trained in order it is {points(x.ordered)} points above trained shuffled "
                f"where judged in order, and {points(x.shuffled)} where judged shuffled: what it gains in order does not hold "
                "where neighbours are apart."
            )
        elif x.ordered.sign or x.shuffled.sign:
            told = [
                f"{points(t)} points where judged {where}"
                for t, where in ((x.ordered, "in order"), (x.shuffled, "shuffled"))
                if t.sign
            ]
            said.append(
                f"{x.label}, windows of {x.window:,}: trained in order minus trained shuffled is {enumerated(told)}."
            )
    return said


def failed(s: Summary) -> list[str]:
    """Learners that have no comparable figures, and why."""
    cut = [
        f"{x.label} did not come to its end ({status(s, x)}): it is in no comparison."
        for x in learners(s)
        if x.status != "ok"
    ]
    return [
        *cut,
        *(f"{label} has no figures: it failed before its first checkpoint (log.jsonl)." for label in absent(s)),
    ]


def bare(s: Summary) -> str:
    """Why figures have no intervals."""
    told = _estimates(s)
    without = [t for t in told if t.unavailable_because]
    if not without:
        return ""
    share = "None" if len(without) == len(told) else f"{len(told) - len(without)}"
    return f"{share} of {len(told)} figures and differences have an interval; else: {_reasons(without)}."


def _estimates(s: Summary) -> list[Estimate]:
    """All figures and differences of learners that came to their end."""
    found = [f.estimate for x in whole(s) for f in (*x.at.values(), *([x.retention] if x.retention else []))]
    checks = [t for x in checked(s) for t in (x.ordered, x.shuffled)]
    return [*found, *(x.drop for x in whole(s) if x.drop), *(t for p in s.pairs for t in (p.online, p.future)), *checks]


def _reasons(without: Sequence[Estimate]) -> str:
    """Why some have no interval: what is said most often first."""
    found = Counter(t.unavailable_because for t in without if t.unavailable_because).most_common()
    more = f" / {count(len(found) - NAMED, 'further reason')}: --json" if len(found) > NAMED else ""
    return " / ".join(reason for reason, _ in found[:NAMED]) + more


# ------------------------------------------------------------------------------------------------ notes


def notes(s: Summary) -> list[str]:
    """What the figures rest on and what they cost; of an unfinished run how to go on."""
    about = [played(s)]
    if s.run.finished:
        about += [conditional(s), *seeds(s)]
    elif s.run.resume:
        about.append(f"Go on with: {s.run.resume}")
    return [shown(n) for n in (*about, *cost(s.run.stats)) if n]


def conditional(s: Summary) -> str:
    """What intervals are conditional on; empty where there is none."""
    blocks = {t.blocks for t in _estimates(s) if not t.unavailable_because and t.blocks}
    if not blocks:
        return ""
    number = f"{min(blocks):,}" if len(blocks) == 1 else f"{min(blocks):,} to {max(blocks):,}"
    wider = any(has_bounds(t.over_seeds) for t in _estimates(s))
    others = f' Those of "{OVER_SEEDS}" hold for other training seeds as well.' if wider else ""
    return (
        f"95 % intervals rest on {number} blocks of samples, because neighbouring samples are correlated. "
        f"{CONDITIONS}.{others} {ELSEWHERE}."
    )


def seeds(s: Summary) -> list[str]:
    """Of how many trainings the figures are means."""
    numbers = {x.seeds for x in s.learners if x.label != baseline(s)}
    most = max(numbers, default=0)
    text = (
        f"Accuracies are means over {count(most, 'training seed')}"
        if most > 1
        else "Each learner was trained with one seed"
    )
    text += " (one of learners that draw nothing)" if most > 1 and 1 in numbers else ""
    return [
        text + (f"; intervals for other training seeds need {FEWEST_OVER}: --seeds." if most < FEWEST_OVER else ".")
    ]
