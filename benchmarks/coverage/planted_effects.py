"""Whether `seqsearch explain` finds what was planted: worlds in which content, grouping or order alone makes a sequence hard.

    python -m benchmarks.coverage.planted_effects [--worlds 100] [--write]

Sequences go through the real planner, engine and journal to the real summary; training is a formula. A class is classified right
with probability

    TOP - content [hard] - grouping (share of its task's other classes of its kind) - order (share of later tasks above it)

of which the order's part is confusion between tasks, the others are in the masked accuracy as well. A task is above an earlier
one, the first excepted, if the mean rank of its classes is higher. There are as many classes of each of three kinds, and the
found sequence is hard in one way: it has the hard classes, or tasks of one kind, or tasks in order of rank.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.planted import METHOD, PlantedEvaluator, in_memory
from benchmarks.common.results import write_result
from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.summary import Explained, Summary, summarise
from seqsearch.core.bits import packed
from seqsearch.core.digests import seed_of, seeded_numpy
from seqsearch.core.outcomes import HEAD, ClassifierCounts, EdgeResult
from seqsearch.core.types import ClassId, Edge, Task, Tasks
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, FixedSequence, first_task, random_sequences
from seqsearch.planners.regrouped import regrouped, reordered
from seqsearch.planners.replicates import scoring
from seqsearch.planners.step import PoolView
from seqsearch.results.rows import EvaluatedRollout, Row, SequenceKind, TaskSequence, result_rows
from seqsearch.results.run import RunResults, assembled
from seqsearch.results.schema import RESULTS
from seqsearch.stats.effects import EFFECTS, EffectName

Plant = Literal["content", "grouping", "order", "none"]
PLANTS: tuple[Plant, ...] = ("content", "grouping", "order", "none")
TOP, STRENGTH = 0.85, 0.3
TASKS, CLASSES_PER_TASK, CLASSES, KINDS = 4, 6, 66, 3
SHARED = 0.7
"""Correlation of what an image answers in two trainings."""
DRAWS_OF_TRUTH = 1000
"""Random sequences, and regroupings, that true means are over."""


@dataclass(frozen=True)
class World:
    """A world with a planted effect, and its measurement.

    Attributes:
        noise: standard deviation of the random accuracy loss of a training, the same for all its classes.
        images: test images of each class.
    """

    seed: int
    plant: Plant
    noise: float = 0.01
    images: int = 20

    @cached_property
    def view(self) -> PoolView:
        kinds = tuple(str(i % KINDS) for i in range(CLASSES))
        ids = tuple(ClassId("planted", i) for i in range(CLASSES))
        return PoolView(ids, kinds, {"planted": ""}, (1,) * CLASSES)

    @cached_property
    def first(self) -> Task:
        return first_task(self.view, CLASSES_PER_TASK, self.seed)

    @cached_property
    def traits(self) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Of each class ``[CLASSES]``: whether it is hard, and its rank."""
        rng = seeded_numpy("planted-traits", self.seed)
        return rng.permutation(CLASSES) < CLASSES // 2, rng.permutation(CLASSES).astype(np.float64)

    @cached_property
    def found(self) -> Tasks:
        """A sequence that is hard in the way planted, and random in the others."""
        rng, (hard, ranks) = seeded_numpy("planted-found", self.seed), self.traits
        left = [c.index for c in self.view.class_ids if c not in self.first.classes]
        order, n = rng.permutation(left).tolist(), (TASKS - 1) * CLASSES_PER_TASK
        if self.plant == "content":
            order.sort(key=lambda i: not hard[i])
            order[:n] = rng.permutation(order[:n]).tolist()
        if self.plant == "grouping":
            order = [i for kind in range(KINDS) for i in [i for i in order if i % KINDS == kind][:CLASSES_PER_TASK]]
        tasks = [order[i : i + CLASSES_PER_TASK] for i in range(0, n, CLASSES_PER_TASK)]
        if self.plant == "order":
            tasks.sort(key=lambda task: float(ranks[task].mean()))
        return (self.first, *(self.view.task(self.view.class_ids[i] for i in task) for task in tasks))

    def right(self, tasks: Sequence[Sequence[int]]) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """Probabilities that classes are classified right, and masked ones, after these tasks, task by task."""
        (hard, ranks), masked, full = self.traits, [], []
        strength = {p: STRENGTH * (p == self.plant) for p in PLANTS}
        means = [float(ranks[list(task)].mean()) for task in tasks]
        for i, task in enumerate(tasks):
            own = np.array(task)
            alike = ((own[:, None] % KINDS == own % KINDS).sum(axis=1) - 1) / (len(own) - 1)
            masked.append(TOP - strength["content"] * hard[own] - strength["grouping"] * alike * (i > 0))
            later = means[i + 1 :] if i else []
            full.append(
                masked[-1] - strength["order"] * (float(np.mean([m > means[i] for m in later])) if later else 0.0)
            )
        return full, masked

    def true(self) -> dict[EffectName, float]:
        """True effects on Acc for this found sequence: means over all random sequences, regroupings and other orders."""
        rng = seeded_numpy("planted-truth", self.seed)
        own = [[c.index for c in task.classes] for task in self.found]
        left = [i for i in range(CLASSES) if i not in own[0]]
        flat = [i for task in own[1:] for i in task]

        def acc(tasks: Sequence[Sequence[int]]) -> float:
            return float(np.mean([p.mean() for p in self.right(tasks)[0]]))

        def cut(classes: NDArray[np.int64]) -> list[list[int]]:
            return [own[0], *(part.tolist() for part in np.split(classes, TASKS - 1))]

        others = [o for o in itertools.permutations(own[1:]) if list(o) != own[1:]]
        means = {
            "random": np.mean([acc(cut(rng.choice(left, len(flat), replace=False))) for _ in range(DRAWS_OF_TRUTH)]),
            "regrouped": np.mean([acc(cut(rng.permutation(flat))) for _ in range(DRAWS_OF_TRUTH)]),
            "reordered": np.mean([acc([own[0], *o]) for o in others]),
            "found": acc(own),
        }
        return {e: float(means[a] - means[b]) for e, (a, b) in EFFECTS.items()}


class EffectsEvaluator(PlantedEvaluator):
    """Answers edges from the formula, image by image: the same images are hard in every training, as far as `SHARED`."""

    def __init__(self, world: World) -> None:
        self.effects = world
        self.trained: dict[str, Edge] = {}
        self._queue: list[Any] = []
        self._hard = seeded_numpy("planted-images", world.seed).normal(size=(CLASSES, world.images))

    def _train(self, edge: Edge) -> EdgeResult:
        world, tasks = (
            self.effects,
            [[c.index for c in task.classes] for task in edge.key.prefix if isinstance(task, Task)],
        )
        rng = np.random.default_rng(seed_of(edge.key.digest))
        lost, answers = world.noise * rng.normal(), []
        for task in tasks:
            mixed = math.sqrt(SHARED) * self._hard[task] + math.sqrt(1 - SHARED) * rng.normal(
                size=(len(task), world.images)
            )
            answers.append(stats.norm.cdf(mixed))
        full, masked = (
            [a < (p - lost)[:, None] for a, p in zip(answers, side, strict=True)] for side in world.right(tasks)
        )
        correct, restricted = (tuple(tuple(map(int, task.sum(axis=1))) for task in side) for side in (full, masked))
        bits = packed(np.concatenate([task.ravel() for task in full]))
        evaluated = tuple((world.images,) * len(task) for task in tasks)
        head = ClassifierCounts(HEAD, correct, restricted, bits)
        state = edge.key.digest
        return EdgeResult(edge.digest, state, "ok", evaluated, (head,), trained=(state,), feature_space="planted")


def explained(world: World, draws: int = 8, random: int = 10, seeds: int = 3) -> Summary:
    """The summary of one found sequence, by the real planner, engine and summary."""
    sequences = _sequences(world, draws, random)
    planner = FixedPlanner(
        "given", lambda: [FixedSequence(s.tasks, tuple(scoring(seeds))) for s in sequences], (METHOD,), world.seed
    )
    with in_memory() as folder, contextlib.closing(Journal(folder)) as journal:
        Search(EffectsEvaluator(world), journal).run([planner])
    evaluated = [
        EvaluatedRollout(s.sequence_id, s.kind, "rescore", METHOD.label, METHOD.digest, "none", r, "test", outcome)
        for s, outcomes in zip(sequences, planner.outcomes[METHOD.label], strict=True)
        for r, outcome in zip(scoring(seeds), outcomes, strict=True)
    ]
    return summarise(Path("planted"), Explained(_results(sequences, evaluated), Common()))


def _sequences(world: World, draws: int, random: int) -> list[TaskSequence]:
    def named(name: str, kind: SequenceKind, tasks: Tasks) -> TaskSequence:
        return TaskSequence(name, kind, (METHOD.label,), world.seed, tasks, (None,) * len(tasks))

    made: dict[SequenceKind, Iterable[Tasks]] = {
        "regrouped": regrouped(world.found, world.view, draws, world.seed, "found"),
        "reordered": reordered(world.found, draws, world.seed, "found"),
    }
    drawn = random_sequences(world.first, world.view, TASKS, CLASSES_PER_TASK, random, world.seed)
    return [
        named("found", "searched", world.found),
        *(named(f"random-{i}", "random", tasks) for i, tasks in enumerate(drawn)),
        *(named(f"found/{kind}-{i}", kind, tasks) for kind, every in made.items() for i, tasks in enumerate(every)),
    ]


def _results(sequences: Sequence[TaskSequence], evaluated: Sequence[EvaluatedRollout]) -> RunResults:
    empty: Row = dict.fromkeys(c.name for c in RESULTS.columns)
    config = {"run_id": "planted", "settings": {}, "identity": {"methods": {METHOD.label: {}}}}
    return assembled(Path("planted"), config, None, sequences, [{**empty, **row} for row in result_rows(evaluated)])


@dataclass(frozen=True)
class Recovered:
    """Results over worlds with one planted effect, by effect.

    Attributes:
        told: share of worlds in which the effect differs from 0.
        held: share of worlds in which the interval holds the truth.
        true: mean true effect.
    """

    plant: Plant
    worlds: int
    told: dict[EffectName, float]
    held: dict[EffectName, float]
    true: dict[EffectName, float]


def recovered(plant: Plant, worlds: int) -> Recovered:
    """Over so many worlds."""
    told: dict[EffectName, list[bool]] = {e: [] for e in EFFECTS}
    held: dict[EffectName, list[bool]] = {e: [] for e in EFFECTS}
    true: dict[EffectName, list[float]] = {e: [] for e in EFFECTS}
    for seed in range(worlds):
        world = World(seed, plant)
        truth, found = world.true(), explained(world).methods[0].measures["accuracy"].effects
        for e, c in found.items():
            told[e].append(c.together.low > 0 or c.together.high < 0)
            held[e].append(c.interval.low <= truth[e] <= c.interval.high)
            true[e].append(truth[e])
    means = [{e: float(np.mean(v)) for e, v in each.items()} for each in (told, held, true)]
    return Recovered(plant, worlds, *means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/planted_effects.json")
    a = parser.parse_args()
    start = time.perf_counter()
    print("planted       true effects, points      told from 0, share      interval holds, share")
    print(" " * 9 + " content grouping   order" * 3)
    rows = []
    for plant in PLANTS:
        r = recovered(plant, a.worlds)
        rows.append(r)
        shares = [*r.told.values(), *r.held.values()]
        print(f"{plant:9}" + "".join([*(f"{100 * t:8.1f}" for t in r.true.values()), *(f"{s:8.2f}" for s in shares)]))
    minutes = (time.perf_counter() - start) / 60
    print(f"{minutes:.1f} minutes")
    if a.write:
        write_result(
            "planted_effects", {"worlds": a.worlds, "minutes": round(minutes, 1), "rows": [vars(r) for r in rows]}
        )


if __name__ == "__main__":
    main()
