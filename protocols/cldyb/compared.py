"""Comparison of a method's re-scored rollouts on found and on random sequences.

Random sequences have the first training seed alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.running.at_chance import AtChance, at_chance
from seqsearch.core.text import counted
from seqsearch.core.types import ClassId
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import Matrix, RunResults, Scored
from seqsearch.stats.accuracy import acc
from seqsearch.stats.drop import Drop, ImageShares, drop
from seqsearch.stats.multiple import holm, max_t, set_of_best
from seqsearch.stats.rank_test import End, RankTest, rank_test

FEWEST = 3
"""Random sequences below which none is left out; training seeds are, instead."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Sequences, training seeds, and complete rollouts of a method on them ``[sequences][seeds]``.

    Where sequences have seeds of their own, ``seeds`` is empty, and there may be more rollouts of one than of another:
    `by_sequence` and `weights` weigh every sequence alike.
    """

    sequences: tuple[TaskSequence, ...] = ()
    seeds: tuple[int, ...] = ()
    rollouts: tuple[tuple[Scored, ...], ...] = ()

    @property
    def final(self) -> Matrix:
        """Final Acc ``[sequences, seeds]``; as many seeds of each."""
        return np.array([[acc(s.accuracy) for s in row] for row in self.rollouts])

    @property
    def by_sequence(self) -> Matrix:
        """Final Acc ``[sequences]``, the mean over the seeds of each."""
        return np.array([np.mean([acc(s.accuracy) for s in row]) for row in self.rollouts])

    @property
    def weights(self) -> Matrix | None:
        """Of ``flat``, such that every sequence weighs alike; None where all have as many rollouts."""
        sizes = [len(row) for row in self.rollouts]
        return np.repeat([1 / n for n in sizes], sizes) if len(set(sizes)) > 1 else None

    @property
    def flat(self) -> list[Scored]:
        return [s for row in self.rollouts for s in row]


@dataclass(frozen=True, eq=False)
class Pair:
    """One method on both sides; no rollouts where a side has no seeds.

    ``seeds``: training seeds that both sides have in full, the first of ``found`` and all of ``random``; empty when there are
    none.
    """

    found: Evaluated
    random: Evaluated
    seeds: tuple[int, ...]


def pair(data: RunResults, method: str, troubles: list[str], found: Sequence[TaskSequence] | None = None) -> Pair:
    """Return the complete rollouts of a method on ``found`` sequences (default: those found for it) and on random ones.

    Incomplete rollouts and sequences are named in ``troubles``.
    """
    found, random = data.found(method) if found is None else list(found), data.random()
    asked = _asked(data, method, random)
    whole = [s for s in random if data.complete(method, [s]) == asked]
    if len(whole) < len(random) and len(whole) >= FEWEST and enough(len(whole), len(random)):
        troubles.append(
            f"{method}: {counted(len(random) - len(whole), 'random sequence')} left out, not evaluated to their end."
        )
        random = whole
    seeds_found, seeds_random = data.complete(method, found), data.complete(method, random)
    both = seeds_found & seeds_random
    lost = _lost(data, method, found, random) if found else "no sequence was found for it"
    if lost:
        rest = (
            f"compared on the {counted(len(both), 'training seed')} that ended well" if both else "so no drop is given"
        )
        troubles.append(f"{method}: {lost}; {rest}.")
    on_found = evaluated(data, method, found, seeds_found, first=both)
    return Pair(on_found, evaluated(data, method, random, both or seeds_random), tuple(sorted(both)))


def enough(whole: int, of: int) -> bool:
    """Whether a mean over the sequences that a method learned to the end is given. Over fewer than half it would flatter it."""
    return 2 * whole >= of


def _asked(data: RunResults, method: str, sequences: Sequence[TaskSequence]) -> set[int]:
    """The training seeds that a method was evaluated with on some of these sequences, to the end or not."""
    names = {s.sequence_id for s in sequences}
    return {r for name, m, r in data.rollouts if m == method and name in names}


def evaluated(
    data: RunResults, method: str, sequences: Sequence[TaskSequence], seeds: set[int], first: Collection[int] = ()
) -> Evaluated:
    """The rollouts of a method with these seeds, which must be complete, some of them ``first``; none without seeds."""
    if not seeds:
        return Evaluated()
    ordered = tuple(sorted(seeds, key=lambda r: (r not in first, r)))
    rows = tuple(tuple(data.rollouts[s.sequence_id, method, r] for r in ordered) for s in sequences)
    return Evaluated(tuple(sequences), ordered, rows)


def _lost(data: RunResults, method: str, found: Sequence[TaskSequence], random: Sequence[TaskSequence]) -> str:
    """Describe the missing and failed rollouts of a method's re-scoring; empty if there are none."""
    if not data.seeds:
        return "nothing was re-scored (interrupted?)"
    asked = [(s, r) for s in found for r in data.seeds_of(method)]
    asked += [(s, r) for s in random for r in _asked(data, method, random) or data.seeds_of(method)[:1]]
    got = [data.rollouts.get((s.sequence_id, method, r)) for s, r in asked]
    missing, bad = sum(g is None for g in got), [g.status for g in got if g is not None and not g.complete]
    parts = [f"{missing} of {len(got)} re-scored rollouts are missing (interrupted?)"] if missing else []
    if bad:
        parts.append(f"{len(bad)} of {len(got)} re-scored rollouts failed ({', '.join(sorted(set(bad)))})")
    return " and ".join(parts)


def drop_of(pairs: Sequence[Pair]) -> Drop | None:
    """The drop of the mean over methods; None unless they have as many sequences and the same seeds."""
    shapes = {(len(p.found.sequences), len(p.random.sequences), p.found.seeds, p.seeds) for p in pairs}
    if len(shapes) != 1 or not pairs[0].seeds:
        return None
    found, random = (np.mean([getattr(p, side).final for p in pairs], axis=0) for side in ("found", "random"))
    return drop(found, random, image_shares(pairs))


def best_of(methods: Sequence[str], pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The 95 % set of the best on found sequences; empty unless several methods were evaluated on the same, with the same
    seeds."""
    sides = [p.found for p in pairs]
    if len(sides) < 2 or not sides[0].seeds or len({(s.sequences, s.seeds) for s in sides}) > 1:
        return ()

    def images(i: int, j: int) -> ImageShares | None:
        return image_shares([Pair(sides[i], sides[j], sides[i].seeds)])

    return tuple(methods[i] for i in set_of_best([s.final for s in sides], images))


@dataclass(frozen=True)
class Placed:
    """Found sequences among random ones: final accuracies with the first seed of both, means over methods, and the test.

    ``adjusted_p``: of each method by itself, adjusted for all of them by step-down max-T; by Holm's method if found sequences are
    not ``shared`` by the methods, since no relabelling moves all methods together then.
    """

    found: tuple[float, ...]
    random: tuple[float, ...]
    test: RankTest
    adjusted_p: tuple[float, ...] = ()
    shared: bool = True


def placed(pairs: Sequence[Pair], end: End) -> Placed | None:
    """The rank of the found sequences, on the mean over methods; None where these cannot be compared, or are not all complete."""
    shapes = {(len(p.found.sequences), p.random.sequences, p.seeds[:1]) for p in pairs}
    if len(shapes) != 1 or not pairs[0].seeds:
        return None
    found, random = (np.array([getattr(p, side).final[:, 0] for p in pairs]) for side in ("found", "random"))
    if shared := len({p.found.sequences for p in pairs}) == 1:
        adjusted = max_t(found, random, end)
    else:
        adjusted = holm([rank_test(f, r, end).p for f, r in zip(found, random, strict=True)])
    f, r = found.mean(axis=0), random.mean(axis=0)
    return Placed(tuple(f.tolist()), tuple(r.tolist()), rank_test(f, r, end), tuple(adjusted), shared)


def chance_of(data: RunResults, pairs: Sequence[Pair]) -> tuple[AtChance, ...]:
    """Of each method on random and on found sequences, where it is; where all share their one task, on one of them."""
    asked = []
    for m, p in zip(data.methods, pairs, strict=True):
        if data.setting("tasks") == 1:
            asked.append(
                (m, "on all sequences", [s for row in (p.found.rollouts or p.random.rollouts)[:1] for s in row])
            )
        else:
            asked += [(m, "on random sequences", p.random.flat), (m, "on found sequences", p.found.flat)]
    return tuple(a for m, where, trainings in asked if (a := at_chance(m, where, trainings)))


def image_shares(pairs: Sequence[Pair]) -> ImageShares | None:
    """Return each test image's share in the mean accuracy of the methods; None if per-image correctness is unknown."""
    sides = [[getattr(p, side) for p in pairs] for side in ("found", "random")]
    sizes: dict[ClassId, int] = {}
    for place in places(sides[0] + sides[1]):
        if place is None or sizes.setdefault(place.class_id, len(place.right)) != len(place.right):
            return None
    first = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    n = sum(sizes.values())
    shares = []
    for of_methods in sides:
        side = np.zeros((len(of_methods[0].rollouts), len(of_methods[0].rollouts[0]), n), dtype=np.float32)
        for place in places(of_methods):
            assert place is not None
            start = first[place.class_id]
            side[place.at][start : start + len(place.right)] += place.weight / len(pairs) * place.right
        shares.append(side)
    return ImageShares(shares[0], shares[1], np.repeat(np.arange(len(sizes)), list(sizes.values())))


@dataclass(frozen=True, eq=False)
class Place:
    """The images of a class in one rollout, at ``[sequence, seed]``, and what each right one adds to its accuracy."""

    at: tuple[int, int]
    class_id: ClassId
    right: Matrix
    weight: float


def places(sides: Sequence[Evaluated]) -> Iterator[Place | None]:
    """Class by class; None where it is not known which images were right."""
    for side in sides:
        for s, (sequence, row) in enumerate(zip(side.sequences, side.rollouts, strict=True)):
            for r, scored in enumerate(row):
                if [len(task.class_n) for task in scored.right] != [len(task.classes) for task in sequence.tasks]:
                    yield None
                    continue
                for task, images in zip(sequence.tasks, scored.right, strict=True):
                    weight = 1 / (len(sequence.tasks) * len(images.right))
                    parts = np.split(images.right.astype(np.float64), np.cumsum(images.class_n)[:-1])
                    for class_id, right in zip(task.classes, parts, strict=True):
                        yield Place((s, r), class_id, right, weight)
