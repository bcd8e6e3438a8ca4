"""Weighted sums of means, and the part of the test images in their variance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.stats.contrast import FEWEST_OVER, Stratum, centred, contrast, image_part, mean_products, rarer
from seqsearch.stats.interval import degrees_of, t_quantile
from seqsearch.stats.mean import mean_interval

RANDOM = np.array([[0.7, 0.72, 0.74], [0.8, 0.78, 0.76], [0.9, 0.9, 0.9]])
FOUND = np.array([[0.5, 0.6, 0.7]])


def difference(a: Stratum, b: Stratum, **options):
    return contrast([(1.0, a), (-1.0, b)], **options)


def test_by_hand():
    c = difference(Stratum("random sequences", RANDOM), Stratum("found", FOUND, population=1))
    assert c.interval.value == pytest.approx(0.8 - 0.6)
    draws, seeds = np.var([0.72, 0.78, 0.9], ddof=1) / 3, np.var([0.3, 0.2, 0.1], ddof=1) / 3
    assert c.variances == pytest.approx({"random sequences": draws, "training seeds": seeds})
    reach = math.sqrt(draws * t_quantile(0.95, degrees_of(3)) ** 2 + seeds * t_quantile(0.95, 2) ** 2)
    assert c.interval.half_width == pytest.approx(reach)
    assert sum(c.shares.values()) == pytest.approx(1)
    assert (c.over_seeds, c.these_images) == (True, True)
    assert c.conditional.half_width == pytest.approx(math.sqrt(draws) * t_quantile(0.95, degrees_of(3)))


def test_of_seeds_that_one_side_lacks_the_worse_way_to_act_counts():
    """Three seeds on one side and one on the other: 1 - 1/3 of the variance, as if all that varies moved both sides alike."""
    c = difference(Stratum("random sequences", RANDOM[:, :1]), Stratum("found", FOUND, population=1))
    assert c.variances["training seeds"] == pytest.approx(2 / 3 * np.var(FOUND, ddof=1))


def test_the_mean_of_one_draw_has_the_interval_of_all_means():
    c = contrast([(1.0, Stratum("x", RANDOM))], limits=(0.0, 1.0))
    seeds = t_quantile(0.95, 2) * RANDOM.mean(axis=0).std(ddof=1) / math.sqrt(3)
    assert c.interval == mean_interval(RANDOM.mean(axis=1), shared=seeds)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(3, 6), st.integers(1, 4))
def test_a_further_seed_or_sequence_takes_no_statement_away(seed, F, L, R):
    rng = np.random.default_rng(seed)
    found, random = rng.normal(0.4, 0.05, (F + 1, R + 1)), rng.normal(0.8, 0.05, (L + 1, R + 1))

    def parts(F, L, R):
        given = Stratum("found", found[:F, :R], population=math.inf if F >= FEWEST_OVER else F)
        c = difference(Stratum("random sequences", random[:L, :R]), given)
        assert math.isfinite(c.interval.low)
        return set(c.variances)

    one = parts(F, L, R)
    assert all(one <= parts(*more) for more in ((F + 1, L, R), (F, L + 1, R), (F, L, R + 1)))


def test_a_family_is_read_at_its_own_level():
    sides = Stratum("random sequences", RANDOM), Stratum("found", FOUND, population=1)
    alone, three = difference(*sides), difference(*sides, family=3)
    assert alone.together == alone.interval == three.interval
    assert three.together.half_width > three.interval.half_width
    assert three.together == difference(*sides, level=1 - 0.05 / 3).interval


def test_of_a_population_only_what_was_not_drawn_varies():
    some = np.array([[0.5, 0.6, 0.7], [0.6, 0.7, 0.8], [0.7, 0.8, 0.9]])
    one = Stratum("found", FOUND, population=1)
    of_six = difference(Stratum("regroupings", some, population=6), one).variances["regroupings"]
    assert of_six == pytest.approx(0.1**2 / 3 / 2)
    assert "regroupings" not in difference(Stratum("regroupings", some, population=3), one).variances


@pytest.mark.parametrize(
    ("values", "population", "unavailable_because"),
    [
        ([[0.5]], 1, "too few training seeds, 2 more needed"),
        ([[0.5, 0.6], [0.6, 0.6]], 2, "too few training seeds, 1 more needed"),
        ([[0.5, 0.6], [0.6, 0.6]], math.inf, "too few x, 1 more needed"),
        ([[0.5, 0.6], [0.6, 0.5], [0.4, 0.7]], math.inf, "the x score alike"),
        ([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], math.inf, "the x score alike"),
        ([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], 2, "nothing varies on either side"),
        ([[0.5, 0.6, 0.7], [0.6, 0.6, 0.7]], 2, ""),
    ],
)
def test_too_little_data_is_named_and_has_no_interval(values, population, unavailable_because):
    c = contrast([(1.0, Stratum("x", np.array(values), population=population))])
    assert c.unavailable_because.startswith(unavailable_because)
    assert bool(c.unavailable_because) == bool(unavailable_because)
    assert math.isnan(c.interval.low) == math.isnan(c.together.low) == bool(unavailable_because)


def test_sequences_that_are_known_to_be_identical_do_not_vary():
    values = np.array([[0.5, 0.6, 0.7]] * 3)
    assert contrast([(1.0, Stratum("x", values))]).unavailable_because
    c = contrast([(1.0, Stratum("x", values, identical=True))])
    assert not c.unavailable_because
    assert c.variances == pytest.approx({"x": 0.0, "training seeds": 0.01 / 3})


def test_nothing_differs_only_if_every_seed_says_so():
    same = Stratum("x", np.array([[0.5, 0.6, 0.7]] * 3), identical=True)
    assert difference(same, Stratum("y", np.array([[0.5, 0.6, 0.7]]), population=1)).nothing_differs
    swapped = difference(same, Stratum("y", np.array([[0.6, 0.5, 0.7]]), population=1))
    assert not swapped.nothing_differs
    assert swapped.variances["training seeds"] == pytest.approx(0.01 / 3)


def test_what_does_not_pair_is_refused():
    images = np.full((3, 3, 4), 0.1)
    with pytest.raises(ValueError, match="do not pair"):
        contrast([(1.0, Stratum("x", RANDOM, images[:2]))], np.array([0, 0, 1, 1]))
    with pytest.raises(ValueError, match="add up"):
        contrast([(1.0, Stratum("x", RANDOM, images))], np.array([0, 0, 1, 1]))
    with pytest.raises(ValueError, match="finite"):
        contrast([(1.0, Stratum("x", np.array([[np.nan]])))])


def test_images_common_to_both_sides_cancel():
    """Both sides hold the same images, of which some are hard: that says nothing of the difference."""
    rng = np.random.default_rng(0)
    hard = (rng.random(40) < 0.6) / 40
    own = rng.normal(0, 1e-4, (2, 3, 2, 40))
    a, b = (Stratum(n, (hard + x).sum(2), hard + x, same_images=True) for n, x in zip("ab", own, strict=True))
    classes = np.repeat([0, 1], 20)
    alone, both = contrast([(1.0, a)], classes), difference(a, b, classes=classes)
    assert alone.variances["test images"] == pytest.approx(0.25 / 40, rel=0.3)
    assert both.variances["test images"] < alone.variances["test images"] / 1e3


def test_a_handful_of_errors_says_nothing():
    rng = np.random.default_rng(0)
    right = np.ones((4, 2, 40))
    right[:, :, :2] = rng.random((4, 2, 2)) < 0.5
    s = Stratum("x", right.mean(2), right / 40, same_images=True)
    assert contrast([(1.0, s)], np.repeat([0, 1], 20)).unavailable_because.startswith("fewer than 5 test images")


def test_the_mean_of_sequences_that_are_no_draw_stays_within_its_limits():
    c = contrast([(1.0, Stratum("x", np.array([[0.9, 0.99, 0.95]]), population=1))], limits=(0.0, 1.0))
    assert c.interval.high == 1.0
    assert c.interval.low < 0.9


def test_no_more_sequences_are_asked_for_than_there_are():
    s = Stratum("regroupings", np.array([[0.5, 0.6, 0.7]]), population=2)
    assert contrast([(1.0, s)]).unavailable_because == "too few regroupings, 1 more needed"


def test_searches_that_found_sequences_of_one_accuracy_are_no_draw():
    same, apart = Stratum.of_found("x", np.array([[0.5, 0.6]] * 3), None), Stratum.of_found("x", RANDOM, None)
    assert (same.not_sampled, apart.not_sampled) == (0, 1)
    assert Stratum.of_found("x", RANDOM[:2], None).same_images


CLASSES = np.repeat([0, 1], [4, 6])


def stratum(images, population=math.inf):
    return Stratum("x", images.sum(axis=2), images, population)


def test_of_these_trainings_it_is_the_variance_of_their_mean_within_classes():
    shares = np.random.default_rng(0).normal(size=(2, 3, 10))
    mean = shares.mean(axis=(0, 1))
    by_hand = 4 * mean[:4].var(ddof=1) + 6 * mean[4:].var(ddof=1)
    variance, degrees = image_part([(1.0, stratum(shares, 2))], CLASSES, over_seeds=False)
    assert (variance, degrees) == (pytest.approx(by_hand), 8)


@pytest.mark.parametrize("population", [3.0, 6.0, math.inf])
def test_of_a_draw_different_sequences_count_and_different_seeds(population):
    shares = np.random.default_rng(0).normal(size=(3, 2, 10)) + np.random.default_rng(1).normal(size=10)
    x = centred(shares, CLASSES)
    square = (np.einsum("ai,bi->ab", x[:, 0], x[:, 1]) + np.einsum("ai,bi->ab", x[:, 1], x[:, 0])) / 2
    different = (square.sum() - np.trace(square)) / 6
    drawn = 1 - 3 / population
    variance, _ = image_part([(2.0, stratum(shares, population))], CLASSES, over_seeds=True)
    assert variance == pytest.approx(4 * (drawn * different + (1 - drawn) * square.mean()))


def test_images_that_two_sides_share_cancel_and_seeds_that_one_lacks_are_others():
    shares = np.random.default_rng(0).normal(size=(1, 3, 10))
    both = [(1.0, stratum(shares, 1)), (-1.0, stratum(shares[:, :1].repeat(3, axis=1), 1))]
    same = [(1.0, stratum(shares, 1)), (-1.0, stratum(shares, 1))]
    assert image_part(same, CLASSES, over_seeds=False)[0] == pytest.approx(0)
    assert image_part(both, CLASSES, over_seeds=False)[0] > 0
    x = centred(shares, CLASSES)
    assert mean_products(x, x[:, :1], apart=True)[0, 0] == pytest.approx(x[0, 1:].mean(axis=0) @ x[0, 0])


def test_a_class_of_one_image_leaves_it_out():
    assert image_part([(1.0, stratum(np.ones((1, 1, 3)), 1))], np.array([0, 0, 1]), over_seeds=False) is None


def test_the_rarer_of_right_and_wrong_is_counted_by_images():
    classes, right = np.repeat([0, 1], 5), np.ones((1, 3, 10))
    assert rarer(right / 10, classes) == 0
    right[0, :, 2] = 0
    assert rarer(right / 10, classes) == 1, "the same image with three seeds"
    right[0, 1, 7] = right[0, 2, 8] = 0
    assert rarer(right / 10, classes) == 3
    assert rarer(right * ([0.05] * 5 + [0.15] * 5), classes) == 3, "classes of smaller tasks"
    assert rarer((1 - right) / 10, classes) == 3
    right[0, :, 5:] = 0
    assert rarer(right / 10, classes) == 1, "of a class without a right one nothing is known: perhaps it is not held"
    two = np.concatenate([np.ones((1, 2, 10)), np.ones((1, 2, 10)) * ([0] * 4 + [1] * 6)])
    assert rarer(two / 10, classes) == 2, "of two sequences the mean"
    assert rarer(np.full((1, 2, 10), 0.07), classes) == pytest.approx(6), (
        "shares of no single images: of 20 evaluations"
    )
    some = np.ones((1, 2, 10)) * ([0.5] + [1] * 9)  # a mean over two methods, of which one is wrong
    assert rarer(some / 10, classes) == 1
