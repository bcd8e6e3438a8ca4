"""Texts without words that depend on the class: the statistic against scipy, and texts of which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from seqsearch.training.class_free import class_free, independent, words


def test_the_statistic_is_chi_squared_of_independence_against_its_mean_over_permutations() -> None:
    draw = np.random.default_rng(0)
    n = np.array([12, 20, 9, 15])
    counts = draw.binomial(n, 0.4, size=(60, 4))
    statistics = [chi2_contingency([row, n - row], correction=False).statistic for row in counts]
    labels = np.repeat(np.arange(4), n)
    has = np.zeros(n.sum(), dtype=bool)
    has[: counts[0].sum()] = True
    permuted = []
    for _ in range(4000):
        by_class = np.bincount(labels[draw.permutation(has)], minlength=4)
        permuted.append(chi2_contingency([by_class, n - by_class], correction=False).statistic)
    mean = 3 * n.sum() / (n.sum() - 1)
    assert np.mean(permuted) == pytest.approx(mean, abs=0.15)
    assert independent(counts, n).tolist() == [s < mean for s in statistics]
    assert 0.3 < np.mean(independent(counts, n)) < 0.8, "about half of independent words stay"


def test_words_of_one_class_go_and_words_of_all_stay() -> None:
    birds = ["a red bird sits", "a blue bird sits", "a green bird flies"]
    texts = [birds[c] + (" today." if i % 2 else "!") for c in range(3) for i in range(8)]
    found = class_free(texts, np.repeat(np.arange(3), 8))
    assert found.kept == {"a", "bird", "today"}
    assert found.of == 8
    assert found(["A red BIRD flies, today", "Red flies", "an unknown bird"]) == ["a bird today", "", "bird"]


def test_a_rare_word_goes_although_no_class_can_be_shown_to_have_it_more_often() -> None:
    """One in each of two classes of three: not every class can be expected to have it."""
    texts = ["plain"] * 30
    texts[0] = texts[10] = "plain odd"
    labels = np.repeat(np.arange(3), 10)
    assert class_free(texts, labels).kept == {"plain"}
    texts[20] = "plain odd"
    assert class_free(texts, labels).kept == {"plain", "odd"}


def test_names_of_classes_do_not_matter_their_numbers_neither() -> None:
    texts = ["x y", "x", "x y", "x", "z", "z", "z", "z"]
    assert class_free(texts, np.array([3, 3, 7, 7, 3, 3, 7, 7])).kept == {"x", "y", "z"}
    assert class_free(texts, np.array([3, 3, 3, 3, 7, 7, 7, 7])).kept == frozenset()


def test_words_are_in_lower_case_and_without_punctuation() -> None:
    assert words("It's a Größe-4 bird, 2.5 cm.") == ["it", "s", "a", "größe", "4", "bird", "2", "5", "cm"]
