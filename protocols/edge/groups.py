"""The sequences of an EDGE run by what they are, and the final accuracies of a method on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.types import Task
from seqsearch.planners.replicates import ORDERS
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.stats.accuracy import acc
from seqsearch.stats.regression import SimilarityCorrelation, similarity_correlation

Table = NDArray[np.float64]
"""Final accuracy ``[sequences, seeds]``."""
DIGITS = 12
"""Of an accuracy: sums of shares of images differ in more only by the order in which they were added."""
OF_FITS = ("fitted", "retrained")
"""Kinds of sequences that are there with ``--fit`` alone."""
WHAT = {"crossed": "random, with the seeds of the extremes", "crossed-rs": "rs, with the seeds of the extremes"}
"""Groups that are called otherwise where they are spoken of."""


class LeftOut(NamedTuple):
    """Sequences that failed for a method with some seed: ``lost`` of so many of a kind; of those that a fit chose ``of`` is 0."""

    method: str
    lost: int
    of: int
    what: str


@dataclass(frozen=True)
class Group:
    """Sequences of one kind: names, objective ``S`` (None where not defined), accuracies ``[sequences, seeds]`` of a method.

    ``shared``: what S depends on, in words, if by construction that is less than the sequence; empty if it is not.
    """

    names: tuple[str, ...]
    S: tuple[float | None, ...]
    accuracy: Table
    shared: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def means(self) -> Table:
        """Over seeds ``[sequences]``."""
        means: Table = self.accuracy.mean(axis=1)
        return means

    @property
    def first(self) -> Table:
        """One training each, with the first seed ``[sequences]``."""
        return self.accuracy[:, 0]


def correlation(group: Group) -> SimilarityCorrelation | None:
    """Of S and accuracy over the sequences; None for fewer than three, or where S is not defined."""
    if len(group) < 3 or any(s is None for s in group.S):
        return None
    clusters = group.shared if len(set(group.shared)) < len(group.shared) else None
    values = np.array(group.S, dtype=np.float64)
    ties_kept = np.round(values / (np.abs(values).max() or 1.0), DIGITS)  # sums in another order differ in last bits
    return similarity_correlation(ties_kept, group.means, clusters)


def what_s_depends_on(tasks: Sequence[Task], objective: str) -> str:
    """Sequences with the same answer share their S, or most of it, by construction; empty where it depends on the sequence.

    With three tasks S (and S at lags) depends on the middle task; similarity within tasks does not depend on their order.
    """
    sets = [sorted((c.pool, c.index) for c in t.classes) for t in tasks]
    if objective == "within":
        return str(sorted(sets))
    return str(sets[1]) if objective in ("adjacent", "lags") and len(sets) == 3 else ""


def grouped(sequences: Iterable[TaskSequence]) -> dict[str, list[TaskSequence]]:
    """By what they are; extremes of further similarities by ``hard@LABEL``. Those of ``--fit`` are spoken of elsewhere."""
    found: dict[str, list[TaskSequence]] = {n: [] for n in ("hard", "easy", "named", "random", "rs", "own", "every")}
    for s in sequences:
        if s.kind in OF_FITS:
            continue
        stem, at, label = s.sequence_id.partition("@")
        found.setdefault(f"{stem.partition('-')[0]}{at}{label}", []).append(s)
    return found


def groups_of(data: RunResults, method: str, troubles: list[LeftOut]) -> dict[str, Group]:
    """Every kind of sequence with the accuracies of its own seeds; those that failed with one of them are left out and named.

    ``random``, ``rs`` and ``own`` have one seed a sequence, another for each; ``crossed`` and ``crossed-rs`` are those of them
    that were trained with the scoring seeds, too; ``hard``, ``easy``, ``named`` and ``every`` have the scoring seeds.
    """
    scoring = tuple(r for r in data.seeds if r < ORDERS)
    of: dict[str, list[int]] = {}
    for sequence_id, label, seed in data.rollouts:
        if label == method:
            of.setdefault(sequence_id, []).append(seed)
    kinds = grouped(data.sequences)
    found = {}
    for name, sequences in kinds.items():
        seeds = [(s, scoring) for s in sequences]
        if name in ("random", "rs", "own"):
            seeds = [(s, tuple(r for r in of.get(s.sequence_id, ()) if r >= ORDERS)[:1]) for s in sequences]
        found[name] = _group(data, method, name, seeds, troubles)
        if crossed := {"random": "crossed", "rs": "crossed-rs"}.get(name):
            both = [(s, scoring) for s in sequences if any(r < ORDERS for r in of.get(s.sequence_id, ()))]
            found[crossed] = _group(data, method, crossed, both, troubles)
    return found


def _group(
    data: RunResults,
    method: str,
    name: str,
    wanted: Sequence[tuple[TaskSequence, tuple[int, ...]]],
    troubles: list[LeftOut],
) -> Group:
    """Those that were evaluated to their end with all their seeds."""
    whole = [(s, seeds) for s, seeds in wanted if seeds and all(_complete(data, s, method, r) for r in seeds)]
    if lost := len(wanted) - len(whole):
        troubles.append(LeftOut(method, lost, len(wanted), WHAT.get(name, name)))
    accuracy = [
        [round(acc(data.rollouts[s.sequence_id, method, r].accuracy), DIGITS) for r in seeds] for s, seeds in whole
    ]
    shared = tuple(what_s_depends_on(s.tasks, str(data.setting("objective") or "")) for s, _ in whole)
    return Group(
        tuple(s.sequence_id for s, _ in whole),
        tuple(s.values[0] if s.values else None for s, _ in whole),
        np.array(accuracy).reshape(len(whole), max([1, *(len(r) for _, r in wanted)])),
        shared if all(shared) else (),
    )


def _complete(data: RunResults, s: TaskSequence, method: str, seed: int) -> bool:
    rollout = data.rollouts.get((s.sequence_id, method, seed))
    return rollout is not None and rollout.complete
