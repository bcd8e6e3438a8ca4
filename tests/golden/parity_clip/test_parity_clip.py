"""Backbone ``clip`` and method ``zero_shot`` give the features and logits of open_clip and of transformers, with the same random
weights, and the tokens of both."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor
from transformers import CLIPConfig, CLIPModel, CLIPTokenizer

from seqsearch.backbones.clip import Clip
from seqsearch.methods.zero_shot import ZeroShot, ZeroShotConfig
from seqsearch.pools.parts.decode import decode
from tests.conformance.clip import WORDS, opened, random_state, written

TOLERANCE = 1e-5
"""Of logits up to 100, relative to the largest."""
PROMPTS = "a photo of a {}.;a blurred drawing of the {}, in black."
NAMES = ("goldfish", "african grey parrot", "jack-o'-lantern", "São Tomé & Príncipe")
TEXTS = [
    "a photo of a cat.",
    "",
    "   ",
    "don't THEY'RE we'll I'd it's",
    "Été naïve E\u0301te\u0301",
    "日本語のテキスト 😀👍🏽",
    "a\t b\n\nc\u00a0d",
    "&amp;lt;b&amp;gt; caf&eacute;",
    "12345 3.14 ½ ²",
    "x" * 500,
    "word " * 200,
    "--- !!! ...",
    "ยินดีต้อนรับ",
    "<|endoftext|> <|startoftext|>",
    "snake_case-name/other",
    "\u0130stanbul \u03a3\u0391\u03a3 ß",
    "\u200bzero\u200dwidth",
]
OF_FTFY = ["\u2019curly\u2019", "\u201cquotes\u201d", "\ufb01ne", "\uff26\uff35", "\x01control"]
"""Texts that ftfy changes for open_clip; transformers and we leave them."""


def models(quick_gelu: bool) -> Any:
    """A small network of open_clip with random weights, and its configuration; another width for each part."""
    open_clip = pytest.importorskip("open_clip", reason="pip install open_clip_torch")
    settings = {
        "embed_dim": 24,
        "quick_gelu": quick_gelu,
        "vision_cfg": {
            "image_size": 48,
            "layers": 3,
            "width": 40,
            "head_width": 10,
            "patch_size": 16,
            "mlp_ratio": 2.5,
        },
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 4, "layers": 2},
    }
    vision, text = (open_clip.model.CLIPVisionCfg, open_clip.model.CLIPTextCfg)
    model = open_clip.model.CLIP(
        24, vision(**settings["vision_cfg"]), text(**settings["text_cfg"]), quick_gelu=quick_gelu
    ).eval()
    model.load_state_dict(random_state(model))
    return open_clip, model, settings


def folder_of(folder: Path, model: Any, settings: dict[str, Any]) -> Path:
    from open_clip.tokenizer import default_bpe

    folder.mkdir()
    save_file(
        {name: value.contiguous() for name, value in model.state_dict().items()}, folder / "open_clip_model.safetensors"
    )
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": settings, "preprocess_cfg": {}}))
    (folder / "merges.txt").write_bytes(gzip.decompress(Path(default_bpe()).read_bytes()))
    return folder


def images(side: int) -> Tensor:
    return torch.randn(5, 3, side, side, generator=torch.Generator().manual_seed(1))


def zero_shot(backbone: Clip, features: Tensor) -> Tensor:
    """Logits of ``zero_shot`` for images with these features."""
    tower = backbone.text_tower()
    context: Any = SimpleNamespace(
        dim=backbone.dim,
        device=torch.device("cpu"),
        logit_scale=backbone.logit_scale,
        text_features=lambda texts: tower(backbone.text_tokens(texts)),
    )
    method: Any = ZeroShot(context, ZeroShotConfig(PROMPTS))
    task = SimpleNamespace(names=NAMES, depth=0)
    assert method.fit_task(task).status == "ok"
    found: Tensor = method.predict(SimpleNamespace(frozen=features))
    return found


def assert_near(found: Tensor, expected: Tensor) -> None:
    assert float((found - expected).abs().max()) <= TOLERANCE * float(expected.abs().max())


@pytest.mark.parametrize("quick_gelu", [True, False])
@torch.no_grad()
def test_logits_are_those_of_open_clip(tmp_path: Path, quick_gelu: bool) -> None:
    open_clip, model, settings = models(quick_gelu)
    backbone = opened(folder_of(tmp_path / "clip", model, settings))
    tokenizer = open_clip.tokenizer.SimpleTokenizer()
    pixels, tokens = images(48), tokenizer(TEXTS)
    features = backbone.module()(pixels)
    assert_near(features, model.encode_image(pixels))
    text = backbone.text_tower()(backbone.text_tokens(TEXTS))
    assert_near(text, model.encode_text(tokens))
    theirs, _, scale = model(pixels, tokens)[:3]
    expected = open_clip.build_zero_shot_classifier(
        model, tokenizer, NAMES, [lambda name, p=p: p.strip().replace("{}", name) for p in PROMPTS.split(";")]
    )
    assert_near(zero_shot(backbone, features), scale * theirs @ expected)
    other = opened(folder_of(tmp_path / "other", model, {**settings, "quick_gelu": not quick_gelu}))
    assert float((other.module()(pixels) - features).abs().max()) > 1e-3
    assert float((other.text_tower()(other.text_tokens(TEXTS)) - text).abs().max()) > 1e-3


def test_tokens_are_those_of_open_clip(tmp_path: Path) -> None:
    """Number by number, but for what ftfy mends."""
    open_clip, model, settings = models(True)
    backbone, tokenizer = (
        opened(folder_of(tmp_path / "clip", model, settings)),
        open_clip.tokenizer.SimpleTokenizer(),
    )
    found, expected = backbone.text_tokens(TEXTS), tokenizer(TEXTS)
    assert found.shape == expected.shape  # one of them is as long as may be
    assert torch.equal(found, expected)
    for text in OF_FTFY:
        found, expected = backbone.text_tokens([text]), tokenizer([text])
        assert not torch.equal(found, expected[:, : found.shape[1]])


def test_pixels_are_those_of_open_clip(tmp_path: Path) -> None:
    open_clip, model, settings = models(True)
    backbone = opened(folder_of(tmp_path / "clip", model, settings))
    transform = open_clip.image_transform(48, is_train=False)
    draw = np.random.default_rng(0)
    for height, width in ((48, 48), (60, 91), (200, 70), (20, 33)):
        file = io.BytesIO()
        image = Image.fromarray(draw.integers(0, 256, (height, width, 3), dtype=np.uint8))
        image.save(file, "png")
        found = backbone.preprocess(decode(file.getvalue(), backbone.view)[None])[0]
        torch.testing.assert_close(found, transform(image), rtol=0, atol=1e-5)


@torch.no_grad()
def test_logits_are_those_of_transformers(tmp_path: Path) -> None:
    backbone = opened(written(tmp_path / "clip"))
    model = CLIPModel(CLIPConfig.from_pretrained(tmp_path / "clip")).eval()
    model.load_state_dict(
        {
            **model.state_dict(),
            **__import__("safetensors.torch").torch.load_file(tmp_path / "clip" / "model.safetensors"),
        }
    )
    texts = ["a bird", "the photo of another bird", "", "THE BIRD of the birds in the inn " * 5]
    tokens, pixels = backbone.text_tokens(texts), images(32)
    stock = CLIPTokenizer(vocab=_vocabulary(backbone), merges=_merges(tmp_path / "clip"))
    assert tokens.tolist() == _filled(stock(texts, truncation=True, max_length=20)["input_ids"])
    found = model(input_ids=tokens, pixel_values=pixels, attention_mask=torch.ones_like(tokens))
    text = backbone.text_tower()(tokens)
    image = backbone.module()(pixels)
    ours = backbone.logit_scale * torch.nn.functional.normalize(image) @ torch.nn.functional.normalize(text).T
    assert_near(ours, found.logits_per_image)
    assert len(stock) == WORDS


def _vocabulary(backbone: Clip) -> dict[str, int]:
    return backbone._words.vocabulary


def _merges(folder: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in (folder / "merges.txt").read_text().split("\n")[1:] if line]


def _filled(rows: list[list[int]]) -> list[list[int]]:
    longest = max(map(len, rows))
    return [row + [0] * (longest - len(row)) for row in rows]
