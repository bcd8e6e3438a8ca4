"""Any timm model as a backbone: weights from files and from the hub's cache, transforms, and weights that are none."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import save_file
from timm.data import create_transform, resolve_model_data_config

from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.timm_model import build_timm
from seqsearch.core.errors import UserError
from seqsearch.pools.parts.decode import decode
from tests.lines import messages
from tests.photos import photographs

MODELS = ["test_vit", "test_vit2", "test_vit3", "test_resnet", "test_efficientnet"]
"""A ViT with class token, one with register tokens and average pooling, one with attention pooling, two convolutional nets."""


def made(name: str, seed: int = 0, **options: Any) -> torch.nn.Module:
    torch.manual_seed(seed)
    return timm.create_model(name, pretrained=False, **options).eval()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights made by timm itself, with its classifier of 1,000 classes."""
    folder = tmp_path_factory.mktemp("weights")
    for name in MODELS:
        save_file(made(name).state_dict(), folder / f"{name}.safetensors")
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_features_are_those_of_timm(files: Path, name: str) -> None:
    backbone = build_timm(name, str(files / f"{name}.safetensors"))
    theirs = made(name)
    theirs.reset_classifier(0)
    images = torch.randn(3, 3, backbone.view.size, backbone.view.size, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = theirs(images)
        np.testing.assert_array_equal(backbone.module()(images), expected)
    assert expected.shape == (3, backbone.dim)
    assert backbone.tag.startswith(f"{name}.file-")
    assert not backbone.module().training


@pytest.mark.parametrize("name", MODELS[:4])
def test_pictures_come_as_timm_would_bring_them(files: Path, name: str) -> None:
    backbone = build_timm(name, str(files / f"{name}.safetensors"))
    theirs = create_transform(**resolve_model_data_config(made(name)), is_training=False)
    for picture in photographs().values():
        picture = picture.resize((picture.width // 3, picture.height // 3))
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        ours = backbone.preprocess(decode(buffer.getvalue(), backbone.view)[None])[0]
        np.testing.assert_allclose(ours, theirs(picture), rtol=0, atol=1e-6)


def test_the_same_weights_are_the_same_whatever_the_file(files: Path, tmp_path: Path) -> None:
    state = made("test_vit").state_dict()
    torch.save(state, tmp_path / "plain.pth")
    torch.save({"state_dict": state, "epoch": 3}, tmp_path / "checkpoint.pth.tar")
    torch.save({"state_dict_ema": state, "state_dict": made("test_vit", 5).state_dict()}, tmp_path / "ema.pth")
    torch.save({f"module.{k}": v for k, v in state.items()}, tmp_path / "parallel.pth")
    save_file({k: v for k, v in state.items() if not k.startswith("head.")}, tmp_path / "headless.safetensors")
    first = build_timm("test_vit", str(files / "test_vit.safetensors"))
    for file in tmp_path.iterdir():
        again = build_timm("test_vit", str(file))
        assert (again.digest, again.tag) == (first.digest, first.tag), file.name
    torch.save(made("test_vit", 1).state_dict(), tmp_path / "plain.pth")
    other = build_timm("test_vit", str(tmp_path / "plain.pth"))  # the same name, other weights
    assert other.digest != first.digest


def test_position_embeddings_of_another_image_size_are_interpolated_as_timm_does(tmp_path: Path) -> None:
    smaller = made("test_vit", img_size=80)
    save_file(smaller.state_dict(), tmp_path / "small.safetensors")
    ours = build_timm("test_vit", str(tmp_path / "small.safetensors")).module()
    theirs = made("test_vit", num_classes=0)
    theirs.load_state_dict(
        {
            k: v
            for k, v in timm.models.vision_transformer.checkpoint_filter_fn(smaller.state_dict(), theirs).items()
            if not k.startswith("head.")
        }
    )
    for name, tensor in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], tensor)


class Evil:
    """What a pickle can do to who loads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with open(tmp_path / "evil.pth", "wb") as file:
        pickle.dump(Evil(trap), file)
    torch.save(Evil(trap), tmp_path / "evil2.pth")
    for name in ("evil.pth", "evil2.pth"):
        with pytest.raises(UserError, match="neither a safetensors file nor a plain state dict of torch"):
            build_timm("test_vit", str(tmp_path / name))
    assert not trap.exists()


def test_files_that_are_no_weights_of_it(files: Path, tmp_path: Path) -> None:
    def refused(file: Path, said: str) -> None:
        with pytest.raises(UserError, match=said) as caught:
            build_timm("test_vit", str(file))
        assert str(caught.value).startswith(f"--weights test_vit={file}: ")
        assert "\n" not in str(caught.value)

    refused(files / "test_resnet.safetensors", r"another architecture: \d+ missing \(e.g. .*\), \d+ not in the model")
    refused(files / "test_vit2.safetensors", "another architecture")
    refused(tmp_path / "nothing.pth", "No such file")
    refused(tmp_path, "cannot be read|neither")
    (tmp_path / "empty.safetensors").write_bytes(b"")
    refused(tmp_path / "empty.safetensors", "neither a safetensors file")
    (tmp_path / "text.pth").write_text("weights")
    refused(tmp_path / "text.pth", "neither a safetensors file")
    whole = (files / "test_vit.safetensors").read_bytes()
    (tmp_path / "half.safetensors").write_bytes(whole[: len(whole) // 2])
    refused(tmp_path / "half.safetensors", "neither a safetensors file")
    torch.save({"state_dict": {}}, tmp_path / "hollow.pth")
    refused(tmp_path / "hollow.pth", "there are no weights in it")
    torch.save([1, 2], tmp_path / "list.pth")
    refused(tmp_path / "list.pth", "neither a safetensors file|no weights")
    state = made("test_vit").state_dict()
    state["blocks.0.attn.qkv.weight"][0, 0] = float("nan")
    torch.save(state, tmp_path / "nan.pth")
    refused(tmp_path / "nan.pth", r"blocks.0.attn.qkv.weight is not finite")


def test_names_that_timm_does_not_know() -> None:
    with pytest.raises(UserError, match=r"unknown backbone 'resnet5O': .*close to it: .*resnet50"):
        build_backbone("resnet5O")
    with pytest.raises(UserError, match=r"timm has no such weights of resnet50; it has resnet50\.a1_in1k"):
        build_backbone("resnet50.imagenet")
    with pytest.raises(UserError, match="a timm model takes no options here"):
        build_backbone("resnet50:depth=3")
    with pytest.raises(UserError, match="glyph_vit=x: this backbone brings its own weights"):
        build_backbone("glyph_vit", {"glyph_vit": "x"})


PROBE = """
import sys
from seqsearch.backbones.timm_model import build_timm
from seqsearch.core.errors import UserError
try:
    backbone = build_timm("test_resnet.r160_in1k")
except UserError as error:
    sys.exit(f"refused: {error}")
print(backbone.tag, backbone.dim)
"""


def in_hub_cache(folder: Path) -> subprocess.CompletedProcess[str]:
    """A fresh process whose hub cache is ``folder``, without a network."""
    environment = {**os.environ, "HF_HUB_CACHE": str(folder), "HF_HUB_OFFLINE": "1"}
    return subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_pretrained_weights_come_from_the_hubs_cache(files: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "models--timm--test_resnet.r160_in1k" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes((files / "test_resnet.safetensors").read_bytes())
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("0" * 40)
    result = in_hub_cache(tmp_path)
    assert result.returncode == 0, result.stderr
    tag, dim = result.stdout.split()
    ours = build_timm("test_resnet", str(files / "test_resnet.safetensors"))
    assert tag == ours.tag.replace(".file-", ".r160_in1k-")
    assert int(dim) == ours.dim


@pytest.mark.long
def test_weights_that_cannot_be_had_are_never_random(tmp_path: Path) -> None:
    result = in_hub_cache(tmp_path)
    assert result.returncode == 1
    [line] = messages(result.stderr)
    assert line.startswith(
        "refused: backbone 'test_resnet.r160_in1k': its pre-trained weights are neither in the hub's cache"
    )
    assert "or give --weights test_resnet.r160_in1k=FILE" in line
