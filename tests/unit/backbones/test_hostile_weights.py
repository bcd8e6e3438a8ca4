"""Weights of others: one line, nothing executed, and no more memory than the file is large."""

from __future__ import annotations

import json
import os
import pickle
import resource
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import timm
import torch

from seqsearch.backbones.parts.state_dict import tensors
from seqsearch.backbones.timm_model import build_timm
from seqsearch.core.errors import UserError


class Calls:
    """A pickle that calls whatever it is told to."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.reduced = function, arguments

    def __reduce__(self) -> Any:
        return self.reduced


def refused(path: Path, says: str) -> None:
    with pytest.raises(UserError) as caught:
        tensors("--weights x", str(path))
    said = str(caught.value)
    assert said.startswith("--weights x: ")
    assert says in said
    assert "\n" not in said
    assert len(said) < 300


@pytest.mark.parametrize("name", ["a.pth", "a.bin", "a.pt", "a.safetensors"])
@pytest.mark.parametrize("new", [True, False])
def test_nothing_is_called(tmp_path: Path, name: str, new: bool) -> None:
    trap = tmp_path / "trap"
    evil = {"weight": torch.ones(2), "evil": Calls(os.mkdir, str(trap))}
    torch.save(evil, tmp_path / name, _use_new_zipfile_serialization=new)
    refused(tmp_path / name, "neither a safetensors file nor a plain state dict of torch")
    (tmp_path / name).write_bytes(pickle.dumps(evil))
    refused(tmp_path / name, "neither a safetensors file nor a plain state dict of torch")
    assert not trap.exists()


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize(
    "call", [Calls(bytearray, 1 << 30), Calls(torch.Tensor, 1 << 30), Calls(torch.FloatStorage, 1 << 30)]
)
def test_no_memory_is_asked_for(tmp_path: Path, call: Calls, new: bool) -> None:
    torch.save({"weight": torch.ones(2), "bomb": call}, tmp_path / "a.pth", _use_new_zipfile_serialization=new)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(tmp_path / "a.pth", "neither a safetensors file nor a plain state dict of torch")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 << 10


def test_a_compressed_archive_is_not_unpacked(tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(10**6)}, tmp_path / "plain.pth")
    with zipfile.ZipFile(tmp_path / "plain.pth") as plain, zipfile.ZipFile(tmp_path / "a.pth", "w", 8) as packed:
        for entry in plain.namelist():
            packed.writestr(entry, plain.read(entry))
    assert (tmp_path / "a.pth").stat().st_size < 20_000
    refused(tmp_path / "a.pth", "it is compressed, and may unpack to anything")


@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(1).expand(10**6, 10**6), torch.sparse_coo_tensor([[0], [0]], [1.0], (10**6, 10**6), check_invariants=True),
     torch.zeros(2, dtype=torch.complex64), torch.empty(10**6, 10**6, device="meta")],
    ids=["view", "sparse", "complex", "meta"],
)  # fmt: skip
def test_a_tensor_that_is_larger_than_what_is_stored_of_it(tmp_path: Path, tensor: torch.Tensor) -> None:
    torch.save({"weight": tensor}, tmp_path / "a.pth")
    refused(tmp_path / "a.pth", "")


def header(**entries: Any) -> bytes:
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "data",
    [
        (1 << 62).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (90_000_000).to_bytes(8, "little") + b"{",
        header(a={"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 4]}) + b"0000",
        header(a={"dtype": "F32", "shape": [1 << 32, 1 << 32, 1], "data_offsets": [0, 0]}),
        header(a={"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}) + b"0000",
        header(a={"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}) + b"0000",
        header(a={"dtype": "F32", "shape": [1], "data_offsets": [0, 1 << 50]}) + b"0000",
        header(a={"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, b={"dtype": "F32", "shape": [1], "data_offsets": [0, 4]})
        + b"0000",
        header(a={"dtype": "OBJECT", "shape": [1], "data_offsets": [0, 4]}) + b"0000",
        (10**5).to_bytes(8, "little") + b"[" * 10**5,
    ],
)  # fmt: skip
def test_a_header_that_lies(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.safetensors").write_bytes(data)
    refused(tmp_path / "a.safetensors", "neither a safetensors file nor a plain state dict of torch")


def test_what_is_no_plain_file_is_not_waited_for(tmp_path: Path) -> None:
    for name in ("a.safetensors", "a.pth"):
        os.mkfifo(tmp_path / name)
        refused(tmp_path / name, "cannot be read (it is no plain file)")
    with pytest.raises(UserError, match="null"):
        build_timm("test_vit", "a\0b")


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: {"state_dict": s, "epoch": 3}, OrderedDict])
def test_weights_as_people_save_them_are_still_read(tmp_path: Path, new: bool, wrap: Any) -> None:
    model = timm.create_model("test_vit", pretrained=False)
    state = model.state_dict()
    torch.save(wrap(state), tmp_path / "a.pth", _use_new_zipfile_serialization=new)
    found = tensors("--weights x", str(tmp_path / "a.pth"))
    assert found.keys() == state.keys()
    assert all(torch.equal(found[k], state[k]) for k in state)
    as_parameters = dict(model.half().named_parameters())
    torch.save(as_parameters, tmp_path / "b.pth", _use_new_zipfile_serialization=new)
    assert tensors("--weights x", str(tmp_path / "b.pth")).keys() == as_parameters.keys()
