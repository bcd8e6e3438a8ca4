"""What killed writers leave is swept, what others are writing is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

from actors.node import marker, node_folder
from actors.options import EngineOptions
from actors.run_states import RunStates
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from seqsearch.states.folder import StateFolder
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.storage.remote import usable
from seqsearch.storage.unfinished import ELSEWHERE_SECONDS, UNFINISHED, host, sweep
from tests.studies import small_settings

WRITER = """
import sys, time
from pathlib import Path
from contextlib import ExitStack
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.storage.locks import lock_in
from seqsearch.storage.unfinished import host
with ExitStack() as stack:
    for folder in sys.argv[1:]:
        file = stack.enter_context(atomic_file(Inside(Path(folder)), "a.json"))
        file.write(b"x" * 1000)
        file.flush()
        stack.enter_context(lock_in(Inside(Path(folder)), f".driver-{host()}-" + "0" * 32, shared=True))
    print("writing", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[tuple[list[Path], subprocess.Popen[str]]]:
    """Folders of a run, and a process that is writing a file into each of them."""
    folders = [tmp_path / "run", tmp_path / "run/arrays", tmp_path / "run/states", tmp_path / "run/states/packs"]
    process = subprocess.Popen([sys.executable, "-c", WRITER, *map(str, folders)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    yield folders, process
    process.kill()
    process.wait()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def left(folders: list[Path]) -> int:
    return sum(p.name.startswith(".") for folder in folders if folder.is_dir() for p in folder.iterdir())


def test_what_a_killed_writer_left_is_swept_when_a_run_is_opened(
    writing: tuple[list[Path], subprocess.Popen[str]],
) -> None:
    folders, process = writing
    for folder in folders:
        sweep(Inside(folder))
    assert left(folders) == 2 * len(folders), "its writer lives"
    kill(process)
    RunFolder(folders[0]).close()
    assert left(folders) == 0
    assert sorted(p.name for p in folders[0].iterdir()) == ["arrays", "lock"]


def test_what_is_left_when_a_run_ends_is_swept(writing: tuple[list[Path], subprocess.Popen[str]]) -> None:
    folders, process = writing
    run = RunFolder.create(folders[0].with_name("other"), small_settings())
    folders[0].rename(run.path / "gone")  # a worker's, while the run was going on
    (run.path / "states").mkdir()
    for path in (run.path / "gone").iterdir():
        if path.name.startswith("."):
            path.rename(run.path / "states" / path.name)
    kill(process)
    run.close()
    assert not (run.path / "states").exists()


def test_unfinished_files_count_among_the_bytes_of_states(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    for digest in "ab":
        folder.write(digest * 32, {"w": torch.randn(1000)})
        os.utime(tmp_path / f"{digest * 32}.json", (1000 + ord(digest),) * 2)
    whole = folder.size()
    assert folder.evict(whole + 5000) == []
    with atomic_file(Inside(tmp_path).at("packs"), "c" * 32 + ".safetensors") as file:
        file.write(b"x" * 6000)
        file.flush()
        assert folder.evict(whole + 5000) == ["a" * 32]


def test_a_file_of_another_machine_is_dead_when_it_is_old(tmp_path: Path) -> None:
    theirs = tmp_path / f".a.json.{'0' * 8}-{'1' * 12}.part"
    mine = tmp_path / f".a.json.{host()}-{'1' * 12}.part"
    for path in (theirs, mine):
        path.write_bytes(b"x")
    assert sweep(Inside(tmp_path)) == 1
    assert [p.exists() for p in (theirs, mine)] == [True, False]
    os.utime(theirs, (time.time() - ELSEWHERE_SECONDS - 1,) * 2)
    assert sweep(Inside(tmp_path)) == 0
    assert not theirs.exists()


def test_nothing_but_our_own_is_swept(tmp_path: Path) -> None:
    names = (
        ".bashrc",
        ".a.part",
        ".tmpAbC",
        f"a.{host()}-{'1' * 12}.part",
        f".a.{host()}-{'1' * 12}.part.gz",
        ".driver-x",
    )
    for name in names:
        (tmp_path / name).write_bytes(b"theirs")
    (tmp_path / f".l.{host()}-{'1' * 12}.part").symlink_to(tmp_path / ".bashrc")
    (tmp_path / f".f.{host()}-{'1' * 12}.part").mkdir()
    sweep(Inside(tmp_path))
    assert len(list(tmp_path.iterdir())) == len(names) + 2


def test_a_file_that_is_swept_before_it_is_locked_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real, swept = fcntl.flock, []

    def late(file: int, how: int) -> None:
        if not swept and how == fcntl.LOCK_EX:
            swept.append(True)
            sweep(Inside(tmp_path))
        real(file, how)

    monkeypatch.setattr("fcntl.flock", late)
    with atomic_file(Inside(tmp_path), "a.json") as file:
        assert sum(UNFINISHED.fullmatch(p.name) is not None for p in tmp_path.iterdir()) == 1
        file.write(b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert swept


def test_the_mark_of_a_driver_is_swept_unless_another_has_it(tmp_path: Path) -> None:
    states, old, token = tmp_path / "states", "1" * 32, "2" * 32
    states.mkdir()
    (states / marker(old)).touch()
    with ExitStack() as stack:
        both = [
            RunStates(states, token, EngineOptions(workers=1), keeps=True, events=lambda *_: None, needed=list)
            for _ in range(2)
        ]
        stack.callback(both[1].close)
        assert [(states / marker(t)).exists() for t in (old, token)] == [False, True]
        both[0].close()
        assert (states / marker(token)).exists()
    assert not states.exists() or not list(states.iterdir())


def test_a_mark_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real, swept = fcntl.flock, []

    def late(file: Any, how: int) -> None:
        if not swept and how & fcntl.LOCK_SH:
            swept.append(sweep(Inside(tmp_path)))
        real(file, how)

    monkeypatch.setattr("fcntl.flock", late)
    states = RunStates(tmp_path, "2" * 32, EngineOptions(workers=1), keeps=True, events=lambda *_: None, needed=list)
    assert swept == [0]
    assert (tmp_path / marker("2" * 32)).exists()
    states.close()
    assert not (tmp_path / marker("2" * 32)).exists()


def test_the_mark_of_another_machine_is_left_for_an_hour_after_it_was_touched(tmp_path: Path) -> None:
    mark = tmp_path / f".driver-{'0' * 8}-{'2' * 32}"
    mark.touch()
    sweep(Inside(tmp_path))
    assert mark.exists()
    assert node_folder(tmp_path, "2" * 32).path == tmp_path
    os.utime(mark, (0, time.time() - ELSEWHERE_SECONDS - 60))
    sweep(Inside(tmp_path))
    assert not mark.exists()


def test_a_driver_touches_its_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states = RunStates(tmp_path, "2" * 32, EngineOptions(workers=1), keeps=True, events=lambda *_: None, needed=list)
    os.utime(tmp_path / marker("2" * 32), (0, 0))
    monkeypatch.setattr("actors.run_states.FREE_EVERY", 0.0)
    states.free_space()
    assert (tmp_path / marker("2" * 32)).stat().st_mtime > 0
    states.close()


def test_a_folder_that_is_removed_while_a_file_is_begun_in_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real, removed = Inside(tmp_path).at("packs"), os.open, []

    def late(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if not removed and str(path).endswith(".part"):
            removed.append(folder.remove_if_empty())
        return real(path, flags, *rest, **more)

    monkeypatch.setattr("os.open", late)
    with atomic_file(folder, "x") as file:
        file.write(b"x")
    assert removed
    assert (tmp_path / "packs" / "x").read_bytes() == b"x"


def test_what_a_look_at_a_store_leaves_when_it_is_killed_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.unlink", lambda *_, **__: None)  # killed before that
        assert usable(str(tmp_path), "--state-store") == tmp_path
    assert len(list(tmp_path.iterdir())) == 1
    assert sweep(Inside(tmp_path)) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_new_run_sweeps_nothing_before_it_holds_the_lock(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    first = RunFolder(tmp_path / "run")
    part = tmp_path / "run" / f".config.json.{host()}-{'1' * 12}.part"
    part.touch()
    with pytest.raises(UserError, match="is in use by another process"):
        RunFolder.create(tmp_path / "run", small_settings())
    assert part.exists()
    first.close()
    RunFolder.create(tmp_path / "run", small_settings()).close()
    assert not part.exists()
