"""Unit vectors that are stored one batch after the other, and their nearest neighbours by cosine (FAISS).

``hnsw`` is a graph that is searched approximately ("Efficient and Robust Approximate Nearest Neighbor Search Using Hierarchical
Navigable Small World Graphs"). So that a restored one goes on in the same bits, the level of each vector is a function of its
place and a seed, not of FAISS's own generator, which no file keeps; and one thread adds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import faiss
import numpy as np
import torch
from numpy.typing import NDArray

from seqsearch.learners.parts.hashing import hashed

Vectors = NDArray[np.float32]

MORE = 8
"""Candidates beyond those asked for that an exact search looks at again."""


@contextmanager
def one_thread() -> Iterator[None]:
    """A block in which FAISS uses one thread."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class Neighbours(ABC):
    """Unit vectors ``[n, d]`` in the order in which they were added."""

    index: Any
    dim: int

    def __len__(self) -> int:
        return int(self.index.ntotal)

    @abstractmethod
    def add(self, vectors: Vectors) -> None:
        """Store unit vectors ``[m, d]``."""

    @abstractmethod
    def nearest(self, queries: Vectors, k: int) -> NDArray[np.int64]:
        """Places of the ``k <= n`` nearest ``[m, k]`` of unit vectors ``[m, d]``, the nearest first; -1 for one that a graph
        does not reach. Each row is a function of its own query."""

    @abstractmethod
    def flat(self) -> Any:
        """The index that holds the vectors."""

    def vectors(self) -> Vectors:
        """``[n, d]``, a view until more are added."""
        found: Vectors = faiss.rev_swig_ptr(self.flat().get_xb(), len(self) * self.dim).reshape(len(self), self.dim)
        return found

    def state(self) -> dict[str, Any]:
        """Tensors and numbers; what it is restored from."""
        return {"vectors": torch.from_numpy(self.vectors().copy())}

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Of an empty one: to what gave ``state``."""


class Exact(Neighbours):
    """All vectors are compared."""

    def __init__(self, dim: int) -> None:
        self.dim, self.index = dim, faiss.IndexFlatIP(dim)

    def flat(self) -> Any:
        return self.index

    def add(self, vectors: Vectors) -> None:
        self.index.add(vectors)

    def nearest(self, queries: Vectors, k: int) -> NDArray[np.int64]:
        with one_thread():
            _, found = self.index.search(queries, min(k + MORE, len(self)))
        # FAISS rounds by the number of queries: the order is that of products that do not
        products = (self.vectors()[found] * queries[:, None, :]).sum(2, dtype=np.float64)
        order = np.lexsort((found, -products), axis=1)[:, :k]
        nearest: NDArray[np.int64] = np.take_along_axis(found, order, axis=1)
        return nearest

    def restore(self, state: Mapping[str, Any]) -> None:
        self.add(state["vectors"].numpy())


class Graph(Neighbours):
    """HNSW.

    Args:
        dim: of vectors.
        links: of a vector in each level (M); twice as many in the lowest.
        ef_construction: candidates while adding.
        ef: candidates while searching.
        seed: of the levels.
    """

    def __init__(self, dim: int, links: int, ef_construction: int, ef: int, seed: int) -> None:
        self.dim, self._links, self._seed = dim, links, seed
        self.index = faiss.IndexHNSWFlat(dim, links, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction, self.index.hnsw.efSearch = ef_construction, ef

    def flat(self) -> Any:
        return faiss.downcast_index(self.index.storage)

    def add(self, vectors: Vectors) -> None:
        levels = self.index.hnsw.levels
        for level in self.levels(len(self), len(self) + len(vectors)).tolist():
            levels.push_back(level)
        with one_thread():
            self.index.add(vectors)

    def levels(self, begin: int, end: int) -> NDArray[np.int64]:
        """Of the vectors at these places: ``l`` with a probability of ``(1 - 1/M) M^-(l-1)``, from 1."""
        drawn = (hashed(self._seed, np.arange(begin, end)) >> np.uint64(11)).astype(np.float64) + 0.5
        found = 1 + np.floor(-np.log(drawn * 2.0**-53) / np.log(self._links)).astype(np.int64)
        lowered: NDArray[np.int64] = np.minimum(found, int(self.index.hnsw.assign_probas.size()))
        return lowered

    def nearest(self, queries: Vectors, k: int) -> NDArray[np.int64]:
        with one_thread():
            found: NDArray[np.int64] = self.index.search(queries, k)[1]
        return found

    def state(self) -> dict[str, Any]:
        hnsw = self.index.hnsw
        links = np.empty(0, dtype=np.int32)
        if len(self):
            links = faiss.rev_swig_ptr(hnsw.neighbors.data(), hnsw.neighbors.size()).copy()
        return super().state() | {
            "links": torch.from_numpy(links),
            "entry": int(hnsw.entry_point),
            "top": int(hnsw.max_level),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        vectors, links, hnsw = state["vectors"].numpy(), state["links"].numpy(), self.index.hnsw
        self.flat().add(vectors)
        self.index.ntotal = len(vectors)
        levels = self.levels(0, len(vectors))
        widths = np.array([hnsw.cum_nb_neighbors(level) for level in range(hnsw.assign_probas.size() + 1)])
        offsets = np.concatenate([[0], np.cumsum(widths[levels])])
        if len(links) != offsets[-1] or (len(links) and not (links.min() >= -1 and links.max() < len(vectors))):
            raise ValueError("a graph's state does not fit together")
        faiss.copy_array_to_vector(levels.astype(np.int32), hnsw.levels)
        faiss.copy_array_to_vector(offsets.astype(np.uint64), hnsw.offsets)
        hnsw.neighbors.resize(len(links))
        if len(links):
            faiss.memcpy(hnsw.neighbors.data(), faiss.swig_ptr(links), links.nbytes)
        hnsw.entry_point, hnsw.max_level = int(state["entry"]), int(state["top"])
