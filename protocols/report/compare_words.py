"""A comparison in words and in cells, for the terminal and the page alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN, Side
from protocols.evaluate.compare.runs import same_sequences
from protocols.report.mean_words import assumption
from protocols.report.rank_words import accuracy, correlations, printed
from protocols.report.tables import Cells
from protocols.report.text import count, percent, points
from seqsearch.core.text import cut, shown
from seqsearch.distribution.contrast import FEWEST_OVER
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.mean_difference import Estimate

NAMES = {"acc": "Acc", "avg_acc": "AvgAcc", "ar": "AR", "ala": "ALA", "upcoming": "upcoming Acc"}
GROUPS_SHOWN = 5


def means(c: Comparison) -> Cells | None:
    """Acc, AvgAcc, AR and ALA of each run, mean over the shared methods, then of each method."""
    sides = [s for s in c.sides if s.method == MEAN] + [s for s in c.sides if s.method != MEAN]
    if not sides:
        return None
    names = tuple(n for n in NAMES if n in sides[0].values)
    rows = [(f"{s.run}, {s.side}", s.method or _of(c), *(_figure(s, n) for n in names)) for s in sides]
    lead = (
        f"Percent. {_conditional([s.estimates['acc'] for s in sides])} AvgAcc: mean of Acc after each task. AR, ALA and AvgAcc "
        "have no interval: which images were right before the last step is not kept."
    )
    if c.start is not None:
        lead += f" Upcoming Acc: final accuracy on the tasks from step {c.start} on, when the first pool grew."
    return Cells("Runs by figure", lead, ("Run", "Method", *(NAMES[n] for n in names)), tuple(rows))


def studies(c: Comparison) -> list[Cells]:
    """Runs that differ in their seed alone: their spread, and what follows from the seed."""
    if c.studies is None:
        return []
    rows: dict[tuple[str, str], dict[str, str]] = {}
    number: dict[tuple[str, str], int] = {}
    for s in c.studies.spreads:
        low, high = s.range
        shows = f"{percent(s.mean)} ({percent(low)} to {percent(high)})"
        rows.setdefault((s.side, s.method), {})[s.figure] = shows
        number[s.side, s.method] = len(s.values)
    names = [n for n in NAMES if any(n in of for of in rows.values())]
    cells = [
        (side, m or _of(c), str(number[side, m]), *(of.get(n, "") for n in names)) for (side, m), of in rows.items()
    ]
    lead = (
        "Percent, AR in points: mean over studies, and the lowest and highest study in brackets. The range over studies is no "
        "confidence interval. The studies are not paired, and no run is subtracted from another."
    )
    differing = [(d.what, "differs" if d.differs else "same", ", ".join(d.values)) for d in c.studies.differing]
    return [
        Cells("Over studies", lead, ("Sequences", "Method", "Studies", *(NAMES[n] for n in names)), tuple(cells)),
        Cells("From study to study", "", ("Part", "Study by study", "Values"), tuple(differing)),
    ]


def changes(c: Comparison) -> Cells | None:
    """Each run minus the first (Fig. 6)."""
    if not c.differences:
        return None
    of: dict[tuple[str, str], dict[str, Estimate]] = {}
    for d in c.differences:
        of.setdefault((d.run, d.side), {})[d.figure] = d.estimate
    names = tuple(n for n in NAMES if n in next(iter(of.values())))
    more_general = any(e["acc"].conditional != e["acc"].value for e in of.values())
    rows = [
        (
            f"{r}, {side}",
            *(_change(e[n].value) for n in names),
            *([_change(e["acc"].conditional)] if more_general else []),
            e["acc"].lacking,
        )
        for (r, side), e in of.items()
    ]
    lead = (
        f"Points, mean over {count(len(c.shared), 'shared method')}, with the training seeds that both runs have. "
        f"{_conditional([e['acc'] for e in of.values()])} Each interval by itself."
    )
    heads = ("Run", *(NAMES[n] for n in names), *(["Acc, these sequences"] if more_general else []), "")
    return Cells(f"Minus {c.runs[0].name}", lead, heads, tuple(rows))


def growth(c: Comparison) -> Cells | None:
    """Fig. 21."""
    if not c.new:
        return None
    rows = [(f"{n.run}, task {n.step}", f"{n.taken} of {n.classes}", percent(n.share), percent(n.left)) for n in c.new]
    lead = (
        "Classes of the found tasks that had come with --grow, beside their share among the classes that were left to take, "
        "which a random choice has on average. Counts of these searches; there is no interval."
    )
    return Cells("Taken from the grown pool", lead, ("Run", "Classes", "Share, %", "Left, %"), tuple(rows))


def groups(c: Comparison) -> Cells | None:
    """Section 5.3."""
    if not c.groups:
        return None
    rows = []
    for run, rewards in c.groups.items():
        for g in rewards.groups[:GROUPS_SHOWN]:
            of_steps = f"{points(g.lowest)} to {points(g.highest)} ({g.steps})"
            rows.append((run, g.group, str(g.candidates), f"{100 * g.reward:.1f}", points(g.above), of_steps))
    lead = (
        f"Mean reward of the judged candidates, in points, each counting with its share of classes of the group; the "
        f"{GROUPS_SHOWN} most rewarding of a run. Above: the mean of all candidates of the same step. Descriptive: candidates of "
        "a step share a state and were not drawn at random, so that the range over steps is no confidence interval."
    )
    heads = ("Run", "Group", "Candidates", "Reward", "Above", "By step (steps)")
    return Cells("Reward by group of classes", lead, heads, tuple(rows))


def tables(c: Comparison) -> list[Cells]:
    """All there are."""
    found = [printed(c.table, c.ranks, c.reach.tolist())]
    if c.ranks:
        found.append(correlations(c.ranks))
    return [*studies(c), *found, *filter(None, (changes(c), means(c), growth(c), groups(c)))]


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


# ------------------------------------------------------------------------------------------------ cells


def _of(c: Comparison) -> str:
    return f"mean of {len(c.shared)}"


def _figure(s: Side, name: str) -> str:
    e = s.estimates[name]
    return accuracy(e.value.value, e.value.half_width)


def _change(i: Interval) -> str:
    bounds = f" [{points(i.low)}, {points(i.high)}]" if math.isfinite(i.low) else ""
    return f"{points(i.value)}{bounds}"


def _conditional(estimates: list[Estimate]) -> str:
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
