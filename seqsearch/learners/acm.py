"""ACM: the nearest stored neighbours of frozen features vote, by cosine; every revealed sample is stored.

"Online Continual Learning Without the Storage Constraint" (k = 2). The most frequent class among the k nearest is said; of
several the one with the nearest neighbour. So ``k=2`` is the same as ``k=1``: two neighbours agree, or the nearer decides. It
costs no update.

- ``index=hnsw`` is approximate, with the links and candidates of the public code (M 25, ef 500 while adding; while searching
  200 as in the public code of ACM; the comparison of "Rapid Adaptation in Online Continual Learning: Are We Evaluating It
  Right?" left it at the library's 10). ``index=exact`` compares all.

Departures from the public code, and why: there a network from 2048 to 512 features is trained before; the paper has none. There
one of two tied classes is said by its number, or by the order of a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.learners.parts.neighbours import Exact, Graph, Neighbours, Vectors
from seqsearch.methods.base import Caps
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch


class AdaptiveContinualMemory(Learner):
    """Unit vectors ``[n, d]`` and their classes ``[n]``; see the module."""

    @dataclass(frozen=True)
    class Config(BaseConfig):
        k: int = param(2, "neighbours that vote; 2 is the same as 1", minimum=1, maximum=1000, search=(1, 3, 5, 10))
        index: str = param(
            "hnsw", "how they are found: by a graph (hnsw), or among all (exact)", choices=("hnsw", "exact")
        )
        links: int = param(25, "of a vector in the graph (M)", minimum=2, maximum=512)
        ef_construction: int = param(500, "candidates while a vector is added to the graph", minimum=1, maximum=100_000)
        ef: int = param(200, "candidates while the graph is searched", minimum=1, maximum=100_000)

    config: Config
    caps = Caps(input="frozen", trains_backbone=False, design=("exemplar",))

    def __init__(self, context: LearnerContext, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.labels = torch.zeros(0, dtype=torch.int64)
        self.stored: Neighbours = Exact(context.dim)
        if self.config.index == "hnsw":
            c, seed = self.config, context.generator("levels").initial_seed()
            self.stored = Graph(context.dim, c.links, c.ef_construction, c.ef, seed)

    def predict(self, batch: Batch) -> Tensor:
        if not len(self.labels):
            return torch.full((len(batch),), -1)
        found = self.stored.nearest(unit(batch), min(self.config.k, len(self.labels)))
        classes = np.where(found < 0, -1, self.labels.numpy()[found])
        return torch.from_numpy(voted(classes))

    def learn(self, step: Step) -> None:
        self.stored.add(unit(step.batch))
        self.labels = torch.cat([self.labels, step.batch.targets.cpu()])

    def state_dict(self) -> dict[str, Any]:
        return {"labels": self.labels, **self.stored.state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.labels = state["labels"]
        self.stored.restore(state)

    def counters(self) -> Mapping[str, float]:
        return {"stored": float(len(self.labels))}


def unit(batch: Batch) -> Vectors:
    """Features of length 1, ``[n, d]``."""
    found: Vectors = functional.normalize(batch.frozen).cpu().numpy()
    return found


def voted(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent class ``[n]`` of each row of ``classes`` ``[n, k]``, which are in order of distance; of several the one
    that comes first; -1 counts for none."""
    if classes.shape[1] <= 2:  # two agree, or the nearer decides
        return np.ascontiguousarray(classes[:, 0])
    votes = (classes[:, :, None] == classes[:, None, :]).sum(2)
    votes[classes < 0] = 0
    found: NDArray[np.int64] = np.take_along_axis(classes, votes.argmax(1)[:, None], axis=1)[:, 0]
    return found


build = AdaptiveContinualMemory
