"""Candidate tasks drawn within one group of classes (a data set, a script): no greedy sampling.

The second degenerate in Sec. 5.4 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models":
"uniform sampling from the classes within each dataset".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from seqsearch.planners.candidates.base import CandidateRequest, Proposal, draw_distinct


def propose(request: CandidateRequest) -> list[Proposal]:
    """Distinct tasks, each: a group uniformly among those with at least ``k`` classes left, then ``k`` of its classes.

    When no group is large enough any more, groups are taken in a uniformly random order, all the classes of one before
    any of the next, until the task is full: as few groups as chance allows.

    Raises:
        ValueError: the request names no groups.
    """
    if request.groups is None:
        raise ValueError("group_uniform needs the groups of the classes")
    k, rng = request.k, request.rng
    members = [request.classes[request.groups == g] for g in np.unique(request.groups)]
    large = [m for m in members if len(m) >= k]

    def within_one() -> NDArray[np.int64]:
        return rng.choice(large[rng.integers(len(large))], k, replace=False)

    def across_several() -> NDArray[np.int64]:
        return np.concatenate([rng.permutation(members[g]) for g in rng.permutation(len(members))])[:k]

    if large:
        return draw_distinct(within_one, request.count, sum(math.comb(len(m), k) for m in large))
    return draw_distinct(across_several, request.count, math.comb(len(request.classes), k))
