"""A CLDyB summary in words and in cells, for the terminal and the report alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.cldyb.summary import MethodSummary, Progress, Side, Summary
from protocols.report.provenance import caveats
from protocols.report.text import cost, count, megabytes, percent
from seqsearch.core.text import shown
from seqsearch.metrics.drop import Drop

CAPTION = "Percent. Re-scored sequences, test images, means over sequences and training seeds."


def headline(summary: Summary) -> str:
    """The result in one sentence."""
    if summary.unfinished:
        return f"Not finished (it stopped at: {summary.unfinished.reached}): nothing is claimed yet."
    drop = summary.overall.drop
    if drop is None:
        return f"{verdict(drop)}; the notes say why."
    low, high = drop.relative_interval
    change = "rise" if drop.relative < 0 else "drop"
    low, high = (-high, -low) if change == "rise" else (low, high)
    return (
        f"{verdict(drop)}: final test accuracy {percent(drop.found)} % against {percent(drop.random)} %, a relative "
        f"{change} of {percent(abs(drop.relative))} % (95 % interval {percent(low)} to {percent(high)})."
    )


def verdict(drop: Drop | None) -> str:
    """Whether the interval of the drop says anything."""
    if drop is None:
        return "Found and random sequences cannot be compared in this run"
    low, high = drop.relative_interval
    found = "The found sequence is" if drop.conditional else "Found sequences are"
    if math.isfinite(low) and low > 0:
        return f"{found} harder than random ones"
    if math.isfinite(high) and high < 0:
        return f"{found} easier than random ones"
    return "Found and random sequences cannot be told apart"


def notes(summary: Summary) -> list[str]:
    """What the figures are conditional on, what is missing, what makes found sequences hard, what it cost; of an unfinished run
    how far it came."""
    if summary.unfinished:
        return [shown(line) for line in (*_progress(summary.unfinished), *cost(summary.stats))]
    drops = [m.drop for m in (summary.overall, *summary.methods) if m.drop]
    if not summary.random_sequences:
        about = ["No random sequences in this run: nothing to compare the found ones with (--random-sequences)."]
    else:
        about = _interval_notes(drops[0]) if drops else []
    said = (
        *about,
        *summary.troubles,
        *caveats(summary.provenance),
        *_robustness(summary),
        *_confusion(summary.overall),
    )
    return [*said, *cost(summary.stats)]


def _progress(p: Progress) -> list[str]:
    decided = [f"{name}: {n} of {p.tasks} tasks decided." for name, n in p.decided]
    done = f"{count(p.scored, 'rollout')} re-scored so far." if p.scored else "Nothing was re-scored."
    return [*decided, done, f"Go on with: {p.resume}"]


def _interval_notes(drop: Drop) -> list[str]:
    covers = f"{drop.random_sequences} random sequences and {count(drop.seeds, 'training seed')}"
    if drop.conditional:
        said = [f"95 % intervals cover {covers}, conditional on one search: another may find less (--searches)."]
    else:
        said = [f"95 % intervals cover {drop.found_sequences} independent searches, {covers}."]
    if drop.seeds == 1:
        said.append("With one training seed the intervals leave out the noise of training (--score-seeds).")
    return said


def _robustness(summary: Summary) -> list[str]:
    if not summary.separate:
        return []
    return ["Robustness: mean final Acc over the sequences found for that very method; a failed search looks like it."]


def _confusion(row: MethodSummary) -> list[str]:
    """Task difficulty apart from confusion between tasks: with scores masked to its own classes a task stands alone."""
    found, random = row.found, row.random
    if found is None or random is None:
        return []
    alone = random.masked_by_step[-1] - found.masked_by_step[-1]
    confused = random.acc - found.acc - alone

    def gaps(side: Side) -> str:
        return " ".join(percent(m - a) for m, a in zip(side.masked_by_step, side.acc_by_step, strict=True))

    return [
        f"Acc, random minus found: {percent(alone + confused)} points; of these {percent(alone)} are the tasks by "
        f"themselves (masked accuracy), {percent(confused)} confusion with other tasks.",
        f"Confusion with other tasks by step (masked minus full Acc): found {gaps(found)}; random {gaps(random)}.",
    ]


def table(summary: Summary) -> tuple[list[tuple[str, str]], list[tuple[str, ...]]]:
    """Headings (upper and lower line) and rows of cells; with several methods the last row is their mean.

    The column of the worst found sequence is there when some method has several.
    """
    several = any(m.found is not None and m.found.sequences > 1 for m in summary.methods)
    figures = [("found", "acc"), *([("found", "worst")] if several else []), ("random", "acc")]
    figures += [(side, figure) for figure in ("ar", "ala") for side in ("found", "random")]
    names = {"acc": "Acc", "ar": "AR", "ala": "ALA", "worst": "worst"}
    headings = [("Method", ""), *((names[figure], side) for side, figure in figures)]
    if summary.separate:
        headings[1] = ("Robust", "found")
    headings += [("Relative drop", "of Acc [95 %]"), ("Size", "MB")]
    rows = [_cells(m, figures) for m in (*summary.methods, *([summary.mean] if summary.mean else []))]
    return headings, rows


def _cells(row: MethodSummary, figures: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    sides = {"found": row.found, "random": row.random}
    cells = [percent(getattr(sides[side], figure, math.nan)) for side, figure in figures]
    drop = "-" if row.drop is None else interval(row.drop)
    return (row.method, *cells, drop, "-" if row.footprint_mb is None else megabytes(row.footprint_mb))


def interval(drop: Drop) -> str:
    """Relative drop and its interval in percent: ``29.6 [25.0, 33.1]``."""
    low, high = drop.relative_interval
    return f"{percent(drop.relative)} [{percent(low)}, {percent(high)}]"
