"""What heads of several methods share: weight alignment and distillation, recomputed with numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.methods.base import FitReport
from seqsearch.methods.parts.head import Head, checked_finite, distillation, weight_aligned


def head(classes: int = 7, dim: int = 5) -> Head:
    g = torch.Generator().manual_seed(0)
    growing = torch.linspace(1, 4, classes)[:, None]
    return Head(torch.randn(classes, dim, generator=g) * growing, torch.randn(classes, generator=g))


@pytest.mark.parametrize("old", [1, 3, 6])
def test_alignment_makes_the_mean_norms_equal_and_turns_nothing(old: int) -> None:
    before, after = head(), weight_aligned(head(), old)
    norms = np.sqrt((after.weight.numpy().astype(float) ** 2).sum(1))
    assert norms[old:].mean() / norms[:old].mean() == pytest.approx(1.0, rel=1e-5)
    assert torch.equal(after.weight[:old], before.weight[:old])
    assert torch.equal(after.bias, before.bias)
    ratio = (after.weight / before.weight)[old:]
    assert float(ratio.max() - ratio.min()) < 1e-5
    assert abs(float(ratio.mean()) - 1) > 0.05


def test_alignment_on_the_first_task_does_nothing() -> None:
    aligned = weight_aligned(head().trainable(), 0)
    assert torch.equal(aligned.weight, head().weight)
    assert not aligned.weight.requires_grad


@pytest.mark.parametrize("long", [1e25, torch.inf])
@pytest.mark.parametrize("row", [0, -1])
def test_rows_too_long_to_be_measured_are_not_scaled_to_nothing(row: int, long: float) -> None:
    """In 32 bits squares overflow from 1.8e19 on; a row without gradients must not become one of zeros then."""
    known = head().detached()
    known.weight[row] = long
    assert checked_finite(weight_aligned(known, 2).parameters(), FitReport("ok", (1.0,))).status == "diverged"
    assert checked_finite(head().parameters(), FitReport("ok", (1.0,))) == FitReport("ok", (1.0,))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_distillation_is_the_cross_entropy_between_softened_distributions(temperature: float) -> None:
    rng = np.random.default_rng(0)
    scores, teacher = rng.normal(size=(6, 4)) * 3, rng.normal(size=(6, 4)) * 3

    def softened(z: np.ndarray) -> np.ndarray:
        return np.exp(z / temperature) / np.exp(z / temperature).sum(1, keepdims=True)

    expected = -(softened(teacher) * np.log(softened(scores))).sum(1).mean()
    found = distillation(torch.from_numpy(scores), torch.from_numpy(teacher), temperature)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_distillation_does_not_move_a_student_that_agrees() -> None:
    teacher = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    student = (teacher + 3.0).requires_grad_(True)  # the same distribution
    distillation(student, teacher, 2.0).backward()
    torch.testing.assert_close(student.grad, torch.zeros(6, 4))
