"""A comparison in words, for the terminal and the page alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN
from protocols.evaluate.compare.runs import same_sequences
from protocols.report.mean_words import assumption
from protocols.report.text import count
from seqsearch.core.text import cut, shown
from seqsearch.distribution.contrast import FEWEST_OVER
from seqsearch.distribution.mean_difference import Estimate


def headline(c: Comparison) -> str:
    """What is compared."""
    runs = ", ".join(r.name for r in c.runs)
    if c.studies:
        return f"{len(c.runs)} studies that differ in their seed alone: {runs}"
    return f"{count(len(c.runs), 'run')} beside each other: {runs}"


def notes(c: Comparison) -> list[str]:
    """What runs say of themselves, such as biases, what is missing, and what holds of all figures."""
    said = [f"{r.name}: {cut(remark, 500)}" for r in c.runs for remark in r.remarks]
    said += c.troubles
    said += [
        f"{_few(labels)} {'is' if len(labels) == 1 else 'are'} not the same in {c.runs[0].name} and {run} (code, parameters, "
        "backbone, weights, precision, versions or device)."
        for run, labels in c.unlike.items()
    ]
    if len(c.runs) > 1 and c.shared and c.random_shared:
        said.append(_same(c))
    if c.ranks is None:
        said.append(
            "No column of held-out accuracy (seqsearch score RUN --heldout-pool POOL makes one): name another one with "
            "--reference for rank correlations."
        )
    if not c.shared and len(c.runs) > 1:
        said.append("The runs share no method that was judged on every side: no mean and no difference is given.")
    said += _without_interval(c)
    drawn = [
        e.sequences[0] for s in c.sides for e in s.estimates.values() if not e.fixed and math.isfinite(e.value.low)
    ]
    said += filter(None, [assumption(min(drawn, default=0), "sequences")])
    for run, rewards in c.groups.items():
        if rewards.unknown:
            said.append(
                f"{run}: of {rewards.unknown} of {rewards.classes} classes of candidates no file says the group."
            )
    return [shown(line) for line in said]


def _same(c: Comparison) -> str:
    """What runs with the same random sequences, and the same accuracies on these, differ in."""
    methods = {frozenset(s.method for s in c.sides if s.run == r.name and s.method != MEAN) for r in c.runs}
    found = all(same_sequences(c.runs[0], r, "found") for r in c.runs)
    searched = {s.run for s in c.sides if s.side == "found"}
    if not found and len(methods) == 1 and len(searched) == len(c.runs):
        return "All runs have the same random sequences, so that they differ in the found ones alone."
    said = f"All runs have the same random sequences{' and the same found ones' if found else ''}"
    if len(methods) > 1:
        return f"{said}, but not the same methods."
    return f"{said}, and the same methods."


def _without_interval(c: Comparison) -> list[str]:
    """Why an accuracy has no interval."""
    by_reason: dict[str, list[str]] = {}
    for s in c.sides:
        if s.method != MEAN and (why := s.estimates["acc"].lacking):
            by_reason.setdefault(why, []).append(f"{s.method} ({s.run}, {s.side})")
    return [f"No interval of Acc of {_few(who)}: {why}." for why, who in by_reason.items()]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)


def conditional(estimates: list[Estimate]) -> str:
    """What the intervals are over, and conditional on."""
    fixed = {e.fixed for e in estimates} - {0}
    few = " or ".join(("one", "two")[n - 1] if n < FEWEST_OVER else f"{n} of one accuracy" for n in sorted(fixed))
    images = any(e.these_images for e in estimates)
    seeds = {e.seeds for e in estimates if e.these_trainings}
    given = ["the first task and the split of the images"]
    given += [f"the found sequence where a run has {few} (another search may find another)"] * bool(fixed)
    given += [f"the training seeds where sequences share fewer than {FEWEST_OVER}"] * bool(seeds)
    given += ["the test images where it is not known which were right"] * images
    return f"95 % intervals are over sequences, training seeds and test images; conditional on {', on '.join(given)}."
