"""States on disk as shared blocks: round trip, sharing, damage, removal, eviction, files from elsewhere."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.states.blocks import Damaged, Manifest, assembled, divided, hash_of
from seqsearch.states.folder import StateFolder, to_evict

A, B, C, D = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool]


def equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        one[n].dtype == other[n].dtype and one[n].shape == other[n].shape and torch.equal(one[n], other[n])
        if isinstance(one[n], torch.Tensor)
        else one[n] == other[n]
        for n in one
    )


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    state: dict[str, Any] = {"steps": draw(st.integers()), "name": draw(st.text()), "on": draw(st.booleans())}
    for i in range(draw(st.integers(0, 4))):
        shape = draw(st.lists(st.integers(0, 5), max_size=3))
        state[f"t{i}"] = torch.randn(shape, generator=rng).mul(9).to(draw(st.sampled_from(DTYPES)))
    return state


@settings(max_examples=60, deadline=None)
@given(parent=states(), child=states(), grown=st.integers(0, 3))
def test_any_state_comes_back_as_it_was_whatever_its_parent(
    tmp_path_factory: pytest.TempPathFactory, parent: dict[str, Any], child: dict[str, Any], grown: int
) -> None:
    for name, value in parent.items():  # some tensors stay, some grow by rows
        if isinstance(value, torch.Tensor) and grown and value.ndim:
            child[name] = torch.cat([value] * grown)
    folder = StateFolder(tmp_path_factory.mktemp("states"))
    manifest = folder.write(A, parent)
    folder.write(B, child, manifest)
    for digest, state in ((A, parent), (B, child)):
        found = StateFolder(folder.path).read(digest)
        assert found is not None
        assert equal(found[0], state)


def test_a_child_stores_what_it_changed_and_what_it_grew_by(tmp_path: Path) -> None:
    """Ten tasks, each with 20 more rows of the head and a changed adapter: at most 1.2 times these bytes."""
    folder, parent = StateFolder(tmp_path), None
    state = {"frozen": torch.randn(300, 300), "adapter": torch.randn(50, 64), "head": torch.empty(0, 64), "n": 0}
    parent, before = folder.write("0" * 32, state), folder.size()
    for task in range(1, 11):
        state = {
            **state,
            "adapter": torch.randn(50, 64),
            "head": torch.cat([state["head"], torch.randn(20, 64)]),
            "n": task,
        }
        parent = folder.write(f"{task:032d}", state, parent)
        added = sum(p.stat().st_size for p in folder.path.rglob("*") if p.is_file()) - before
        before += added
        assert added < 1.2 * 4 * (50 * 64 + 20 * 64) + 4096 * (task == 1), task
    found = folder.read(f"{10:032d}")
    assert found is not None
    assert equal(found[0], state)


def test_equal_tensors_are_stored_once(tmp_path: Path) -> None:
    folder, w = StateFolder(tmp_path), torch.randn(100, 100)
    folder.write(A, {"a": w, "b": w.clone()})
    assert folder.size() < 1.2 * w.numel() * 4


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "other"])
@pytest.mark.parametrize("what", ["manifest", "pack"])
def test_damage_is_noticed_and_the_state_is_gone(tmp_path: Path, what: str, damage: str) -> None:
    folder = StateFolder(tmp_path)
    folder.write(A, {"w": torch.randn(64)})
    path = next(tmp_path.glob("*.json" if what == "manifest" else "packs/*"))
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[-5] ^= 1
    elif damage == "cut":
        content = content[:-7]
    elif damage == "other":
        content = bytearray(b'{"check": "x", "body": "{}"}')
    path.write_bytes(b"" if damage == "empty" else content)
    if damage == "gone":
        path.unlink()
    assert folder.read(A) is None
    assert not folder.has(A)
    folder.write(A, {"w": torch.ones(64)})  # and can be written again
    again = folder.read(A)
    assert again is not None
    assert torch.equal(again[0]["w"], torch.ones(64))


@settings(max_examples=80, deadline=None)
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit_of_a_pack_is_noticed(tmp_path_factory: pytest.TempPathFactory, at: float, bit: int) -> None:
    folder = StateFolder(tmp_path_factory.mktemp("states"))
    state = {"w": torch.arange(40.0), "b": torch.ones(3)}
    folder.write(A, state)
    [path] = folder.path.glob("packs/*")
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= 1 << bit
    path.write_bytes(content)
    found = folder.read(A)
    assert found is None or equal(found[0], state)  # a bit of the header's padding changes nothing


@pytest.mark.parametrize(
    "body",
    [
        '{"tensors": {"w": ["float32", [1], [["../../x", 4, "../../y"]]]}, "scalars": {}}',
        '{"tensors": {"w": ["float32", [1], [["' + "a" * 32 + '", -4, "' + "b" * 32 + '"]]]}, "scalars": {}}',
        '{"tensors": {"w": ["save", [1], []]}, "scalars": {}}',
        '{"tensors": {"w": ["float32", [1000000000000], []]}, "scalars": {}}',
        '{"tensors": [], "scalars": {}}',
        "[" * 100_000,
    ],
)
def test_a_manifest_made_up_by_somebody_reads_and_removes_nothing_else(tmp_path: Path, body: str) -> None:
    bystander = tmp_path / "y.safetensors"
    bystander.write_bytes(b"mine")
    folder = StateFolder(tmp_path / "deep" / "states")
    folder.write(B, {"w": torch.ones(1)})
    (folder.path / f"{A}.json").write_text(json.dumps({"check": hash_of(body.encode()), "body": body}))
    assert folder.read(A) is None
    assert bystander.read_bytes() == b"mine"
    assert folder.read(B) is not None


def test_removing_a_state_leaves_what_others_share(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "states")
    one = {"w": torch.randn(1000), "b": torch.zeros(1)}
    manifest = folder.write(A, one)
    folder.write(B, {**one, "b": torch.ones(1)}, manifest)
    folder.remove([A])
    folder.sweep(grace=0)
    assert folder.read(A) is None
    found = folder.read(B)
    assert found is not None
    assert torch.equal(found[0]["w"], one["w"])
    folder.remove([B])
    folder.sweep(grace=0)
    assert not folder.path.exists()


def test_a_pack_whose_manifest_may_be_on_its_way_is_left_alone(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    folder.write(A, {"w": torch.randn(10)})
    (tmp_path / f"{A}.json").unlink()
    folder.sweep()
    [pack] = tmp_path.glob("packs/*")
    os.utime(pack, (time.time() - 1000,) * 2)
    folder.sweep()
    assert folder.pack_names() == []


def test_the_least_recently_used_go_first_and_never_what_is_needed(tmp_path: Path) -> None:
    folder, kilobyte = StateFolder(tmp_path), 256
    for i, digest in enumerate((A, B, C, D)):
        folder.write(digest, {"w": torch.randn(kilobyte)})
        os.utime(tmp_path / f"{digest}.json", (1000 + i, 1000 + i))
    assert folder.read(A) is not None  # used just now
    one = folder.size() // 4
    assert folder.evict(3 * one, needed=[B]) == [C]
    assert folder.evict(0, needed=[B, D]) == [A]
    assert folder.evict(0) == [B, D]


def test_what_shared_blocks_cost_is_counted_once() -> None:
    packs = {"x": frozenset({"p", "q"}), "y": frozenset({"p", "r"}), "z": frozenset({"s"})}
    sizes = {"p": 100, "q": 1, "r": 2, "s": 50, "orphan": 1000}
    assert to_evict(["x", "y", "z"], packs, sizes, 153) == []
    assert to_evict(["x", "y", "z"], packs, sizes, 152) == ["x"]
    assert to_evict(["x", "y", "z"], packs, sizes, 60) == ["x", "y"]


def test_a_state_travels_as_files_and_only_what_is_missing(tmp_path: Path) -> None:
    here, there = StateFolder(tmp_path / "here"), StateFolder(tmp_path / "there")
    one = {"w": torch.randn(1000)}
    manifest = here.write(A, one)
    here.write(B, {**one, "b": torch.ones(2)}, manifest)
    there.write(A, one)
    files = here.files(B, there.pack_names())
    assert files is not None
    assert there.missing_packs(Manifest.from_json(files.manifest)) == list(files.packs)
    assert len(files.packs) == 1
    there.adopt(B, files.manifest, files.packs)
    found = there.read(B)
    assert found is not None
    assert torch.equal(found[0]["b"], torch.ones(2))


def test_only_tensors_and_plain_scalars_make_a_state() -> None:
    with pytest.raises(TypeError, match=r"state_dict\(\)\['x'\] is a ndarray: only tensors and plain scalars are kept"):
        divided({"x": np.ones(2)})


def test_a_block_that_does_not_fit_its_tensor_is_damage() -> None:
    manifest, fresh = divided({"w": torch.ones(4)})
    entry = manifest.tensors["w"]
    wrong = Manifest({"w": type(entry)(entry.dtype, (5,), entry.blocks)}, {})
    with pytest.raises(Damaged):
        assembled(wrong, lambda block: fresh[block.hash])
