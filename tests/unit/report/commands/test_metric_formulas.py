"""What `seqsearch metrics` says a figure is computed by is what the code computes, on random accuracy matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.gtep.cells import Cell, pooled
from protocols.report.commands.metrics import every
from seqsearch.extremes.objective import Objective, Problem
from seqsearch.stats import accuracy
from seqsearch.stats.blind import kappa
from seqsearch.stats.choice import Difference, of_means, shares_of_orders
from seqsearch.stats.drop import drop
from seqsearch.stats.interval import Interval
from seqsearch.stats.quantiles import share_beyond
from seqsearch.streams.playing import Played, Playing, View

SHARE = st.integers(0, 1000).map(lambda n: n / 1000)
MATRICES = (
    st.integers(1, 7)
    .flatmap(lambda T: st.lists(SHARE, min_size=T * T, max_size=T * T))
    .map(lambda v: np.where(np.tri(int(len(v) ** 0.5)) > 0, np.reshape(v, (int(len(v) ** 0.5), -1)), np.nan))
)
ACC = "1/T sum over i <= T of a_Ti"
RETENTION = "1/(T-1) sum over i < T of (a_Ti - a_ii)"


def formula(section: str, heading: str) -> list[str]:
    """As the table has them, of all columns of the section with this heading."""
    return [e.column.formula for s, e in every() if s == section and heading == e.heading]


def total(values: list[float]) -> float:
    return float(sum(values))


@dataclass(frozen=True)
class Figure:
    """A formula by its words, what it gives on ``a [T, T]`` counted from 1, and the code."""

    section: str
    heading: str
    words: str
    by_hand: Callable[[SimpleNamespace], float]
    code: Callable[[np.ndarray], float]


def acc_at(m: SimpleNamespace, t: int) -> float:
    return total([m.a(t, i) for i in range(1, t + 1)]) / t


def retention(m: SimpleNamespace) -> float:
    return total([m.a(m.T, i) - m.a(i, i) for i in range(1, m.T)]) / (m.T - 1) if m.T > 1 else 0.0


def learning(m: SimpleNamespace) -> float:
    return total([m.a(i, i) for i in range(1, m.T + 1)]) / m.T


def lost_since_best(m: SimpleNamespace) -> float:
    lost = [max(m.a(t, i) for t in range(i, m.T)) - m.a(m.T, i) for i in range(1, m.T)]
    return total(lost) / (m.T - 1) if m.T > 1 else 0.0


FIGURES = (
    Figure("cldyb", "Acc", ACC, lambda m: acc_at(m, m.T), accuracy.acc),
    Figure("edge", "accuracy", "A(O) = 1/T sum over t of a_Tt", lambda m: acc_at(m, m.T), accuracy.acc),
    Figure("cldyb", "AR", f"{RETENTION} = -AFM", retention, accuracy.ar),
    Figure("cldyb", "AFM", "1/(T-1) sum over i < T of (a_ii - a_Ti)", lambda m: -retention(m), accuracy.afm),
    Figure("cldyb", "ALA", "1/T sum over i <= T of a_ii", learning, accuracy.ala),
    Figure("cldyb", "reward", "AFM - ALA", lambda m: -retention(m) - learning(m), accuracy.reward),
    Figure("compare", "AvgAcc", "1/T sum over t of Acc_t",
           lambda m: total([acc_at(m, t) for t in range(1, m.T + 1)]) / m.T, accuracy.avg_acc),
    Figure("compare", "upcoming Acc", "1/(T-s+1) sum over s <= i <= T of a_Ti",
           lambda m: total([m.a(m.T, i) for i in range(m.s, m.T + 1)]) / (m.T - m.s + 1),
           lambda a: accuracy.upcoming_acc(a, (len(a) + 1) // 2)),
    Figure("mcil", "forgetting", "1/(T-1) sum over i < T of ((max over i <= t < T of a_ti) - a_Ti)", lost_since_best,
           accuracy.forgetting),
    Figure("mcil", "transfer", RETENTION, retention, accuracy.backward_transfer),
)  # fmt: skip


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f"{f.section} {f.heading}")
@given(matrix=MATRICES)
def test_a_figure_of_a_matrix_is_its_formula(figure: Figure, matrix: np.ndarray) -> None:
    assert figure.words in formula(figure.section, figure.heading)
    T = len(matrix)
    m = SimpleNamespace(T=T, s=(T + 1) // 2, a=lambda t, i: float(matrix[t - 1, i - 1]))
    assert figure.code(matrix) == pytest.approx(figure.by_hand(m), abs=1e-12)


@given(MATRICES)
def test_what_the_paper_says_of_these_figures_holds(matrix: np.ndarray) -> None:
    """AR is AFM with its sign turned (footnote 1 of CLDyB), and the reward of Eq. 3 is -Acc + AFM / T."""
    assert accuracy.ar(matrix) == -accuracy.afm(matrix) == pytest.approx(accuracy.backward_transfer(matrix))
    of_both = accuracy.afm(matrix) / len(matrix) - accuracy.acc(matrix)
    assert accuracy.reward(matrix) == pytest.approx(of_both, abs=1e-12)
    assert accuracy.forgetting(matrix) >= accuracy.afm(matrix) - 1e-12


@given(st.lists(st.lists(st.tuples(st.integers(1, 9), SHARE), min_size=1, max_size=4), min_size=1, max_size=5))
def test_figures_of_mcil_are_their_formulas(counts: list[list[tuple[int, float]]]) -> None:
    assert "A_t = mean over classes c seen of right_c / images_c" in formula("mcil", "A_T")
    assert "1/T sum over t of (sum over c of right_c) / (sum over c of images_c)" in formula("mcil", "pooled")
    assert [formula("mcil", h) for h in ("Avg", "PD A_1 - Avg", "PD A_1 - A_T")] == [
        ["1/T sum over t of A_t"],
        ["A_1 - Avg"],
        ["A_1 - A_T"],
    ]
    after = [[(n, round(share * n)) for n, share in pairs] for pairs in counts]
    A = [total([right / n for n, right in pairs]) / len(pairs) for pairs in after]
    all_images = [total([right for _, right in pairs]) / total([n for n, _ in pairs]) for pairs in after]
    T = len(A)
    columns = [tuple(zip(*pairs, strict=True)) for pairs in after]
    assert [accuracy.balanced(*c) for c in columns] == pytest.approx(A)
    assert accuracy.average([accuracy.pooled(*c) for c in columns]) == pytest.approx(total(all_images) / T)
    assert accuracy.average(A) == pytest.approx(total(A) / T)
    assert accuracy.pd_printed(A) == pytest.approx(A[0] - total(A) / T, abs=1e-12)
    assert accuracy.pd_final(A) == pytest.approx(A[0] - A[-1], abs=1e-12)


@given(st.integers(1, 5).flatmap(lambda T: st.lists(st.lists(SHARE, min_size=T, max_size=T), min_size=1, max_size=6)))
def test_figures_of_gtep_are_their_formulas(curves: list[list[float]]) -> None:
    assert "mean over orders of 1/T sum over t of Acc_t" in formula("gtep", "AvgAcc (sd)")
    assert "2 A B / (A + B), A and B the means of Acc and AvgAcc over orders" in formula("gtep", "H [95 %]")
    cell = Cell(
        "p",
        "m",
        "tuned",
        {},
        np.array(curves),
        0,
        Difference(Interval(np.nan), 0, "not asked"),
        None,
        None,
        None,
        0.0,
        len(curves),
    )
    S, T = len(curves), len(curves[0])
    A, B = total([c[-1] for c in curves]) / S, total([total(c) / T for c in curves]) / S
    assert (cell.acc.mean(), cell.avg.mean()) == pytest.approx((A, B))
    H = 2 * A * B / (A + B) if A + B else 0.0
    assert (float(of_means(cell.acc, cell.avg)), shares_of_orders(cell.acc, cell.avg).mean()) == pytest.approx((H, H))


def test_acc_of_gtep_is_pooled_over_images_not_over_tasks() -> None:
    words = "mean over orders of the share of test images right, of all classes, after the last task, pooled"
    assert words in formula("gtep", "Acc (sd)")
    rows = [
        {"trained_step": t, "task_step": i, "n": n, "correct": right}
        for t, i, n, right in [(1, 1, 50, 40), (2, 1, 50, 30), (2, 2, 10, 10)]
    ]
    assert pooled(rows, 2).tolist() == pytest.approx([0.8, 40 / 60])


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=2, max_size=2), min_size=2, max_size=6))
def test_the_relative_drop_is_its_formula(accuracies: list[list[float]]) -> None:
    assert "(Acc random - Acc found) / Acc random" in formula("cldyb", "Relative drop")
    found, random = np.array(accuracies[:1]), np.array(accuracies[1:])
    expected = (random.mean() - found.mean()) / random.mean()
    assert drop(found, random).relative.value == pytest.approx(expected, abs=1e-9)


@given(st.integers(2, 4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_s_is_its_formula_and_equation_5_but_for_a_factor(K: int, M: int, seed: int) -> None:
    (words,) = formula("edge", "S")
    assert (
        words
        == "mean over neighbouring tasks of the mean of Sim(c, c'); Eq. 5 is (N/K) S for N classes in K equal tasks"
    )
    assert formula("frozen", "S") == [words]
    rng, N = np.random.default_rng(seed), K * M
    Sim = (lambda d: (d + d.T) / 2 * (1 - np.eye(N)))(rng.uniform(-1, 1, (N, N)))
    labels = rng.permutation(np.repeat(np.arange(K), M))
    tasks = [np.flatnonzero(labels == k) for k in range(K)]
    neighbours = [[Sim[c, d] for c in tasks[i] for d in tasks[i + 1]] for i in range(K - 1)]
    S = total([total(pairs) / len(pairs) for pairs in neighbours]) / (K - 1)
    assert Problem(Sim, (M,) * K, Objective()).score(labels) == pytest.approx(S, abs=1e-12)
    equation_5 = K / ((K - 1) * N) * total([total(pairs) for pairs in neighbours])
    assert equation_5 == pytest.approx(N / K * S, abs=1e-12)


@given(st.integers(1, 500), st.floats(0, 1), st.floats(0, 0.99))
def test_shares_beyond_and_kappa_are_their_formulas(L: int, a: float, e: float) -> None:
    assert formula("edge", "beyond") == ["1 - 0.05^(1/L)"]
    assert share_beyond(L) == pytest.approx(1 - 0.05 ** (1 / L))
    assert formula("online", "kappa") == ["(a - e) / (1 - e)"]
    assert kappa(np.array([a]), np.array([e])) == pytest.approx([(a - e) / (1 - e)])


@given(st.integers(1, 20), st.integers(0, 6), st.integers(0, 30))
def test_near_future_accuracy_is_of_the_batch_that_begins_s_samples_after_the_last_one_learned(
    batch: int, batches: int, step: int
) -> None:
    assert "the same, x of the batch that begins at t + 1 + S" in formula("online", "S = ... [95 %]")
    S = batch * batches
    played = Played(Playing("glyphs:samples=400,classes=5,burst=6", batch, (0, S) if S else (0,)))
    t, n = step * batch, len(played.main)  # samples learned, so that the last one is sample t of 1 ... n
    expected = [i for i in range(t + 1 + S, t + S + batch + 1) if i <= n]
    assert (played.evaluated(0, View(0, S), step) + 1).tolist() == expected
