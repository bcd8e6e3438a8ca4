"""Checkpoints of torchvision in timm's networks: the same outputs, from the same random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision
from safetensors.torch import save_file
from torch import nn

from seqsearch.backbones.parts.torchvision_names import as_timm
from seqsearch.backbones.timm_model import build_timm
from seqsearch.core.errors import UserError


def randomised(model: nn.Module) -> nn.Module:
    """Random values for all that networks begin with as zeros or ones, too: scales, positions, statistics of batches."""
    generator = torch.Generator().manual_seed(0)
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            drawn = torch.rand(tensor.shape, generator=generator)
            if name.endswith("running_var") or tensor.ndim == 1 or "layer_scale" in name:
                tensor.copy_(0.5 + drawn)
            elif "pos_embedding" in name or "class_token" in name or "bias_table" in name:
                tensor.copy_(drawn - 0.5)
    return model.eval()


def headless(name: str, model: Any) -> nn.Module:
    """torchvision's network without its classifier."""
    if name.startswith("vit"):
        model.heads = nn.Identity()
    elif name.startswith("convnext"):
        model.classifier[2] = nn.Identity()
    elif name.startswith("swin"):
        model.head = nn.Identity()
    else:
        model.fc = nn.Identity()
    return model


CASES = [
    ("resnet18", "resnet18"),
    pytest.param("resnet50", "resnet50", marks=pytest.mark.long),
    pytest.param("wide_resnet50_2", "wide_resnet50_2", marks=pytest.mark.long),
    pytest.param("resnext50_32x4d", "resnext50_32x4d", marks=pytest.mark.long),
    pytest.param("vit_b_16", "vit_base_patch16_224", marks=pytest.mark.long),
    pytest.param("vit_b_32", "vit_base_patch32_224", marks=pytest.mark.long),
    pytest.param("convnext_tiny", "convnext_tiny", marks=pytest.mark.long),
    pytest.param("swin_t", "swin_tiny_patch4_window7_224", marks=pytest.mark.long),
]


def compare(theirs: str, ours: str, file: Path, model: nn.Module) -> None:
    images = torch.randn(2, 3, 224, 224, generator=torch.Generator().manual_seed(1))
    backbone = build_timm(ours, str(file))
    with torch.inference_mode():
        expected = headless(theirs, model)(images)
        found = backbone.module()(images)
    assert expected.std() > 0.01
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("theirs", "ours"), CASES)
def test_outputs_are_those_of_torchvision(theirs: str, ours: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = randomised(getattr(torchvision.models, theirs)())
    torch.save(model.state_dict(), tmp_path / "weights.pth")
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    assert (
        build_timm(ours, str(tmp_path / "weights.pth")).digest
        == build_timm(ours, str(tmp_path / "weights.safetensors")).digest
    )
    compare(theirs, ours, tmp_path / "weights.pth", model)


def test_colours_are_those_that_torchvision_trained_with(tmp_path: Path) -> None:
    """Those of the hub's ViT are others."""
    torch.manual_seed(0)
    model = torchvision.models.VisionTransformer(224, 16, 12, 3, 192, 768)
    torch.save(model.state_dict(), tmp_path / "vit.pth")
    torch.save(build_plain("vit_tiny_patch16_224"), tmp_path / "timm.pth")
    backbone = build_timm("vit_tiny_patch16_224", str(tmp_path / "vit.pth"))
    black = backbone.preprocess(np.zeros((1, 3, 224, 224), np.uint8))[0, :, 0, 0]
    torch.testing.assert_close(black, torch.tensor([-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225]))
    plain = build_timm("vit_tiny_patch16_224", str(tmp_path / "timm.pth"))
    assert plain.preprocess(np.zeros((1, 3, 224, 224), np.uint8))[0, :, 0, 0].tolist() == [-1, -1, -1]


def build_plain(name: str) -> dict[str, torch.Tensor]:
    import timm

    return timm.create_model(name).state_dict()


def test_a_small_vit_of_torchvision(tmp_path: Path) -> None:
    """As `test_outputs_are_those_of_torchvision`, quick enough for every time; by the names of older files, too."""
    torch.manual_seed(0)
    model = randomised(torchvision.models.VisionTransformer(224, 16, 12, 3, 192, 768))
    state = model.state_dict()
    torch.save(
        {n.replace("mlp.0", "mlp.linear_1").replace("mlp.3", "mlp.linear_2"): v for n, v in state.items()},
        tmp_path / "a.pth",
    )
    torch.save(state, tmp_path / "b.pth")
    backbones = [build_timm("vit_tiny_patch16_224", str(tmp_path / f)) for f in ("a.pth", "b.pth")]
    assert backbones[0].digest == backbones[1].digest
    compare("vit", "vit_tiny_patch16_224", tmp_path / "b.pth", model)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("vit_l_16", "vit_large_patch16_224"),
        ("convnext_base", "convnext_base"),
        ("swin_b", "swin_base_patch4_window7_224"),
        ("resnet152", "resnet152"),
    ],
)
def test_every_tensor_has_its_counterpart(theirs: str, ours: str) -> None:
    """Of large networks, without memory for their weights."""
    import timm

    with torch.device("meta"):
        state = getattr(torchvision.models, theirs)().state_dict()
        wanted = timm.create_model(ours).state_dict()
    found = as_timm(state) or state
    assert {n: v.shape for n, v in found.items()} == {n: v.shape for n, v in wanted.items()}
    assert as_timm(wanted) is None


def test_files_without_counters_of_batches(tmp_path: Path) -> None:
    """As torchvision's older ones."""
    torch.manual_seed(0)
    model = randomised(torchvision.models.resnet18())
    state = {n: v for n, v in model.state_dict().items() if not n.endswith("num_batches_tracked")}
    torch.save(state, tmp_path / "resnet18.pth")
    compare("resnet18", "resnet18", tmp_path / "resnet18.pth", model)


def test_other_networks_are_refused_in_a_line_that_names_what_is_missing(tmp_path: Path) -> None:
    for theirs, ours, missing in (
        (torchvision.models.mobilenet_v3_small(), "resnet18", "conv1.weight, bn1.weight, bn1.bias"),
        (torchvision.models.resnet18(), "resnet34", "layer1.2.conv1.weight, layer1.2.bn1.weight, layer1.2.bn1.bias"),
        (torchvision.models.resnet18(), "vit_tiny_patch16_224", "cls_token, pos_embed, patch_embed.proj.weight"),
        (
            torchvision.models.VisionTransformer(224, 16, 2, 3, 192, 768),
            "vit_tiny_patch16_224",
            "blocks.2.norm1.weight",
        ),
    ):
        torch.save(theirs.state_dict(), tmp_path / "x.pth")
        with pytest.raises(
            UserError, match=rf"weights of another architecture: \d+ missing \(e.g. {missing}"
        ) as caught:
            build_timm(ours, str(tmp_path / "x.pth"))
        assert "\n" not in str(caught.value)
        (tmp_path / "x.pth").unlink()
