"""Trainings of an EDGE run: its sequences with their training seeds, and an upper bound of the number of trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.edge.partition import Classes
from protocols.edge.settings import EdgeSettings
from protocols.edge.study import EdgeStudy
from protocols.running.snapshot import Expected
from seqsearch.results.rows import SequenceKind
from seqsearch.stats.sampling import number_of_sequences, parse_target, planned


@dataclass(frozen=True)
class Trained:
    """A sequence of the study, and the training seeds that it is trained with."""

    name: str
    kind: SequenceKind
    tasks: Classes
    replicates: tuple[int, ...]


def of_every(possible: int, seeds: int, drawn: int) -> str:
    """Explain the trainings of ``--enumerate``, and the use of random sequences beside all ``possible`` ones."""
    each = f"each of the {possible:,} sequences" if possible > 1 else "the one sequence"
    by = f"the same {seeds} training seeds" if seeds > 1 else "one training seed"
    return (
        f"--enumerate: {each} is trained with {by}, which is the truth. The {drawn:,} random ones are drawn of these with "
        "replacement and trained with a seed of their own each: ranks among them, and the mean over sequences and seeds, rest on "
        "independent trainings, not on different sequences (--random-sequences)."
    )


def most_random(t: EdgeSettings) -> int:
    """Random sequences at most: a target of tails asks for a number that is known, one of the mean for ``--max-sequences``."""
    if not t.until:
        return t.random_sequences
    target = parse_target(t.until)
    if target.half_width is not None:
        return t.max_sequences
    return planned(t.random_sequences, t.max_sequences, target)


def expected(study: EdgeStudy) -> Expected:
    """Return an upper bound of the rollouts and trainings.

    Sequences with a common prefix share its trainings. The bound subtracts shared trainings only for ``--enumerate``.
    """
    t, k, units = study.settings, len(study.sizes), study.partition.units
    extremes = (2 * t.extremes * (1 + len(study.others)) + len(t.named_orders())) * t.score_seeds
    given = len(t.drawn_seeds()) + len(study.orders)
    own, crossed = most_random(t) + given, (t.crossed + given * t.enumerate) * t.score_seeds
    every = number_of_sequences(units) * t.score_seeds if t.enumerate else 0
    shared = shared_trainings(units) * t.score_seeds if t.enumerate else (extremes + crossed) * k
    fit, methods = (4 * t.fit_extremes + 2) * t.fit_seeds * t.fit, len(study.methods)
    return Expected((extremes + own + crossed + every + fit) * methods, (own * k + shared + fit * k) * methods, t.tasks)


def shared_trainings(sizes: Sequence[int]) -> int:
    """Trainings of one method and seed over all sequences: different beginnings of each length (6 classes
    in 3 tasks: 15 + 90 + 90)."""
    n = sum(sizes)
    ends = [sum(sizes[: t + 1]) for t in range(len(sizes))]
    return sum(
        number_of_sequences((*sizes[: t + 1], n - end)) if end < n else number_of_sequences(sizes)
        for t, end in enumerate(ends)
    )
