"""Assigns the sequences of a run that were evaluated to their end to the four compared conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.evaluate.explain.study import EXPLAINED, concerns, origin
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.stats.effects import ConditionName

Parts = tuple[tuple[TaskSequence, ...], ...]


@dataclass(frozen=True)
class Compared:
    """A method's sequences by condition, for each found sequence (random ones: once), and training seeds complete on all.

    Random sequences with all of these seeds are a condition; ``ranked``: all that are complete with the first of them.
    """

    method: str
    sequences: Mapping[ConditionName, Parts]
    seeds: tuple[int, ...]
    ranked: tuple[TaskSequence, ...] = ()

    @property
    def found(self) -> tuple[TaskSequence, ...]:
        return tuple(s for [s] in self.sequences["found"])

    @property
    def shape(self) -> tuple[object, ...]:
        """Alike for methods whose mean can be taken."""
        return self.seeds, {n: [len(part) for part in parts] for n, parts in self.sequences.items()}

    @property
    def flat(self) -> list[TaskSequence]:
        return [s for parts in self.sequences.values() for part in parts for s in part]


def compared(data: RunResults, method: str, troubles: list[str]) -> Compared | None:
    """Return a method's sequences that are evaluated to their end, by condition.

    Incomplete sequences are named in ``troubles``. Return None if nothing can be compared.
    """
    found = [s for s in data.sequences if s.kind in EXPLAINED and concerns(s, method)]
    seeds = data.complete(method, found)
    if not seeds:
        troubles.append(
            f"{method}: not evaluated to the end on the sequences found with any training seed: no effects."
        )
        return None

    def whole(sequences: Sequence[TaskSequence], what: str) -> tuple[TaskSequence, ...]:
        kept = tuple(s for s in sequences if seeds <= data.complete(method, [s]))
        if lost := len(sequences) - len(kept):
            troubles.append(f"{method}: {lost} of {len(sequences)} {what} left out, not evaluated to their end.")
        return kept

    def of(kind: str) -> Parts:
        made = [(f, [s for s in data.sequences if s.kind == kind and origin(s) == f.sequence_id]) for f in found]
        return tuple(whole(part, f"{kind} sequences of {f.sequence_id}") for f, part in made)

    random = data.random()
    ranked = tuple(s for s in random if min(seeds) in data.complete(method, [s]))
    asked = {name for name, m, r in data.rollouts if m == method and r == max(seeds)}
    random = [s for s in random if s.sequence_id in asked]
    by_condition: dict[ConditionName, Parts] = {
        "random": (whole(random, "random sequences"),) if random else (),
        "regrouped": of("regrouped"),
        "reordered": of("reordered"),
        "found": tuple((f,) for f in found),
    }
    return Compared(method, {n: p for n, p in by_condition.items() if p and all(p)}, tuple(sorted(seeds)), ranked)
