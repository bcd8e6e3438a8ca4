"""Greedy task sampling: candidate tasks whose classes look alike to the models.

Algorithm 1 and Eq. 6 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning", for all candidates at once.
Shapes: ``N`` classes in psi, ``n`` available classes, ``B`` candidates, ``k`` classes per task, ``s`` seen classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqsearch.candidates.base import CandidateRequest, Proposal

_BLOCK = 64
"""Candidates grown side by side: their scores (64 x 2,403 x 8 bytes) stay in the cache of one core."""


def propose(request: CandidateRequest) -> list[Proposal]:
    """Distinct tasks, each grown from its own first class by the class with the largest product of potentials (Eq. 6).

    Once the first class is drawn the rest follows, so first classes are drawn without replacement: ``min(count, n)``
    draws (with ``request.first``: among classes of positive probability). Different first classes may grow the same
    set, which is returned once, so the result can be shorter than asked for. The product is a sum of logarithms, where
    a zero potential is -inf; ties, and classes that all have a product of zero, go to the lowest class number.

    Raises:
        ValueError: the request holds no potentials.
    """
    if request.psi is None:
        raise ValueError("greedy needs pair potentials")
    classes = np.sort(request.classes)  # ascending, so that the first maximum is the lowest class number
    starts = np.searchsorted(classes, _first_classes(request))
    with np.errstate(divide="ignore"):
        log_psi_nn = np.log2(request.psi[np.ix_(classes, classes)])  # base 2 keeps ties of powers of two exact
    blocks = [_grow(log_psi_nn, starts[i : i + _BLOCK], request.k) for i in range(0, len(starts), _BLOCK)]
    chosen_Bk = np.concatenate(blocks)
    _, first_seen = np.unique(np.sort(chosen_Bk, axis=1), axis=0, return_index=True)
    return [tuple(task) for task in classes[chosen_Bk[np.sort(first_seen)]].tolist()]


def _first_classes(request: CandidateRequest) -> NDArray[np.int64]:
    """``[B]`` distinct first classes in the order drawn."""
    if request.first is None:
        return request.rng.permutation(request.classes)[: request.count]
    p_n = np.asarray(request.first, dtype=np.float64)
    draws = min(request.count, int(np.count_nonzero(p_n)))
    positions = request.rng.choice(len(p_n), draws, replace=False, p=p_n / p_n.sum())
    return request.classes[positions]


def _grow(log_psi_nn: NDArray[np.float64], starts_B: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Positions ``[B, k]`` of the classes of each task, in the order chosen."""
    rows_B = np.arange(len(starts_B))
    chosen_Bk = np.empty((len(starts_B), k), dtype=np.int64)
    chosen_Bk[:, 0] = starts_B
    scores_Bn = np.zeros((len(starts_B), len(log_psi_nn)))
    for j in range(1, k):
        last_B = chosen_Bk[:, j - 1]
        scores_Bn += log_psi_nn[last_B]
        scores_Bn[rows_B, last_B] = -np.inf
        best_B = scores_Bn.argmax(axis=1)
        dead_B = np.isneginf(scores_Bn[rows_B, best_B])  # every class left has a product of zero: rare
        for row in np.flatnonzero(dead_B):
            best_B[row] = _lowest_free(chosen_Bk[row, :j])
        chosen_Bk[:, j] = best_B
    return chosen_Bk


def _lowest_free(taken: NDArray[np.int64]) -> int:
    """The smallest position that is not in ``taken``."""
    return int(np.setdiff1d(np.arange(len(taken) + 1), taken)[0])


def near_past(similarity_ns: NDArray[np.floating], temperature: float = 0.1) -> NDArray[np.float64]:
    """Probabilities ``[n]`` of the first class that favour classes near what was learned (``--seed-class near-past``).

    ``similarity_ns`` ``[n, s]`` are cosines to the prototypes of the seen classes. A class's nearness is its largest
    cosine, rescaled to [0, 1] over the available classes so that the scale of a backbone's cosines does not matter; the
    probabilities are a softmax of nearness / ``temperature``. No class has probability zero. Not in the paper, whose
    first class is uniform; so is this when nothing was seen or all are equally near.
    """
    n, s = similarity_ns.shape
    if s == 0:
        return np.full(n, 1 / n)
    near = similarity_ns.max(axis=1).astype(np.float64)
    spread = near.max() - near.min()
    logits = (near - near.max()) / (spread if spread > 0 else 1.0) / temperature
    weights = np.exp(logits)
    p_n: NDArray[np.float64] = weights / weights.sum()
    return p_n
