"""SLCA's alignment, recomputed with numpy from the paper's description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.methods.slca import SLCA, alignment_loss, mean_scale
from tests.conformance.lab import TASKS, Case, Lab, same


def by_hand(logits: np.ndarray, labels: np.ndarray, sizes: list[int], temperature: float) -> float:
    """One image at a time: block norms, their mean, divided logits, log-softmax."""
    losses = []
    for z, y in zip(logits, labels, strict=True):
        norms, start = [], 0
        for size in sizes:
            norms.append(np.sqrt(sum(v * v for v in z[start : start + size])))
            start += size
        scaled = z / (np.mean(norms) * temperature)
        losses.append(np.log(np.sum(np.exp(scaled - scaled.max()))) + scaled.max() - scaled[y])
    return float(np.mean(losses))


@pytest.mark.parametrize("sizes", [[4], [2, 3], [1, 4, 2]])
def test_loss_with_unequal_tasks(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(20, sum(sizes))) * 4, rng.integers(0, sum(sizes), 20)
    loss = alignment_loss(torch.from_numpy(logits), torch.from_numpy(labels), sizes, 0.1)
    assert float(loss) == pytest.approx(by_hand(logits, labels, sizes, 0.1), rel=1e-6)


def test_loss_does_not_see_the_scale_of_the_logits() -> None:
    z, y = torch.randn(8, 5, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 5
    a, b = alignment_loss(z, y, [2, 3], 0.1), alignment_loss(7 * z, y, [2, 3], 0.1)
    torch.testing.assert_close(a, b)
    assert float(alignment_loss(z, y, [5], 0.1)) != pytest.approx(float(a), rel=1e-3)


def test_old_means_are_scaled_down_by_task_not_by_class_number() -> None:
    scale = mean_scale([2, 1, 3])
    expected = [0.9 + 0.1 / 3] * 2 + [0.9 + 0.2 / 3] + [1.0] * 3
    np.testing.assert_allclose(scale.numpy(), expected, rtol=1e-6)
    assert mean_scale([4]).tolist() == [1.0] * 4


def test_loss_of_all_zero_logits_is_finite_and_uniform() -> None:
    loss = alignment_loss(torch.zeros(3, 4), torch.zeros(3, dtype=torch.int64), [2, 2], 0.1)
    assert float(loss) == pytest.approx(np.log(4))


@pytest.mark.long
def test_other_kinds_of_statistics_learn_are_restored_and_are_smaller(tmp_path: Path) -> None:
    lab, sizes = Lab(tmp_path), {}
    for kind in ("full", "diagonal", "centroids"):
        case = Case(kind, "slca", {"covariance": kind, "centroids": 2})
        method, restored = (
            lab.trained(case, *TASKS[:2]),
            lab.restored(case, lab.trained(case, TASKS[0]).state_dict(), TASKS[0]),
        )
        assert isinstance(method, SLCA)
        lab.fit(restored, TASKS[1])
        assert same(method.state_dict(), restored.state_dict())
        assert lab.accuracy(method, TASKS, 0) > 0.6
        sizes[kind] = method.gaussians.bytes
    assert sizes == {"full": 7 * 11 * 160 * 4, "diagonal": 7 * (2 * 160 + 1) * 4, "centroids": 14 * (2 * 160 + 1) * 4}
