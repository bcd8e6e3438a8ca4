"""The gap to joint training, and what every test image adds, by hand on classes of different sizes."""

from __future__ import annotations

import numpy as np
import pytest

from protocols.cldyb.compared import Evaluated, Pair, image_shares
from protocols.cldyb.joint import gap_of, incomplete, joint_accuracy
from protocols.cldyb.summary import side_of
from seqsearch.core.types import ClassId, Task
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults, Scored, TaskImages

RIGHT = {0: [1, 1, 1, 0], 1: [1, 0], 2: [0, 1, 1], 3: [1, 1]}
"""Which images of each class were right."""


def task(*classes: int) -> Task:
    return Task(tuple(ClassId("p", c) for c in classes), "split")


def sequence(name: str, *tasks: Task) -> TaskSequence:
    return TaskSequence(name, "joint" if "/" in name else "searched", ("er",), 0, tasks, (None,) * len(tasks))


def scored(tasks: tuple[Task, ...], right: dict[int, list[int]] = RIGHT) -> Scored:
    """A rollout whose last row has these images right."""
    images = [[right[c.index] for c in t.classes] for t in tasks]
    made = tuple(TaskImages(tuple(map(len, i)), np.concatenate(i).astype(bool)) for i in images)
    accuracy = np.full((len(tasks), len(tasks)), 0.5)
    accuracy[-1] = [m.right.mean() for m in made]
    return Scored("ok", accuracy, accuracy, {}, made)


ONE, OTHER = (task(0, 3), task(1, 2)), (task(0, 3), task(2))
SIDE = Evaluated((sequence("a", *ONE),), (7,), ((scored(ONE),),))


def results(**rollouts: Scored) -> RunResults:
    return RunResults({}, None, ("er",), (), (7,), {(name, "er", 7): s for name, s in rollouts.items()})


def test_joint_accuracy_weighs_tasks_as_acc_does() -> None:
    """The same images right: no gap, although six images of nine right at once are another share than the mean of two tasks."""
    union = (task(0, 1, 2, 3),)
    acc = (5 / 6 + 3 / 5) / 2
    assert joint_accuracy(results(**{"a/joint": scored(union)}), "er", SIDE) == pytest.approx(acc, abs=1e-12)
    better = scored(union, {**RIGHT, 1: [1, 1]})
    assert joint_accuracy(results(**{"a/joint": better}), "er", SIDE) == pytest.approx(acc + 0.5 * 1 / 5)
    assert joint_accuracy(results(), "er", SIDE) is None


def test_gaps_are_of_the_methods_that_were_trained_jointly() -> None:
    """Found: both images of class 1 at once, one in sequence; random ones: as in sequence."""
    names = ("r", "s", "t")
    random = Evaluated(tuple(sequence(n, *ONE) for n in names), (7,), ((scored(ONE),),) * 3)
    union = (task(0, 1, 2, 3),)
    data = results(**{"a/joint": scored(union, {**RIGHT, 1: [1, 1]})}, **{f"{n}/joint": scored(union) for n in names})
    pair = Pair(SIDE, random, (7,))
    gap = gap_of(data, [("er", pair), ("slca", pair)])
    assert gap is not None
    assert (gap.methods, gap.of.found, gap.of.random) == (("er",), pytest.approx(0.1), pytest.approx(0))
    assert (gap.of.difference.value, gap.of.joint_random) == (pytest.approx(0.1), pytest.approx((5 / 6 + 3 / 5) / 2))
    assert "disagree on fewer than 5 images" in gap.of.unavailable_because
    assert gap_of(data, [("slca", pair)]) is None
    lost = results(**{f"{n}/joint": scored(union) for n in names})
    assert gap_of(lost, [("er", pair)]) is None
    unions = tuple(sequence(f"{n}/joint", *union) for n in ("a", *names))
    begun = RunResults({}, None, ("er", "slca"), unions, (7,), lost.rollouts)
    assert incomplete(begun, [("slca", pair)]) == incomplete(begun, [("er", Pair(SIDE, Evaluated(), ()))]) == []
    assert incomplete(begun, [("er", pair)]) == [
        "er: joint training did not end well on all sequences, so that its gap is not known."
    ]


def test_what_images_add_sums_to_the_accuracies() -> None:
    random = Evaluated((sequence("r", *OTHER), sequence("s", *ONE)), (7,), ((scored(OTHER),), (scored(ONE),)))
    shares = image_shares([Pair(SIDE, random, (7,))])
    assert shares is not None
    assert shares.found.sum() == pytest.approx((5 / 6 + 3 / 5) / 2)
    assert shares.random.sum(axis=2).ravel() == pytest.approx([(5 / 6 + 2 / 3) / 2, (5 / 6 + 3 / 5) / 2])
    sizes = np.bincount(shares.classes)
    assert sorted(sizes.tolist()) == [2, 2, 3, 4]
    held = {int(c): shares.random[0, 0][shares.classes == c].sum() for c in np.unique(shares.classes)}
    assert sorted(held.values()) == pytest.approx([0, 2 / 12, 3 / 12, 1 / 3])  # class 1 is not in it


def test_without_images_of_every_rollout_nothing_is_shared() -> None:
    bare = Scored("ok", *(scored(ONE).accuracy,) * 2, {}, ())
    assert image_shares([Pair(SIDE, Evaluated((sequence("r", *ONE),), (7,), ((bare,),)), (7,))]) is None


def test_sequences_with_more_seeds_than_others_weigh_no_more() -> None:
    """Right images 1 and 1 / 2: by sequence 3 / 4 on average, by rollout 5 / 6."""
    all_right = scored((task(3), task(3)))
    half = scored((task(1), task(1)))
    side = Evaluated((sequence("a", *OTHER), sequence("b", *ONE)), (), ((all_right, all_right), (half,)))
    found = side_of(side)
    assert found is not None
    assert (found.sequences, found.seeds) == (2, 1)
    assert found.acc == pytest.approx(0.75)
    assert found.acc_by_step == found.masked_by_step == pytest.approx((0.5, 0.75))
    assert found.worst == pytest.approx(0.5)
    assert found.ala == pytest.approx((0.75 + 0.5) / 2)
