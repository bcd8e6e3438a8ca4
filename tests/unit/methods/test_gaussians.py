"""Gaussians from few images: right moments, no failing factorisation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.methods.parts.gaussians import (
    JITTER,
    KINDS,
    Gaussians,
    Mixtures,
    fit_gaussians,
    load_gaussians,
    no_gaussians,
)
from seqsearch.methods.parts.kmeans import kmeans

every_kind = pytest.mark.parametrize("kind", KINDS)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("n", [2, 5, 16, 40])  # below, at and above the 16 dimensions
def test_mean_and_covariance_are_those_of_numpy(n: int) -> None:
    x = torch.randn(2 * n, 16, generator=generator()) + 3
    bank = fit_gaussians(x, torch.arange(2).repeat_interleave(n) + 4, range(4, 6))
    assert isinstance(bank, Gaussians)
    for k in range(2):
        own = x[k * n : (k + 1) * n].double().numpy()
        np.testing.assert_allclose(bank.means[k].numpy(), own.mean(0), atol=1e-5)
        np.testing.assert_allclose(bank.covariance(k).numpy(), np.cov(own.T), atol=1e-5)
    assert bank.ranks.tolist() == [min(n, 16)] * 2


@pytest.mark.parametrize("n", [1, 4, 60])
def test_draws_have_the_moments_even_without_full_rank(n: int) -> None:
    x = torch.randn(n, 12, generator=generator(1)) * torch.linspace(0.1, 2, 12)
    bank = fit_gaussians(x, torch.zeros(n, dtype=torch.int64), range(1))
    assert isinstance(bank, Gaussians)
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
        assert len(bank) == 2


@every_kind
def test_state_round_trip_and_empty_bank(kind: str) -> None:
    x, labels = torch.randn(8, 5, generator=generator()), torch.arange(2).repeat_interleave(4)
    bank = fit_gaussians(x, labels, range(2), kind, 3, generator())
    back = load_gaussians({**bank.state("g."), "other": 1}, "g.")
    assert torch.equal(back.sample(3, torch.ones(2), generator()), bank.sample(3, torch.ones(2), generator()))
    assert len(no_gaussians(5, kind)) == 0
    assert torch.equal(no_gaussians(5, kind).joined(bank).centres, bank.centres)
    assert bank.bytes == 4 * {"full": 2 * 5 + 8 * 5, "diagonal": 2 * 2 * 5 + 2, "centroids": 6 * 2 * 5 + 6}[kind]


@every_kind
@pytest.mark.parametrize("n", [1, 3, 40])
def test_every_kind_draws_the_mean_and_the_variance_of_each_dimension(kind: str, n: int) -> None:
    """Also of 3 images in 12 dimensions; centroids have the variance that divides by n, the others by n - 1."""
    x = torch.randn(n, 12, generator=generator(1)) * torch.linspace(0.1, 2, 12) + torch.arange(12)
    bank = fit_gaussians(x, torch.zeros(n, dtype=torch.int64), range(1), kind, 10, generator(2))
    draws = bank.sample(60_000, torch.ones(1), generator(3))[0].double().numpy()
    ddof = 0 if kind == "centroids" or n == 1 else 1
    expected = x.double().numpy().var(0, ddof=ddof) + JITTER
    np.testing.assert_allclose(draws.mean(0), x.double().numpy().mean(0), atol=0.02 * expected.max() ** 0.5)
    np.testing.assert_allclose(draws.var(0), expected, rtol=0.04)


def test_centroids_are_the_clusters_with_their_own_variance_and_share_of_the_draws() -> None:
    sizes, where = [10, 30, 60], [-20.0, 0.0, 20.0]
    x = torch.cat([torch.randn(n, 4, generator=generator(n)) + at for n, at in zip(sizes, where, strict=True)])
    bank = fit_gaussians(x, torch.zeros(100, dtype=torch.int64), range(1), "centroids", 3, generator())
    assert isinstance(bank, Mixtures)
    order = bank.means[:, 0].argsort()
    np.testing.assert_allclose(bank.weights[order], [0.1, 0.3, 0.6], rtol=1e-6)
    for k, part in zip(order.tolist(), torch.split(x.double(), sizes), strict=True):
        np.testing.assert_allclose(bank.means[k], part.numpy().mean(0), atol=1e-5)
        np.testing.assert_allclose(bank.variances[k], part.numpy().var(0), rtol=1e-5)
    draws = bank.sample(10_000, torch.ones(1), generator(1))[0, :, 0]
    shares = [float(((draws - at).abs() < 10).float().mean()) for at in where]
    np.testing.assert_allclose(shares, [0.1, 0.3, 0.6], atol=0.02)


def test_scale_moves_means_and_leaves_variances() -> None:
    x = torch.randn(40, 3, generator=generator()) + 10
    for kind in KINDS:
        bank = fit_gaussians(x, torch.zeros(40, dtype=torch.int64), range(1), kind, 4, generator())
        plain, half = (bank.sample(20_000, torch.tensor([s]), generator(1))[0] for s in (1.0, 0.5))
        torch.testing.assert_close(half.mean(0), 0.5 * plain.mean(0), atol=0.05, rtol=0)
        if kind != "centroids":  # whose centres come closer to each other
            torch.testing.assert_close(half.var(0), plain.var(0), rtol=1e-3, atol=1e-4)


def test_more_centroids_than_different_images() -> None:
    twins = torch.tensor([[1.0, 2.0], [1.0, 2.0], [5.0, 6.0]])
    bank = fit_gaussians(twins, torch.zeros(3, dtype=torch.int64), range(1), "centroids", 10, generator())
    assert isinstance(bank, Mixtures)
    assert sorted(map(tuple, bank.means.tolist())) == [(1.0, 2.0), (5.0, 6.0)]
    assert bank.sizes.tolist() == [2]
    assert float(bank.variances.abs().max()) == 0
    draws = bank.sample(2000, torch.ones(1), generator(1))[0]
    distance = torch.cdist(draws, bank.means).min(1).values
    assert float(distance.max()) < 6 * JITTER**0.5
    assert float((draws[:, 0] < 3).float().mean()) == pytest.approx(2 / 3, abs=0.04)


def test_a_class_with_more_components_does_not_leak_into_its_neighbour() -> None:
    x = torch.cat([torch.zeros(1, 2), torch.randn(30, 2, generator=generator()) + 100])
    bank = fit_gaussians(x, torch.tensor([0] + [1] * 30), range(2), "centroids", 5, generator())
    draws = bank.sample(500, torch.ones(2), generator(1))
    assert float(draws[0].abs().max()) < 0.1
    assert float(draws[1].min()) > 90


def inertia(x: torch.Tensor, labels: torch.Tensor) -> float:
    return sum(float(((own - own.mean(0)) ** 2).sum()) for k in labels.unique() for own in [x[labels == k]])


@pytest.mark.parametrize("clusters", [1, 2, 5, 10])
def test_kmeans_settles_like_that_of_scikit_learn(clusters: int) -> None:
    from sklearn.cluster import KMeans

    x = torch.randn(60, 6, generator=generator(1)).double() + 6 * torch.arange(60)[:, None] // 20
    ours = min(inertia(x, kmeans(x, clusters, generator(s))) for s in range(10))
    theirs = KMeans(clusters, n_init=10, random_state=0).fit(x.numpy()).inertia_
    assert ours == pytest.approx(theirs, rel=0.05)
    labels = kmeans(x, clusters, generator())
    centres = torch.stack([x[labels == k].mean(0) for k in range(int(labels.max()) + 1)])
    assert torch.equal(torch.cdist(x, centres).argmin(1), labels), "a row is nearer to another cluster"


def test_kmeans_is_the_same_in_every_bit_with_any_number_of_threads() -> None:
    x, threads = torch.randn(500, 64, generator=generator()).double(), torch.get_num_threads()
    try:
        found = []
        for n in (1, 4):
            torch.set_num_threads(n)
            found.append(fit_gaussians(x, torch.zeros(500, dtype=torch.int64), range(1), "centroids", 10, generator(7)))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for a, b in zip(vars(found[0]).values(), vars(found[1]).values(), strict=True))
