"""Prefix states: round trip, RAM limit, corruption, what may be stored."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seqsearch.cache import StateCache


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


def test_a_leaf_lives_in_ram_only(tmp_path: Path) -> None:
    cache = StateCache(tmp_path)
    cache.put("a", state(), keep=False)
    assert cache.get("a") is not None
    assert StateCache(tmp_path).get("a") is None


def test_ram_is_bounded_and_disk_stands_in(tmp_path: Path) -> None:
    cache = StateCache(tmp_path, ram_bytes=3000)
    for name in "abcdef":
        cache.put(name, state(100), keep=True)
    assert 0 < len(cache._ram) < 6
    assert cache.get("a") is not None
    assert "a" in cache._ram


def test_dropping_removes_both_copies(tmp_path: Path) -> None:
    cache = StateCache(tmp_path)
    cache.put("a", state(), keep=True)
    cache.drop(["a", "never there"])
    assert cache.get("a") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\x00" * 64])
def test_a_corrupted_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    StateCache(tmp_path).put("a", state(), keep=True)
    (tmp_path / "a.safetensors").write_bytes(damage)
    assert StateCache(tmp_path).get("a") is None


def test_only_tensors_and_scalars_are_stored(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"state_dict\(\)\['buffer'\] is a list"):
        StateCache(tmp_path).put("a", {"buffer": [1, 2]}, keep=True)


def test_what_is_held_does_not_change_with_the_tensors_it_came_from_or_was_given_as(tmp_path: Path) -> None:
    """Plain torch style: a state_dict that is a view of the weights, trained in place afterwards."""
    cache, weights = StateCache(tmp_path), torch.zeros(3)
    cache.put("a", {"w": weights}, keep=False)
    weights += 1
    first = cache.get("a")
    assert first is not None
    first["w"] += 2
    again = cache.get("a")
    assert again is not None
    assert torch.equal(again["w"], torch.zeros(3))
