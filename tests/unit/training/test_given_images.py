"""Which images a method is given, and which its state may be evaluated on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from seqsearch.core.errors import AccessError, UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, Probe, Segment, StateKey, Task, reported
from seqsearch.methods.data import TaskData
from seqsearch.pools.base import Part
from seqsearch.training.context import task_data
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

BACKBONE = "glyph_vit"
PLAIN, VALIDATING = "simplecil", "ranpac:M=32"


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    folder = tmp_path_factory.mktemp("world")
    return Trainer(World("glyphs:classes=6,train=20,reward=6,test=4", 0, str(folder / "cache"), str(folder / "states")))


def key(trainer: Trainer, method: str, *tasks: Any) -> StateKey:
    return StateKey(trainer.world.spec(parse_item(method, "method"), BACKBONE), 0, 0, tasks)


def given(trainer: Trainer, method: str, task: Any) -> TaskData:
    return task_data(
        trainer.world, trainer.source(BACKBONE), task, trainer.fresh(key(trainer, method)), seed=0, replicate=0
    )


@pytest.mark.parametrize(
    ("method", "of_reported", "train", "val"),
    [
        (PLAIN, False, {"train", "val"}, set()),
        (PLAIN, True, {"train", "val", "reward"}, set()),
        (VALIDATING, False, {"train"}, {"val"}),
        (VALIDATING, True, {"train", "reward"}, {"val"}),
    ],
)
def test_a_method_is_given_these_parts(
    trainer: Trainer, method: str, of_reported: bool, train: set[Part], val: set[Part]
) -> None:
    task = trainer.world.task([4, 1])
    data = given(trainer, method, reported((task,))[0] if of_reported else task)
    for batch, parts in ((data.train, train), (data.val, val)):
        own = [np.sort(np.concatenate([[], *(trainer.world.split.rows(c, p) for p in sorted(parts))])) for c in (4, 1)]
        np.testing.assert_array_equal(batch.indices, np.concatenate(own), "class by class, increasing within a class")
        assert batch.targets.tolist() == [0] * len(own[0]) + [1] * len(own[1])
    assert data.readable == {*data.train.indices.tolist(), *data.val.indices.tolist()}
    assert not data.readable & set(trainer.world.split.rows(4, "test").tolist())


def test_an_empty_validation_batch_behaves(trainer: Trainer) -> None:
    val = given(trainer, PLAIN, trainer.world.task([0, 2])).val
    assert (len(val), val.targets.shape, val.targets.dtype) == (0, (0,), torch.int64)
    assert val.images.shape == (0, 3, 32, 32)
    assert val.frozen.shape == (0, 160)
    network = trainer.source(BACKBONE).features.network.module
    assert val.through("any", lambda batch: network(batch.images)).shape == (0, 160)
    assert list(val.decoded(4)) == []
    assert len(val.select(torch.zeros(0, dtype=torch.int64))) == 0


def test_features_do_not_depend_on_the_part_that_an_image_is_given_as(trainer: Trainer) -> None:
    """Units are of one part of one class: asked for among others, or alone, an image has the same bits."""
    task = reported((trainer.world.task([3]),))[0]
    data, network = given(trainer, PLAIN, task), trainer.source(BACKBONE).features.network.module

    def look(batch: Any) -> torch.Tensor:
        return network(batch.images).detach()

    whole = data.train.through("whole", look)
    reward = set(trainer.world.split.rows(3, "reward").tolist())
    places = np.flatnonzero([row in reward for row in data.train.indices.tolist()])
    assert 0 < len(places) < len(data.train)
    alone = data.train.select(torch.from_numpy(places)).through("alone", look)
    assert torch.equal(alone, whole[places])


def test_what_was_learned_from_is_never_judged(trainer: Trainer) -> None:
    plain, other = trainer.world.task([0, 1]), trainer.world.task([2, 3])
    held_back = key(trainer, PLAIN, plain, other)
    learned = replace(held_back, prefix=reported(held_back.prefix))
    mixed = replace(held_back, prefix=(*reported((plain,)), other))
    assert trainer.train(Edge(held_back, "reward")).status == "ok"
    assert trainer.train(Edge(learned, "test")).status == "ok"
    for evaluated in (learned, mixed):
        method = trainer.state(evaluated, [], keep=True)
        with pytest.raises(AccessError, match="reward images cannot be evaluated"):
            trainer.scenario.evaluate(method, evaluated, "reward")
        with pytest.raises(UserError, match="reward images cannot be evaluated"):
            trainer.probe(Probe("confusion", evaluated, f"state:{evaluated.digest}", plain.classes))
    failed = trainer.train(Edge(learned, "reward"))
    assert (failed.status, failed.judged) == ("failed", ())


def test_reported_tasks_are_others_and_all_else_stays(trainer: Trainer) -> None:
    task, segment = trainer.world.task([0, 1]), Segment("stream", 0, 4)
    found = reported((task, segment))
    assert found == (replace(task, reward_learned=True), segment)
    assert reported(found) == found
    assert len({task.digest, found[0].digest, Task((), "").digest, Task((), "", True).digest}) == 4


def test_rows_of_several_parts(trainer: Trainer) -> None:
    world = trainer.world
    rows, positions = world.rows(world.class_ids([5, 0]), "test", "train")
    for position, index in enumerate((5, 0)):
        own = [*world.split.rows(index, "train").tolist(), *world.split.rows(index, "test").tolist()]
        assert rows[positions == position].tolist() == sorted(own)
    assert positions.tolist() == sorted(positions.tolist())
    nothing, at = world.rows(world.class_ids([5, 0]))
    assert (nothing.shape, nothing.dtype, at.shape) == ((0,), np.int64, (0,))


def test_more_images_make_another_state(trainer: Trainer) -> None:
    """What was trained with reward images is not taken for what was trained without."""
    task = trainer.world.task([0, 1])
    states = [trainer.state(key(trainer, PLAIN, t), [], keep=True).state_dict() for t in (task, *reported((task,)))]
    assert any(not torch.equal(a, b) for a, b in zip(states[0].values(), states[1].values(), strict=True))
