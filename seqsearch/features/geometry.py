"""Geometry of classes and tasks in a model's features: cosines, pair potentials, k-nearest-neighbour likelihoods.

Equations and figures are those of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".

FAISS searches neighbours, on the GPU of a worker that has one; cosines of all pairs are one matrix product. `cosine_matrix` and
`knn_nll` each have an exact numpy reference implementation for tests (`cosine_matrix_exact`, `knn_nll_exact`).
Shapes: ``N`` classes, ``n`` training images, ``m`` queries, ``d`` features. A suffix of a name lists its axes; the capital D of
``x_ND`` is ``d``, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

SAME = 1e-6
"""Cosines of float32 features that differ by less than this do not differ."""
_ROWS = 256
"""Rows of potentials worked on at a time: they stay in the cache of a core."""
_MOST_ON_GPU = 1024
"""Neighbours that FAISS selects on a GPU, at most; it searches for more on the CPU."""
_GPU_BYTES = 64 << 20
"""Scratch memory of FAISS on a GPU (its own choice is over a gigabyte), which workers and their methods share."""


def cosine_matrix(x_ND: ArrayLike) -> Float32:
    """Cosines ``[N, N]`` between the rows of ``x_ND`` ``[N, d]``; a zero row has cosine 0 with everything.

    One matrix product, never an index search: all pairs are wanted, none sorted. It is the product that FAISS's
    ``pairwise_distances`` does, bit for bit, less the second copy that FAISS makes of the result.

    Raises:
        ValueError: ``x_ND`` is not a matrix of finite numbers.
    """
    x_ND = unit_rows(x_ND)
    cosines: Float32 = x_ND @ x_ND.T
    return cosines


def cosine_matrix_exact(x_ND: ArrayLike) -> Float64:
    """The oracle of `cosine_matrix`: the same in float64 numpy."""
    x = np.asarray(x_ND, dtype=np.float64)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, norms, out=np.zeros_like(x), where=norms > 0)
    cosines: Float64 = unit @ unit.T
    return cosines


def potentials(prototypes: Sequence[ArrayLike]) -> Float64:
    """Pair potentials Psi ``[N, N]`` in [0, 1] (Eq. 5).

    ``prototypes`` holds one ``[N, d_m]`` per method: mean features of the same ``N`` classes. The paper's s() is read
    as min-max over all pairs u != v of one method; the mean over methods comes after it. A method to which all pairs
    look alike says 1 for each. The diagonal has no meaning and is 0.

    Raises:
        ValueError: no method, methods with different numbers of classes, or prototypes that are not finite.
    """
    if not prototypes:
        raise ValueError("potentials need the prototypes of at least one method")
    psi = np.zeros((len(np.asarray(prototypes[0])),) * 2)
    for x_ND in prototypes:
        _add_rescaled(psi, cosine_matrix(x_ND))
    psi /= len(prototypes)
    np.fill_diagonal(psi, 0.0)
    return psi


def _add_rescaled(psi: Float64, cosines: Float32) -> None:
    """Add off-diagonal ``cosines`` ``[N, N]`` rescaled to [0, 1] to ``psi``; 1 where all are alike. ``cosines`` are used up."""
    if cosines.shape != psi.shape:
        raise ValueError(f"methods disagree on the number of classes: {len(psi)} and {len(cosines)}")
    if len(cosines) < 2:
        return
    np.fill_diagonal(cosines, cosines[0, 1])  # any off-diagonal value: keeps the diagonal out of both extremes
    blocks = [slice(i, i + _ROWS) for i in range(0, len(cosines), _ROWS)]
    extremes = [(cosines[b].min(), cosines[b].max()) for b in blocks]
    low, high = min(e[0] for e in extremes), max(e[1] for e in extremes)
    for b in blocks:
        if high - low < SAME:
            psi[b] += 1.0
        else:
            cosines[b] -= low
            cosines[b] /= high - low
            psi[b] += cosines[b]


def knn_nll(
    train: ArrayLike,
    train_labels: ArrayLike,
    queries: ArrayLike,
    query_labels: ArrayLike,
    k: int = 10,
    temperature: float = 0.1,
    smoothing: float = 1e-3,
    device: str = "cpu",
) -> float:
    """Mean negative log-likelihood, in nats, of ``queries`` ``[m, d]`` under k-NN built from ``train`` ``[n, d]``.

    The scalar by which Algorithm 2 describes a task ("task feature"). The paper leaves the classifier open. Here each of the
    ``min(k, n)`` nearest by cosine votes for its label with weight exp(cos / temperature); a class's share ``v`` of the votes
    becomes (v + smoothing) / (1 + smoothing C), with C the number of labels that occur, so that the result is finite. Labels
    are any integers; a query's label need not occur in training. Of images equally near at rank k, FAISS picks.

    ``device`` is that of the worker that asks. On ``cuda`` FAISS searches on the GPU if it sees one, in float32 as on the
    CPU; the order of the sums differs, and with it the result, by less than one in a thousand.

    Raises:
        ValueError: nothing to vote or nothing to evaluate, sizes that disagree, features that are not finite.
    """
    train_nd, query_md = unit_rows(train), unit_rows(queries)
    labels_n, truth_m = _labels(train_labels, train_nd), _labels(query_labels, query_md)
    cosines_mk, nearest_mk = _search(query_md, train_nd, _neighbours(k, train_nd), device)
    return _mean_nll(cosines_mk, labels_n[nearest_mk], labels_n, truth_m, temperature, smoothing)


def knn_nll_exact(
    train: ArrayLike,
    train_labels: ArrayLike,
    queries: ArrayLike,
    query_labels: ArrayLike,
    k: int = 10,
    temperature: float = 0.1,
    smoothing: float = 1e-3,
) -> float:
    """The oracle of `knn_nll`: every cosine in float64, a full sort, and one query and one class at a time."""
    x, y = np.asarray(train, dtype=np.float64), np.asarray(train_labels)
    classes = set(y.tolist()) | set(np.asarray(query_labels).tolist())
    losses = []
    for q, label in zip(np.asarray(queries, dtype=np.float64), np.asarray(query_labels).tolist(), strict=True):
        norms = np.linalg.norm(x, axis=1) * np.linalg.norm(q)
        cosines = np.divide(x @ q, norms, out=np.zeros(len(x)), where=norms > 0)
        voters = np.argsort(-cosines, kind="stable")[:k]
        weights = np.exp((cosines[voters] - cosines.max()) / temperature)
        votes = {c: float(weights[y[voters] == c].sum()) + smoothing * float(weights.sum()) for c in classes}
        losses.append(-np.log(votes[label] / sum(votes.values())))
    return float(np.mean(losses))


def unit_rows(x: ArrayLike) -> Float32:
    """Rows of ``x`` ``[n, d]`` at length one, in float32; zero rows stay zero."""
    matrix = np.array(x, dtype=np.float32, order="C")
    if matrix.ndim != 2:
        raise ValueError(f"features must be a matrix [n, d], not of shape {matrix.shape}")
    # A first division by the largest entry keeps the squares of very large or very small features inside float32.
    high = matrix.max(axis=1, keepdims=True, initial=0.0)
    low = matrix.min(axis=1, keepdims=True, initial=0.0)
    largest = np.maximum(high, -low)
    if not np.isfinite(largest).all():
        raise ValueError("features are not finite")
    matrix /= np.where(largest > 0, largest, 1)
    norms = np.sqrt(np.einsum("nd,nd->n", matrix, matrix))[:, None]
    matrix /= np.where(norms > 0, norms, 1)
    return matrix


def _labels(labels: ArrayLike, features: Float32) -> NDArray[np.int64]:
    array = np.asarray(labels, dtype=np.int64)
    if array.shape != (len(features),) or not len(array):
        raise ValueError(f"{len(features)} feature vectors need as many labels, at least one; got shape {array.shape}")
    return array


def _neighbours(k: int, train_nd: Float32) -> int:
    if k < 1:
        raise ValueError(f"k-NN needs k of at least 1, not {k}")
    return min(k, len(train_nd))


def searches_on_gpu(device: str, k: int) -> bool:
    """Whether FAISS searches ``k`` neighbours on a GPU for a worker on ``device``: if it is built for GPUs and sees one."""
    import faiss

    return device == "cuda" and k <= _MOST_ON_GPU and bool(faiss.get_num_gpus())


def nearest(queries: Float32, among: Float32, k: int, device: str = "cpu") -> tuple[Float32, NDArray[np.int64]]:
    """The ``k`` largest cosines of each query ``[m, k]``, largest first, and the rows of ``among`` that have them ``[m, k]``. The
    search is exact.

    ``queries`` ``[m, d]`` and ``among`` ``[n, d]`` are `unit_rows`; ``k`` is at most n.

    Raises:
        ValueError: ``k`` below 1 or above n.
    """
    if k > len(among):
        raise ValueError(f"{len(among)} rows have no {k} nearest")
    return _search(queries, among, _neighbours(k, among), device)


def _search(query_md: Float32, train_nd: Float32, k: int, device: str) -> tuple[Float32, NDArray[np.int64]]:
    """The ``k`` largest inner products of each query ``[m, k]``, and the training rows that have them ``[m, k]``; by FAISS."""
    import faiss

    if searches_on_gpu(device, k):
        found = faiss.knn_gpu(_gpu_resources(), query_md, train_nd, k, metric=faiss.METRIC_INNER_PRODUCT)
    else:
        found = faiss.knn(query_md, train_nd, k, faiss.METRIC_INNER_PRODUCT)
    cosines_mk, nearest_mk = found
    return cosines_mk, nearest_mk


@cache
def _gpu_resources() -> Any:
    """FAISS's handle on the GPU that this process uses: one, since it holds memory there."""
    import faiss

    resources = faiss.StandardGpuResources()
    resources.setTempMemory(_GPU_BYTES)
    return resources


def _mean_nll(
    cosines_mk: Float32,
    labels_mk: NDArray[np.int64],
    labels_n: NDArray[np.int64],
    truth_m: NDArray[np.int64],
    temperature: float,
    smoothing: float,
) -> float:
    """Mean negative log-likelihood of the queries from the votes of their neighbours, see `knn_nll`."""
    logits = cosines_mk.astype(np.float64) / temperature
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    share = (weights * (labels_mk == truth_m[:, None])).sum(axis=1) / weights.sum(axis=1)
    classes = np.union1d(labels_n, truth_m).size
    return float(-np.log((share + smoothing) / (1 + smoothing * classes)).mean())
