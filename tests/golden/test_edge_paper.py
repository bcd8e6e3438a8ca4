"""What can be recomputed from "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from benchmarks.coverage.estimators import distances, sd_ratios
from seqsearch.stats.distribution import lilliefors, normality
from seqsearch.stats.sampling import number_of_sequences, required_sequences

TABLE_A2 = {(4, 2): 6, (6, 2): 20, (8, 2): 70, (10, 2): 252, (6, 3): 90, (9, 3): 1680, (8, 4): 2520}
HUNDRED = number_of_sequences([10] * 10)


@pytest.mark.parametrize(("n", "k"), TABLE_A2)
def test_table_a2(n: int, k: int) -> None:
    assert number_of_sequences([n // k] * k) == TABLE_A2[n, k]


def test_a_hundred_classes_in_ten_tasks() -> None:
    """Lemma 1: about 10^92."""
    assert math.factorial(10) ** 10 * HUNDRED == math.factorial(100)
    assert 92 < math.log10(HUNDRED) < 93


def test_theorem_1_cannot_be_satisfied_for_six_of_the_seven_rows() -> None:
    found = {case: required_sequences(total, 0.1, 0.05, "1") for case, total in TABLE_A2.items()}
    assert [case for case, L in found.items() if L is not None] == [(8, 4)]
    L = found[8, 4]
    assert L is not None
    left = [x * (2520 - x) / 2519 for x in (L - 1, L)]
    assert left[0] < math.log(2 * 2520 / 0.05) / (2 * 0.1**2) <= left[1]


def test_both_sides_of_theorem_1_at_90_sequences() -> None:
    assert max(L * (90 - L) / 89 for L in range(91)) == pytest.approx(22.8, abs=0.05)
    assert math.log(2 * 90 / 0.05) / (2 * 0.1**2) == pytest.approx(409, abs=0.5)


def test_the_remarks_figures_do_not_follow() -> None:
    """Remark 1 says 2 x 10^4, Remark 2 "around 50"."""
    assert required_sequences(HUNDRED, 0.1, 0.05, "1") == 10_820
    right = math.log(2) + math.log(HUNDRED - 2) - math.log(0.05)
    assert 0.1**2 * right / (2 * 0.1**2) == pytest.approx(108.2, abs=0.05)
    assert required_sequences(HUNDRED, 0.1, 0.05, "2", R=0.1) == 109  # the first whole number above


def test_serfling_needs_far_fewer() -> None:
    assert required_sequences(HUNDRED, 0.1, 0.05) == 185
    assert required_sequences(90, 0.1, 0.05) == 62


@pytest.mark.parametrize(("n", "ratio", "repeats"), [(90, 2.07, 20_000), (10_000, 3.18, 2_000)])
def test_sd_of_both_extremes_and_one_random_sequence(n: int, ratio: float, repeats: int) -> None:
    """Section 4.2's sigma, were its extremes the real ones, of accuracies that are normal with sd 1."""
    found = sd_ratios(n, repeats, np.random.default_rng(0))
    assert found["extremes"] == pytest.approx(ratio, abs=0.015)
    assert found["random"] == pytest.approx(math.sqrt(math.pi) / 2 * math.sqrt(2 / 3), abs=0.02)  # .72, section 3.1


def test_a_better_search_makes_the_papers_fit_worse() -> None:
    """With real extremes it is worse than its baseline; with mild ones (10 % and 90 %) as good as ten random sequences."""
    rows = {row["estimator"]: row for row in distances(10_000, 60, np.random.default_rng(0))}
    names = ("paper, 10 % and 90 %", "RS 3 (ddof 0)", "paper, real extremes")
    for figure in ("jsd", "w1", "w2"):
        mild, baseline, real = (float(rows[name][figure]) for name in names)
        assert mild < float(rows["random 5"][figure]) < baseline < real


@pytest.mark.long
def test_kolmogorov_smirnov_as_printed_hardly_ever_rejects() -> None:
    """Of normal samples of 90, a valid test rejects 5 % at .05; Table A3's rejects none in 200."""
    rng = np.random.default_rng(0)
    found = [normality(0.8 + 0.01 * rng.normal(size=90)).raw for _ in range(200)]
    assert all(f is not None and f.ks > 0.05 for f in found)
    rejected = np.mean([f is not None and f.lilliefors < 0.05 for f in found])
    assert 0.02 <= rejected <= 0.09


def test_prefixes_shared_at_six_classes_in_three_tasks() -> None:
    """15 first tasks, 90 pairs, 90 sequences: 195 trainings instead of 270."""
    orders = {tuple(tuple(sorted(p[i : i + 2])) for i in (0, 2, 4)) for p in itertools.permutations(range(6))}
    assert len(orders) == number_of_sequences([2, 2, 2])
    assert sum(len({order[:depth] for order in orders}) for depth in (1, 2, 3)) == 195


def test_lilliefors_against_the_published_critical_values() -> None:
    """Lilliefors (1967), Table 1, n = 20: .190 at 5 %, .231 at 1 %; Monte Carlo of 1,000 samples, hence the tolerance."""
    from seqsearch.stats.distribution import _null

    assert np.quantile(_null(20, 9_999, 0), [0.95, 0.99]) == pytest.approx([0.190, 0.231], abs=0.012)
    assert lilliefors(np.exp(np.linspace(0, 4, 20))) < 0.05
