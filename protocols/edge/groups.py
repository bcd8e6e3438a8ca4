"""The sequences of an EDGE run by what they are, and the final accuracies of a method on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.distribution.correlation import SimilarityCorrelation, similarity_correlation
from seqsearch.metrics.accuracy import acc
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults

Table = NDArray[np.float64]
"""Final accuracy ``[sequences, seeds]``."""
DIGITS = 12
"""Of an accuracy: sums of shares of images differ in more only by the order in which they were added."""


@dataclass(frozen=True)
class Group:
    """Sequences of one kind: names, objective ``S`` (None where not defined), accuracies ``[sequences, seeds]`` of a method."""

    names: tuple[str, ...]
    S: tuple[float | None, ...]
    accuracy: Table

    def __len__(self) -> int:
        return len(self.names)

    @property
    def means(self) -> Table:
        """Over seeds ``[sequences]``."""
        means: Table = self.accuracy.mean(axis=1)
        return means


def correlation(group: Group) -> SimilarityCorrelation | None:
    """Of S and accuracy over the sequences; None for fewer than three, or where S is not defined."""
    if len(group) < 3 or any(s is None for s in group.S):
        return None
    return similarity_correlation(np.array(group.S, dtype=np.float64), group.means)


def grouped(sequences: Iterable[TaskSequence]) -> dict[str, list[TaskSequence]]:
    """By what they are; extremes of further similarities by ``hard@LABEL``."""
    found: dict[str, list[TaskSequence]] = {n: [] for n in ("hard", "easy", "random", "rs", "own", "every")}
    for s in sequences:
        stem, at, label = s.sequence_id.partition("@")
        found.setdefault(f"{stem.partition('-')[0]}{at}{label}", []).append(s)
    return found


def group_of(data: RunResults, method: str, sequences: list[TaskSequence], troubles: list[str]) -> Group:
    """Those that were judged to their end with every seed."""
    whole = [s for s in sequences if data.complete(method, [s]) == set(data.seeds)]
    if lost := len(sequences) - len(whole):
        what = sequences[0].sequence_id.partition("-")[0]
        troubles.append(
            f"{method}: {lost} of {len(sequences)} sequences ({what}) failed with some seed and are left out."
        )
    accuracy = [
        [round(acc(data.rollouts[s.sequence_id, method, r].accuracy), DIGITS) for r in data.seeds] for s in whole
    ]
    values = tuple(s.values[0] if s.values else None for s in whole)
    return Group(tuple(s.sequence_id for s in whole), values, np.array(accuracy).reshape(len(whole), len(data.seeds)))
