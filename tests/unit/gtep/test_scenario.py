"""Class orders of both phases: how large tasks are, who comes when, and who is in play at all."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from protocols.gtep.scenario import sizes_of
from protocols.gtep.study import GtepStudy, prepare
from seqsearch.core.errors import UserError
from tests.unit.gtep.small import HALF, small


def prepared(tmp_path: Path, methods: str = "simplecil", **changes: Any) -> GtepStudy:
    return prepare(small(methods, **changes), tmp_path / "states", "cpu", tmp_path)


def sizes(there: dict[str, int], **changes: Any) -> tuple[int, ...]:
    return sizes_of(replace(small("simplecil"), **changes), there)


@pytest.mark.parametrize(
    ("changes", "there", "expected"),
    [
        ({"tasks": 10, "classes_per_task": 10}, (100, 120), (10,) * 10),
        ({"tasks": 6, "classes_per_task": 10, "first_task": 50}, (100, 100), (50,) + (10,) * 5),
        ({"tasks": 6, "first_task": 50}, (100, 100), (50,) + (10,) * 5),
        ({"tasks": 4}, (40, 40), (10,) * 4),
        ({"tasks": 3}, (12, 12), (4, 4, 4)),
    ],
)
def test_sizes(changes: dict[str, int], there: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert sizes(dict(zip("ab", there, strict=True)), **changes) == expected


def test_shares_that_are_not_equal_differ_by_one_at_most() -> None:
    found = sizes({"a": 14, "b": 14}, tasks=4)
    assert sum(found) == 14
    assert max(found) - min(found) <= 1


@pytest.mark.parametrize(
    ("changes", "there", "says"),
    [
        ({"tasks": 3, "classes_per_task": 5}, (15, 14), "need 15 classes, and pool 'b' has 14"),
        ({"tasks": 3, "classes_per_task": 5, "first_task": 6}, (15, 15), "the first of 6, need 16 classes"),
        ({"tasks": 3}, (12, 13), "pools of different class counts are different scenarios (a has 12, b has 13)"),
        ({"tasks": 8}, (12, 12), "leaves a task with one class"),
    ],
)
def test_sizes_that_cannot_be(changes: dict[str, int], there: tuple[int, int], says: str) -> None:
    with pytest.raises(UserError) as refused:
        sizes(dict(zip("ab", there, strict=True)), **changes)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_orders_are_permutations_of_the_classes_in_play(tmp_path: Path) -> None:
    study = prepared(tmp_path)
    sides = (study.tuned_on, *study.evaluated_on)
    assert [len(s.classes) for s in sides] == [12, 12]
    assert not set(sides[0].classes) & set(sides[1].classes)
    for side in sides:
        ids = {*study.world.class_ids(side.classes)}
        orders = [study.scenario.order(study.world, side, "tune", 0, n) for n in range(4)]
        assert len(set(orders)) == 4
        for order in orders:
            assert [len(task.classes) for task in order] == [4, 4, 4]
            assert {c for task in order for c in task.classes} == ids


def test_orders_depend_on_pool_phase_number_and_seed_alone(tmp_path: Path) -> None:
    """Not on methods, settings, or which other pools there are."""
    one, other = prepared(tmp_path), prepared(tmp_path, "finetune@scratch:tiny-16:epochs=1", orders=5, trials="9")
    for side, same in zip((one.tuned_on, *one.evaluated_on), (other.tuned_on, *other.evaluated_on), strict=True):
        mine = one.scenario.order(one.world, side, "tune", 0, 1)
        assert mine == other.scenario.order(other.world, same, "tune", 0, 1)
        others = [
            one.scenario.order(one.world, side, "judge", 0, 1),
            one.scenario.order(one.world, side, "fresh", 0, 1),
            one.scenario.order(one.world, side, "tune", 1, 1),
            one.scenario.order(one.world, side, "tune", 0, 0),
        ]
        assert mine not in others
        assert len(set(others)) == 4


def test_orders_of_the_toolboxes_are_those_of_numpy(tmp_path: Path) -> None:
    """As `numpy.random.seed(n); numpy.random.permutation(12)`, on both pools, whatever the study's seed."""
    study = prepared(tmp_path, class_orders="numpy")
    taken = {0: [6, 11, 4, 10, 2, 8, 1, 7, 9, 3, 0, 5], 1: [2, 3, 4, 10, 1, 6, 0, 7, 11, 9, 8, 5]}
    for side in (study.tuned_on, *study.evaluated_on):
        for number, permuted in taken.items():
            tasks = [
                tuple(study.world.class_ids(sorted(side.classes[i] for i in permuted[t : t + 4]))) for t in (0, 4, 8)
            ]
            for phase, seed in itertools.product(("tune", "judge"), (0, 1)):
                order = study.scenario.order(study.world, side, phase, seed, number)
                assert [task.classes for task in order] == tasks
            assert [t.classes for t in study.scenario.order(study.world, side, "fresh", 0, number)] != tasks


def test_a_draw_of_classes_is_the_pools_own(tmp_path: Path) -> None:
    """Six of twelve: the same for all methods, drawn anew by another seed, whatever other pools there are."""
    third = "glyphs:classes=30,train=4,reward=4,test=4,half=1,half_seed=3"
    few: dict[str, Any] = {"tasks": 2, "classes_per_task": 3}

    def drawn(**changes: Any) -> list[list[str]]:
        study = prepared(tmp_path, **{**few, **changes})
        names = [c.name for p in study.world.images.parts for c in p.classes]
        return [[names[c] for c in side.classes] for side in (study.tuned_on, *study.evaluated_on)]

    first = drawn()
    assert [len(names) for names in first] == [6, 6]
    assert drawn(methods="finetune@scratch:tiny-16") == first
    seeds = [drawn(seed=s) for s in range(1, 4)]
    assert any(d[0] != first[0] for d in seeds)
    assert any(d[1] != first[1] for d in seeds)
    assert drawn(pool=(HALF.format(2), third), allow_overlap=("all",))[:2] == first


def test_training_seeds_of_the_phases_do_not_meet(tmp_path: Path) -> None:
    study = prepared(tmp_path, orders=3)
    spec, side = study.methods[0], study.tuned_on
    seeds = [
        {r.key.replicate for r in study.scenario.rollouts(study.world, side, phase, spec, 3, "reward")}
        for phase in ("tune", "judge", "fresh")
    ]
    assert [len(s) for s in seeds] == [3, 3, 3]
    assert len(set.union(*seeds)) == 9
