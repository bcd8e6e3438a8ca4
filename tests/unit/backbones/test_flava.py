"""FLAVA from files: the stock model's features, tokens and pixels, and an identity that all of these are in."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import BertTokenizer

from tests.unit.backbones.small_flava import PIECES, class_token, opened, stock, written

TEXTS = ["A reddish bird", "Été, a bird!", "", "sky sky sky sky sky sky"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "flava")


@pytest.mark.parametrize(
    ("prefix", "name"),
    [("", "model.safetensors"), ("flava.", "model.safetensors"), ("flava.", "pytorch_model.bin")],
    ids=["model", "pre-training", "torch"],
)
@torch.no_grad()
def test_features_are_the_class_token_of_the_stock_model(tmp_path: Path, prefix: str, name: str) -> None:
    backbone = opened(written(tmp_path / "flava", prefix, name), "flava:attention=eager")
    images = np.random.default_rng(0).integers(0, 256, (4, 3, 32, 32), dtype=np.uint8)
    inputs = {"images": backbone.preprocess(images), **backbone.tokenise(TEXTS)}
    found = backbone.module()(inputs)
    assert torch.equal(found, class_token(stock(), inputs))
    assert found.shape == (4, backbone.dim)
    assert backbone.view.size == 32
    fused = opened(tmp_path / "flava")
    torch.testing.assert_close(fused.module()(inputs), found, rtol=0, atol=1e-5)
    assert fused.digest != backbone.digest


def test_pixels_are_normalised_as_published(folder: Path) -> None:
    white = opened(folder).preprocess(np.full((1, 3, 2, 2), 255, np.uint8))[0, :, 0, 0]
    expected = (1 - np.array([0.48145466, 0.4578275, 0.40821073])) / np.array([0.26862954, 0.26130258, 0.27577711])
    np.testing.assert_allclose(white.numpy(), expected, rtol=1e-6)


def test_tokens_are_those_of_the_published_tokenizer(folder: Path) -> None:
    ours, theirs = opened(folder).tokenise(TEXTS), BertTokenizer(vocab={p: n for n, p in enumerate(PIECES)})
    expected = theirs(TEXTS, padding=True, pad_to_multiple_of=8, return_tensors="pt")
    for name in ("input_ids", "attention_mask"):
        assert torch.equal(ours[name], expected[name])
    assert len(set(ours["input_ids"][1].tolist())) > 5


def test_lines_of_a_vocabulary_end_as_its_files_do(folder: Path) -> None:
    """And not at what else Unicode calls the end of a line, which some vocabularies hold as a piece."""
    plain = opened(folder).tokenise(TEXTS)["input_ids"]
    (folder / "vocab.txt").write_bytes("\r\n".join([*PIECES[:4], "\u2028", *PIECES[4:]]).encode())
    found = opened(folder).tokenise(TEXTS)["input_ids"]
    assert torch.equal(found, torch.where(plain > 3, plain + 1, plain))


def test_a_module_is_a_copy_of_ones_own(folder: Path) -> None:
    one, two = opened(folder).module(), opened(folder).module()
    with torch.no_grad():
        one.class_token.add_(1)
    assert not torch.equal(one.class_token, two.class_token)
    assert torch.equal(opened(folder).module().class_token, two.class_token)
    assert not one.training


def test_what_features_depend_on_is_in_the_digest(folder: Path) -> None:
    before = opened(folder)
    assert before.tag.startswith("flava.file-")
    assert opened(folder).digest == before.digest
    digests = {before.digest, opened(folder, "flava:cut=8").digest}
    (folder / "vocab.txt").write_text("\n".join([*PIECES, "blue"]))
    digests.add(opened(folder).digest)
    state = stock().state_dict()
    state["multimodal_model.layernorm.bias"][3] += 1
    save_file(state, folder / "model.safetensors")
    os.utime(folder / "model.safetensors", (1, 1))
    digests.add(opened(folder).digest)
    assert len(digests) == 4


def test_an_option_and_a_file_may_be_named_together(folder: Path) -> None:
    cut = opened(folder, "flava:cut=4").tokenise(TEXTS)
    assert cut["input_ids"][0].tolist() == [2, 4, 5, 3, 0, 0, 0, 0]
    assert opened(folder / "model.safetensors").digest == opened(folder).digest
