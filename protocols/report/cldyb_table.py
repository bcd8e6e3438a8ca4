"""The table of a CLDyB summary in cells, for the terminal and the report alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.cldyb.summary import MethodSummary, Summary
from protocols.report.by_method import stars
from protocols.report.text import Bold, megabytes, percent
from seqsearch.distribution.drop import Drop
from seqsearch.distribution.interval import shows

CAPTION = "Percent. Re-scored sequences, test images, means over sequences and training seeds."
SIZES = (("Stored", "MB"), ("Size", "MB"))
ONE_TASK = "Percent. The one task, which is the same in all sequences, test images, means over training seeds."


def one_task(summary: Summary) -> bool:
    """Whether there is nothing but one task, which all sequences share, and nothing differs: nothing is to be compared."""
    sides = [s for m in summary.methods for s in (m.found, m.random) if s is not None]
    drops = [m.drop for m in (summary.overall, *summary.methods) if m.drop]
    return bool(sides) and all(len(s.acc_by_step) == 1 for s in sides) and all(d.nothing_differs for d in drops)


def caption(summary: Summary) -> str:
    """What the table's figures are."""
    return ONE_TASK if one_task(summary) else CAPTION


def table(summary: Summary) -> tuple[list[tuple[str, str]], list[tuple[str, ...]]]:
    """Headings (upper and lower line) and rows of cells; with several methods the last row is their mean.

    The column of the worst found sequence is there when some method has several. Of `one_task` there is one accuracy.
    """
    if one_task(summary):
        sides = [(m, m.found or m.random) for m in summary.methods]
        lone: list[tuple[str, ...]] = [(m.method, percent(s.acc if s else math.nan), *_sizes(m)) for m, s in sides]
        return [("Method", ""), ("Acc", ""), *SIZES], lone
    several = any(m.found is not None and m.found.sequences > 1 for m in summary.methods)
    figures = [("found", "acc"), *([("found", "worst")] if several else []), ("random", "acc")]
    figures += [(side, figure) for figure in ("ar", "ala") for side in ("found", "random")]
    names = {"acc": "Acc", "ar": "AR", "ala": "ALA", "worst": "worst"}
    headings = [("Method", ""), *((names[figure], side) for side, figure in figures)]
    if summary.separate:
        headings[1] = ("Acc", "own found")
        headings.insert(1, ("Robust-", "ness"))
    if any(m.searched for m in summary.methods):
        headings[1:2] = [("Acc", "held out"), ("Acc", "searched")]
        headings.append(("Drop", "searched"))
    shown = (*summary.methods, *([summary.mean] if summary.mean else []))
    drops = [d for m in shown for d in (m.drop, m.searched.drop if m.searched else None) if d]
    rises = any(d.relative.value < 0 and shows(d.relative.value) for d in drops)
    headings += [("Relative drop", "- is a rise [95 %]" if rises else "of Acc [95 %]"), *SIZES]
    marked = [*marks(summary), ""][: len(shown)]
    rows = [
        _cells(m, figures, summary.separate, mark, m.method in best(summary))
        for m, mark in zip(shown, marked, strict=True)
    ]
    return headings, rows


def best(summary: Summary) -> tuple[str, ...]:
    """The methods whose accuracy on found sequences is bold; none if any method may be the best."""
    return summary.best if len(summary.best) < len(summary.methods) else ()


def marks(summary: Summary) -> list[str]:
    """Of each method: a star where found sequences are harder (easier) for it by itself."""
    return stars([(m.drop, m.adjusted_p) for m in summary.methods])


def _cells(
    row: MethodSummary, figures: Sequence[tuple[str, str]], separate: bool, mark: str, best: bool
) -> tuple[str, ...]:
    sides = {"found": row.found, "random": row.random}
    cells = [percent(getattr(sides[side], figure, math.nan)) for side, figure in figures]
    if best:
        cells[0] = Bold(cells[0])
    drop = "-" if row.drop is None else interval(row.drop, mark)
    own = [percent(row.robustness if row.robustness is not None else math.nan)] if separate else []
    if row.searched:
        cells.insert(1, percent(row.searched.acc))
        cells.append(percent(row.searched.drop.relative.value) if row.searched.drop else "-")
    return (row.method, *own, *cells, drop, *_sizes(row))


def _sizes(row: MethodSummary) -> tuple[str, str]:
    stored, size = ("-" if mb is None else megabytes(mb) for mb in (row.footprint_mb, row.size_mb))
    return stored, size


def interval(drop: Drop, mark: str = "") -> str:
    """Relative drop, with the mark of its row, and its interval in percent: ``29.6* [25.0, 33.1]``."""
    r = drop.relative
    value = f"{percent(r.value)}{mark}"
    return f"{value} [{percent(r.low)}, {percent(r.high)}]" if math.isfinite(r.low) else value
