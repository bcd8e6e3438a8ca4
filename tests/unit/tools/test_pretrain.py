"""The pre-training of the embedded backbone: what it learns from, and the form in which it is shipped."""

from __future__ import annotations

import torch

from seqsearch.backbones.glyph_vit import random_network
from seqsearch.pools.glyphs import build as build_pool
from tools import pretrain


def test_folding_keeps_the_function() -> None:
    torch.manual_seed(0)
    model, head = random_network(batch_norm=True), pretrain.Head(160, 7)
    images = torch.randn(16, 3, 32, 32)
    with torch.no_grad():
        for _ in range(3):  # running statistics that are not the initial ones
            head(model(images))
        expected = head.eval().standard(model.eval()(images))
        folded = pretrain.shipped(model, head)
        torch.testing.assert_close(folded(images), expected, atol=2e-4, rtol=1e-3)
    assert folded.state_dict().keys() == random_network().state_dict().keys()


def test_pretraining_sees_only_pretraining_classes_and_is_repeatable() -> None:
    first, second = (list(pretrain.batches(3, seed=0)) for _ in range(2))
    for (images, targets), (again, same) in zip(first, second, strict=True):
        assert torch.equal(images, again)
        assert torch.equal(targets, same)
    assert not torch.equal(first[0][0], first[1][0])
    pool = build_pool(part="pretrain")
    assert max(int(targets.max()) for _, targets in first) < len(pool.classes)
    assert not set(pool.codes.tolist()) & set(build_pool().codes.tolist())
