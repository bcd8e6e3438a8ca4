"""Ridge numerics of RanPAC against scikit-learn and against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from seqsearch.methods.parts.ridge import FLOOR, GRID, Dual, Primal, penalties
from tests.conformance.lab import TASKS, Case, Lab


def problem(n: int, n_val: int, width: int, classes: int = 3, seed: int = 0) -> Dual:
    """Random non-negative features that carry the label, as relu projections are."""
    g = torch.Generator().manual_seed(seed)
    labels = torch.arange(n + n_val) % classes
    centres = torch.randn(classes, width, generator=g)
    h = torch.relu(centres[labels] + torch.randn(n + n_val, width, generator=g)).double()
    return Dual(h, torch.nn.functional.one_hot(labels, classes).double(), n)


SHAPES = [(40, 10, 90), (90, 20, 40), (40, 10, 40)]


@pytest.mark.parametrize(("n", "n_val", "width"), SHAPES)
def test_dual_equals_primal_equals_sklearn(n: int, n_val: int, width: int) -> None:
    data = problem(n, n_val, width)
    dual, primal = data.fit(), Primal.of(data).fit()
    assert dual.penalty == pytest.approx(primal.penalty, rel=1e-12)
    reference = Ridge(alpha=dual.penalty, fit_intercept=False).fit(data.h.numpy(), data.y.numpy()).coef_.T
    np.testing.assert_allclose(dual.weights.numpy(), reference, atol=1e-8)
    np.testing.assert_allclose(primal.weights.numpy(), reference, atol=1e-8)


@pytest.mark.parametrize(("n", "n_val", "width"), SHAPES)
def test_one_eigendecomposition_chooses_as_separate_solves_do(n: int, n_val: int, width: int) -> None:
    """The penalty is the one whose own sklearn fit on the training rows has the least squared error on the others."""
    data = problem(n, n_val, width, seed=1)
    h, y = data.h.numpy(), data.y.numpy()
    candidates = penalties(float((data.h[:n] ** 2).sum()) / width)

    def error(penalty: float) -> float:
        model = Ridge(alpha=penalty, fit_intercept=False).fit(h[:n], y[:n])
        return float(((model.predict(h[n:]) - y[n:]) ** 2).sum())

    errors = [error(p) for p in candidates]
    best = candidates[int(np.argmin(errors))]
    assert candidates[0] < best < candidates[-1], "the problem is too easy to tell anything"
    assert data.fit().penalty == pytest.approx(best)
    assert Primal.of(data).fit().penalty == pytest.approx(best)


def test_penalty_comes_from_all_validation_images_not_from_the_last_task() -> None:
    """Two tasks that want different penalties: merged sums choose what the pooled problem chooses."""
    easy, hard = problem(60, 30, 40, seed=2), problem(60, 30, 40, seed=3)
    hard = Dual(hard.h + 3 * torch.randn(hard.h.shape, generator=torch.Generator().manual_seed(4)).abs(), hard.y, 60)
    pooled = Dual(
        torch.cat([easy.h[:60], hard.h[:60], easy.h[60:], hard.h[60:]]),
        torch.cat([easy.y[:60], hard.y[:60], easy.y[60:], hard.y[60:]]),
        120,
    )
    merged, alone = Primal.of(easy).plus(Primal.of(hard)).fit(), Primal.of(hard).fit()
    assert merged.penalty == pytest.approx(pooled.fit().penalty)
    assert merged.penalty != pytest.approx(alone.penalty)


def test_sums_grow_by_classes() -> None:
    """Adding a task with new columns equals the sums over all images with all columns."""
    whole = problem(60, 30, 20, classes=6)
    old = whole.y.argmax(1) < 3
    train = torch.arange(90) < 60

    def part(mask: torch.Tensor, columns: int) -> Dual:
        rows = torch.cat([torch.nonzero(mask & train)[:, 0], torch.nonzero(mask & ~train)[:, 0]])
        return Dual(whole.h[rows], whole.y[rows][:, :columns], int((mask & train).sum()))

    grown, direct = Primal.of(part(old, 3)).plus(Primal.of(part(~old, 6))), Primal.of(whole)
    for name in ("gram", "cross", "val_gram", "val_cross"):
        torch.testing.assert_close(getattr(grown, name), getattr(direct, name))


def test_grid_is_floored() -> None:
    assert penalties(1e-9) == sorted(GRID)
    raised = penalties(1e6)
    assert raised[0] == pytest.approx(1e6 * FLOOR)
    assert raised == sorted(set(raised))
    assert raised[-1] == 1e8


def test_condition_number_is_that_of_the_inverted_matrix() -> None:
    data = problem(90, 20, 30)
    fit = Primal.of(data).fit()
    gram = data.h[:90].T @ data.h[:90]
    assert fit.condition == pytest.approx(np.linalg.cond(gram.numpy() + fit.penalty * np.eye(30)))


def test_duplicated_images_are_no_trouble() -> None:
    """Rank one: only the floor keeps the system regular."""
    h = torch.ones(20, 50, dtype=torch.float64)
    data = Dual(h, torch.nn.functional.one_hot(torch.arange(20) % 2, 2).double(), 16)
    for fit in (data.fit(), Primal.of(data).fit()):
        assert bool(torch.isfinite(fit.weights).all())
        torch.testing.assert_close(h[:1] @ fit.weights, torch.full((1, 2), 0.5, dtype=torch.float64), atol=0.01, rtol=0)


@pytest.mark.parametrize(("n", "n_val", "width"), SHAPES)
@pytest.mark.parametrize("penalty", [1e-3, 30.0])
def test_a_given_penalty_is_taken_as_it_is(n: int, n_val: int, width: int, penalty: float) -> None:
    """Against scikit-learn, on all samples; 1e-3 is below the floor on a chosen one."""
    data = problem(n, n_val, width)
    assert penalties(float((data.h[:n] ** 2).sum()) / width)[0] > 1e-3
    reference = Ridge(alpha=penalty, fit_intercept=False).fit(data.h.numpy(), data.y.numpy()).coef_.T
    for fit in (data.fit(penalty), Primal.of(data).fit(penalty)):
        assert fit.penalty == penalty
        np.testing.assert_allclose(fit.weights.numpy(), reference, atol=1e-7)


def test_a_given_penalty_too_small_to_solve_with_gives_no_numbers() -> None:
    h = torch.ones(20, 50, dtype=torch.float64)
    data = Dual(h, torch.nn.functional.one_hot(torch.arange(20) % 2, 2).double(), 16)
    assert bool(data.fit(1e-20).weights.isnan().all())
    assert bool(Primal.of(data).fit(1e-20).weights.isnan().all())


def test_scores_are_those_of_ridge_on_expanded_features(tmp_path: Path) -> None:
    """The whole method with ridge=3 against scikit-learn on training and validation images of both tasks."""
    lab = Lab(tmp_path)
    for width in (300, 40):  # samples kept, sums kept
        method = lab.fresh(Case("ranpac", "ranpac"), M=width, ridge=3.0)
        lab.fit(method, *TASKS[:2])
        classes = sum(TASKS[:2], ())
        batches = [(i, lab.batch((c,), part)) for i, c in enumerate(classes) for part in ("train", "val")]
        weights = torch.randn(160, width, generator=method.context.generator("projection")).numpy()
        h = np.concatenate([np.maximum(b.frozen.numpy() @ weights, 0) for _, b in batches]).astype(np.float64)
        y = np.eye(len(classes))[np.concatenate([[i] * len(b) for i, b in batches])]
        model = Ridge(alpha=3.0, fit_intercept=False).fit(h, y)
        test = lab.batch(classes)
        expected = model.predict(np.maximum(test.frozen.numpy() @ weights, 0))
        np.testing.assert_allclose(method.predict(test).numpy(), expected, atol=1e-3)
