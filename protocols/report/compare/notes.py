"""The notes of a comparison, its headline, its tiles, and their sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from protocols.evaluate.compare.agreement import Agreement
from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN, Difference, Side
from protocols.evaluate.compare.runs import same_sequences
from protocols.evaluate.compare.table import Table
from protocols.report.common_notes import assumption, by_reason
from protocols.report.notes import Note, Text, note
from protocols.report.text import bounds_of, interval, percent, points, signed
from protocols.report.view import Tile
from seqsearch.core.text import cut, shown
from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.difference import Estimate

LONGEST = 500
"""Characters of a remark of a run."""
NAMED = 3
"""Accuracies that are named of those without an interval, and runs that have a figure below the headline."""


def of_table(accuracies: Table, ranks: Agreement) -> Note:
    """The headline of a table from a file."""
    return note(
        "compare.table", columns=len(ranks.columns), reference=shown(ranks.reference), methods=len(accuracies.methods)
    )


def headline(c: Comparison) -> Note:
    """Whether found sequences of runs differ."""
    first = c.runs[0].name
    if c.studies:
        return note("compare.studies", studies=len(c.runs))
    if len(c.runs) == 1:
        return note("compare.one", run=first)
    changes = found(c)
    if not changes:
        return note("compare.beside", runs=len(c.runs))
    differing = [d for d in changes if d.estimate.value.sign]
    if not differing:
        return note("compare.undecided", first=first)
    if len(c.runs) > 2:
        return note("compare.differ", first=first, differing=len(differing), others=len(c.runs) - 1)
    [d] = differing
    easier, harder = (d.run, first) if d.estimate.value.sign > 0 else (first, d.run)
    return note("compare.easier", easier=easier, harder=harder)


def found(c: Comparison) -> list[Difference]:
    """Differences of Acc on found sequences, run by run."""
    return [d for d in c.differences if (d.side, d.figure) == ("found", "acc")]


def tiles(c: Comparison) -> Iterator[Tile]:
    """Differences to the first run; of studies, or of a single run, means over methods."""
    if c.studies:
        for s in [s for s in c.studies.spreads if (s.method, s.figure) == (MEAN, "acc")][:NAMED]:
            low, high = map(percent, s.range)
            yield Tile(f"{percent(s.mean)} %", f"Acc on {s.side} sequences, studies from {low} to {high}", s.side)
    elif len(c.runs) == 1:
        for side in [s for s in c.sides if s.method == MEAN][:NAMED]:
            acc = side.estimates["acc"].value
            yield Tile(f"{percent(acc.value)} %", f"Acc on {side.side} sequences{bounds_of(interval(acc))}", side.side)
    for d in found(c)[:NAMED]:
        value = d.estimate.value
        yield Tile(
            f"{points(value.value)} pp",
            f"Acc on found sequences, {d.run} minus {c.runs[0].name}{bounds_of(signed(value))}",
        )


def notes(c: Comparison) -> Iterator[Note]:
    """Conditions of all figures, remarks of the runs (such as biases), missing figures, and what runs share."""
    yield from _conditions(c)
    if len(c.runs) > 1 and c.shared and c.random_shared:
        yield from _same(c)
    yield from (
        note("compare.remark", run=r.name, text=shown(cut(remark, LONGEST))) for r in c.runs for remark in r.remarks
    )
    yield from (note("compare.trouble", text=shown(text)) for text in c.troubles)
    for run, labels in c.unlike.items():
        yield note("compare.unlike", labels=labels, first=c.runs[0].name, run=run)
    if not c.shared and len(c.runs) > 1:
        yield note("compare.none_shared")
    yield from without_interval([s for s in c.sides if s.method != MEAN])
    yield note("compare.runs", runs=[r.name for r in c.runs])
    if c.ranks is None:
        yield note("compare.no_reference")
    for run, rewards in c.groups.items():
        if rewards.unknown:
            yield note("compare.unknown_groups", run=run, unknown=rewards.unknown, classes=rewards.classes)


def _conditions(c: Comparison) -> Iterator[Note]:
    """Conditions of the intervals."""
    accuracies = [s.estimates["acc"] for s in c.sides]
    there = [*accuracies, *(d.estimate for d in c.differences if d.figure == "acc")]
    if estimates := [e for e in there if math.isfinite(e.value.low)]:
        yield from conditions_of(estimates)
    if c.studies:
        yield note("compare.spread")
    means = [e for s in c.sides for e in s.estimates.values() if not e.fixed and math.isfinite(e.value.low)]
    yield from assumption(min((e.sequences[0] for e in means), default=0), "sequences")
    if c.shared:
        yield note("compare.shared", methods=len(c.shared))
    yield note("compare.no_images")
    if c.start is not None:
        yield note("compare.upcoming", step=c.start)
    if c.groups:
        yield note("compare.groups")


def conditions_of(estimates: Sequence[Estimate]) -> Iterator[Note]:
    """Conditions of all intervals, and of some of them."""
    parts: dict[str, list[bool]] = {
        "sequences": [e.fixed > 0 for e in estimates],
        "training seeds": [e.these_trainings for e in estimates],
        "test images": [e.these_images for e in estimates],
    }
    given = [part for part, fixed in parts.items() if all(fixed)]
    over = [part for part in parts if part not in given]
    yield note("compare.intervals", over=over, given=["first task", "split of the images", *given])
    if any(parts["sequences"]):
        yield note("compare.these_sequences", fewest=FEWEST_OVER)
    if any(parts["training seeds"]):
        yield note("compare.these_trainings", fewest=FEWEST_OVER)
    if any(parts["test images"]):
        yield note("compare.these_images")


def _same(c: Comparison) -> Iterator[Note]:
    """Differences of runs that have the same random sequences, and the same accuracies on them."""
    methods = {frozenset(s.method for s in c.sides if s.run == r.name and s.method != MEAN) for r in c.runs}
    alike = all(same_sequences(c.runs[0], r, "found") for r in c.runs)
    searched = {s.run for s in c.sides if s.side == "found"}
    if not alike and len(methods) == 1 and len(searched) == len(c.runs):
        yield note("compare.found_alone")
        return
    yield note("compare.same_found" if alike else "compare.same_random")
    yield note("compare.same_methods" if len(methods) == 1 else "compare.other_methods")


def without_interval(sides: Sequence[Side]) -> Iterator[Note]:
    """Why an accuracy has no interval."""
    why_not = ((s, s.estimates["acc"].unavailable_because) for s in sides)
    named = (((f"{s.method} ({', '.join(filter(None, (s.run, s.side)))})"), why) for s, why in why_not if why)
    for why, who in by_reason(named).items():
        yield note("compare.without_interval", cells=len(who), who=who[:NAMED], why=why)


# ------------------------------------------------------------------------------------------------ sentences


TEXTS = {
    "compare.table": Text(
        "headline", "Rank correlations of {columns:n column} with {reference}, over {methods:n method}."
    ),
    "compare.one": Text("headline", "{run} stands alone: name another run for differences."),
    "compare.studies": Text("headline", "{studies:n study} of one question, which differ in their seed alone."),
    "compare.easier": Text("headline", "Found sequences of {easier} are easier than those of {harder}."),
    "compare.differ": Text(
        "headline", "Accuracy on found sequences differs from {first} in {differing} of {others:n other run}."
    ),
    "compare.undecided": Text(
        "headline", "No difference to {first} in accuracy on found sequences is shown (--searches, --score-seeds)."
    ),
    "compare.beside": Text("headline", "{runs:n run} beside each other, with no difference that can be computed."),
    # what runs share
    "compare.found_alone": Text(
        "condition", "All runs have the same random sequences and methods, so they differ in the found sequences alone."
    ),
    "compare.same_random": Text("condition", "All runs have the same random sequences."),
    "compare.same_found": Text("condition", "All runs have the same random and the same found sequences."),
    "compare.same_methods": Text("condition", "All runs have the same methods."),
    "compare.other_methods": Text("condition", "The runs do not have the same methods."),
    # what figures hold for
    "compare.intervals": Text(
        "condition",
        "95 % intervals are over {over}. They are conditional on the {given}.",
    ),
    "compare.these_sequences": Text(
        "condition",
        "An interval of fewer than {fewest} found sequences, or of found sequences with one accuracy, is conditional on these "
        "sequences (--searches).",
    ),
    "compare.these_trainings": Text(
        "condition",
        "An interval of fewer than {fewest} training seeds is conditional on these seeds (--score-seeds).",
    ),
    "compare.these_images": Text(
        "condition",
        "Where it is unknown which test images were right, an interval is conditional on these test images.",
    ),
    "compare.spread": Text(
        "condition",
        "The range over studies is no confidence interval. Studies are not paired, and no run is subtracted from another.",
    ),
    "compare.shared": Text(
        "detail",
        "Means and differences are over {methods:n shared method}; a difference is over the training seeds that both runs have.",
    ),
    "compare.no_images": Text(
        "detail",
        "AvgAcc, AR and ALA have no interval, because which images were right before the last step is not kept.",
    ),
    "compare.upcoming": Text(
        "detail", "Upcoming Acc is final accuracy on the tasks from step {step} on, when the first pool grew."
    ),
    "compare.groups": Text(
        "detail",
        "Rewards by group are descriptive: candidates of a step share a state and were not drawn at random. The range over steps "
        "is no confidence interval.",
    ),
    # what is missing, or may mislead
    "compare.no_reference": Text(
        "advice",
        "Rank correlations need a column of held-out accuracy (seqsearch score RUN --heldout-pool POOL), or another one by "
        "--reference.",
    ),
    "compare.remark": Text("warning", "{run}: {text}"),
    "compare.trouble": Text("warning", "{text}"),
    "compare.unlike": Text(
        "warning",
        "{labels} {labels:is/are} not the same in {first} and {run} (code, parameters, backbone, weights, precision, versions or "
        "device).",
    ),
    "compare.none_shared": Text(
        "warning",
        "The runs share no method that was evaluated on every side, so there is no mean and no difference.",
    ),
    "compare.without_interval": Text(
        "warning", "{cells:n accuracy value} {cells:has/have} no interval, because {why}. The first: {who}."
    ),
    "compare.unknown_groups": Text(
        "detail", "{run}: no file says the group of {unknown} of {classes} classes of candidates."
    ),
    "compare.runs": Text("detail", "Compared are {runs}."),
}
