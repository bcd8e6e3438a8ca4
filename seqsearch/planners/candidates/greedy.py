"""Greedy task sampling: candidate tasks whose classes look alike to the models.

Algorithm 1 and Eq. 6 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models",
for all candidates at once. psi ``[N, N]`` are the pair potentials of classes in [0, 1]
(`seqsearch.features.geometry.potentials`): the more similar two classes are, the larger. A task is grown class by class, each
time by the class with the largest product of potentials with the classes already in it.

Shapes: ``N`` classes in psi, ``n`` available classes, ``B`` candidates, ``k`` classes per task, ``s`` seen classes. The ending of
a name is the shape of the array: ``chosen_Bk`` is ``[B, k]``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqsearch.features.many_potentials import ManyPotentials
from seqsearch.planners.candidates.base import CandidateRequest, Proposal

_BLOCK = 64
"""Candidates that are grown at once. In the largest pool of the paper, of 2,403 classes, their scores (64 x 2,403 x 8 bytes) stay
in the cache of one core."""


def propose(request: CandidateRequest) -> list[Proposal]:
    """Distinct tasks, each grown from its own first class by the class with the largest product of potentials (Eq. 6).

    The first class decides the rest, so first classes are drawn without replacement: ``min(count, n)`` draws. They are uniform,
    or have the probabilities ``request.first``, and then only classes of positive probability are drawn. Different first classes
    may grow the same set, which is returned once, so the result can be shorter than asked for. The product is computed as a sum
    of logarithms, where a zero potential is -inf. The lowest class number wins ties, and wins if all products are zero.

    Raises:
        ValueError: the request holds no potentials.
    """
    if request.psi is None:
        raise ValueError("greedy needs pair potentials")
    classes = np.sort(request.classes)  # ascending, so that the first maximum is the lowest class number
    starts = np.searchsorted(classes, _first_classes(request))
    logs = _Logs(request.psi, classes)
    blocks = [_grow(logs, starts[i : i + _BLOCK], request.k) for i in range(0, len(starts), _BLOCK)]
    chosen_Bk = np.concatenate(blocks)
    _, first_of_set = np.unique(np.sort(chosen_Bk, axis=1), axis=0, return_index=True)
    return [tuple(task) for task in classes[chosen_Bk[np.sort(first_of_set)]].tolist()]


def _first_classes(request: CandidateRequest) -> NDArray[np.int64]:
    """Distinct first classes ``[B]``, in the order in which they are drawn."""
    if request.first is None:
        return request.rng.permutation(request.classes)[: request.count]
    p_n = np.asarray(request.first, dtype=np.float64)
    draws = min(request.count, int(np.count_nonzero(p_n)))
    positions = request.rng.choice(len(p_n), draws, replace=False, p=p_n / p_n.sum())
    return request.classes[positions]


class _Logs:
    """Logarithms of the potentials ``[n, n]`` among the available classes, computed row by row when candidates need them.

    A thousand candidates need the rows of some of 10,000 classes, and a single task (as in look-aheads) needs k rows. So most
    rows are not computed, and no second matrix of 800 MB is filled.
    """

    def __init__(self, psi: NDArray[np.float64] | ManyPotentials, classes: NDArray[np.int64]) -> None:
        self._psi, self._classes = psi, classes
        self._rows = np.empty((len(classes), len(classes)))  # filled from the top: the rest takes no memory
        self._place = np.full(len(classes), -1)
        self._filled = 0

    def __len__(self) -> int:
        return len(self._classes)

    def rows(self, wanted_B: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logarithms ``[B, n]`` of the potentials of the classes at these positions with all available ones."""
        new = np.unique(wanted_B[self._place[wanted_B] < 0])
        if len(new):
            self._place[new] = np.arange(self._filled, self._filled + len(new))
            psi = self._psi[np.ix_(self._classes[new], self._classes)]
            with np.errstate(divide="ignore"):  # base 2 keeps ties of powers of two exact
                np.log2(psi, out=self._rows[self._filled : self._filled + len(new)])
            self._filled += len(new)
        found: NDArray[np.float64] = self._rows[self._place[wanted_B]]
        return found


def _grow(logs: _Logs, starts_B: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Positions ``[B, k]`` of the classes of each task, in the order chosen."""
    rows_B = np.arange(len(starts_B))
    chosen_Bk = np.empty((len(starts_B), k), dtype=np.int64)
    chosen_Bk[:, 0] = starts_B
    scores_Bn = np.zeros((len(starts_B), len(logs)))
    for j in range(1, k):
        last_B = chosen_Bk[:, j - 1]
        scores_Bn += logs.rows(last_B)
        scores_Bn[rows_B, last_B] = -np.inf
        best_B = scores_Bn.argmax(axis=1)
        dead_B = np.isneginf(scores_Bn[rows_B, best_B])  # every remaining class has a product of zero: rare
        for row in np.flatnonzero(dead_B):
            best_B[row] = _lowest_free(chosen_Bk[row, :j])
        chosen_Bk[:, j] = best_B
    return chosen_Bk


def _lowest_free(taken: NDArray[np.int64]) -> int:
    """The smallest position that is not in ``taken``."""
    return int(np.setdiff1d(np.arange(len(taken) + 1), taken)[0])


def near_past(similarity_ns: NDArray[np.floating], temperature: float = 0.1) -> NDArray[np.float64]:
    """Probabilities ``[n]`` of the first class that favour classes similar to learned ones (``--seed-class near-past``).

    ``similarity_ns`` ``[n, s]`` are cosines to the prototypes of the seen classes. A class's nearness is its largest
    cosine, rescaled to [0, 1] over the available classes so that the scale of a backbone's cosines does not matter; the
    probabilities are a softmax of nearness / ``temperature``. No class has probability zero. This is not in the paper,
    which draws the first class uniformly. The probabilities are uniform if no class was seen or all are equally near.
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
