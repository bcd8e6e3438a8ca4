"""The notes of an MCIL summary, its headline, and their sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from protocols.mcil.compared import Difference
from protocols.mcil.summary import Summary
from protocols.report.common_notes import assumption, at_chance, cost, first_of, unfinished
from protocols.report.mcil.tables import best, beyond_noise_first
from protocols.report.notes import Note, Text, note
from protocols.report.text import percent
from protocols.report.view import Tile
from seqsearch.core.text import counted, shown
from seqsearch.stats.mean import FEWEST

NAMED = 3
"""Pairs that have a note."""
LONGEST = 400
"""Characters of why a method failed."""


def headline(s: Summary) -> Note:
    """Which method is highest, and how many pairs differ."""
    if not s.run.finished:
        return unfinished(s.run.stats)
    if not s.whole:
        return note("mcil.none")
    average = s.whole[0].over["average"].interval.value
    if len(s.whole) == 1:
        return note("mcil.one", method=s.whole[0].label, average=average)
    if all(d.pair.alike for d in s.pairs):
        return note("mcil.equal")
    finished = len(s.whole) == len(s.run.methods)
    of = {**first_of(highest(s)), "among": "" if finished else f" of {len(s.whole)} finished methods"}
    if all(d.pair.over.unavailable_because for d in s.pairs):
        return note("mcil.too_few", **of, runs=_runs(s), unit=_unit(s))
    differing = sum(d.pair.differs for d in s.pairs)
    return (
        note("mcil.differ", **of, differing=differing, pairs=len(s.pairs))
        if differing
        else note("mcil.none_differ", **of)
    )


def highest(s: Summary) -> list[str]:
    """Methods that show the highest Avg."""
    averages = {h.label: percent(h.over["average"].interval.value) for h in s.whole}
    return [name for name, text in averages.items() if text == averages[s.whole[0].label]]


def tiles(s: Summary) -> Iterator[Tile]:
    """The figures of the headline."""
    if not s.run.finished or not s.whole:
        return
    first = s.whole[0]
    yield Tile(f"{percent(first.over['average'].interval.value)} %", f"Avg of {first.label}", "found")
    if any(not d.pair.over.unavailable_because for d in s.pairs):
        yield Tile(
            f"{sum(d.pair.differs for d in s.pairs)} of {len(s.pairs)}", "pairs of methods that differ significantly"
        )
    yield Tile(str(_runs(s)), s.unit)


def _runs(s: Summary) -> int:
    return s.orders if s.orders > 1 else s.seeds


def _unit(s: Summary) -> str:
    """The unit of intervals, as a noun behind its number."""
    return s.unit if _runs(s) > 1 else s.unit.removesuffix("s")


def notes(s: Summary) -> Iterator[Note]:
    """Findings, conditions, sizes of the experiences, and cost."""
    yield from _conditions(s)
    if _runs(s) < FEWEST:
        flag = "--orders" if s.orders > 1 else "--seeds"
        yield note("mcil.few", runs=_runs(s), unit=_unit(s), fewest=FEWEST, flag=flag)
    yield from assumption(_runs(s), "runs")
    yield from at_chance(s.at_chance)
    if s.run.finished:
        yield from _failed(s)
        yield from _pairs(s)
        yield from _modalities(s)
        yield from _noise(s)
    if best(s):
        yield note("mcil.bold")
    yield from _sizes(s)
    yield from cost(s.run.stats)


def _failed(s: Summary) -> Iterator[Note]:
    labels = [*(h.label for h in s.heads if h.status != "ok"), *s.absent]
    status = {h.label: h.status for h in s.heads}
    if labels:
        yield note("mcil.failed", methods=[f"{m} ({status.get(m, 'no experience evaluated')})" for m in labels])
    for m in labels:
        if m in s.run.failures:
            yield note("mcil.why_failed", method=m, why=shown(s.run.failures[m])[:LONGEST])


def _pairs(s: Summary) -> Iterator[Note]:
    for d in [d for d in beyond_noise_first(s) if d.pair.differs][:NAMED]:
        above, below = _ordered(d)
        yield note("mcil.pair", above=above, below=below, difference=abs(d.pair.over.interval.value), p=d.pair.p)


def _ordered(d: Difference) -> tuple[str, str]:
    return (d.first, d.second) if d.pair.over.interval.value > 0 else (d.second, d.first)


def _modalities(s: Summary) -> Iterator[Note]:
    for w in s.modality_ablation:
        if w.p <= 0.05 and w.over.interval.sign > 0:
            yield note("mcil.modality", method=w.label, lost=w.over.interval.value, classifier=w.classifier, p=w.p)


def _noise(s: Summary) -> Iterator[Note]:
    there = [n for n in s.noise if not n.of.unavailable_because]
    if beyond := {n.label: n.of.order for n in there if n.p <= 0.05}:
        yield note("mcil.orders_matter", sd=beyond)
    if within := [n.label for n in there if not n.unseeded and not n.p <= 0.05]:
        yield note("mcil.orders_undecided", methods=within)
    if unseeded := [n.label for n in there if n.unseeded]:
        yield note("mcil.unseeded", methods=unseeded)


def _conditions(s: Summary) -> Iterator[Note]:
    if s.orders > 1:
        yield note("mcil.over_orders", orders=s.orders, seeds=s.seeds)
    else:
        yield note("mcil.over_seeds", seeds=s.seeds)
    yield note("mcil.conditional")
    yield from _texts(s)


def _texts(s: Summary) -> Iterator[Note]:
    """The texts of the test images."""
    words = s.run.identity.get("class_free_words")
    if s.run.text_at_test == "full":
        yield note("mcil.texts_full")
    elif s.run.text_at_test == "none":
        yield note("mcil.texts_none")
    elif isinstance(words, dict) and all(isinstance(words.get(n), int) for n in ("kept", "of")):
        yield note("mcil.texts_class_free", kept=words["kept"], of=words["of"])
    else:
        yield note("mcil.texts_other", setting=shown(s.run.text_at_test))


def _sizes(s: Summary) -> Iterator[Note]:
    sizes = s.run.identity.get("experience_sizes")
    images = s.run.identity.get("images")
    if not (isinstance(sizes, list) and sizes and all(isinstance(n, int) for n in sizes)):
        return
    yield note("mcil.experiences", experiences=len(sizes), sizes=_grouped(sizes))
    if isinstance(images, dict) and all(
        isinstance(v := images.get(n), int | float) and math.isfinite(v) for n in ("trained", "test")
    ):
        yield note("mcil.images", trained=images["trained"], test=images["test"])


def _grouped(sizes: list[int]) -> str:
    """E.g. ``11 (2 times), 10 (8 times)``, or ``6 each``; sizes come larger first."""
    distinct = list(dict.fromkeys(sizes))
    if len(distinct) == 1:
        return f"{distinct[0]}" + " each" * (len(sizes) > 1)
    return ", ".join(f"{size} ({counted(sizes.count(size), 'time')})" for size in distinct)


# ------------------------------------------------------------------------------------------------ sentences


TEXTS = {
    "mcil.none": Text("headline", "No method finished all its runs, so there is no result."),
    "mcil.one": Text("headline", "{method} has an Avg of {average:percent} %; there is no other method to compare."),
    "mcil.equal": Text("headline", "All methods score the same in every run."),
    "mcil.too_few": Text(
        "headline",
        "{first} {names:has/have} the highest Avg{among}; {runs} {unit} {runs:is/are} too few to compare methods.",
    ),
    "mcil.none_differ": Text(
        "headline", "{first} {names:has/have} the highest Avg{among}, but no pair of methods differs significantly."
    ),
    "mcil.differ": Text(
        "headline",
        "{first} {names:has/have} the highest Avg{among}; {differing} of {pairs:n pair} of methods {differing:differs/differ} "
        "significantly.",
    ),
    "mcil.failed": Text(
        "warning", "{methods} did not finish all runs and {methods:is/are} compared with no other method."
    ),
    "mcil.why_failed": Text("warning", "{method}: {why}"),
    "mcil.pair": Text(
        "finding", "{above} is above {below} by {difference:percent} pp (p = {p:p}, Holm over all pairs)."
    ),
    "mcil.modality": Text(
        "finding", "{method} loses {lost:percent} pp of Avg when it is evaluated as {classifier!r} (p = {p:p})."
    ),
    "mcil.orders_matter": Text(
        "finding",
        "Avg varies between class orders by more than training seeds explain (standard deviation, pp): {sd:percent}.",
    ),
    "mcil.orders_undecided": Text(
        "finding", "For {methods}, Avg varies between class orders within seed-to-seed variation."
    ),
    "mcil.unseeded": Text(
        "finding", "For {methods}, training seeds change nothing: all variation of Avg is between class orders."
    ),
    "mcil.over_orders": Text(
        "condition",
        "Intervals and p-values are over {orders:n random class order}, with {seeds:n training seed} each, "
        "the same for all methods.",
    ),
    "mcil.over_seeds": Text(
        "condition",
        "Intervals and p-values are over {seeds:n training seed} of a single class order, and hold for it alone.",
    ),
    "mcil.conditional": Text(
        "condition",
        "They hold for this pool, this split with its test images, these experiences and these settings. All images but "
        "the test images are learned. No interval covers other images or another split.",
    ),
    "mcil.texts_full": Text(
        "detail",
        "Test images have their texts as they are, where a backbone reads texts (--text-at-test full).",
    ),
    "mcil.texts_class_free": Text(
        "condition",
        "Test texts keep {kept} of {of:n word}, whose presence does not depend on the class (--text-at-test class-free). "
        "Training used texts as they are.",
    ),
    "mcil.texts_none": Text(
        "condition", "Every test image has an empty text (--text-at-test none). Training used texts as they are."
    ),
    "mcil.texts_other": Text(
        "condition", "Test texts are {setting!r} (--text-at-test). Training used texts as they are."
    ),
    "mcil.few": Text(
        "advice",
        "{runs} {unit} {runs:gives/give} no interval. Ask for {fewest} or more ({flag}), and for 5 or more to compare methods.",
    ),
    "mcil.bold": Text("detail", "Bold: no other method is significantly above (95 %, Holm over all pairs)."),
    "mcil.experiences": Text("detail", "The {experiences} experiences have this many classes: {sizes}."),
    "mcil.images": Text(
        "detail", "A class has {trained:.4g} images to learn from and {test:.4g} test images, on average."
    ),
}
