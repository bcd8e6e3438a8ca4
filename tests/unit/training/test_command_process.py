"""The process of a command: where it writes, how it ends, what is kept of what it says."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.registry import located
from seqsearch.core.types import Edge, StateKey, reported
from seqsearch.training.command import confined
from seqsearch.training.command.places import OUTPUT
from tests.unit.training.commanded import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.mark.skipif(not confined.available(), reason="no Landlock in this kernel: Linux has it from 5.13 on")
def test_a_command_writes_below_its_own_folder_only(lab: Lab, tmp_path: Path) -> None:
    result = lab.train("writes-outside")
    assert result.status == "failed"
    assert "PermissionError" in result.message
    assert (lab.run / "config.json").read_text() == "mine"
    shared = tmp_path / "shared"
    shared.mkdir()
    assert lab.train("counts", str(shared)).status == "failed"
    assert lab.train("counts", str(shared), writes=str(shared)).status == "ok"
    assert (shared / "runs").read_text() == "once\n"


@pytest.mark.long
def test_one_that_never_ends_is_ended_with_all_that_it_started(lab: Lab) -> None:
    begin = time.monotonic()
    result = lab.train("sleeps", hours=2 / 3600)
    assert result.status == "timeout"
    assert "--command-hours" in result.message
    assert time.monotonic() - begin < 30
    _until(lambda: not _in(lab.folder))


@pytest.mark.parametrize("also_its_child", [False, True])
def test_when_who_started_it_is_killed_all_of_it_ends(lab: Lab, also_its_child: bool) -> None:
    """As when a run is killed, and as Ray kills a worker: with its children. Who made a session of its own ends, too."""
    places = lab.run / "own"
    places.mkdir()
    program = "setsid sleep 61 & sleep 61 & sleep 61"
    words = [sys.executable, "-I", "-S", confined.__file__, str(places), "--", "sh", "-c", program]
    pipes = f"cwd={str(places)!r}, stdin=subprocess.PIPE, start_new_session=True"
    starter = (
        f"import subprocess, time; p = subprocess.Popen({words!r}, {pipes}); print(p.pid, flush=True); time.sleep(61)"
    )
    process = subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    _until(lambda: len(_in(places)) == 6)  # the child, the watcher, the shell, three that sleep
    process.kill()
    if also_its_child:
        os.kill(child, signal.SIGKILL)
    process.wait()
    _until(lambda: not _in(places))


def test_what_it_leaves_behind_is_ended_at_once(lab: Lab) -> None:
    begin = time.monotonic()
    assert lab.train("leaves").status == "ok"
    _until(lambda: not _in(lab.folder))
    assert time.monotonic() - begin < 20


def test_of_much_output_the_beginning_and_the_end_are_kept(lab: Lab) -> None:
    assert lab.train("shouts").status == "ok"
    kept = (lab.folder / OUTPUT).read_bytes()
    assert len(kept) < 3 << 20
    assert kept.startswith(b"learning shouts\nx")
    assert b"bytes left out" in kept


def test_a_link_in_place_of_its_folder_is_refused(lab: Lab, tmp_path: Path) -> None:
    from seqsearch.core.errors import UserError

    (tmp_path / "elsewhere").mkdir()
    (lab.run / "commands").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"):
        lab.train("learns")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_what_a_killed_one_left_is_no_hindrance(lab: Lab) -> None:
    assert lab.train("learns").status == "ok"
    (lab.folder / "out" / "half").write_text("x")
    assert lab.train("learns").status == "ok"
    assert not (lab.folder / "out" / "half").exists()


def test_a_colon_in_its_path_is_no_separator(tmp_path: Path) -> None:
    assert Lab(tmp_path / "a:b").train("learns").status == "ok"


def test_places_are_filled_in_one_pass(tmp_path: Path) -> None:
    assert Lab(tmp_path / "we{out}ird {sequence}").train("learns").status == "ok"


def _in(folder: Path) -> list[Path]:
    return [p for p in Path("/proc").glob("[0-9]*") if _folder_of(p).startswith(str(folder))]


def _folder_of(process: Path) -> str:
    try:
        return os.readlink(process / "cwd")
    except OSError:
        return ""


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


# ------------------------------------------------------------------------------------------------ programs that resist

SCOPES = pytest.mark.skipif(
    confined.available() < confined.SCOPES_FROM, reason="no signal scopes in this kernel: Linux has them from 6.12 on"
)
RESISTS = {
    "stops its watcher": "os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)",
    "kills its watcher": "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
    "stops all": "os.kill(-1, signal.SIGSTOP); time.sleep(60)",
    "forks chains": (
        "[os._exit(0) for _ in range(8) if os.fork()]\n"
        "while True:\n    if os.fork(): os._exit(0)\n    os.setsid() if os.getpid() != os.getsid(0) else None"
    ),
}


def _command(lab: Lab, program: str, hours: float) -> EdgeResult:
    text = "cmd:" + shlex.join([sys.executable, "-c", f"import os, signal, time\n{program}", "{sequence}", "{out}"])
    item = replace(located(parse_item(text, "method"), Path.cwd()), params=(("hours", hours),))
    key = StateKey(lab.world.spec(item, "glyph_vit"), 0, 0, reported(lab.tasks))
    return lab.trainer.train(Edge(key, "test", keep=False))


@SCOPES
@pytest.mark.parametrize("how", RESISTS)
def test_who_resists_ends_in_time_with_all_that_it_started(lab: Lab, how: str) -> None:
    """It can neither stop nor kill who watches it, nor start others faster than they are ended."""
    begin = time.monotonic()
    result = _command(lab, RESISTS[how], 2 / 3600)
    assert result.status in ("timeout", "failed")
    assert time.monotonic() - begin < 20
    assert not _in(lab.folder), "nothing is left the moment that the result is there"
    assert lab.train("learns").status == "ok"


@pytest.mark.long
def test_without_signal_scopes_a_stopped_watcher_is_no_way_out(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on older kernels: the program and its watcher are ended by the worker, which inherits them."""
    older = Path(confined.__file__).read_text().replace("SCOPES_FROM = 1 << 1, 6", "SCOPES_FROM = 1 << 1, 600")
    (lab.run / "older.py").write_text(older)
    monkeypatch.setattr(confined, "__file__", str(lab.run / "older.py"))
    for how in ("stops its watcher", "kills its watcher"):
        assert _command(lab, RESISTS[how], 2 / 3600).status in ("timeout", "failed")
        _until(lambda: not _in(lab.folder))
        shutil.rmtree(lab.run / "commands")
