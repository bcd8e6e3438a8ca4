"""EASE's mixtures and scores, one number at a time from the paper's equations."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.methods.data import Batch
from seqsearch.methods.ease import completed, reweighted
from tests.conformance.lab import TASKS, Case, Lab

SIZES = (3, 1, 4, 2)
DIM = 6


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / math.sqrt(a @ a) / math.sqrt(b @ b))


def some_means(sizes: tuple[int, ...] = SIZES) -> list[torch.Tensor]:
    """Prototypes of classes of each task in its own space and the earlier ones."""
    g = torch.Generator().manual_seed(0)
    return [3 * torch.randn(size, i + 1, DIM, generator=g, dtype=torch.float64) for i, size in enumerate(sizes)]


def by_hand(means: list[np.ndarray], later: bool) -> np.ndarray:
    rows = []
    for i, own in enumerate(means):
        for c in own:
            row = list(c)
            for j in range(i + 1, len(means)):
                donors = [k for task in (means[j:] if later else [means[j]]) for k in task]
                weights = [math.exp(cosine(c[i], k[i])) for k in donors]
                row.append(sum(w * k[j] for w, k in zip(weights, donors, strict=True)) / sum(weights))
            rows.append(np.stack(row))
    return np.stack(rows)


@pytest.mark.parametrize("later", [True, False])
def test_mixtures_of_unequal_tasks(later: bool) -> None:
    means = some_means()
    expected = by_hand([m.numpy() for m in means], later)
    np.testing.assert_allclose(completed(means, later).numpy(), expected, atol=1e-12)


def test_mixtures_change_with_later_tasks_only_if_they_are_recalculated() -> None:
    means = some_means()
    old = sum(SIZES[:3])
    for later in (True, False):
        before, after = completed(means[:3], later), completed(means, later)[:old, :3]
        assert torch.equal(before, after) != later


@pytest.mark.parametrize("sizes", [(3,), (2, 2), SIZES])
def test_scores_weigh_the_own_space_by_one_and_the_mean_of_the_others_by_alpha(sizes: tuple[int, ...]) -> None:
    tasks, classes, alpha = len(sizes), sum(sizes), 0.3
    cosines = torch.randn(5, classes, tasks, generator=torch.Generator().manual_seed(1))
    expected = np.zeros((5, classes))
    for n in range(5):
        for c in range(classes):
            own = int(np.searchsorted(np.cumsum(sizes), c, side="right"))
            others = [float(cosines[n, c, j]) for j in range(tasks) if j != own]
            expected[n, c] = float(cosines[n, c, own]) + (alpha * sum(others) / len(others) if others else 0.0)
    np.testing.assert_allclose(reweighted(cosines, sizes, alpha).numpy(), expected, atol=1e-6)


@pytest.mark.long
def test_the_whole_method_scores_so(tmp_path: Path) -> None:
    """Prototypes from features by each set of adapters, of images that the method had; scores by hand."""
    lab = Lab(tmp_path)
    method = lab.fresh(Case("ease", "ease"), lr=0.5, epochs=10, alpha=0.5)
    lab.fit(method, *TASKS)
    classes, sizes = sum(TASKS, ()), [len(t) for t in TASKS]
    task_of = [i for i, size in enumerate(sizes) for _ in range(size)]

    def by_space(batch: Batch) -> np.ndarray:
        return method.features(batch).reshape(-1, len(TASKS), 160).double().numpy()

    own = [by_space(lab.batch((c,), "train", "val")).mean(0) for c in classes]
    means = [np.stack([own[c][: i + 1] for c in range(len(classes)) if task_of[c] == i]) for i in range(len(TASKS))]
    spaces = by_space(lab.batch(classes, "train"))
    assert np.abs(spaces[:, 0] - spaces[:, 1]).max() > 0.1, "all tasks' adapters are the same"
    image, prototypes = by_space(lab.batch((7,)))[0], by_hand(means, later=True)
    expected = [
        cosine(image[i], p[i]) + 0.25 * sum(cosine(image[j], p[j]) for j in range(3) if j != i)
        for i, p in zip(task_of, prototypes, strict=True)
    ]
    np.testing.assert_allclose(method.predict(lab.batch((7,)))[0].numpy(), expected, atol=1e-4)
