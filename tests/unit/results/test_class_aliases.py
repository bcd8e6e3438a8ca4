"""Classes of frozen orders are found in a pool under their other names, where there is no doubt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocols.evaluate.common.placed import placed
from protocols.evaluate.common.source import read_source
from seqsearch.core.errors import UserError
from seqsearch.results.class_aliases import called
from seqsearch.results.frozen import FrozenClass, find_frozen, frozen_orders
from seqsearch.results.orders import read_orders
from seqsearch.training.world import World
from tests.unit.results.tiny_pool import pool

BIRDS = (
    FrozenClass("001.Laysan_Albatross", "", ""),
    FrozenClass("n2", "drake", ""),
    FrozenClass("n3", "crane, jack, drake", ""),
)


def test_classes_are_found_under_their_other_names() -> None:
    there = ["Jack", "laysan albatross", "Drake", "other"]
    assert called(BIRDS, there, "x") == {
        "n3": "Jack",
        "n2": "Drake",
        "001.Laysan_Albatross": "laysan albatross",
    }
    assert called(BIRDS, ["n2", "Drake"], "x") == {"n2": "n2"}, "its very name counts before any other"
    assert called((*BIRDS, FrozenClass("n4", "crane", "")), ["crane", "n3"], "x") == {"n3": "n3"}, (
        "crane is no one's own"
    )
    with pytest.raises(UserError, match=r"x: class 'n3' could be 'crane' or 'Jack' of the pool: rename one of them"):
        called(BIRDS, ["crane", "Jack"], "x")


@pytest.mark.parametrize("data_set", ["cifar100", "cub200", "imagenet-a", "imagenet-r"])
def test_all_classes_are_found_as_the_data_sets_are_met_with(data_set: str) -> None:
    classes = next(f.of.classes for f in frozen_orders() if f.of.data_set == data_set)
    spoken = [re.sub(r"^\d+\.", "", c.reads or c.name).replace("_", " ").title() for c in classes]
    assert called(classes, spoken, "x") == {c.name: s for c, s in zip(classes, spoken, strict=True)}


def test_an_order_is_placed_in_a_pool_whose_classes_are_called_otherwise(tmp_path: Path) -> None:
    names = [c.name.replace("_", " ").title() for c in find_frozen("cifar100-hard-20").of.classes]
    text, source = pool(tmp_path / "photos", names), read_source(Path("frozen:cifar100-hard-20"))
    world = World(text, 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    [placed_one] = placed(source, world)
    assert placed_one.kind == "hard"
    [named] = source.named
    for task, theirs in zip(placed_one.tasks, named.tasks, strict=True):
        ours = {world.images.classes[world.class_index(c)].name for c in task.classes}
        assert ours == {c.replace("_", " ").title() for c in theirs}
    [order] = read_orders(Path("frozen:cifar100-hard-20"), names, (5,) * 20)
    assert [{names[c] for c in t} for t in order.tasks] == [
        {c.replace("_", " ").title() for c in t} for t in named.tasks
    ]
    with pytest.raises(UserError, match="no class in play"):
        read_orders(Path("frozen:cifar100-hard-20"), names[1:], (5,) * 20)
    other = read_source(Path("frozen:cub200-hard-10"))
    with pytest.raises(UserError, match=r"has class '014.Indigo_Bunting' and 199 more, which --pool .* has not"):
        placed(other, world)
