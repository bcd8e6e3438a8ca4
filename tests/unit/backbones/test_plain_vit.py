"""The second embedded backbone: no convolutions, what is injected reaches all of it, and its features are worth as much."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from seqsearch.backbones import plain_vit
from seqsearch.backbones.inject import injectable
from seqsearch.backbones.plain_vit import WEIGHTS, PlainViT, build
from seqsearch.core.errors import UserError
from seqsearch.methods.config import build_config
from seqsearch.methods.l2p import L2P
from seqsearch.pools.glyphs import build as build_pool
from tools import pretrain

BACKBONE = build()


def test_it_is_vit_base_made_small() -> None:
    model = BACKBONE.module()
    assert injectable(model)
    assert [type(m) for m in model.modules() if isinstance(m, nn.Conv2d)] == [nn.Conv2d], "the patches' linear layer"
    images = BACKBONE.preprocess(build_pool().images(np.arange(3), BACKBONE.view))
    with torch.inference_mode():
        assert model(images).shape == (3, BACKBONE.dim)
        assert torch.equal(model(images), model.forward_features(images)[:, 0]), "what the class token says"


def test_weights_are_half_precision_and_small() -> None:
    assert {value.dtype for value in load_file(WEIGHTS).values()} == {torch.float16}
    assert WEIGHTS.stat().st_size <= 4e6
    other = PlainViT(WEIGHTS.read_bytes() + b" ")
    assert (other.tag, other.digest) != (BACKBONE.tag, BACKBONE.digest)


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plain_vit, "WEIGHTS", tmp_path / "none.safetensors")
    with pytest.raises(UserError, match=r"none\.safetensors is missing.*install seqsearch again"):
        build()


def test_features_of_unseen_classes_and_of_images_far_from_pretraining() -> None:
    near, far = build_pool(strength=1.0, classes=200), build_pool(strength=1.0, classes=200, style="chequered")
    assert pretrain.evaluate(BACKBONE, ways=20, draws=1, pool=near)[0] > 0.9
    assert pretrain.evaluate(BACKBONE, ways=20, draws=1, pool=far)[0] < 0.6


def test_methods_have_the_values_of_embedded_backbones() -> None:
    embedded, first, other = (
        build_config(L2P, {}, name) for name in ("plain_vit", "glyph_vit", "vit_base_patch16_224")
    )
    assert embedded == first != other
