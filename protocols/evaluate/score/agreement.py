"""Whether found and random sequences rank methods as sequences of a held-out pool do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.evaluate.score.compared import complete, evaluated_on
from seqsearch.results.run import FOUND, RunResults
from seqsearch.stats.ranks import RankCorrelations, rank_correlations

FEWEST_RANKED = 3
"""Methods below which ranks are not compared."""


@dataclass(frozen=True)
class Agreement:
    """How the ranks of methods on one kind of sequences go with those on another, over ``methods``."""

    kind: str
    other: str
    methods: tuple[str, ...]
    ranks: RankCorrelations


def agreements(data: RunResults, labels: Sequence[str]) -> tuple[Agreement, ...]:
    """Found and random sequences against held-out ones: over methods that were evaluated on all three, on what all of them
    were."""
    kinds = {"found": FOUND, "random": ("random",), "heldout": ("heldout",)}
    of_kind = {name: [s for s in data.sequences if s.kind in some] for name, some in kinds.items()}
    methods = tuple(m for m in labels if all(complete(data, m, some) for some in of_kind.values()))
    final: dict[str, list[float]] = {}
    for name, some in of_kind.items():
        shared = [s for s in some if all(complete(data, m, [s]) for m in methods)]
        final[name] = [float(evaluated_on(data, m, shared).by_sequence.mean()) for m in methods] if shared else []
    if len(methods) < FEWEST_RANKED or not all(final.values()):
        return ()
    return tuple(
        Agreement(name, "heldout", methods, rank_correlations(final[name], final["heldout"]))
        for name in ("found", "random")
    )
