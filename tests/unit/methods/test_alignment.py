"""Alignment on draws and the identity term, recomputed with plain torch and numpy."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from seqsearch.methods.parts.alignment import Alignment, align, identity_loss
from seqsearch.methods.parts.gaussians import KINDS, fit_gaussians
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("old", [0, 3])
def test_identity_loss_one_row_at_a_time(old: int) -> None:
    centres, features = torch.randn(old, 6, generator=generator()), torch.randn(4, 6, generator=generator(1))
    rows, losses = np.concatenate([centres.numpy(), features.numpy()]).astype(np.float64), []
    for i, row in enumerate(rows):
        likes = np.array([row @ other for other in rows]) / 0.8
        losses.append(np.log(np.exp(likes - likes.max()).sum()) + likes.max() - likes[i])
    assert float(identity_loss(features, centres)) == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_align_is_momentum_sgd_on_fresh_draws_with_a_cosine_rate(lab: Lab, kind: str) -> None:
    classes, dim, epochs, draws, lr, decay = 3, 8, 4, 10, 0.3, 0.01
    x = torch.randn(30, dim, generator=generator()) + torch.arange(30)[:, None] // 10
    bank = fit_gaussians(x, torch.arange(30) // 10, range(classes), kind, 2, generator(1))
    task, scale = lab.data(lab.fresh(Case("simplecil", "simplecil")), TASKS[0]), torch.tensor([0.5, 1.0, 2.0])
    start = torch.randn(classes, dim, generator=generator(2))

    ours = start.clone().requires_grad_(True)
    report = align(
        bank,
        [ours],
        lambda drawn, labels: functional.cross_entropy(drawn @ ours.T, labels),
        Alignment(epochs, draws, lr, decay),
        replace(task),  # with generators of its own
        CPU,
        scale,
        "some ",
    )

    head = nn.Linear(dim, classes, bias=False)
    head.weight.data = start.clone()
    optimizer = torch.optim.SGD(head.parameters(), lr=lr, momentum=0.9, weight_decay=decay)
    draw, shuffle, step, losses = task.generator("some draws"), task.generator("some align"), 0, []
    for _ in range(epochs):
        features = bank.sample(draws, scale, draw).reshape(classes * draws, dim)
        labels, order = torch.arange(classes * draws) // draws, torch.randperm(classes * draws, generator=shuffle)
        total = 0.0
        for at in order.split(draws):
            optimizer.param_groups[0]["lr"] = lr * (1 + math.cos(math.pi * step / (epochs * classes))) / 2
            loss = nn.CrossEntropyLoss()(head(features[at]), labels[at])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, step = total + float(loss.detach()), step + 1
        losses.append(total / classes)
    torch.testing.assert_close(ours.detach(), head.weight.detach())
    assert report.losses == pytest.approx(losses, rel=1e-5)
    assert losses[-1] < losses[0]


def test_a_rate_that_leaves_huge_but_finite_numbers_is_divergence(lab: Lab, tmp_path: Path) -> None:
    bank = fit_gaussians(torch.randn(9, 4, generator=generator()), torch.arange(9) // 3, range(3))
    task, head = lab.data(lab.fresh(Case("simplecil", "simplecil")), TASKS[0]), torch.zeros(3, 4, requires_grad=True)
    report = align(
        bank,
        [head],
        lambda drawn, labels: functional.cross_entropy(drawn @ head.T, labels),
        Alignment(2, 5, 1e30, 0.0),
        task,
        CPU,
    )
    assert bool(torch.isfinite(head).all())
    assert report.status == "diverged"
