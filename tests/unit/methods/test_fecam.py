"""FeCAM's distances against dense matrices and against Avalanche, classes without variance, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from seqsearch.core.errors import UserError
from seqsearch.methods.config import build_config
from seqsearch.methods.fecam import Distance, FeCAM
from seqsearch.methods.parts.gaussians import fit_gaussians
from tests.conformance.lab import TASKS, TWO_BLOCKS, Lab, method_of


def distances(x: torch.Tensor, asked: torch.Tensor, alpha1: float, alpha2: float) -> np.ndarray:
    """As the equations are written: dense matrices of ``x`` ``[n, d]``, inverted."""
    covariance = np.cov(x.numpy().T)
    d = len(covariance)
    variances, off = np.diag(covariance), ~np.eye(d, dtype=bool)
    shrunk = covariance + alpha1 * variances.mean() * np.eye(d) + alpha2 * covariance[off].mean() * off
    spread = np.sqrt(np.diag(shrunk))
    precision = np.linalg.inv(shrunk / np.outer(spread, spread))
    centred = asked.numpy() - x.numpy().mean(0)
    found: np.ndarray = np.einsum("nd,de,ne->n", centred, precision, centred)
    return found


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize(("alpha1", "alpha2"), [(1.0, 0.0), (10.0, 10.0), (0.1, 0.05)])
def test_distances_are_those_of_dense_matrices(n: int, alpha1: float, alpha2: float) -> None:
    g = torch.Generator().manual_seed(n)
    mixing = torch.randn(7, 7, generator=g, dtype=torch.float64)
    x, asked = (torch.randn(m, 7, generator=g, dtype=torch.float64) @ mixing for m in (n, 9))
    config = build_config(FeCAM, {"alpha1": alpha1, "alpha2": alpha2})
    centred = x - x.mean(0)
    found = Distance.of(x.mean(0), centred / (n - 1) ** 0.5, config)(asked)
    np.testing.assert_allclose(found.numpy(), distances(x, asked, alpha1, alpha2), rtol=1e-9)


def test_scores_are_minus_the_distances_of_normalised_features(tmp_path_factory: pytest.TempPathFactory) -> None:
    lab = Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)
    method = method_of(lab, "fecam", *TASKS[:2], alpha1=1.0)
    data, asked = lab.data(method, TASKS[0]), lab.batch(TASKS[2])
    features, labels = functional.normalize(data.train.frozen.double()), data.train.targets - data.columns.start
    scores = method.predict(asked)
    assert scores.shape == (len(asked), 7)
    for k in range(4):
        wanted = distances(features[labels == k], functional.normalize(asked.frozen.double()), 1.0, 0.0)
        np.testing.assert_allclose(-scores[:, k].numpy(), wanted, rtol=1e-3)


def test_a_class_without_variance_has_the_plain_distance() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)
    bank = fit_gaussians(torch.cat([x, x]), torch.tensor([0, 0]), range(1))
    for root in (torch.zeros(1, 3, dtype=torch.float64), bank.state("")["roots"].double()):
        distance = Distance.of(x[0], root, build_config(FeCAM, {}))
        assert distance(x + torch.tensor([[1.0, 0.0, 2.0]])).tolist() == [5.0]


def test_too_much_shrinkage_of_covariances_is_refused() -> None:
    with pytest.raises(UserError, match="must be at most alpha1"):
        build_config(FeCAM, {"alpha2": 2.0})
