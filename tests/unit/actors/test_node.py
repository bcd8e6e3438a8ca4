"""Where a worker keeps states on its node, and what it may allocate there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from actors import node
from actors.node import STALE_SECONDS, marker, node_folder
from tests.programs import counts_memory


def test_the_drivers_folder_is_used_where_it_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    states = tmp_path / "states"
    states.mkdir()
    elsewhere = node_folder(states, "run")
    assert elsewhere.own
    assert elsewhere.path.is_relative_to(tmp_path / "tmp")
    (states / marker("run")).touch()
    assert node_folder(states, "run").path == states
    assert not node_folder(states, "run").own
    monkeypatch.setenv("SEQSEARCH_STATES", str(tmp_path / "mine"))
    assert node_folder(states, "run").path.is_relative_to(tmp_path / "mine")


def test_folders_that_nobody_uses_are_removed_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQSEARCH_STATES", str(tmp_path))
    old, held, young = (node_folder(tmp_path / "none", name) for name in ("a" * 32, "b" * 32, "c" * 32))
    assert old.lock is not None
    old.lock.close()
    for folder in (old, held):
        os.utime(folder.path, (0, time.time() - STALE_SECONDS - 60))
    node_folder(tmp_path / "none", "d" * 32)
    assert [f.path.exists() for f in (old, held, young)] == [False, True, True]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_else_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQSEARCH_STATES", str(tmp_path))
    planted = tmp_path / f"seqsearch-states-{os.getuid()}"
    planted.mkdir()
    os.chown(planted, 12345, 12345)
    assert not node_folder(tmp_path / "none", "run").path.is_relative_to(planted)


@counts_memory
def test_more_memory_than_allowed_is_an_exception() -> None:
    script = (
        "import numpy as np\nfrom seqsearch.core.memory import limit_memory, resident_memory\n"
        "limit_memory(resident_memory() + (256 << 20))\nfits = np.ones(128 << 20, dtype=np.uint8)\n"
        "try:\n    np.ones(512 << 20, dtype=np.uint8)\nexcept MemoryError:\n    print('refused', len(fits) >> 20)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout == "refused 128\n"


def test_only_folders_of_our_own_are_removed_and_none_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQSEARCH_STATES", str(tmp_path / "here"))
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("theirs")
    root = node_folder(tmp_path / "none", "a" * 32).path.parent
    (root / "photos").mkdir()
    (root / ("b" * 32)).symlink_to(precious)
    (root / ("c" * 32)).mkdir()
    (root / ("c" * 32) / "link").symlink_to(precious)
    old = time.time() - STALE_SECONDS - 60
    for name in ("photos", "c" * 32):
        os.utime(root / name, (old, old))
    os.utime(precious, (old, old))
    folder = node_folder(tmp_path / "none", "b" * 32)
    assert sorted(p.name for p in root.iterdir() if len(p.name) == 32) == ["a" * 32, "b" * 32]
    assert (root / "photos").is_dir()
    assert not folder.path.is_symlink()
    folder.remove()
    assert [p.name for p in precious.iterdir()] == ["file"]


def test_the_part_of_a_worker_counts_what_all_of_them_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether others hold much or little just now, a worker's part is the same."""
    monkeypatch.setattr(node, "free_memory", lambda: 6 << 30)
    monkeypatch.setattr(node, "descendants", lambda _: [1, 2, 3])
    held = {1: 1 << 30, 2: 3 << 30, 3: 2 << 30}
    monkeypatch.setattr(node, "private_memory", lambda pid=1: held[pid])
    assert node.part_of_memory(3) == (4 << 30) - (1 << 30)
    held[1] = 5 << 30
    assert node.part_of_memory(4) == 0

    def unseen(_: int) -> list[int]:
        raise FileNotFoundError("/proc")

    monkeypatch.setattr(node, "descendants", unseen)
    assert node.part_of_memory(4) is None
