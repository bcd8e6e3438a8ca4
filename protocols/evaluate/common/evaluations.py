"""Evaluates methods on fixed sequences: takes over known results of the source, and plans training for the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from protocols.evaluate.common.source import Source
from protocols.running.export import rescored
from seqsearch.core.types import MethodSpec
from seqsearch.engine.journal import Journal
from seqsearch.planners.fixed import FixedPlanner, FixedSequence
from seqsearch.results.rows import Row, TaskSequence, result_rows
from seqsearch.study.study import Study

Key = tuple[str, str, int]
"""Sequence, label or digest of the method, training seed."""


@dataclass(frozen=True)
class Asked:
    """A method on a sequence, with these training seeds."""

    method: MethodSpec
    sequence: TaskSequence
    replicates: tuple[int, ...]


class Evaluations:
    """The requested rollouts, those already known, and a planner for each method with missing rollouts.

    A rollout is known if the source evaluated it to its end with the same config digest. That means the same code,
    parameters, weights, versions and device; labels may differ. Rollouts of methods that were not requested are taken
    over from the source as they are, and are never trained.
    """

    def __init__(self, source: Source, asked: Sequence[Asked], seed: int) -> None:
        self.asked = _once(asked)
        self.known = _known(source, self.asked)
        """Rows by (sequence, label, training seed)."""
        missing: dict[MethodSpec, list[tuple[TaskSequence, tuple[int, ...]]]] = defaultdict(list)
        for a in self.asked:
            rest = tuple(r for r in a.replicates if (a.sequence.sequence_id, a.method.label, r) not in self.known)
            if rest:
                missing[a.method].append((a.sequence, rest))
        self.missing = dict(missing)
        self.planners = [
            FixedPlanner(f"score {m.label}", _given(sequences), [m], seed) for m, sequences in self.missing.items()
        ]

    @property
    def rollouts(self) -> int:
        """To be trained."""
        return sum(len(seeds) for sequences in self.missing.values() for _, seeds in sequences)

    @property
    def trainings(self) -> int:
        """To be done at most: sequences that begin alike share their first ones."""
        return sum(len(s.tasks) * len(seeds) for sequences in self.missing.values() for s, seeds in sequences)

    def rows(self, study: Study, journal: Journal) -> list[Row]:
        """Rows of ``results.parquet``: what was trained here, as far as it came, and what was known."""
        trained = [
            evaluated
            for method, sequences in self.missing.items()
            for evaluated in rescored(
                study, journal, [method], [(s.sequence_id, s.kind, s.tasks, r) for s, r in sequences]
            )
        ]
        return [*result_rows(trained), *(row for rows in self.known.values() for row in rows)]


def _once(asked: Sequence[Asked]) -> tuple[Asked, ...]:
    """Nothing twice: a method and a reference may be the same."""
    seeds: dict[tuple[str, str], Asked] = {}
    for a in asked:
        key = a.sequence.sequence_id, a.method.label
        known = seeds.get(key)
        seeds[key] = replace(a, replicates=tuple(dict.fromkeys((*known.replicates, *a.replicates)))) if known else a
    return tuple(seeds.values())


def _known(source: Source, asked: Sequence[Asked]) -> dict[Key, list[Row]]:
    """Return the known rows of the source.

    They are the rows of requested rollouts, also if the source has them under another label. Rows of all methods that
    were not requested are added.
    """
    if source.data is None or source.named:
        return {}
    labels = {a.method.label for a in asked}
    sequences = {a.sequence.sequence_id for a in asked} | {s.sequence_id for s in source.sequences}
    by_digest: dict[Key, list[Row]] = defaultdict(list)
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in source.data.rows:
        name, label, seed = row["sequence_id"], row["method_id"], row["seed"]
        if name in sequences and source.data.rollouts[name, label, seed].complete:
            by_digest[name, row["config_digest"], seed].append(row)
            if label not in labels:
                found[name, label, seed].append(row)
    for a in asked:
        for r in a.replicates:
            if rows := by_digest.get((a.sequence.sequence_id, a.method.digest, r)):
                one = next((x for x in rows if x["method_id"] == a.method.label), rows[0])["method_id"]
                own = [{**x, "method_id": a.method.label} for x in rows if x["method_id"] == one]
                found[a.sequence.sequence_id, a.method.label, r] = own
    return dict(found)


def _given(sequences: Sequence[tuple[TaskSequence, tuple[int, ...]]]) -> Callable[[], list[FixedSequence]]:
    return lambda: [FixedSequence(s.tasks, replicates) for s, replicates in sequences]
