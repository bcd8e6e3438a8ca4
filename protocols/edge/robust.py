"""Robustness of methods to the order of an EDGE run: spread over random sequences with the same training seeds, and its bound."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from protocols.edge.groups import Group
from seqsearch.core.grammar import parse_items
from seqsearch.core.types import ClassId
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
    baseline, different = _baseline(data), _different(data)
    of = {name: _only(groups["crossed"], different) for name, groups in methods}
    base = of.get(baseline)
    found: list[Robustness | None] = []
    for name, own in of.items():
        ratio = _ratio(own, base) if base is not None and name != baseline else None
        found.append(Robustness(order_spread(own.accuracy), float(margin), ratio, baseline))
    return found


def _different(data: RunResults) -> set[str]:
    """Random sequences, each order once. A repeated order has the same training noise, so it tells nothing new."""
    first: dict[tuple[frozenset[ClassId], ...], str] = {}
    for s in data.sequences:
        if s.kind == "random":
            first.setdefault(tuple(frozenset(task.classes) for task in s.tasks), s.sequence_id)
    return set(first.values())


def _only(group: Group, names: Collection[str]) -> Group:
    """Those of its sequences that have these names."""
    at = [place for place, name in enumerate(group.names) if name in names]
    kept, S = tuple(group.names[i] for i in at), tuple(group.S[i] for i in at)
    return Group(kept, S, group.accuracy[at])


def _baseline(data: RunResults) -> str:
    """Label of the method that ``--robust-baseline`` names; empty if it names none."""
    asked = data.setting("robust_baseline")
    items = [item.text for item in parse_items(str(data.setting("methods")), "method")]
    at = items.index(asked) if isinstance(asked, str) and asked in items else None
    return "" if at is None else data.methods[at]


def _ratio(own: Group, base: Group) -> SpreadRatio:
    """On the sequences that both methods were evaluated on."""
    both = set(own.names) & set(base.names)
    return spread_ratio(*(_only(g, both).accuracy for g in (own, base)))
