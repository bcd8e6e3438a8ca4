"""FLAVA from files, and one line for whatever does not fit: weights, configuration, vocabulary, options, texts, transformers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import save_file

from protocols.cli.main import main
from seqsearch.backbones.flava import _loaded
from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.study.pair_texts import check_texts
from tests.conformance.lab import CAPTIONED, PAIRS
from tests.conformance.pairs import CaptionedGlyphs
from tests.unit.backbones.small_flava import PIECES, SIZES, opened, stock, written
from tests.unit.backbones.spoiled import Spoil, filled, sized, weights, without


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "flava")


def refused(path: Path, item: str = "flava") -> str:
    """The line that says why."""
    with pytest.raises(UserError) as caught:
        opened(path, item)
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith((f"--weights flava={path}", "backbone 'flava", f"{path}/config.json"))
    assert len(said) < 500
    return said


def config(**said: Any) -> Spoil:
    return sized(SIZES, **said)


def image(**said: Any) -> Spoil:
    return config(image_config={**SIZES["image_config"], **said})


def vocabulary(content: bytes) -> Spoil:
    return filled("vocab.txt", content)


LAST = "multimodal_model.encoder.layer.2.output.dense.bias"
BAD: dict[str, tuple[Spoil, str]] = {
    "no weights": (without("model.safetensors"), "there is neither model.safetensors nor pytorch_model.bin in"),
    "no vocabulary": (without("vocab.txt"), "vocab.txt cannot be read"),
    "other sizes": (without("config.json"), "weights of another architecture: "),
    "an empty file": (lambda f: (f / "model.safetensors").write_bytes(b""), "neither a safetensors file"),
    "missing": (weights(lambda s: s.pop(LAST)), f"1 missing (e.g. {LAST})"),
    "further layers": (
        weights(lambda s: s.update({LAST.replace(".2.", ".3."): torch.zeros(32)})),
        f"1 of further layers (e.g. {LAST.replace('.2.', '.3.')})",
    ),
    "another shape": (weights(lambda s: s.update({LAST: torch.zeros(31)})), f"1 of another shape (e.g. {LAST})"),
    "not a number": (weights(lambda s: s[LAST].fill_(torch.nan)), f"{LAST} is not finite"),
    "another model": (
        lambda f: save_file({"blocks.0.weight": torch.zeros(2)}, f / "model.safetensors"),
        "weights of another architecture: ",
    ),
    "no JSON": (lambda f: (f / "config.json").write_text("{"), "cannot be read"),
    "a list": (lambda f: (f / "config.json").write_text("[]"), "does not hold a JSON object"),
    "a part that is none": (config(text_config=[1]), "text_config is [1]: must be an object of sizes"),
    "a huge width": (image(hidden_size=10**9), "image_config: hidden_size is 1000000000: must be a whole number from 1 to 8192"),
    "a huge number": (image(num_hidden_layers=10**300), "must be a whole number from 1 to 200"),
    "a negative size": (image(patch_size=-1), "image_config: patch_size is -1"),
    "a string": (image(image_size="32\x1b[31m"), "image_config: image_size is '32"),
    "true": (image(num_attention_heads=True), "image_config: num_attention_heads is True"),
    "heads that do not divide": (image(num_attention_heads=3), "no FLAVA has these sizes"),
    "an unknown function": (image(hidden_act="system"), "no FLAVA has these sizes"),
    "a function that is none": (image(hidden_act=[]), "hidden_act is []: must be a str"),
    "too many pieces": (vocabulary(b"\n".join([b"[PAD]", *(b"p%d" % n for n in range(70))])), "it must have at most 64"),
    "no padding": (vocabulary("\n".join(PIECES[1:]).encode()), "[PAD] first"),
    "padding last": (vocabulary("\n".join([*PIECES[1:], "[PAD]"]).encode()), "[PAD] first"),
    "no end": (vocabulary(b"[PAD]\n[CLS]\n[UNK]\n"), "[CLS], [SEP], [UNK]"),
    "binary": (vocabulary(bytes(range(256))), "vocab.txt cannot be read (UnicodeDecodeError)"),
    "no vocabulary but a pipe": (lambda f: ((f / "vocab.txt").unlink(), os.mkfifo(f / "vocab.txt")), "it is no plain file"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line(folder: Path, name: str) -> None:
    spoil, says = BAD[name]
    opened(folder)  # what was read before is not remembered in place of what is there now
    spoil(folder)
    said = refused(folder)
    assert says in said
    assert "\x1b" not in said


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "nowhere")
    assert "there is neither model.safetensors nor pytorch_model.bin" in refused(tmp_path)


def test_pickles_that_call_something_are_refused(folder: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "trap"),)

    (folder / "model.safetensors").unlink()
    torch.save({**stock().state_dict(), "evil": Evil()}, folder / "pytorch_model.bin")
    assert "it asks for posix.mkdir" in refused(folder)
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize("cut", ["3", "-1", "99999999", "x", "1.5", "true", "17"])
def test_cut_is_checked(folder: Path, cut: str) -> None:
    said = refused(folder, f"flava:cut={cut}")
    assert ("is more than the 16 tokens that it takes" in said) == (cut == "17")


def test_attention_is_checked(folder: Path) -> None:
    assert "attention='flash' must be one of sdpa, eager" in refused(folder, "flava:attention=flash")


def test_weights_are_named_by_the_flag_alone(folder: Path) -> None:
    with pytest.raises(UserError, match="name weights by --weights flava=PATH"):
        build_backbone(f"flava:weights={folder}")
    with pytest.raises(UserError, match="brings its own weights, only timm models, clip and flava take a file"):
        build_backbone("glyph_vit", {"glyph_vit": str(folder)})


def test_transformers_that_is_missing_or_too_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    _loaded.cache_clear()
    monkeypatch.setattr(transformers, "__version__", "4.57.1")
    assert "needs transformers 5 or later, and 4.57.1 is there: pip install 'transformers>=5'" in refused(folder)
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert "needs transformers, which cannot be imported (transformers): pip install" in refused(folder)


def test_texts_beyond_the_model_are_refused_before_compute(folder: Path) -> None:
    """They are named; ``cut`` takes them."""
    pool = CaptionedGlyphs()
    with pytest.raises(
        UserError, match=r"pool 'captioned': image \d+: .* at most 16 tokens, and one has \d+ \('\w+ .*flava:cut=16\)"
    ):
        check_texts([opened(folder)], [pool])
    check_texts([opened(folder, "flava:cut=16")], [pool])
    check_texts([build_backbone("glyph_vit")], [pool])
    check_texts([build_backbone(PAIRS)], [pool])


def said_by(*arguments: object) -> str:
    """The one line of an error of ``seqsearch cldyb``."""
    given = ["cldyb", "--tasks", 2, "--classes-per-task", 2, "--workers", 0, *arguments]
    result = CliRunner().invoke(main, list(map(str, given)))
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result.output.strip().splitlines()[-1]


def test_the_command_line_refuses_before_compute(folder: Path, tmp_path: Path) -> None:
    flava = ("--backbone", "flava", "--weights", f"flava={folder}", "--out", tmp_path / "run")
    assert "takes texts of at most 16 tokens" in said_by("--methods", "simplecil", *flava, "--pool", CAPTIONED)
    assert "images alone, and backbone 'flava' reads their texts" in said_by(
        "--methods", "simplecil", *flava, "--pool", "glyphs:classes=16"
    )
    small = ("--backbone", PAIRS, "--pool", CAPTIONED, "--out", tmp_path / "run")
    assert "method 'er' learns from images alone" in said_by("--methods", "er", *small)
    assert "learns from images with texts" in said_by("--methods", "mm_lb", "--pool", "glyphs:classes=16")
    assert not (tmp_path / "run").exists()
