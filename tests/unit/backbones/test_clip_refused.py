"""One line for whatever of CLIP's files, options and names does not fit, before anything is computed."""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from protocols.cli.main import main
from seqsearch.backbones.clip import _loaded
from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.parts.clip_network import OPEN_CLIP, TRANSFORMERS
from seqsearch.core.errors import UserError
from tests.conformance.clip import IMAGE, MERGES, OF_OPEN_CLIP, SIZES, TEXT, WORDS, opened, written
from tests.conformance.lab import CLIP
from tests.unit.backbones.spoiled import Spoil, filled, sized, weights, without


def refused(path: Path, item: str = "clip") -> str:
    """The line that says why."""
    with pytest.raises(UserError) as caught:
        opened(path, item)
    said = str(caught.value)
    assert "\n" not in said
    assert "\x1b" not in said
    assert said.startswith((f"--weights clip={path}", "backbone 'clip", f"{path}/"))
    assert len(said) < 500
    return said


def config(**said: Any) -> Spoil:
    return sized(SIZES, **said)


def text(**said: Any) -> Spoil:
    return config(text_config={**TEXT, **said})


def open_config(part: str, **said: Any) -> Spoil:
    whole = copy.deepcopy(OF_OPEN_CLIP)
    (whole[part] if part == "preprocess_cfg" else whole["model_cfg"][part]).update(said)
    return lambda folder: (folder / "open_clip_config.json").write_text(json.dumps(whole))


def merges(content: bytes) -> Spoil:
    return filled("merges.txt", content)


LAST = "vision_model.encoder.layers.1.self_attn.k_proj.bias"
BAD: dict[str, tuple[Spoil, str]] = {
    "no weights": (without("model.safetensors"), "there is neither model.safetensors nor open_clip_model.safetensors"),
    "no merges": (without("merges.txt"), "merges.txt cannot be read (No such file or directory): it must lie beside"),
    "no sizes": (without("config.json"), "there is no config.json beside the weights"),
    "other sizes": (config(projection_dim=25), "2 of another shape (e.g. text_projection.weight)"),
    "an empty file": (lambda f: (f / "model.safetensors").write_bytes(b""), "neither a safetensors file"),
    "missing": (weights(lambda s: s.pop(LAST)), f"1 missing (e.g. {LAST})"),
    "further layers": (
        weights(lambda s: s.update({LAST.replace(".1.", ".2."): torch.zeros(32)})),
        f"1 of further layers (e.g. {LAST.replace('.1.', '.2.')})",
    ),
    "another shape": (weights(lambda s: s.update({LAST: torch.zeros(31)})), f"1 of another shape (e.g. {LAST})"),
    "not a number": (weights(lambda s: s[LAST].fill_(torch.nan)), f"{LAST} is not finite"),
    "a huge factor": (weights(lambda s: s["logit_scale"].fill_(800.0)), "logit_scale is 800: must be at most"),
    "another model": (
        lambda f: save_file({"blocks.0.weight": torch.zeros(2)}, f / "model.safetensors"),
        "weights of another architecture: ",
    ),
    "no JSON": (lambda f: (f / "config.json").write_text("{"), "cannot be read"),
    "a part that is none": (config(text_config=[1]), "text tower is [1]: must be an object of sizes"),
    "a huge width": (
        text(hidden_size=10**9),
        "text tower: hidden_size is 1000000000: must be a whole number from 1 to 8192",
    ),
    "a huge network": (text(hidden_size=8192, num_hidden_layers=200), "weights of another architecture: "),
    "no width": (config(projection_dim="24\x1b[31m"), "width of features: hidden_size is '24"),
    "heads that do not divide": (text(num_attention_heads=3), "no CLIP has these sizes"),
    "no patch": (config(vision_config={**IMAGE, "patch_size": 64}), "2 of another shape"),
    "an unknown function": (
        text(hidden_act="system"),
        "text tower: hidden_act is 'system': must be one of quick_gelu, gelu",
    ),
    "no norm": (text(layer_norm_eps=0.0), "layer_norm_eps is 0.0: must be between 0 and 1"),
    "pixels": (
        lambda f: (f / "preprocessor_config.json").write_text('{"image_std": [0, 1]}'),
        "image_std is [0, 1]: must be three",
    ),
    "another geometry": (
        lambda f: (f / "preprocessor_config.json").write_text('{"resample": 2}'),
        "resample of images is 2: must be 3",
    ),
    "too few merges": (text(vocab_size=WORDS + 1), "weights of another architecture: "),
    "a merge less": (
        merges(MERGES.encode().rpartition(b"bir d")[0]),
        f"has {WORDS - 515} merges: must be {WORDS - 514} lines",
    ),
    "a merge of three": (merges(MERGES.replace("t h\n", "t h e\n").encode()), "lines of two pieces behind a title"),
    "a merge of what is not": (merges(MERGES.replace("t h\n", "tx h\n").encode()), "merges.txt is no list of merges"),
    "binary": (merges(bytes(range(256))), "merges.txt cannot be read (UnicodeDecodeError)"),
    "a pipe": (lambda f: ((f / "merges.txt").unlink(), os.mkfifo(f / "merges.txt")), "it is no plain file"),
    "another vocabulary": (
        lambda f: (f / "vocab.json").write_text('{"a": 0}'),
        "vocab.json is not the vocabulary that merges.txt makes",
    ),
}
BAD_OPEN_CLIP: dict[str, tuple[Spoil, str]] = {
    "no sizes": (without("open_clip_config.json"), "there is no open_clip_config.json beside the weights"),
    "a part that is none": (
        lambda f: (f / "open_clip_config.json").write_text('{"model_cfg": {"vision_cfg": 3}}'),
        "vision_cfg is 3: must be an",
    ),
    "no object": (
        lambda f: (f / "open_clip_config.json").write_text('{"model_cfg": 3}'),
        "model_cfg is 3: must be an object",
    ),
    "another network": (
        open_config("text_cfg", no_causal_mask=True),
        "text_cfg: 'no_causal_mask' is a setting of another",
    ),
    "no number": (open_config("vision_cfg", layers="3"), "vision_cfg: layers is '3': must be a whole number"),
    "no width of heads": (open_config("vision_cfg", head_width=0), "vision_cfg: head_width is 0"),
    "heads wider than the tower": (open_config("vision_cfg", head_width=99), "num_attention_heads is 0: must be"),
    "another geometry": (
        open_config("preprocess_cfg", resize_mode="squash"),
        "resize_mode of images is 'squash': must be",
    ),
    "missing": (weights(lambda s: s.pop("visual.proj")), "1 missing (e.g. visual.proj)"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line(tmp_path: Path, name: str) -> None:
    spoil, says = BAD[name]
    opened(written(tmp_path / "clip"))  # what was read before is not remembered in place of what is there now
    spoil(tmp_path / "clip")
    assert says in refused(tmp_path / "clip")


@pytest.mark.parametrize("name", BAD_OPEN_CLIP)
def test_a_bad_file_of_open_clip_is_one_line(tmp_path: Path, name: str) -> None:
    spoil, says = BAD_OPEN_CLIP[name]
    spoil(written(tmp_path / "clip", OPEN_CLIP))
    assert says in refused(tmp_path / "clip")


def test_pickles_that_call_something_are_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "trap"),)

    folder = written(tmp_path / "clip", TRANSFORMERS)
    torch.save({**load_file(folder / "model.safetensors"), "evil": Evil()}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert "it asks for posix.mkdir" in refused(folder)
    assert not (tmp_path / "trap").exists()


def test_options_are_checked(tmp_path: Path) -> None:
    folder = written(tmp_path / "clip")
    assert "must be a name of the hub, and not stand beside --weights" in refused(folder, "clip:model=a/b")
    with pytest.raises(UserError, match="name weights by --weights clip=PATH"):
        build_backbone(f"clip:weights={folder}")
    with pytest.raises(UserError, match="backbone 'clip:size=2'"):
        build_backbone("clip:size=2")
    assert "No such file" in refused(tmp_path / "nowhere")


def test_weights_that_cannot_be_had_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqsearch.backbones.clip.snapshot", lambda *_: "the hub cannot be reached")
    with pytest.raises(UserError, match=r"openai/clip-vit-base-patch16 is neither .* or give --weights clip=FOLDER"):
        build_backbone("clip")


def test_tokenizers_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert "needs tokenizers, which cannot be imported (tokenizers): pip install" in refused(written(tmp_path / "clip"))


def said_by(*arguments: object) -> str:
    """All that ``seqsearch cldyb`` says before it refuses."""
    given = ["cldyb", "--tasks", 2, "--classes-per-task", 2, "--workers", 0, *arguments]
    result = CliRunner().invoke(main, list(map(str, given)))
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result.output


def test_the_command_line_refuses_before_compute(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run", "--pool", "glyphs:classes=16")
    said = said_by("--methods", "zero_shot", "--backbone", "glyph_vit", *out)
    assert "needs a backbone with a text tower, and 'glyph_vit' has none: give it clip, as zero_shot@clip" in said
    said = said_by("--methods", "zero_shot:prompts=a cat", "--backbone", CLIP, *out)
    assert "prompts='a cat': must be 1 to 1000 sentences, each with {} in it once" in said
    assert "learns from images with texts" in said_by("--methods", "mm_lb", "--backbone", CLIP, *out)
    assert not (tmp_path / "run").exists()
