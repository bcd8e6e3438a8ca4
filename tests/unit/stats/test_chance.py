"""Methods that guess are seldom told from chance, whatever trainings share; those that know something are."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from seqsearch.stats.chance import LEVEL, _by_class, beside_chance

REPEATS = 1500
ABOVE = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / REPEATS)
"""Of so many repeats, a rate of `LEVEL` is seldom seen above that."""


def of(right: int, class_n: tuple[int, ...]) -> list[int]:
    """So many right in all, class by class from the first."""
    before = np.cumsum([0, *class_n[:-1]])
    found: list[int] = np.clip(right - before, 0, class_n).tolist()
    return found


def answers(rng: np.random.Generator, kind: str, classes: int, trainings: int, images: int) -> np.ndarray:
    """Of methods that do not look at the image: classes ``[repeats, trainings, images]``, dependent on each other in some way."""
    drawn = rng.integers(classes, size=(REPEATS, trainings, images), dtype=np.int8)
    if kind == "constant":
        return np.broadcast_to(drawn[:, :, :1], drawn.shape)
    if kind == "same in all trainings":
        return np.broadcast_to(drawn[:, :1], drawn.shape)
    if kind == "nearly the same":
        return np.where(rng.random(drawn.shape, dtype=np.float32) < 0.8, drawn[:, :1], drawn)
    if kind == "classes of the last task":
        return classes - 1 - drawn % max(1, classes // 2)
    return drawn


@pytest.mark.parametrize(
    "kind", ["independent", "constant", "same in all trainings", "nearly the same", "classes of the last task"]
)
@pytest.mark.parametrize(
    ("class_n", "trainings"),
    [
        ((5, 5), 1),
        ((5, 5), 15),
        ((10,) * 6, 3),
        ((4,) * 10, 30),
        ((10,) * 10, 1),
    ],
    ids=["10 images", "10 images, 15 trainings", "60 images", "40 images", "100 images"],
)
def test_guesses_are_above_chance_in_at_most_5_percent(kind: str, class_n: tuple[int, ...], trainings: int) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(class_n)), class_n)
    most = (answers(rng, kind, len(class_n), trainings, len(labels)) == labels).sum(axis=2).max(axis=1)
    above = [k for k in np.unique(most) if beside_chance([of(k, class_n)] * trainings, [class_n] * trainings).above]
    assert np.isin(most, above).mean() <= ABOVE


@pytest.mark.parametrize("kind", ["independent", "constant", "in proportion", "nearly the same", "commonest two"])
@pytest.mark.parametrize(
    ("class_n", "trainings"),
    [((40, 10, 10, 5), 2), ((9, 3, 3), 3), ((9, 1, 1, 1), 1), ((20, *[2] * 8), 2), ((6, 5, 4, 3, 2, 1), 4)],
    ids=str,
)
def test_nor_where_classes_have_unequal_numbers(kind: str, class_n: tuple[int, ...], trainings: int) -> None:
    rng, K, repeats = np.random.default_rng(1), len(class_n), 300
    labels = np.repeat(np.arange(K), class_n)
    if kind in ("in proportion", "commonest two"):
        share = np.array(class_n) / sum(class_n)
        share = np.where(np.argsort(np.argsort(-share)) < 2, share, 0) if kind == "commonest two" else share
        found = rng.choice(K, size=(repeats, trainings, len(labels)), p=share / share.sum())
    else:
        found = answers(rng, kind, K, trainings, len(labels))[:repeats]
    starts = np.cumsum([0, *class_n[:-1]])
    right = np.add.reduceat((found == labels).astype(int), starts, axis=2)
    alone = cache(lambda one: beside_chance([one], [class_n]).p)
    told = [trainings * min(alone(tuple(one)) for one in run) <= LEVEL for run in right.tolist()]
    assert np.mean(told) <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / repeats)


def test_one_class_of_many_images_hides_no_others() -> None:
    class_n = (75, *[3] * 8)
    known = beside_chance([(65, 3, 3, 2, 3, 2, 2, 2, 2)], [class_n])
    assert known.above, (
        "84 of 99 are right, and 75 by one answer for all, but nobody who guesses has the rare ones right, too"
    )
    assert beside_chance([(77, 5, 5)], [(90, 5, 5)]).above
    assert not beside_chance([(75, *[0] * 8)], [class_n]).above
    assert not beside_chance([(60, 1, *[0] * 7)], [class_n]).above
    rng = np.random.default_rng(0)
    uneven = [60, *[3] * 10]
    power = [beside_chance([rng.binomial(uneven, 0.4).tolist()], [uneven]).above for _ in range(60)]
    assert np.mean(power) > 0.9, "four of ten right in each class; one answer for all has two in three"


def test_the_bound_of_uneven_classes_is_one() -> None:
    """Beside the exact probability that shares add up to so much, for many ways to guess."""
    rng = np.random.default_rng(0)
    for class_n in ((4, 2, 1), (7, 1), (5, 3, 3, 1)):
        counts = list(itertools.product(*(range(n + 1) for n in class_n)))
        sums = np.array([sum(k / n for k, n in zip(c, class_n, strict=True)) for c in counts])
        bound = np.array([_by_class(np.array(c), np.array(class_n)) for c in counts])
        for q in [*rng.dirichlet(np.ones(len(class_n)), 20), *rng.dirichlet(0.2 * np.ones(len(class_n)), 20)]:
            chances = [math.prod(stats.binom.pmf(c, class_n, q)) for c in counts]
            tails = np.array([sum(p for p, s in zip(chances, sums, strict=True) if s >= seen - 1e-9) for seen in sums])
            assert (tails <= bound + 1e-9).all()


def test_knowledge_is_above_chance_where_images_suffice() -> None:
    rng, class_n = np.random.default_rng(0), (10,) * 6
    right = rng.binomial(60, 0.4, size=(100, 5))
    power = np.mean([beside_chance([of(k, class_n) for k in row], [class_n] * 5).above for row in right])
    assert power > 0.95
    few = rng.binomial(10, 0.6, size=(100, 5))
    assert np.mean([beside_chance([of(k, (5, 5)) for k in row], [(5, 5)] * 5).above for row in few]) < 0.5, (
        "ten images tell little"
    )


def test_the_figures_are_those_of_the_binomial_distribution() -> None:
    one = beside_chance([(3, 5)], [(5, 5)])
    assert (one.trainings, one.images, one.above) == (1, 10, False)
    assert one.p == pytest.approx(56 / 1024)  # (45 + 10 + 1) / 2^10
    assert one.best == pytest.approx(1 / 1024)
    assert one.significant_from == 0.9
    assert beside_chance([(4, 5)], [(5, 5)]).above
    two = beside_chance([(4, 5), (3, 0)], [(5, 5), (6, 6)])
    assert two.p == pytest.approx(2 * 11 / 1024)
    assert two.significant_from == 0.9
    assert beside_chance([(0, 0)] * 3, [(5, 5)] * 3).p == 1.0
    uneven = beside_chance([(8, 0)], [(8, 2)])
    assert uneven.p == 1.0, "one class for all is right for eight of ten"
    assert uneven.significant_from is None, "it depends on which"
    few = beside_chance([(2, 2)], [(2, 2)])
    assert few.significant_from is None
    assert few.p == few.best > LEVEL, "four of four are one in sixteen"


@pytest.mark.parametrize(
    ("right", "class_n"),
    [([], []), ([(2, 1)], [(1, 1)]), ([(1, 0)], [(1, 1), (1, 1)]), ([(0, 0)], [(0, 0)]), ([(1,)], [(1, 1)])],
)
def test_nothing_to_test_is_refused(right: list[tuple[int, ...]], class_n: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match=r"no test|zip"):
        beside_chance(right, class_n)
