"""The folder of a Ray that is started here: private, with short names in it, and gone in the end."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.local import LocalFolder


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="t") as made:
        monkeypatch.setenv("RAY_TMPDIR", made)
        yield Path(made)


def test_it_is_private_and_goes(root: Path) -> None:
    folder = LocalFolder()
    assert folder.path.parent == root
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.close()
    assert not any(root.iterdir())


def test_the_folder_that_the_user_names_is_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(root / "new"))
    folder = LocalFolder()
    assert folder.path.parent == root / "new"
    folder.close()


def test_sockets_in_it_have_names_that_are_short_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    folder = LocalFolder()
    try:
        socket = f"{folder.ray}/session_2026-11-22_07-56-54_118794_4194304/sockets/plasma_store"
        assert len(socket.encode()) <= 103
    finally:
        folder.close()


def test_those_of_killed_processes_go_and_no_others(root: Path) -> None:
    leaves = "import os; from actors.local import LocalFolder; print(LocalFolder().path, flush=True); os._exit(9)"
    dead = subprocess.run([sys.executable, "-c", leaves], capture_output=True, text=True, check=False).stdout.strip()
    (root / "sq-other").mkdir()  # not of our making: no lock
    (root / "sq-link").symlink_to(root / "sq-other")
    assert Path(dead).parent == root
    first, second = LocalFolder(), LocalFolder()
    assert not os.path.exists(dead)
    assert first.path.exists()
    assert {p.name for p in root.iterdir()} == {"sq-other", "sq-link", first.path.name, second.path.name}
    first.close()
    second.close()


def test_a_folder_of_the_user_is_left_alone_whatever_its_name(root: Path) -> None:
    for name in ("sq-thesis", "sq-abcdefgh"):  # the second has the form of ours, and more in it
        own = root / name
        own.mkdir(mode=0o700)
        (own / "lock").touch()
        (own / "chapter.tex").write_text("precious")
    LocalFolder().close()
    assert {p.parent.name for p in root.rglob("chapter.tex")} == {"sq-thesis", "sq-abcdefgh"}
