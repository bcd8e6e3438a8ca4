"""What trainings left in case they were killed is removed when it is of no use, through no link, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seqsearch.states.folder import StateFolder
from seqsearch.states.under_way import FOLDER, forget, forget_all, place
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from tests.unit.running.baits import bait, look

A, B = "a" * 32, "b" * 32


def left(states: Path, digest: str) -> Path:
    """Two checkpoints of the training of a state, one of them written again, so that it has left a pack."""
    folder = StateFolder(place(states, digest))
    for phase, value in (("c" * 32, 1.0), ("d" * 32, 2.0), ("d" * 32, 3.0)):
        folder.write(phase, {"x": torch.full((4,), value)})
    assert len(list(folder.path.rglob("*.*"))) == 5
    return folder.path


def test_only_that_of_the_given_states_is_removed(tmp_path: Path) -> None:
    one, other = left(tmp_path / "states", A), left(tmp_path / "states", B)
    forget(tmp_path / "states", [A, "e" * 32, "../" + B, ""])
    assert not one.exists()
    assert len(list(other.rglob("*.*"))) == 5


def test_all_is_removed_with_folders_that_are_empty_then(tmp_path: Path) -> None:
    for digest in (A, B):
        left(tmp_path / "states", digest)
    StateFolder(tmp_path / "states").write("f" * 32, {"x": torch.ones(2)})
    forget_all(tmp_path / "states")
    assert not (tmp_path / "states" / FOLDER).exists()
    assert StateFolder(tmp_path / "states").read("f" * 32) is not None
    forget_all(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_what_others_write_or_put_there_stays(tmp_path: Path) -> None:
    folder = left(tmp_path / "states", A)
    notes = [folder / "notes.txt", folder / "packs" / "weights.safetensors", folder.parent / "notes" / (A + ".json")]
    for path in notes:
        path.parent.mkdir(exist_ok=True)
        path.write_text("precious")
    with atomic_file(Inside.below(folder), B + ".json") as file:
        forget_all(tmp_path / "states")
        file.write(b"{}")
    assert sorted(p.name for p in folder.rglob("*.*")) == sorted([B + ".json", "notes.txt", "weights.safetensors"])
    assert all(p.read_text() == "precious" for p in notes)


@pytest.mark.parametrize("where", ["", FOLDER, f"{FOLDER}/{A}", f"{FOLDER}/{A}/packs"])
def test_no_link_is_followed(tmp_path: Path, where: str) -> None:
    precious, states = bait(tmp_path / "precious"), tmp_path / "states"
    for parts in (f"{FOLDER}/{A}/packs", f"{A}/packs", "packs"):
        (precious / parts).mkdir(parents=True, exist_ok=True)
        (precious / parts / (B + ".safetensors")).write_bytes(b"precious")
        (precious / parts).with_name(B + ".json").write_bytes(b"precious")
    link = states / where
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(precious)
    before = look(precious)
    forget(states, [A])
    forget_all(states)
    assert look(precious) == before
