"""``--surrogate``: methods that search instead of the studied methods.

It also compares the accuracies of both where both are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protocols.cldyb.compared import evaluated
from seqsearch.results.run import RunResults
from seqsearch.stats.regression import Coefficient, similarity_correlation


@dataclass(frozen=True)
class Agreement:
    """Spearman's correlation of the final Acc of a surrogate and of a method, means over ``seeds``, over random sequences."""

    surrogate: str
    method: str
    coefficient: Coefficient
    sequences: int
    seeds: int


@dataclass(frozen=True)
class Surrogates:
    """Their labels, and agreements with the methods: of those surrogates that are among the methods themselves, with the settings
    that they searched with: not where methods were ``tuned``."""

    labels: tuple[str, ...]
    agreements: tuple[Agreement, ...]
    tuned: bool = False


def surrogates_of(data: RunResults) -> Surrogates | None:
    """None if the methods searched themselves. Found sequences have no agreement: they were selected."""
    identity = data.config.get("identity")
    said = identity.get("surrogates") if isinstance(identity, dict) else None
    if not isinstance(said, dict) or not said:
        return None
    tuned, both = bool(data.config.get("tuned")), [s for s in said if s in data.methods]
    found = [] if tuned else [_agreement(data, s, m) for s in both for m in data.methods if m not in said]
    return Surrogates(tuple(map(str, said)), tuple(a for a in found if a is not None), tuned)


def _agreement(data: RunResults, surrogate: str, method: str) -> Agreement | None:
    random = data.random()
    seeds = data.complete(surrogate, random) & data.complete(method, random)
    if len(random) < 2 or not seeds:
        return None
    one, other = (evaluated(data, m, random, seeds).final.mean(axis=1) for m in (surrogate, method))
    if min(np.ptp(one), np.ptp(other)) <= 0:
        return None
    return Agreement(surrogate, method, similarity_correlation(one, other).spearman, len(random), len(seeds))
