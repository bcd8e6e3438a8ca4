"""Methods on given sequences: what the source knows already is taken over, only the rest is trained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from protocols.evaluate.parts.source import Source
from protocols.running.export import rescored
from seqsearch.core.types import MethodSpec
from seqsearch.engine.journal import Journal
from seqsearch.planners.given import GivenPlanner, GivenSequence
from seqsearch.results.rows import Row, TaskSequence, result_rows
from seqsearch.study.study import Study


@dataclass(frozen=True)
class Asked:
    """A method on a sequence, with these training seeds."""

    method: MethodSpec
    sequence: TaskSequence
    replicates: tuple[int, ...]


class Judging:
    """What is asked, what of it is known, and a planner for each method that lacks something.

    A rollout is known if the source judged it to its end with the same config digest: same code, parameters, weights, versions
    and device. Other methods of the source are known as they are: nobody asks for them to be trained.
    """

    def __init__(self, source: Source, asked: Sequence[Asked], seed: int) -> None:
        self.asked = tuple(asked)
        self.known = _known(source, self.asked)
        """Rows by (sequence, label, training seed)."""
        missing: dict[MethodSpec, list[tuple[TaskSequence, tuple[int, ...]]]] = defaultdict(list)
        for a in self.asked:
            rest = tuple(r for r in a.replicates if (a.sequence.sequence_id, a.method.label, r) not in self.known)
            if rest:
                missing[a.method].append((a.sequence, rest))
        self.missing = dict(missing)
        self.planners = [
            GivenPlanner(f"score {m.label}", _given(sequences), [m], seed) for m, sequences in self.missing.items()
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
            judged
            for method, sequences in self.missing.items()
            for judged in rescored(
                study, journal, [method], [(s.sequence_id, s.kind, s.tasks, r) for s, r in sequences]
            )
        ]
        return [*result_rows(trained), *(row for rows in self.known.values() for row in rows)]


def _known(source: Source, asked: Sequence[Asked]) -> dict[tuple[str, str, int], list[Row]]:
    if source.data is None or source.named:
        return {}
    digests = {(a.sequence.sequence_id, a.method.label): a.method.digest for a in asked}
    sequences = {name for name, _ in digests} | {s.sequence_id for s in source.sequences}
    found: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in source.data.rows:
        key = row["sequence_id"], row["method_id"], row["seed"]
        same = digests.get(key[:2], row["config_digest"]) == row["config_digest"]
        if same and row["sequence_id"] in sequences and source.data.rollouts[key].complete:
            found[key].append(row)
    return dict(found)


def _given(sequences: Sequence[tuple[TaskSequence, tuple[int, ...]]]) -> Callable[[], list[GivenSequence]]:
    return lambda: [GivenSequence(s.tasks, replicates) for s, replicates in sequences]
