"""Robustness of methods to the order of an EDGE run: spread over random sequences with the same training seeds, and its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from protocols.edge.groups import Group
from seqsearch.core.grammar import parse_items
from seqsearch.results.run import RunResults
from seqsearch.stats.robustness import OrderSpread, SpreadRatio, order_spread, spread_ratio

Conclusion = Literal["robust", "not shown", "nothing"]
"""``robust``: the bound lies below the margin. ``not shown``: it does not. ``nothing``: there is no bound."""


@dataclass(frozen=True)
class Robustness:
    """Of a method: its spread over orders, the margin named before the run, and the ratio to a baseline (None: not asked)."""

    spread: OrderSpread
    margin: float
    ratio: SpreadRatio | None = None
    baseline: str = ""

    @property
    def conclusion(self) -> Conclusion:
        """By the bound and the margin."""
        if self.spread.unavailable_because:
            return "nothing"
        return "robust" if self.spread.within(self.margin) else "not shown"


def robustness(data: RunResults, methods: Sequence[tuple[str, dict[str, Group]]]) -> list[Robustness | None]:
    """Of each method, by its groups; None for all without ``--robust-within``."""
    margin = data.setting("robust_within")
    if not isinstance(margin, float | int) or not margin:
        return [None] * len(methods)
    baseline = _baseline(data)
    base = next((groups["crossed"] for name, groups in methods if name == baseline), None)
    found: list[Robustness | None] = []
    for name, groups in methods:
        ratio = _ratio(groups["crossed"], base) if base is not None and name != baseline else None
        found.append(Robustness(order_spread(groups["crossed"].accuracy), float(margin), ratio, baseline))
    return found


def _baseline(data: RunResults) -> str:
    """Label of the method that ``--robust-baseline`` names; empty if it names none."""
    asked = data.setting("robust_baseline")
    items = [item.text for item in parse_items(str(data.setting("methods")), "method")]
    at = items.index(asked) if isinstance(asked, str) and asked in items else None
    return "" if at is None else data.methods[at]


def _ratio(own: Group, base: Group) -> SpreadRatio:
    """On the sequences that both methods were evaluated on."""
    both = [name for name in own.names if name in base.names]
    tables = [g.accuracy[[g.names.index(name) for name in both]] for g in (own, base)]
    return spread_ratio(*tables)
