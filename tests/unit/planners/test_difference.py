"""A search for the difference of two methods, in a world where it is planted: the real planner and engine, no training."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.common.planted import CLASSES_PER_TASK, Planted, PlantedEvaluator
from protocols.cldyb.settings import CldybSettings
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, MethodSpec
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.mcts import CldybPlanner

A, B = (MethodSpec(name, name, "none", (), name) for name in "ab")
WORLDS = {m.label: Planted(seed, noise=0.0, tasks=4) for m, seed in ((A, 1), (B, 2))}


class Two(PlantedEvaluator):
    """Each method has difficulties of its own for the same tasks."""

    def _train(self, edge: Edge) -> EdgeResult:
        self.world = WORLDS[edge.key.method.label]
        return super()._train(edge)


def searched(folder: Path, weights: tuple[float, float] | None) -> list[int]:
    """Groups of the sequence found."""
    world = WORLDS["a"]
    settings = CldybSettings(
        methods="planted",
        sampler="group-uniform",
        clustering=False,
        classes_per_task=CLASSES_PER_TASK,
        tasks=world.tasks,
        candidates=world.arms,
        condensed=world.arms,
        simulations=world.arms,
        lookahead=0,
    )
    planner = CldybPlanner("search", (A, B), world.view, world.task(0), settings, 0, 0, weights)
    assert planner.progress().step == 1, "the first task is drawn, and not yet learned"
    with contextlib.closing(Journal(folder)) as journal:
        Search(Two(WORLDS["a"]), journal).run([planner])
    return world.groups(planner.sequence)


def extreme(value: NDArray[np.float64]) -> list[int]:
    """The sequence that takes, at every step, the group there with the largest value."""
    world, found = WORLDS["a"], [0]
    for t in range(2, world.tasks + 1):
        there = np.setdiff1d(np.flatnonzero(world.arrivals <= t), found)
        found.append(int(there[value[there].argmax()]))
    return found


@pytest.mark.parametrize(("weights", "sign"), [((1.0, -1.0), 1), ((-1.0, 1.0), -1)])
def test_the_largest_difference_is_found_each_way(tmp_path: Path, weights: tuple[float, float], sign: int) -> None:
    difference = WORLDS["a"].difficulty - WORLDS["b"].difficulty
    assert searched(tmp_path, weights) == extreme(sign * difference)


def test_without_weights_it_is_the_mean_that_is_hardest(tmp_path: Path) -> None:
    both = WORLDS["a"].difficulty + WORLDS["b"].difficulty
    found = searched(tmp_path, None)
    assert found == extreme(both)
    assert found != extreme(WORLDS["a"].difficulty - WORLDS["b"].difficulty)
