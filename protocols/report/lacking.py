"""Why the drop of a method stands in a table without an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.report.text import enumerated
from seqsearch.distribution.drop import Drop

ALIKE = "with each training seed all its sequences score alike"
OF_ZERO = "its random sequences score 0, which nothing can be said relative to"


def without_interval(drops: Sequence[tuple[str, Drop]]) -> list[str]:
    """A sentence for each reason, with the methods that it holds for; of ``drops`` by method those without interval count.

    Empty where nothing differs for any: then the headline says so.
    """
    if all(d.nothing_differs for _, d in drops):
        return []
    by_reason: dict[str, list[str]] = {}
    for method, d in drops:
        if not math.isfinite(d.relative.low):
            why = ALIKE if d.nothing_differs else d.lacking or OF_ZERO
            by_reason.setdefault(why, []).append(method)
    return [f"No interval of the drop of {enumerated(who)}: {why}." for why, who in by_reason.items()]
