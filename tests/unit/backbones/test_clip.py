"""CLIP from files of transformers and of open_clip: one network, an identity that all is in, and towers that others can use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from seqsearch.backbones.base import ReadsNames
from seqsearch.backbones.inject import Transformer
from seqsearch.backbones.parts.bf16 import in_bf16
from seqsearch.backbones.parts.clip_network import OPEN_CLIP, TRANSFORMERS
from tests.conformance.clip import DIM, MERGES, OF_OPEN_CLIP, SIZES, TEXT, WORDS, opened, small_clip, written

TEXTS = ["a bird", "The   BIRD of the birds", ""]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "clip")


def test_both_layouts_are_one_backbone(folder: Path, tmp_path: Path) -> None:
    ours, theirs = opened(folder), opened(written(tmp_path / "open_clip", OPEN_CLIP))
    assert (ours.tag, ours.digest) == (theirs.tag, theirs.digest)
    assert ours.tag.startswith("clip.file-")
    assert (ours.dim, ours.vit, ours.staged, ours.view.size) == (DIM, True, False, 32)
    state = small_clip().module().state_dict()
    for found in (ours, theirs):
        assert all(torch.equal(value, state[name]) for name, value in found.module().state_dict().items())


def test_every_name_of_a_layout_is_used_once() -> None:
    own = [f"{t}.blocks.7.{n}.weight" for t in ("image", "text") for n in ("norm1", "attn.qkv", "attn.proj", "mlp.fc2")]
    for layout in (TRANSFORMERS, OPEN_CLIP):
        names = [name for one in own for name in layout.names(one)]
        assert len(set(names)) == len(names) == (12 if layout is TRANSFORMERS else 8)


@torch.no_grad()
def test_injected_and_plain_features_are_projected(folder: Path) -> None:
    network, images = opened(folder).module(), torch.randn(3, 3, 32, 32)
    vit = Transformer(network)
    assert (vit.width, vit.depth) == (32, 2)
    assert torch.equal(vit(images), network(images))
    assert vit(images).shape == (3, DIM)
    prompted = vit.run(vit.tokens(images), prompts=torch.zeros(4, 32))
    assert vit.pool_prompts(prompted, 4).shape == (3, DIM)


@torch.no_grad()
def test_what_stands_behind_the_end_of_a_text_has_no_effect(folder: Path) -> None:
    backbone = opened(folder)
    tower, tokens = backbone.text_tower(), backbone.text_tokens(TEXTS)
    wide = torch.nn.functional.pad(tokens, (0, 3))
    torch.testing.assert_close(tower(wide), tower(tokens), rtol=0, atol=1e-5)
    alone = torch.cat([tower(backbone.text_tokens([text])) for text in TEXTS])
    torch.testing.assert_close(tower(tokens), alone, rtol=0, atol=1e-5)
    assert tokens[2].tolist()[:3] == [WORDS - 2, WORDS - 1, 0]


def test_long_texts_lose_their_end(folder: Path) -> None:
    tokens = opened(folder).text_tokens(["bird " * 100])[0].tolist()
    assert len(tokens) == 20
    assert (tokens[0], tokens[-1], len(set(tokens))) == (WORDS - 2, WORDS - 1, 3)


def test_the_name_of_a_special_token_in_a_text_is_text(folder: Path) -> None:
    tokens = opened(folder).text_tokens(["a <|endoftext|> b"])[0].tolist()
    assert tokens.index(WORDS - 1) == len(tokens) - 1


def test_modules_are_copies(folder: Path) -> None:
    backbone = opened(folder)
    before = backbone.text_tower().state_dict()
    with torch.no_grad():
        backbone.text_tower().pos_embed.add_(1)
        backbone.module().cls_token.add_(1)
    assert torch.equal(backbone.text_tower().pos_embed, before["pos_embed"])
    assert opened(folder).digest == backbone.digest
    assert torch.equal(backbone.module().cls_token, opened(folder).module().cls_token)


def config(**said: object) -> Callable[[Path], object]:
    return lambda folder: (folder / "config.json").write_text(json.dumps({**SIZES, **said}))


CHANGES: dict[str, Callable[[Path], object]] = {
    "another list of merges": lambda f: (f / "merges.txt").write_text(
        MERGES.replace("t h\n", "t i\n").replace("th e", "ti e")
    ),
    "another activation": config(text_config={**TEXT, "hidden_act": "gelu"}),
    "another norm": config(text_config={**TEXT, "layer_norm_eps": 1e-3}),
    "other heads": config(text_config={**TEXT, "num_attention_heads": 4}),
    "other pixels": lambda f: (f / "preprocessor_config.json").write_text('{"image_mean": [0.5, 0.5, 0.5]}'),
}


def test_what_features_depend_on_is_in_the_digest(tmp_path: Path) -> None:
    digests = {opened(written(tmp_path / "plain")).digest}
    for name, change in CHANGES.items():
        change(written(tmp_path / name))
        digests.add(opened(tmp_path / name).digest)
    assert len(digests) == 1 + len(CHANGES)


def test_open_clip_may_say_its_sizes_without_an_envelope(tmp_path: Path) -> None:
    folder = written(tmp_path / "clip", OPEN_CLIP)
    before = opened(folder).digest
    (folder / "open_clip_config.json").write_text(json.dumps(OF_OPEN_CLIP["model_cfg"]))
    assert opened(folder).digest == before


@torch.no_grad()
def test_in_bf16_the_text_tower_stays_as_it_is(folder: Path) -> None:
    exact, half = opened(folder), in_bf16(opened(folder))
    assert isinstance(half, ReadsNames)
    assert half.logit_scale == exact.logit_scale == pytest.approx(7.389, abs=1e-3)
    tokens = half.text_tokens(TEXTS)
    assert torch.equal(half.text_tower()(tokens), exact.text_tower()(tokens))
    images = torch.randn(2, 3, 32, 32)
    assert 0 < float((half.module()(images) - exact.module()(images)).abs().max()) < 0.1
