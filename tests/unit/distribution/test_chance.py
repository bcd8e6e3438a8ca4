"""Methods that guess are seldom told from chance, whatever trainings share; those that know something are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.chance import LEVEL, beside_chance

REPEATS = 1500
ABOVE = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / REPEATS)
"""Of so many repeats, a rate of `LEVEL` is seldom seen above that."""


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
        ((3, 4, 5), 5),
        ((10,) * 6, 3),
        ((4,) * 10, 30),
        ((40, 10, 10, 5), 15),
        ((10,) * 10, 1),
    ],
    ids=["10 images", "10 images, 15 trainings", "12 images", "60 images", "40 images", "uneven", "100 images"],
)
def test_who_guesses_is_told_from_chance_in_at_most_5_percent(
    kind: str, class_n: tuple[int, ...], trainings: int
) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(class_n)), class_n)
    most = (answers(rng, kind, len(class_n), trainings, len(labels)) == labels).sum(axis=2).max(axis=1)
    above = [k for k in np.unique(most) if beside_chance([k, *[0] * (trainings - 1)], [class_n] * trainings).above]
    assert np.isin(most, above).mean() <= ABOVE


def test_who_knows_something_is_told_where_images_suffice() -> None:
    rng, class_n = np.random.default_rng(0), (10,) * 6
    right = rng.binomial(60, 0.4, size=(100, 5))
    power = np.mean([beside_chance(row.tolist(), [class_n] * 5).above for row in right])
    assert power > 0.95
    few = rng.binomial(10, 0.6, size=(100, 5))
    assert np.mean([beside_chance(row.tolist(), [(5, 5)] * 5).above for row in few]) < 0.5, "ten images tell little"


def test_the_figures_are_those_of_the_binomial_distribution() -> None:
    one = beside_chance([8], [(5, 5)])
    assert (one.trainings, one.images, one.above) == (1, 10, False)
    assert one.p == pytest.approx(56 / 1024)  # (45 + 10 + 1) / 2^10
    assert one.told_from == 0.9
    assert beside_chance([9], [(5, 5)]).above
    two = beside_chance([9, 3], [(5, 5), (6, 6)])
    assert two.p == pytest.approx(2 * 11 / 1024)
    assert two.told_from == 0.9
    assert beside_chance([0, 0, 0], [(5, 5)] * 3).p == 1.0
    uneven = beside_chance([8], [(8, 2)])
    assert uneven.p == pytest.approx(stats.binom.sf(7, 10, 0.8)), "one class for all is right for eight of ten"
    assert beside_chance([4], [(2, 2)]).told_from is None
    assert not beside_chance([4], [(2, 2)]).above, "four of four are one in sixteen"


@pytest.mark.parametrize(("right", "class_n"), [([], []), ([3], [(1, 1)]), ([1], [(1, 1), (1, 1)]), ([0], [(0, 0)])])
def test_nothing_to_test_is_refused(right: list[int], class_n: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="no test"):
        beside_chance(right, class_n)
