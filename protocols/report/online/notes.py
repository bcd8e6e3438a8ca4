"""The notes of an online summary, and its headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from protocols.online.intervals import Estimate
from protocols.online.summary import UNDECIDED, Pair, Summary
from protocols.report.common_notes import cost, unfinished
from protocols.report.notes import Note, note
from protocols.report.online import blind
from protocols.report.online.tables import absent, baseline, best, checked, has_bounds, learners, status, whole
from protocols.report.text import percent
from protocols.report.view import Tile
from seqsearch.core.typed import fits
from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.interval import shows

NAMED = 3
"""Pairs and reasons that have a note, or that a note names."""
NAMES = 6
"""Learners that a note names."""
PAPER_SETS = ("cglm", "cloc")


# ------------------------------------------------------------------------------------------------ headline


def headline(s: Summary) -> Note:
    """Which rankings reverse between online and near-future accuracy, beyond noise."""
    if not s.run.finished:
        return unfinished(s.run.stats)
    there = whole(s)
    if all(x.label == baseline(s) for x in there):
        return note("online.none")
    if not s.shift:
        return note("online.no_shift")
    return _verdict(s) if s.pairs else note("online.one", learner=there[0].label)


def _verdict(s: Summary) -> Note:
    flips, undecided, n = reversed_pairs(s), _undecided(s), len(s.pairs)
    if len(flips) > 1:
        return note("online.reverse", reversed=len(flips), pairs=n)
    if flips:
        above, below = _ordered(flips[0])
        return note("online.reverses", above=above, below=below, shift=s.shift)
    if all(map(_without, s.pairs)):
        return note("online.open")
    if undecided:
        return note("online.undecided", undecided=undecided, pairs=n)
    if n > 1:
        return note("online.keep", pairs=n, shift=s.shift)
    above, below = _ordered(s.pairs[0])
    return note("online.keeps", above=above, below=below, shift=s.shift)


def reversed_pairs(s: Summary) -> list[Pair]:
    """Pairs that flip, the one whose smaller difference is largest first."""
    flips = [p for p in s.pairs if p.flips == "flips"]
    return sorted(flips, key=lambda p: -min(abs(p.online.interval.value), abs(p.future.interval.value)))


def _undecided(s: Summary) -> int:
    return sum(p.flips == UNDECIDED for p in s.pairs)


def _ordered(p: Pair) -> tuple[str, str]:
    """The one that is above the other online, and that."""
    return (p.first, p.second) if p.online.sign > 0 else (p.second, p.first)


def _without(p: Pair) -> bool:
    return bool(p.online.unavailable_because or p.future.unavailable_because)


def tiles(s: Summary) -> Iterator[Tile]:
    """The figures of the headline."""
    there = whole(s)
    if not s.run.finished or not there:
        return
    if s.shift and not all(map(_without, s.pairs)):
        yield Tile(f"{len(reversed_pairs(s))} of {len(s.pairs)}", "pairs reverse significantly", "found")
        yield Tile(f"{_undecided(s)} of {len(s.pairs)}", "pairs are undecided")
    first = there[0]
    yield Tile(f"{percent(first.at[s.shift].accuracy)} %", f"near-future accuracy of {first.label}, the highest")
    yield Tile(f"{s.shift:,}", "samples ahead (S)")


# ------------------------------------------------------------------------------------------------ notes


def notes(s: Summary) -> Iterator[Note]:
    """Findings, conditions, the choice of S, the stream and cost; of an unfinished run the command that continues it."""
    if s.run.finished:
        yield from _conditions(s)
        yield from _seeds(s)
        yield from _failed(s)
        yield from _without_interval(s)
        yield from _named(s) if _is_named(s) else _chosen(s)
        yield from _against_chance(s)
        yield from _pairs(s)
        yield from _beside_baseline(s)
        yield from _dropped(s)
        yield from _by_order(s)
    elif s.run.resume:
        yield note("run.resume", command=s.run.resume)
    if s.by_sample:
        yield note("online.by_sample")
    yield from _stream(s)
    yield from cost(s.run.stats)


def _estimates(s: Summary) -> list[Estimate]:
    """All figures and differences of learners that came to their end."""
    found = [f.estimate for x in whole(s) for f in (*x.at.values(), *([x.retention] if x.retention else []))]
    checks = [t for x in checked(s) for t in (x.ordered, x.shuffled)]
    return [*found, *(x.drop for x in whole(s) if x.drop), *(t for p in s.pairs for t in (p.online, p.future)), *checks]


def _conditions(s: Summary) -> Iterator[Note]:
    """Nothing where there is no interval."""
    there = _estimates(s)
    if blocks := {t.blocks for t in there if not t.unavailable_because and t.blocks}:
        yield note("online.conditional")
        yield note("online.settings")
        yield note("online.blocks", blocks=(min(blocks), max(blocks)))
    if any(has_bounds(t.over_seeds) for t in there):
        yield note("online.wider")
    if any(best(s)):
        yield note("online.bold")


def _seeds(s: Summary) -> Iterator[Note]:
    """Of how many trainings the figures are means."""
    numbers = {x.seeds for x in s.learners if x.label != baseline(s)}
    if not numbers:
        return
    yield note("online.seeds", seeds=max(numbers))
    if max(numbers) > 1 and 1 in numbers:
        yield note("online.not_sampled")
    if max(numbers) < FEWEST_OVER:
        yield note("online.few_seeds", fewest=FEWEST_OVER, seeds=max(numbers))


def _failed(s: Summary) -> Iterator[Note]:
    """Learners that have no comparable figures, and why."""
    if cut := [f"{x.label} ({status(s, x)})" for x in learners(s) if x.status != "ok"]:
        yield note("online.failed", learners=cut)
    if gone := absent(s):
        yield note("online.absent", learners=gone)


def _without_interval(s: Summary) -> Iterator[Note]:
    """Why figures have no interval: the most frequent reason first."""
    there = _estimates(s)
    found = Counter(t.unavailable_because for t in there if t.unavailable_because).most_common()
    for why, number in found[:NAMED]:
        yield note("online.no_interval", without=number, of=len(there), why=why)
    if len(found) > NAMED:
        yield note("online.reasons", reasons=len(found) - NAMED)
    if without := sum(map(_without, s.pairs)):
        yield note("online.pairs_without", without=without, pairs=len(s.pairs), shift=s.shift)


# ------------------------------------------------------------------------------------------------ S


def _is_named(s: Summary) -> bool:
    return s.run.shift.get("named") is True or _asked(s) not in ("", "auto")


def _asked(s: Summary) -> str:
    return str(blind.setting(s, "shift") or "")


def _named(s: Summary) -> Iterator[Note]:
    """How S was named, and the S that the rule gives on the search part."""
    asked = _asked(s)
    yield note("online.shift_paper" if asked in PAPER_SETS else "online.shift_named", asked=asked, shift=s.shift)
    by_rule = s.run.shift.get("by_rule")
    rule = by_rule.get("shift") if isinstance(by_rule, dict) else None
    if not _natural(rule):
        yield note("online.rule_none")
    elif rule > s.shift:
        yield note("online.rule_longer", rule=rule, shift=s.shift)
    else:
        yield note("online.rule", rule=rule)
        return
    if any(not t.unavailable_because for t in _estimates(s)):
        yield note("online.too_sure")


def _natural(value: Any) -> TypeGuard[int]:
    return fits(value, int) and value >= 0


def _chosen(s: Summary) -> Iterator[Note]:
    """How S was chosen."""
    labels, blocks, plateau = (s.run.shift.get(name) for name in ("n", "blocks", "plateau"))
    yield note("online.shift_chosen", shift=s.shift)
    if _natural(labels) and _natural(blocks):
        yield note("online.shift_labels", labels=labels, blocks=blocks)
    null = str(blind.setting(s, "null") or "independence")
    if null != "independence":
        yield note("online.shift_null", null=null, tolerance=blind.tolerance(s))
        return
    yield note("online.shift_kappa", tolerance=blind.tolerance(s))
    if blind.is_share(plateau):
        yield note("online.plateau", plateau=plateau)


# ------------------------------------------------------------------------------------------------ the blind baseline


def _against_chance(s: Summary) -> Iterator[Note]:
    """The baseline beside chance (independent labels); nothing without a sweep of the main part."""
    for shift in dict.fromkeys((0, s.shift)):
        if (r := blind.standing(s, shift)) is not None:
            yield note(
                "online.blind_ahead" if shift else "online.blind_online",
                shift=shift,
                samples=r["n"],
                k=r["k"],
                accuracy=r["accuracy"],
                chance=r["chance"],
                kappa=r["kappa"],
            )
    if not s.shift or blind.standing(s, s.shift) is None:
        return
    most, tolerance = blind.most_agreeing(s, s.shift), blind.tolerance(s)
    above = most["kappa"] > tolerance
    values = {"shift": s.shift, "kappa": most["kappa"], "k": most["k"], "tolerance": tolerance}
    yield Note("online.kappa_above" if above else "online.kappa_within", values)
    if above:
        yield note("online.kappa_why")


def _beside_baseline(s: Summary) -> Iterator[Note]:
    """Which learners differ from the blind baseline, online and ahead; nothing where there are no intervals."""
    for shift in dict.fromkeys((0, s.shift)):
        signs = _signs(s, shift)
        lower, higher, same, bare = (_few([m for m, v in signs.items() if v == sign]) for sign in (-1, 1, 0, None))
        if not (lower or higher or same):
            continue
        if lower:
            yield note("online.below_ahead" if shift else "online.below_online", learners=lower, shift=shift)
        if higher:
            yield note("online.above", learners=higher, shift=shift)
        if same:
            yield note("online.as_blind", learners=same, shift=shift)
        if bare:
            yield note("online.blind_unknown", learners=bare, shift=shift)


def _signs(s: Summary, shift: int) -> dict[str, int | None]:
    """Of each learner minus the baseline; None without an interval."""
    of, signs = baseline(s), dict[str, int | None]()
    for p in s.pairs:
        if of in (p.first, p.second):
            t, label = p.future if shift else p.online, p.second if p.first == of else p.first
            signs[label] = None if t.unavailable_because else -t.sign if p.first == of else t.sign
    return signs


def _few(labels: Sequence[str]) -> list[str]:
    """As many as a note names, and how many more there are."""
    return [*labels[:NAMES], *([f"{len(labels) - NAMES} more"] if len(labels) > NAMES else [])]


# ------------------------------------------------------------------------------------------------ rankings, drops


def _pairs(s: Summary) -> Iterator[Note]:
    """Pairs that reverse, here and over other training seeds, and those whose means alone do."""
    flips = reversed_pairs(s)
    for p in flips[:NAMED] if s.shift else []:
        above, below = _ordered(p)
        online, ahead = (abs(t.interval.value) for t in (p.online, p.future))
        yield note("online.pair", above=above, below=below, online=online, ahead=ahead, shift=s.shift)
    known = [p for p in flips if has_bounds(p.online.over_seeds) and has_bounds(p.future.over_seeds)]
    wider = [p for p in known if p.flips_over_seeds == "flips"]
    if wider:
        named = _few([" - ".join(_ordered(p)) for p in wider])
        yield note("online.over_seeds", holding=len(wider), reversed=len(known), pairs=named)
    elif known:
        yield note("online.not_over_seeds", reversed=len(known))
    means = [(p.online.interval.value, p.future.interval.value) for p in s.pairs if p.flips == UNDECIDED]
    turned = sum(shows(now) and shows(later) and (now > 0) != (later > 0) for now, later in means)
    if turned and s.shift:
        yield note("online.turned", turned=turned, pairs=len(s.pairs))


def _dropped(s: Summary) -> Iterator[Note]:
    """Which learners lose accuracy ahead, each by an interval of its own."""
    drops = {x.label: x.drop.interval for x in whole(s) if x.drop is not None and x.drop.sign > 0}
    if drops:
        largest = sorted(drops, key=lambda label: -drops[label].value)[:NAMES]
        yield note("online.dropped", shift=s.shift, learners=len(drops), drops={m: drops[m] for m in largest})
        yield note("online.drop_includes")


def _by_order(s: Summary) -> Iterator[Note]:
    """The effect of training in order or shuffled, learner by learner."""
    for x in checked(s):
        of = {"learner": x.label, "window": x.window}
        if x.ordered.sign or x.shuffled.sign:
            yield note("online.order", **of, ordered=x.ordered.interval, shuffled=x.shuffled.interval)
        if x.ordered.sign > 0 and x.shuffled.sign < 0:
            yield note("online.order_local", **of)


# ------------------------------------------------------------------------------------------------ the stream


def _stream(s: Summary) -> Iterator[Note]:
    """The stream, as far as the run describes it."""
    known = ("samples", "classes", "search", "main", "holdout", "steps", "batch")
    found = {n: v for n in known if isinstance(v := s.stream.get(n), int)}
    if len(found) < len(known):
        return
    yield note("online.stream", name=s.stream.get("name"), samples=found["samples"], classes=found["classes"])
    yield note("online.parts", **{n: found[n] for n in ("search", "main", "steps", "batch")})
    if found["holdout"]:
        yield note("online.holdout", holdout=found["holdout"])
    else:
        yield note("online.no_holdout")
    if found["classes"] > 0:
        yield note("online.chance", chance=1 / found["classes"])
