import math

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.distribution.estimate import estimate
from seqsearch.distribution.mean import adjusted_mean, mean_interval
from seqsearch.distribution.normal import normal_fit
from seqsearch.distribution.tails import tails

rng = np.random.default_rng(0)
RANDOM = 0.7 + 0.05 * rng.normal(size=20)
CROSSED = np.array([[0.50, 0.54], [0.60, 0.62], [0.70, 0.78]])
S = rng.random(20)
HARD, EASY = [[0.3, 0.32], [0.1, 0.1]], [[0.9, 0.94]]


def test_every_figure_is_that_of_its_function():
    e = estimate(RANDOM, CROSSED, S, 0.4)
    assert e.mean == mean_interval(RANDOM)
    assert e.mean_adjusted == adjusted_mean(RANDOM, S, 0.4)
    assert e.sd == pytest.approx(RANDOM.std(ddof=1))
    assert e.tails == tails(RANDOM)
    assert (e.L, e.C, e.extremes, e.R, e.estimator) == (20, 3, 0, 2, "random")


def test_training_sd_has_what_a_seed_does_to_all_orders():
    e = estimate(RANDOM, CROSSED)
    assert e.training_sd**2 == pytest.approx(np.mean([np.var(row, ddof=1) for row in CROSSED]))
    with_extremes = estimate(RANDOM, CROSSED, hard=HARD, easy=EASY)
    every = np.concatenate([CROSSED, HARD, EASY])
    assert with_extremes.training_sd**2 == pytest.approx(np.mean([np.var(row, ddof=1) for row in every]))
    assert (with_extremes.C, with_extremes.extremes, with_extremes.R) == (3, 3, 2)


def test_seeds_that_move_all_orders_alike_are_no_effect_of_order():
    e = estimate(RANDOM, CROSSED * 0 + [0.5, 0.6])
    assert e.training_sd == pytest.approx(0.1 / math.sqrt(2))
    assert e.order_sd == pytest.approx(0, abs=1e-9)
    lucky = estimate(RANDOM, CROSSED * 0 + [0.50, 0.51])  # sd of RANDOM is far above what these two seeds show
    assert lucky.order_sd == pytest.approx(0, abs=1e-9)


def test_order_sd_is_the_order_component_of_the_crossed_random_orders_alone():
    e = estimate(RANDOM, CROSSED)
    rows, columns = CROSSED.mean(1, keepdims=True), CROSSED.mean(0, keepdims=True)
    error = ((CROSSED - rows - columns + CROSSED.mean()) ** 2).sum() / 2
    assert e.order_sd**2 == pytest.approx(rows.var(ddof=1) - error / 2)
    assert estimate(RANDOM, CROSSED, hard=HARD, easy=EASY).order_sd == e.order_sd
    assert estimate(RANDOM, [[0.5, 0.7], [0.7, 0.5]]).order_sd == 0  # clipped: error alone
    assert math.isnan(estimate(RANDOM, CROSSED[:1]).order_sd)
    assert estimate(RANDOM, CROSSED[:1]).training_sd > 0


def test_order_sd_is_unbiased():
    """Order .03, seed .05, error .01: what the seeds do to all orders alike does not count."""
    draw, squares = np.random.default_rng(2), []
    for _ in range(400):
        A = 0.5 + 0.03 * draw.normal(size=(4, 1)) + 0.05 * draw.normal(size=3) + 0.01 * draw.normal(size=(4, 3))
        squares.append(estimate(RANDOM, A).order_sd ** 2)
    assert np.mean(squares) == pytest.approx(0.0009, rel=0.15)


def test_training_sd_is_unbiased():
    """Seed .02, error .01: a training's variance is .0005, whatever the orders' effects are."""
    draw, squares = np.random.default_rng(1), []
    for _ in range(400):
        A = 0.5 + 0.1 * draw.random((4, 1)) + 0.02 * draw.normal(size=3) + 0.01 * draw.normal(size=(4, 3))
        squares.append(estimate(RANDOM, A).training_sd ** 2)
    assert np.mean(squares) == pytest.approx(0.0005, rel=0.15)


def test_without_crossed_seeds_noise_is_not_parted():
    for e in (estimate(RANDOM), estimate(RANDOM, CROSSED[:, :1])):
        assert math.isnan(e.training_sd)
        assert math.isnan(e.order_sd)
        assert e.sd > 0
    assert (estimate(RANDOM).C, estimate(RANDOM, CROSSED[:, :1]).R) == (0, 1)


def test_extremes_are_seen_and_move_nothing_else():
    without, with_them = estimate(RANDOM), estimate(RANDOM, CROSSED, hard=HARD, easy=EASY)
    for figure in ("mean", "sd", "tails"):
        assert getattr(with_them, figure) == getattr(without, figure)
    assert (without.lowest, without.highest) == (RANDOM.min(), RANDOM.max())
    assert (with_them.lowest, with_them.highest) == (0.1, 0.94)


def test_the_papers_estimator():
    e = estimate(RANDOM, CROSSED, S, 0.4, HARD, EASY, "paper")
    three = [0.3, RANDOM[0], 0.9]
    assert e.mean.value == pytest.approx(np.mean(three))
    assert e.sd == pytest.approx(np.std(three))
    assert math.isnan(e.mean.low)
    assert math.isnan(e.mean_adjusted.value)
    assert e.order_sd == estimate(RANDOM, CROSSED).order_sd
    assert e.training_sd > 0
    assert (e.L, e.lowest, e.tails) == (3, 0.1, None)
    with pytest.raises(ValueError, match="a hard, a random and an easy"):
        estimate(RANDOM, hard=HARD, estimator="paper")
    with pytest.raises(ValueError, match="dimension"):
        estimate(RANDOM, CROSSED, hard=[0.3, 0.32, 0.31])  # another number of seeds
    with pytest.raises(UserError, match="unknown estimator 'mean'"):
        estimate(RANDOM, estimator="mean")


def test_a_method_that_no_order_changes():
    """RanPAC on one image split: everything agrees, and nothing divides by zero."""
    e = estimate(
        np.full(30, 0.9867), np.full((4, 3), 0.9867), np.linspace(0.3, 0.5, 30), 0.4, [[0.9867] * 3], [[0.9867] * 3]
    )
    assert e.mean.value == e.mean_adjusted.value == pytest.approx(0.9867)
    assert math.isnan(e.mean.low)
    assert math.isnan(e.mean_adjusted.low)
    assert (e.sd, e.order_sd, e.training_sd) == pytest.approx((0, 0, 0), abs=1e-12)


def test_one_order_has_a_value_and_no_more():
    e = estimate([0.5])
    assert e.mean.value == 0.5
    assert math.isnan(e.mean.low)
    assert math.isnan(e.sd)


def test_normal_fit():
    assert normal_fit([0.2, 0.4]).sigma == pytest.approx(math.sqrt(0.02))
    assert normal_fit([0.2, 0.4], ddof=0).sigma == pytest.approx(0.1)
    assert normal_fit(CROSSED).mu == pytest.approx(CROSSED.mean())
    assert normal_fit([0.1, 0.1, 0.1]).sigma == 0
    assert math.isnan(normal_fit([0.3]).sigma)


@pytest.mark.parametrize(
    ("broken", "says"),
    [([0.5, np.nan], "finite"), ([83.0, 84.0], "fractions"), ([], "finite"), ([[0.5]], "dimensions")],
)
def test_accuracies_are_judged_at_the_door(broken, says):
    with pytest.raises(ValueError, match=says):
        estimate(broken)
