"""bfloat16 autocast on request: near float32, and never taken for it."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from seqsearch.backbones.open import build_backbone
from tests.studies import run_small


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    backbone = build_backbone("glyph_vit")
    return torch.randn(8, 3, backbone.view.size, backbone.view.size, generator=torch.Generator().manual_seed(0))


def test_features_are_float32_and_near_those_in_float32(images: torch.Tensor) -> None:
    with torch.inference_mode():
        exact = build_backbone("glyph_vit").module()(images)
        half = build_backbone("glyph_vit", precision="bf16").module()(images)
    assert half.dtype == torch.float32
    assert not torch.equal(half, exact)
    assert torch.nn.functional.cosine_similarity(half, exact).min() > 0.999


def test_a_copy_trains_its_own_float32_weights(images: torch.Tensor) -> None:
    module = build_backbone("glyph_vit", precision="bf16").module()
    assert [n for n, _ in module.named_parameters()] == [
        n for n, _ in build_backbone("glyph_vit").module().named_parameters()
    ]
    mine = copy.deepcopy(module).requires_grad_(True)
    optimizer = torch.optim.SGD(mine.parameters(), lr=0.1)
    mine(images).square().mean().backward()
    optimizer.step()
    changed = [not torch.equal(a, b) for a, b in zip(mine.parameters(), module.parameters(), strict=True)]
    assert sum(changed) > len(changed) / 2
    assert {p.dtype for p in mine.parameters()} == {torch.float32}


def test_a_run_in_bf16_shares_nothing_with_one_in_float32(tmp_path: Path) -> None:
    changes = {"methods": "ranpac:M=64", "tasks": 2, "random_sequences": 0, "score_seeds": 1}
    half = run_small(tmp_path / "half", precision="bf16", **changes)
    again = run_small(tmp_path / "again", precision="bf16", **changes)
    exact = run_small(tmp_path / "exact", **changes)
    assert half.found == again.found
    assert half.study.identity()["precision"] == "bf16"
    spaces = [{e["edge"]["state"] for e in f.journal.entries if "edge" in e} for f in (half, again, exact)]
    assert spaces[0] == spaces[1]
    assert not spaces[0] & spaces[2]
    assert all(tag.endswith("+bf16") for tag in half.study.weight_tags.values())
