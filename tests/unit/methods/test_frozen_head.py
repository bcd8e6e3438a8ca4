"""The head on frozen features against a plain loop of torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.conformance.lab import PAIRS, TASKS, Case, Lab

CONFIG = {"epochs": 3, "batch_size": 8, "lr": 0.02, "scheduler": "constant"}


@pytest.mark.parametrize("backbone", [PAIRS, "glyph_vit"], ids=["pairs", "images"])
@pytest.mark.parametrize("mask", ["own", "seen"])
def test_it_is_a_plain_loop(tmp_path: Path, backbone: str, mask: str) -> None:
    lab = Lab(tmp_path, backbone)
    method: Any = lab.fresh(Case("frozen_head", "frozen_head", backbone=backbone), **CONFIG, mask=mask)
    lab.fit(method, TASKS[0])
    before = method.head
    task = lab.data(method, TASKS[1])
    x, y, first = task.train.frozen, task.train.targets, 4
    linear = torch.nn.Linear(lab.backbone.dim, 7 if mask == "seen" else 3)
    with torch.no_grad():
        new = 0.01 * torch.randn(3, lab.backbone.dim, generator=task.generator("head"))
        linear.weight.copy_(torch.cat([before.weight, new]) if mask == "seen" else new)
        linear.bias.copy_(torch.cat([before.bias, torch.zeros(3)]) if mask == "seen" else torch.zeros(3))
    optimizer, draw = torch.optim.AdamW(linear.parameters(), lr=0.02, weight_decay=0.01), task.generator("shuffle")
    for _ in range(3):
        for at in torch.randperm(len(x), generator=draw).split(8):
            optimizer.zero_grad()
            functional.cross_entropy(linear(x[at]), y[at] - (0 if mask == "seen" else first)).backward()
            optimizer.step()
    lab.fit(method, TASKS[1])
    assert torch.equal(method.head.weight[-len(linear.weight) :], linear.weight)
    assert torch.equal(method.head.bias[-len(linear.bias) :], linear.bias)
    assert torch.equal(method.head.weight[:4], before.weight) == (mask == "own")
    assert method.memory_footprint().params == 4 * 7 * (lab.backbone.dim + 1)
    torch.testing.assert_close(method.predict(task.train), method.head(x))
