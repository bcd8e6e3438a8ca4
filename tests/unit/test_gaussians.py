"""Gaussians from few images: right moments, no failing factorisation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.methods._gaussians import JITTER, Gaussians, fit_gaussians, load_gaussians, no_gaussians


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("n", [2, 5, 16, 40])  # below, at and above the 16 dimensions
def test_mean_and_covariance_are_those_of_numpy(n: int) -> None:
    x = torch.randn(2 * n, 16, generator=generator()) + 3
    bank = fit_gaussians(x, torch.arange(2).repeat_interleave(n) + 4, range(4, 6))
    for k in range(2):
        own = x[k * n : (k + 1) * n].double().numpy()
        np.testing.assert_allclose(bank.means[k].numpy(), own.mean(0), atol=1e-5)
        np.testing.assert_allclose(bank.covariance(k).numpy(), np.cov(own.T), atol=1e-5)
    assert bank.ranks.tolist() == [min(n, 16)] * 2


@pytest.mark.parametrize("n", [1, 4, 60])
def test_draws_have_the_moments_even_without_full_rank(n: int) -> None:
    x = torch.randn(n, 12, generator=generator(1)) * torch.linspace(0.1, 2, 12)
    bank = fit_gaussians(x, torch.zeros(n, dtype=torch.int64), range(1))
    draws = bank.sample(60_000, torch.tensor([0.9]), generator(2))[0].double()
    expected = bank.covariance(0) + JITTER * torch.eye(12, dtype=torch.float64)
    spread = float(expected.diagonal().max())
    torch.testing.assert_close(draws.mean(0), 0.9 * bank.means[0].double(), atol=0.02 * spread**0.5 + 1e-4, rtol=0)
    torch.testing.assert_close(draws.T.cov(), expected, atol=0.03 * spread, rtol=0) if n > 1 else None
    if n < 12:  # variance off the span of the images is the jitter alone
        _, values, directions = torch.linalg.svd(bank.covariance(0))
        off = draws @ directions[int((values > 1e-9).sum()) :].T
        torch.testing.assert_close(off.var(0), torch.full((off.shape[1],), JITTER).double(), rtol=0.05, atol=0)


def test_a_single_image_and_identical_images_draw_around_themselves() -> None:
    x = torch.cat([torch.full((1, 8), 2.0), torch.full((20, 8), -1.0)])
    bank = fit_gaussians(x, torch.tensor([0] + [1] * 20), range(2))
    draws = bank.sample(1000, torch.ones(2), generator())
    torch.testing.assert_close(draws.mean(1), torch.tensor([[2.0] * 8, [-1.0] * 8]), atol=2e-3, rtol=0)
    assert float(draws.std(1).max()) < 2 * JITTER**0.5


def test_classes_of_unequal_rank_are_not_mixed_up() -> None:
    wide, narrow = torch.randn(30, 6, generator=generator(3)) * 3, torch.randn(3, 6, generator=generator(4)) * 0.01
    labels = torch.tensor([0] * 30 + [1] * 3)
    together = fit_gaussians(torch.cat([wide, narrow + 5]), labels, range(2))
    joined = fit_gaussians(wide, labels[:30], range(1)).joined(fit_gaussians(narrow + 5, labels[30:], range(1, 2)))
    for bank in (together, joined):
        draws = bank.sample(4000, torch.ones(2), generator(5))
        assert float(draws[0].std()) == pytest.approx(3, rel=0.2)
        assert float(draws[1].std()) < 0.05
    assert torch.equal(together.roots, joined.roots)


def test_state_round_trip_and_empty_bank() -> None:
    bank: Gaussians = fit_gaussians(torch.randn(4, 5, generator=generator()), torch.tensor([0, 0, 1, 1]), range(2))
    back = load_gaussians({**bank.state("g."), "other": 1}, "g.")
    assert torch.equal(back.sample(3, torch.ones(2), generator()), bank.sample(3, torch.ones(2), generator()))
    assert len(no_gaussians(5)) == 0
    assert torch.equal(no_gaussians(5).joined(bank).means, bank.means)
    assert bank.bytes == 4 * (2 * 5 + 4 * 5)
