"""The notes of an explanation, its headline, its tiles, and their sentences.

An effect is a loss of accuracy: a positive effect of grouping says that the found grouping lowers the accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from protocols.evaluate.explain.summary import MethodEffects, Summary
from protocols.report.common_notes import cost, provenance
from protocols.report.notes import Note, Text, note
from protocols.report.text import bounds_of, points, signed
from protocols.report.view import Tile
from seqsearch.core.text import shown
from seqsearch.stats.contrast import IMAGES, SEEDS
from seqsearch.stats.effects import Effects

EFFECT_NAMES = {"content": "choice of classes", "grouping": "grouping", "order": "order"}
"""Names of the effects in the headline and the tiles."""
RANKS = 3
"""Found sequences whose rank has a note; the table has all."""


def headline(s: Summary) -> Note:
    """Which effects differ from 0, taken together."""
    if s.unfinished:
        return note("run.unfinished", reached=s.unfinished)
    e = accuracy_effects(s)
    return verdict(e) if e and e.effects else note("explain.none")


def accuracy_effects(s: Summary) -> Effects | None:
    """Effects on accuracy of all methods together, which the headline is about; None if there are none."""
    return s.overall.measures.get("accuracy") if s.overall else None


def verdict(e: Effects) -> Note:
    """The headline for effects on accuracy; only effects whose interval excludes 0 are named."""
    harder = [EFFECT_NAMES[name] for name, c in e.effects.items() if c.together.sign > 0]
    easier = [EFFECT_NAMES[name] for name, c in e.effects.items() if c.together.sign < 0]
    if harder and easier:
        return note("explain.both", found=e.found_sequences, harder=harder, easier=easier)
    if harder:
        return note("explain.harder", found=e.found_sequences, harder=harder)
    if easier:
        return note("explain.easier", found=e.found_sequences, easier=easier)
    return note("explain.undecided")


def tiles(s: Summary) -> Iterator[Tile]:
    """The drop from random to found sequences, and the effects that add up to it."""
    e = accuracy_effects(s)
    if s.unfinished or e is None:
        return
    if "random" in e.means:
        yield drop(e.means["random"].interval.value - e.means["found"].interval.value)
    for name, c in e.effects.items():
        value = f"{points(c.interval.value)}{'*' * bool(c.together.sign)} pp"
        called = name if name == EFFECT_NAMES[name] else f"{name} ({EFFECT_NAMES[name]})"
        yield Tile(value, called + bounds_of(signed(c.interval)))


def drop(gap: float) -> Tile:
    """The tile of the drop: mean accuracy of random sequences minus that of found ones, as measured."""
    return Tile(f"{points(gap)} pp", "random minus found sequences", "found")


def notes(s: Summary) -> Iterator[Note]:
    """Conditions, missing figures and cost; of an unfinished run the command that continues it."""
    if s.unfinished:
        yield note("run.resume", command=s.resume)
        yield from cost(s.stats)
        return
    if s.overall:
        yield from _about(s.overall)
    ranks = [(m, r) for m in s.methods for r in m.ranks]
    for m, r in ranks[:RANKS]:
        yield note("explain.rank", method=m.method, sequence=r.sequence, beats=r.beats, random=r.random, p=r.p)
    yield from (note("explain.trouble", text=shown(text)) for text in (*s.common.notes, *s.troubles, *s.biases))
    yield from provenance(s.provenance)
    yield from cost(s.stats)


def _about(m: MethodEffects) -> Iterator[Note]:
    e = m.measures["accuracy"]
    yield from conditions(e)
    yield note("explain.stars")
    yield note(
        "explain.sequences",
        random=e.draws.get("random", 0),
        regrouped=e.draws.get("regrouped", 0),
        reordered=e.draws.get("reordered", 0),
        found=e.found_sequences,
        seeds=e.seeds,
    )
    if "regrouped" in e.exhausted:
        yield note("explain.all_groupings")
    if "reordered" in e.exhausted:
        yield note("explain.all_orders")
    for why in dict.fromkeys(c.unavailable_because for c in e.effects.values() if c.unavailable_because):
        yield note(
            "explain.no_interval", effects=[n for n, c in e.effects.items() if c.unavailable_because == why], why=why
        )
    if equal := [name for name, c in e.effects.items() if c.nothing_differs]:
        yield note("explain.equal", effects=equal)
    yield from _masked(m)
    yield from _joint_training(m)
    if "random" not in e.means:
        yield note("explain.no_random")


def conditions(e: Effects) -> Iterator[Note]:
    """The notes that say for which sequences, seeds and images the intervals of accuracy hold."""
    names = list(dict.fromkeys(name for c in e.effects.values() for name in c.variances))
    if not names:
        return
    yield note("explain.over", over=names)
    if not e.over_searches:
        yield note("explain.these_found", found=e.found_sequences)
    if SEEDS not in names:
        yield note("explain.these_seeds", seeds=e.seeds)
    if IMAGES not in names:
        yield note("explain.these_images")
    of_these = {n: c.conditional for n, c in e.effects.items() if math.isfinite(c.conditional.low)}
    if of_these and (e.over_searches or SEEDS in names):
        yield note("explain.conditional", effects=of_these)


def _masked(m: MethodEffects) -> Iterator[Note]:
    """The part of each effect that remains when scores are masked to the classes of a task, and the part that is confusion."""
    if "masked" not in m.measures:
        return
    for name, c in m.measures["masked"].effects.items():
        confusion = m.measures["confusion"].effects[name].interval.value
        yield note("explain.masked", effect=name, masked=c.interval.value, confusion=confusion)
    yield note("explain.masked_how")


def _joint_training(m: MethodEffects) -> Iterator[Note]:
    """How joint training, from which the gap is measured, was done."""
    if "gap" not in m.measures:
        yield note("explain.no_bound")
        return
    yield note("explain.gap")
    for kind in m.bounds:
        yield note("explain.bound_frozen" if kind == "frozen" else "explain.bound_full")


# ------------------------------------------------------------------------------------------------ sentences


TEXTS = {
    "explain.none": Text("headline", "No effect can be computed; the notes say why."),
    "explain.undecided": Text(
        "headline", "Whether the choice of classes, grouping or order makes a difference is undecided (more --draws)."
    ),
    "explain.harder": Text("headline", "{found:n found sequence} {found:is/are} harder because of {harder}."),
    "explain.easier": Text("headline", "{found:n found sequence} {found:is/are} easier because of {easier}."),
    "explain.both": Text(
        "headline", "{found:n found sequence} {found:is/are} harder because of {harder} but easier because of {easier}."
    ),
    # what intervals hold for
    "explain.over": Text(
        "condition",
        "95 % intervals of accuracy are over {over}. They are conditional on the first task and the split of the images.",
    ),
    "explain.these_found": Text(
        "condition",
        "They hold for {found:n found sequence}: another search may differ for other reasons (--searches 3 or more).",
    ),
    "explain.these_seeds": Text("condition", "They hold for {seeds:n training seed} (--score-seeds 3 or more)."),
    "explain.these_images": Text("condition", "They hold for these test images."),
    "explain.conditional": Text(
        "detail", "Conditional on these found sequences and trainings, effects in pp are {effects:points}."
    ),
    "explain.stars": Text(
        "detail",
        "* marks effects that differ from 0 when all effects of a row hold together (95 %, Bonferroni). Each interval holds by "
        "itself.",
    ),
    "explain.sequences": Text(
        "detail",
        "There are {random:n random sequence}, {regrouped:n regrouping}, {reordered:n reordering} and "
        "{found:n found sequence}, with {seeds:n training seed}.",
    ),
    "explain.all_groupings": Text("detail", "All other groupings were run."),
    "explain.all_orders": Text("detail", "All other orders were run."),
    "explain.no_interval": Text("warning", "The effect of {effects} has no interval: {why}."),
    "explain.equal": Text(
        "finding", "There is no effect of {effects}: no two sequences that were compared differ with any seed."
    ),
    "explain.no_random": Text("warning", "The source has no random sequences, so there is no effect of content."),
    "explain.trouble": Text("warning", "{text}"),
    # measures
    "explain.masked": Text(
        "detail",
        "Of {effect}, {masked:points} pp are in the tasks by themselves and {confusion:points} pp in confusion with other tasks.",
    ),
    "explain.masked_how": Text(
        "detail",
        "Tasks by themselves: scores are masked to the task's own classes. Intervals of these parts hold for these test images.",
    ),
    "explain.no_bound": Text(
        "detail", "There is no gap to joint training, which was left out (--no-bound) or did not end well."
    ),
    "explain.gap": Text(
        "detail",
        "The gap to joint is accuracy of joint training on the same classes with the same seeds, minus that of the method. An "
        "effect is the growth of this gap.",
    ),
    "explain.bound_full": Text(
        "detail",
        "Joint training (full) is the best of fine-tuning, RanPAC and nearest neighbours by validation images.",
    ),
    "explain.bound_frozen": Text(
        "detail",
        "Joint training (frozen) is RanPAC's ridge regression on frozen features, without training of the network.",
    ),
    # ranks
    "explain.rank": Text(
        "finding",
        "{method}: {sequence} is harder than {beats} of {random:n random sequence} (exact one-sided p = {p:p}).",
    ),
}
