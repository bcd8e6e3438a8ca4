"""Final accuracies of two methods on the same sequences, from the results of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protocols.evaluate.duel.planners import final
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, fits
from seqsearch.planners.replicates import ORDERS, SCORING
from seqsearch.results.run import RunResults, Scored

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Random sequences that both methods were evaluated on to their end: numbers in the order drawn, names, accuracies
    ``[L]``."""

    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    a: Table = field(default_factory=lambda: np.zeros(0))
    b: Table = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def gaps(self) -> Table:
        """A minus B ``[L]``."""
        return self.a - self.b

    def first(self, asked: int) -> Pairs:
        """Those among the first ``asked`` that were drawn."""
        n = sum(i < asked for i in self.numbers)
        return Pairs(self.numbers[:n], self.names[:n], self.a[:n], self.b[:n])


def pairs_of(data: RunResults, labels: tuple[str, str], troubles: list[str]) -> Pairs:
    """One training each, with a seed of its own; what failed with one method is left out for both and named."""
    own = {(s, m): r for (s, m, seed), r in data.rollouts.items() if seed >= ORDERS}
    drawn = data.random()
    failed = {m: [s.sequence_id for s in drawn if not _whole(own.get((s.sequence_id, m)))] for m in labels}
    for label, names in failed.items():
        if names:
            troubles.append(
                f"{label} failed on {len(names)} of {len(drawn)} random sequences ({names[0]}, ...): left out for both methods."
            )
    lost = {name for names in failed.values() for name in names}
    kept = [(i, s.sequence_id) for i, s in enumerate(drawn) if s.sequence_id not in lost]
    a, b = (np.array([final(own[name, m]) for _, name in kept]) for m in labels)
    return Pairs(tuple(i for i, _ in kept), tuple(name for _, name in kept), a, b)


def table_of(data: RunResults, labels: tuple[str, str], sequence: str) -> Table | None:
    """Final accuracies ``[2, R]`` of A and B with the scoring seeds; None where one of them is not whole, or there are none.

    Raises:
        UserError: ``config.json`` does not say how many seeds there are.
    """
    asked = data.setting("score_seeds")
    if not fits(asked, int) or asked < 1:
        raise UserError(f"config.json: score_seeds is {brief(asked)}: restore it")
    seeds = sorted({r for s, m, r in data.rollouts if s == sequence and m in labels and 0 <= r - SCORING < asked})
    rollouts = [[data.rollouts.get((sequence, m, r)) for r in seeds] for m in labels]
    if len(seeds) < asked or not all(_whole(r) for row in rollouts for r in row):
        return None
    return np.array([[final(r) for r in row if r is not None] for row in rollouts])


def _whole(rollout: Scored | None) -> bool:
    return rollout is not None and rollout.complete
