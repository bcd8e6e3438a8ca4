"""The weights of EfficientNet-Lite0: timm's network gives the logits of the network that they were made for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import sklearn
import timm
import torch
from efficientnet_lite_pytorch import EfficientNet
from safetensors.torch import load_file
from timm.data import ImageNetInfo

from seqsearch.backbones.open import build_backbone
from seqsearch.building import lite0
from seqsearch.core.errors import UserError
from seqsearch.pools.parts.decode import decode

PHOTOS = Path(sklearn.__file__).parent / "datasets" / "images"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["lite0", *arguments])
    lite0.main()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("weights") / "lite0.safetensors")
    with pytest.MonkeyPatch.context() as patch:
        run(patch, path)
    return path


def test_logits_are_those_of_the_network_that_the_weights_were_made_for(file: str) -> None:
    theirs = EfficientNet.from_name("efficientnet-lite0").eval()
    theirs.load_state_dict(torch.load(lite0.packaged(), weights_only=True))
    ours = timm.create_model("tf_efficientnet_lite0", checkpoint_path=file).eval()
    images = torch.randn(3, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert torch.equal(ours(images), theirs(images))


@pytest.mark.parametrize(("photo", "shown"), [("china.jpg", "palace"), ("flower.jpg", "daisy")])
def test_the_backbone_knows_what_photos_show(file: str, photo: str, shown: str) -> None:
    """From the bytes of a file to the class, by the features of the backbone and timm's classifier."""
    backbone = build_backbone("tf_efficientnet_lite0", {"tf_efficientnet_lite0": file})
    classifier = timm.create_model("tf_efficientnet_lite0", checkpoint_path=file).get_classifier()
    image = decode((PHOTOS / photo).read_bytes(), backbone.view)
    with torch.inference_mode():
        scores = classifier(backbone.module()(backbone.preprocess(image[None])))
    assert ImageNetInfo().index_to_description(int(scores.argmax())) == shown


def test_the_file_has_the_permissions_of_new_files_and_is_replaced_with_force_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lite0, "converted", lambda _: {"a": torch.ones(3)})
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "lite0.safetensors"
    out.write_bytes(b"older")
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, out.name)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"{out.name} is there already: choose another name, or replace it with --force\n"
    before = os.umask(0o027)
    try:
        run(monkeypatch, out.name, "--force")
    finally:
        os.umask(before)
    assert out.stat().st_mode & 0o777 == 0o640
    assert torch.equal(load_file(out)["a"], torch.ones(3))


def test_names_are_timms_one_for_one() -> None:
    found = lite0.converted(lite0.packaged())
    expected = timm.create_model("tf_efficientnet_lite0").state_dict()
    assert {n: tuple(t.shape) for n, t in found.items()} == {n: tuple(t.shape) for n, t in expected.items()}


def test_no_other_file_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lite0, "SHA256", "0" * 64)
    with pytest.raises(UserError, match="converts that file alone"):
        lite0.packaged()


@pytest.mark.parametrize(
    ("arguments", "package", "said"),
    [
        (["lite0.pth"], lite0.PACKAGE, "lite0.pth must end in .safetensors"),
        (
            ["lite0.safetensors"],
            "not-installed",
            "the package not-installed is not installed: pip install not-installed==0.1.0",
        ),
        (
            ["nofolder/lite0.safetensors"],
            "not-installed",
            "folder nofolder of nofolder/lite0.safetensors does not exist: make it first",
        ),
    ],
)
def test_refusals_are_one_line(
    arguments: list[str],
    package: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lite0, "PACKAGE", package)
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, *arguments)
    assert (ended.value.code, capsys.readouterr().err) == (2, f"{said}\n")
    assert not list(tmp_path.iterdir())
