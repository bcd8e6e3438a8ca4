"""Figures of a method on the sequences that it was evaluated on, and on found sequences beside random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.cldyb.compared import Evaluated, Pair, drop_of, pair
from protocols.cldyb.joint import gap_of
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, RunResults
from seqsearch.stats.drop import Drop, GapDifference


@dataclass(frozen=True, eq=False)
class Compared:
    """A method on found sequences, which were all searched with the methods of ``group`` (None: with different ones)."""

    group: tuple[str, ...] | None
    found: Evaluated
    pair: Pair | None

    @property
    def drop(self) -> Drop | None:
        return drop_of([self.pair]) if self.pair and self.pair.seeds else None

    def gap(self, data: RunResults, method: str) -> GapDifference | None:
        """The gaps to joint training; None where that was not trained on all sequences."""
        found = gap_of(data, [(method, self.pair)]) if self.pair and self.pair.seeds else None
        return found.of if found else None


def compared_on_found(data: RunResults, method: str, troubles: list[str], own: bool) -> Compared | None:
    """A method on the sequences that were searched with it, or on the others; paired with random ones if they are of one kind.

    Sequences that were searched with different methods are no draws of one search, so that no drop is given over them.
    """
    found = [s for s in data.sequences if s.kind in FOUND and (method in s.method_ids) == own]
    whole = complete(data, method, found) or found
    if not whole:
        return None
    groups = {s.method_ids for s in whole}
    if len(groups) > 1:
        return Compared(None, evaluated_on(data, method, whole), None)
    return Compared(groups.pop(), evaluated_on(data, method, whole), pair(data, method, troubles, whole))


def complete(data: RunResults, method: str, sequences: Sequence[TaskSequence]) -> list[TaskSequence]:
    """Those that a method was evaluated on to the end, with all the seeds that it has for the sequence."""
    seeds: dict[str, set[int]] = {}
    for name, label, r in data.rollouts:
        if label == method:
            seeds.setdefault(name, set()).add(r)
    return [s for s in sequences if seeds.get(s.sequence_id) and data.complete(method, [s]) == seeds[s.sequence_id]]


def evaluated_on(data: RunResults, method: str, sequences: Sequence[TaskSequence]) -> Evaluated:
    """A method on those sequences that it was evaluated on to the end, with all seeds of each, which others need not have."""
    whole = complete(data, method, sequences)
    own = [data.complete(method, [s]) for s in whole]
    shared = own[0] if own and all(seeds == own[0] for seeds in own) else set()
    rows = tuple(
        tuple(data.rollouts[s.sequence_id, method, r] for r in sorted(seeds))
        for s, seeds in zip(whole, own, strict=True)
    )
    return Evaluated(tuple(whole), tuple(sorted(shared)), rows)
