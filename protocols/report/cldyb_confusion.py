"""What a CLDyB summary says of why found sequences score otherwise: harder tasks, or more confusion between tasks."""

from __future__ import annotations

from protocols.cldyb.summary import MethodSummary, Side
from protocols.report.text import percent


def confusion(row: MethodSummary) -> list[str]:
    """Task difficulty apart from confusion between tasks: with scores masked to its own classes a task stands alone.

    Nothing of one task. The parts of a difference are told where it or one of them shows, each rounded by itself.
    """
    found, random = row.found, row.random
    if found is None or random is None or not (found.masked_by_step and random.masked_by_step):
        return []
    if len(found.masked_by_step) < 2:
        return []

    def gaps(side: Side) -> str:
        return " ".join(percent(m - a) for m, a in zip(side.masked_by_step, side.acc_by_step, strict=True))

    by_step = f"Confusion with other tasks by step (masked minus full Acc): found {gaps(found)}; random {gaps(random)}."
    return [*_parts(random.acc - found.acc, random.masked_by_step[-1] - found.masked_by_step[-1]), by_step]


def _parts(less: float, alone: float) -> list[str]:
    """How far found sequences score below random ones, and what of it are the tasks ``alone``; empty if nothing shows."""
    whole, tasks, rest = (_tenths(x) for x in (less, alone, less - alone))
    if not (whole or tasks or rest):
        return []
    rounded = "" if whole == tasks + rest else " (each rounded)"
    return [
        f"As measured, without an interval, found sequences score {_below(whole)} random ones (Acc): the tasks by themselves "
        f"(masked accuracy) make {_change(tasks)}, confusion with other tasks {_change(rest)}{rounded}."
    ]


def _tenths(fraction: float) -> int:
    return round(1000 * fraction)


def _below(tenths: int) -> str:
    """A difference in tenths of points: ``1.2 points lower than``."""
    return f"{abs(tenths) / 10:.1f} points {'lower' if tenths > 0 else 'higher'} than" if tenths else "like"


def _change(tenths: int) -> str:
    return f"it {abs(tenths) / 10:.1f} points {'lower' if tenths > 0 else 'higher'}" if tenths else "no difference"
