"""One run on a Ray of its own: what others on this machine, and in its network, can reach of it; and how Ctrl-C stops it."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from actors.processes import descendants
from tests.ray.test_runs import ARGUMENTS

LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F")
"""127.0.0.1 in /proc/net/tcp, and in tcp6."""


@dataclass
class Stopped:
    """A run that was interrupted, and what was seen of it before: the addresses that it listened on by process, and modes."""

    run: Path
    code: int
    said: str
    listening: dict[str, set[str]]
    modes: dict[str, int]
    folder: Path


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    home = tmp_path_factory.mktemp("home")
    run, journal = home / "run", home / "run" / "journal.jsonl"
    token = home / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("0" * 64)
    token.chmod(0o644)
    driver = subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *ARGUMENTS, "--workers", "1", "--out", str(run)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH_")}, "HOME": str(home)},
    )
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and not (journal.exists() and journal.read_bytes().count(b"\n") > 8):
            time.sleep(0.05)
        started = programs(driver.pid)
        [folder] = {Path(p) for pid in started for p in open_folders(pid)}
        modes = {f"{p.parent.name}/{p.name}": mode(p) for p in (token.parent, token, folder)}
        listening = listeners(started)
        driver.send_signal(signal.SIGINT)
        _, said = driver.communicate(timeout=60)
    finally:
        driver.kill()
    return Stopped(run, driver.returncode, said, listening, modes, folder)


def test_ctrl_c_stops_at_once_and_says_how_to_go_on(stopped: Stopped) -> None:
    assert stopped.code == 130
    assert f"seqsearch cldyb --resume {stopped.run}" in stopped.said
    assert "Traceback" not in stopped.said


def test_it_listens_on_loopback_alone(stopped: Stopped) -> None:
    assert {"gcs_server", "raylet"} <= set(stopped.listening)
    assert {a for addresses in stopped.listening.values() for a in addresses} <= set(LOOPBACK), stopped.listening


def test_its_token_and_its_folder_are_private_and_the_folder_goes(stopped: Stopped) -> None:
    assert stopped.modes[".ray/auth_token"] == 0o600
    assert stopped.modes[f"{stopped.folder.parent.name}/{stopped.folder.name}"] == 0o700
    assert "was readable by others: made private" in stopped.said
    assert not stopped.folder.exists()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def programs(root: int) -> dict[int, str]:
    """A process and those that it started, with the names of their programs."""
    return {
        pid: "driver" if pid == root else Path(f"/proc/{pid}/comm").read_text().strip() for pid in descendants(root)
    }


def open_files(pid: int) -> set[str]:
    found = set()
    for entry in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            found.add(os.readlink(entry))
        except OSError:
            continue
    return found


def open_folders(pid: int) -> set[str]:
    """Folders of Ray that a process holds files in."""
    return {re.split(r"(?:/r)?/session_", name)[0] for name in open_files(pid) if "/session_" in name}


def listeners(started: dict[int, str]) -> dict[str, set[str]]:
    """Addresses that each program listens on, as the kernel writes them."""
    owner = {
        name: program for pid, program in started.items() for name in open_files(pid) if name.startswith("socket:")
    }
    found: dict[str, set[str]] = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and (program := owner.get(f"socket:[{fields[9]}]")):
                found.setdefault(program, set()).add(fields[1].partition(":")[0])
    return found
