"""The pre-training of the embedded backbone of pairs: it runs, its file fits, and what ships is worth something."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load

from seqsearch.backbones.glyph_flava import WEIGHTS, GlyphFlava, build, random_network
from seqsearch.backbones.plain_vit import build as build_plain_vit
from seqsearch.pools.glyphs import build as build_pool
from tools import pretrain_flava
from tools.glyph_pairs import batches, texts_alone
from tools.pretrain import CURRICULUM, evaluate, rows_to_learn, save

LARGEST = 4_000_000
"""Bytes of the shipped file."""


def two_steps(out: Path) -> bytes:
    torch.set_num_threads(1)
    save(pretrain_flava.pretrain(steps=2, seed=3, settling=1), out)
    return out.read_bytes()


def test_two_steps_train_and_their_file_fits(tmp_path: Path) -> None:
    data = two_steps(tmp_path / "weights.safetensors")
    assert len(data) < LARGEST
    weights, shape = load(data), random_network().state_dict()
    assert {k: v.shape for k, v in weights.items()} == {k: v.shape for k, v in shape.items()}
    assert all(bool(torch.isfinite(w).all()) for w in weights.values())
    pool = build_pool(captions="concat", part="pretrain")
    found = pretrain_flava.features_of(GlyphFlava(data), pool, np.arange(0, 400, 40))
    assert found.shape == (10, GlyphFlava.dim)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-5)


@pytest.mark.long
def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    assert two_steps(tmp_path / "first.safetensors") == two_steps(tmp_path / "second.safetensors")


def test_it_begins_with_what_plain_vit_computes() -> None:
    network, plain = random_network(), build_plain_vit().module()
    pretrain_flava.begin_with_plain_vit(network)
    images = torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    seen: dict[str, torch.Tensor] = {}
    network.image_projection.register_forward_hook(lambda _, given, __: seen.update(image=given[0]))
    with torch.no_grad():
        network({"images": images, **GlyphFlava(b"").tokenise(["", "", ""])})
        tokens: Any = plain
        expected = tokens._pos_embed(tokens.patch_embed(images))
        for block in tokens.blocks[: len(network.image_layers)]:
            expected = block(expected)
    torch.testing.assert_close(seen["image"], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.long
def test_texts_are_read_before_images_are_looked_at() -> None:
    """A few steps make the loss fall below that of knowing nothing but how often each word comes."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    every = pretrain_flava.Pretrained(528)
    known = next(texts_alone(1, seed=7))
    assert not known.inputs["images"].any()
    before = every.worded(every.network(known.inputs), known.words).item()
    pretrain_flava.read_first(every, 12, seed=0)
    assert every.worded(every.network(known.inputs), known.words).item() < 0.8 * before


def test_batches_hold_pairs_strangers_and_blanks() -> None:
    found = list(batches(4, seed=1))
    paired = torch.cat([batch.paired for batch in found])
    assert {-1, 0, 1} == set(paired.tolist())
    assert 0.3 < (paired == 1).float().mean() < 0.7
    for batch in found:
        blank = (batch.inputs["images"] == 0).flatten(1).all(1)
        silent = batch.inputs["attention_mask"].sum(1) == 2
        assert not (blank & silent).any()
        assert torch.equal(batch.paired == -1, blank | silent)
        assert ((batch.words[silent] != 0).sum(1) > 10).all(), "the words that are not shown are asked for"
    again = list(batches(4, seed=1))
    assert all(torch.equal(a.inputs["images"], b.inputs["images"]) for a, b in zip(found, again, strict=True))
    assert all(torch.equal(a.words, b.words) for a, b in zip(found, again, strict=True))


def test_only_classes_that_no_pool_offers_are_learned() -> None:
    offered = set(build_pool().codes.tolist())
    for pool, rows, targets in rows_to_learn(CURRICULUM[0][2] + CURRICULUM[1][2] + 1, 0, captions="random"):
        assert not offered & set(pool.codes[targets].tolist())
        np.testing.assert_array_equal(rows // pool.classes[0].count, targets)


def test_shipped_file_is_small_and_of_this_architecture() -> None:
    data = WEIGHTS.read_bytes()
    assert len(data) <= LARGEST
    assert {w.dtype for w in load(data).values()} == {torch.float16}
    build().module()


@pytest.mark.long
def test_pairs_are_worth_more_than_either_alone() -> None:
    torch.set_num_threads(1)
    pool, worth = build_pool(captions="concat"), {}
    for mode in pretrain_flava.MODES:
        featured = partial(pretrain_flava.features_of, mode=mode)
        worth[mode] = evaluate(build(), 10, 4, pool, featured=featured)[0]
    both, image, text = (worth[mode] for mode in pretrain_flava.MODES)
    assert both > image + 0.01
    assert both > text + 0.05
    assert text > 0.4
