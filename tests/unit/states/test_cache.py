"""Prefix states in RAM and on disk: round trip, RAM limit, what may be stored. Files are tested in test_state_folder.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seqsearch.states.cache import StateCache

A = "a" * 32


def state(n: int = 4) -> dict[str, object]:
    return {
        "w": torch.arange(n, dtype=torch.float64),
        "b": torch.tensor([True, False]),
        "name": "x",
        "steps": 3,
        "lr": 0.1,
        "on": True,
    }


def test_a_kept_state_survives_the_process(tmp_path: Path) -> None:
    StateCache(tmp_path).put("a", state(), keep=True)
    back = StateCache(tmp_path).get("a")
    assert back is not None
    assert torch.equal(back["w"], torch.arange(4, dtype=torch.float64))
    assert (back["b"].dtype, back["name"], back["steps"], back["lr"], back["on"]) == (torch.bool, "x", 3, 0.1, True)


def test_a_leaf_is_held_nowhere(tmp_path: Path) -> None:
    """Nothing extends it: it is evaluated once, from what `put` gives back."""
    cache = StateCache(tmp_path)
    back = cache.put("a", state(), keep=False)
    assert torch.equal(back["w"], torch.arange(4, dtype=torch.float64))
    assert cache.where("a") is None
    assert cache._ram.currsize == 0
    assert not list(tmp_path.iterdir())


def test_ram_is_bounded_and_disk_stands_in(tmp_path: Path) -> None:
    cache = StateCache(tmp_path, ram_bytes=3000)
    for name in "abcdef":
        cache.put(name, state(100), keep=True)
    assert 0 < len(cache._ram) < 6
    assert cache.get("a") is not None
    assert "a" in cache._ram


def test_dropping_removes_both_copies(tmp_path: Path) -> None:
    cache = StateCache(tmp_path / "states")
    cache.put(A, state(), keep=True)
    cache.drop([A, "never there"])
    assert cache.get(A) is None
    cache.close()
    assert not (tmp_path / "states").exists()


def test_what_somebody_else_clears_stays_on_the_disk(tmp_path: Path) -> None:
    cache = StateCache(tmp_path, clears=False)
    cache.put(A, state(), keep=True)
    cache.drop([A])
    assert cache.where(A) == "disk"
    assert cache.get(A) is not None
    assert cache.where(A) == "ram"


def test_a_child_writes_what_its_parent_does_not_have_also_when_the_parent_is_in_no_ram(tmp_path: Path) -> None:
    parent = {"w": torch.randn(100, 64), "b": torch.randn(64)}
    child = {**parent, "w": torch.cat([parent["w"], torch.randn(10, 64)])}
    StateCache(tmp_path).put(A, parent, keep=True)
    before = StateCache(tmp_path).disk.size()
    later = StateCache(tmp_path)
    later.put("b" * 32, child, keep=True, parent=A)
    assert later.disk.size() - before < 1.2 * 10 * 64 * 4
    back = StateCache(tmp_path).get("b" * 32)
    assert back is not None
    assert torch.equal(back["w"], child["w"])


def test_only_tensors_and_scalars_are_stored(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"state_dict\(\)\['buffer'\] is a list"):
        StateCache(tmp_path).put("a", {"buffer": [1, 2]}, keep=True)


def test_what_is_held_does_not_change_with_the_tensors_it_came_from_or_was_given_as(tmp_path: Path) -> None:
    """Plain torch style: a state_dict that is a view of the weights, trained in place afterwards."""
    cache, weights = StateCache(tmp_path), torch.zeros(3)
    cache.put("a", {"w": weights}, keep=True)
    weights += 1
    first = cache.get("a")
    assert first is not None
    first["w"] += 2
    again = cache.get("a")
    assert again is not None
    assert torch.equal(again["w"], torch.zeros(3))
