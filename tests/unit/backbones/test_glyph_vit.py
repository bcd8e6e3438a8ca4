"""The embedded backbone: its weights, identity and what its features are worth."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from seqsearch.backbones import glyph_vit
from seqsearch.backbones.glyph_vit import WEIGHTS, GlyphViT, build, random_network
from seqsearch.backbones.parts.glyph_stem import fold_batch_norm
from seqsearch.core.errors import UserError
from seqsearch.pools.glyphs import build as build_pool
from tools import pretrain

BACKBONE = build()


def test_it_is_a_timm_transformer_without_head() -> None:
    from timm.models.vision_transformer import Block, VisionTransformer

    model = BACKBONE.module()
    assert isinstance(model, VisionTransformer)
    assert (model.num_classes, model.num_features, BACKBONE.dim) == (0, 160, 160)
    assert model.patch_embed.num_patches == 16
    assert len(model.blocks) == 4
    assert all(isinstance(block, Block) for block in model.blocks)
    assert {w.dtype for w in model.parameters()} == {torch.float32}
    assert not model.training
    assert not any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in model.modules())


def test_shapes_and_preprocessing() -> None:
    images = np.stack([np.zeros((3, 32, 32), np.uint8), np.full((3, 32, 32), 255, np.uint8)])
    pixels = BACKBONE.preprocess(images)
    assert pixels.dtype == torch.float32
    assert bool((pixels[0] == -2).all())
    assert bool((pixels[1] == 2).all())
    with torch.inference_mode():
        features = BACKBONE.module()(pixels)
    assert features.shape == (2, 160)
    assert bool(torch.isfinite(features).all())


def test_copies_are_fresh_picklable_and_equal() -> None:
    one, two = BACKBONE.module(), pickle.loads(pickle.dumps(BACKBONE.module()))
    with torch.no_grad():
        for weight in one.parameters():
            weight.zero_()
    for key, value in BACKBONE.module().state_dict().items():
        assert torch.equal(value, two.state_dict()[key]), key


def test_train_mode_changes_nothing() -> None:
    """No layer keeps statistics or drops out: tiny batches in fine-tuning cannot spoil the features."""
    images = BACKBONE.preprocess(build_pool().images(np.arange(2), BACKBONE.view))
    model = BACKBONE.module()
    with torch.no_grad():
        evaluated = model(images)
        assert torch.equal(model.train()(images), evaluated)


def test_weights_are_half_precision_and_tagged_by_content() -> None:
    assert {value.dtype for value in load_file(WEIGHTS).values()} == {torch.float16}
    assert BACKBONE.tag == f"glyph_vit.r1-{hashlib.blake2b(WEIGHTS.read_bytes()).hexdigest()[:12]}"
    other = GlyphViT(WEIGHTS.read_bytes() + b" ")
    assert other.tag != BACKBONE.tag
    assert other.digest != BACKBONE.digest


def test_digest_covers_the_preprocessing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glyph_vit, "MEAN", 0.4)
    assert build().digest != BACKBONE.digest


def test_missing_weights_are_never_replaced_by_random_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(glyph_vit, "WEIGHTS", tmp_path / "none.safetensors")
    with pytest.raises(UserError, match=r"none\.safetensors is missing.*install seqsearch again"):
        build()


def test_folding_leaves_other_layers_alone() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.Linear(2, 2))
    before = [id(m) for m in model]
    fold_batch_norm(model)
    assert [id(m) for m in model] == before


def test_features_of_unseen_classes() -> None:
    """Far above chance (.05); the documented figures come from ``tools.pretrain``."""
    for strength, bound in ((1.0, 0.95), (1.4, 0.8)):
        ncm, knn = pretrain.evaluate(BACKBONE, ways=20, draws=1, pool=build_pool(strength=strength))
        assert ncm > bound
        assert knn > bound


def test_an_untrained_network_is_much_worse() -> None:
    torch.manual_seed(0)

    class Untrained(GlyphViT):
        def module(self) -> nn.Module:
            return random_network().eval()

    ncm, _ = pretrain.evaluate(Untrained(b""), ways=20, draws=1, pool=build_pool(strength=1.0))
    assert ncm < 0.5
