"""Features of a class sequence on a similarity matrix: the terms of the objectives, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.extremes.objective import Floats, Labels, Objective, Problem

MOST_LAG = 3
"""Tasks further apart than this have no feature of their own."""
SAME = 1e-9
"""Share of the largest similarity below which a feature does not differ."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of sequences: S of neighbouring tasks (``adjacent``), of tasks 2 and 3 apart, ``within`` and ``typicality``.

    Attributes:
        problems: one a feature; its score is the feature (`Objective` says what each is).
        left_out: those that there are not, by name, and why.
        k: number of tasks.
    """

    k: int
    problems: dict[str, Problem]
    left_out: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.problems)

    def of(self, sequences: Sequence[Labels] | Labels) -> Floats:
        """``[n, P]`` of sequences ``[n, N]``."""
        labels = np.asarray(sequences, dtype=np.int64)
        if not len(labels) or not self.problems:
            return np.zeros((len(labels), len(self.problems)))
        problems = list(self.problems.values())
        member = (labels[:, None, :] == np.arange(self.k)[None, :, None]).astype(np.float64)
        blocks = member @ problems[0].similarity @ member.transpose(0, 2, 1)
        pairs = np.array([p.pairs for p in problems]).reshape(len(problems), -1)
        places = np.array([p.places.T for p in problems]).reshape(len(problems), -1)
        found: Floats = blocks.reshape(len(labels), -1) @ pairs.T / 2 + member.reshape(len(labels), -1) @ places.T
        return found

    def without(self, reasons: dict[str, str]) -> Features:
        """Those that have no reason to be left out."""
        kept = {name: p for name, p in self.problems.items() if name not in reasons}
        return Features(self.k, kept, {**self.left_out, **reasons})


def features(similarity: ArrayLike, sizes: Sequence[int]) -> Features:
    """All that tasks of these sizes have.

    Raises:
        UserError: sizes that do not fit the matrix.
    """
    k = len(sizes)
    objectives = {f"{lag} apart": Objective((*(0.0,) * (lag - 1), 1.0)) for lag in range(2, MOST_LAG + 1)}
    objectives = {"adjacent": Objective(), **objectives}
    objectives |= {name: Objective.named(name) for name in ("within", "typicality")}
    problems = {name: Problem(similarity, sizes, o) for name, o in objectives.items()}
    left_out = {name: f"not defined for {k} tasks of these sizes" for name, p in problems.items() if not p.defined}
    return Features(k, {name: p for name, p in problems.items() if p.defined}, left_out)


def chosen(there: Features, sequences: Sequence[Labels]) -> tuple[Features, Floats]:
    """Those that differ between ``sequences``, and not only as those before them do, and their values ``[n, P]``."""
    values = there.of(sequences)
    reasons: dict[str, str] = {}
    largest = max((float(np.abs(p.similarity).max()) for p in there.problems.values()), default=0.0)
    basis = np.ones((len(values), 1)) / np.sqrt(max(1, len(values)))
    for name, column in zip(there.names, values.T, strict=True):
        centred = column - column.mean()
        if np.abs(centred).max(initial=0.0) <= SAME * largest:
            reasons[name] = "the same for all sequences"
            continue
        centred /= np.linalg.norm(centred)
        rest = centred - basis @ (basis.T @ centred)
        if np.linalg.norm(rest) <= SAME**0.5:
            reasons[name] = "follows from the features before it"
            continue
        basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    kept = [i for i, name in enumerate(there.names) if name not in reasons]
    return there.without(reasons), values[:, kept]
