"""The blind baseline: its k, its accuracy over k and S, chance, and the curve by which S was chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

from protocols.online.summary import Summary
from seqsearch.core.typed import fits
from seqsearch.results.rows import Row

LONGEST = 1_000
"""Points of the curve of S that are drawn."""
Grid = Mapping[tuple[int, int], Row]
"""Rows of the sweep by (k, S)."""


def swept(s: Summary, part: str, form: str) -> Grid:
    """Rows of a part and form whose figures can be drawn."""
    return {
        (r["k"], r["shift"]): r
        for r in s.run.blind
        if (r["part"], r["form"]) == (part, form) and r["k"] > 0 <= r["shift"]
        if all(math.isfinite(r[name]) for name in ("accuracy", "chance", "kappa")) and 0 <= r["accuracy"] <= 1
    }


def chosen(s: Summary) -> dict[int, int]:
    """k of the baseline by shift: the best on the search part in batches, 1 where that is too short; as the run takes it."""
    found = swept(s, "search", "batch")
    shifts = sorted({shift for x in s.learners for shift in x.at} | {0, s.shift})
    best = {}
    for shift in shifts:
        at = {k: r["accuracy"] for (k, other), r in sorted(found.items()) if other == shift}
        best[shift] = max(at, key=lambda k: at[k]) if at else 1
    return best


def standing(s: Summary, shift: int) -> Row | None:
    """The baseline at a shift in the sweep of the main part, in batches; None where that has no such k and S."""
    return swept(s, "main", "batch").get((chosen(s)[shift], shift))


def most_agreeing(s: Summary, shift: int) -> Row:
    """The k that agrees most beyond chance at a shift, in the sweep of the main part: with a skewed prior the most accurate one
    is nearly the majority, which says nothing of correlation. There is one where `standing` has one."""
    found = [r for (_, other), r in sorted(swept(s, "main", "batch").items()) if other == shift]
    return max(found, key=lambda r: float(r["kappa"]))


def setting(s: Summary, name: str) -> Any:
    found = s.run.config.get("settings")
    return found.get(name) if isinstance(found, dict) else None


def tolerance(s: Summary) -> float:
    """Of kappa, below which agreement is taken for none."""
    given = setting(s, "tolerance")
    return float(given) if fits(given, float) and 0 < given < 1 else 0.01


def is_share(value: Any) -> TypeGuard[float]:
    """Whether it is a kappa or an accuracy, or a bound of one."""
    return fits(value, float) and abs(value) <= 2


def _numbers(value: Any, n: int) -> TypeGuard[list[float]]:
    return isinstance(value, list) and len(value) == n and all(map(is_share, value))


# ------------------------------------------------------------------------------------------------ the choice of S


@dataclass(frozen=True)
class Choice:
    """The curve in ``shift.json``, checked."""

    shifts: Sequence[int]
    best: Sequence[float]
    bound: Sequence[float]
    plateau: float | None


def choice(record: Mapping[str, Any]) -> Choice | None:
    """None where it has no curve, or one that is none."""
    shifts, best, bound, plateau = (record.get(name) for name in ("shifts", "best", "bound", "plateau"))
    if not (isinstance(shifts, list) and 1 < len(shifts) <= LONGEST and all(fits(x, int) and x >= 0 for x in shifts)):
        return None
    if any(a >= b for a, b in pairwise(shifts)) or not _numbers(best, len(shifts)):
        return None
    return Choice(shifts, best, bound if _numbers(bound, len(shifts)) else (), plateau if is_share(plateau) else None)
