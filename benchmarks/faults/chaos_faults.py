"""Faults that `benchmarks.faults.chaos` injects into a run.

There is one function for each fault. It returns true if it found a target.
"""

from __future__ import annotations

import functools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from actors.processes import descendants

COMMAND = ("-m", "protocols.cli")


class Unclean(Exception):
    """Something happened that must not."""


@dataclass
class Session:
    """One start of a run, while it goes on."""

    process: subprocess.Popen[bytes]
    command: str
    run: Path
    draw: random.Random


def kill(session: Session, number: int = signal.SIGKILL) -> bool:
    session.process.send_signal(number)
    return True


def kill_all(session: Session, number: int = signal.SIGKILL) -> bool:
    """The driver and whatever it started, as the end of a job does."""
    for pid in descendants(session.process.pid):
        _send(pid, number)
    return True


def pause(session: Session) -> bool:
    session.process.send_signal(signal.SIGSTOP)
    time.sleep(session.draw.uniform(0.1, 1))
    session.process.send_signal(signal.SIGCONT)
    return True


def kill_part(session: Session, *names: str) -> bool:
    """A process of the driver's Ray, by its program or the beginning of its title."""
    found = [pid for pid in descendants(session.process.pid) if Path(_name(pid)).name.startswith(names)]
    return bool(found) and _send(session.draw.choice(found), signal.SIGKILL)


def harm_states(session: Session, how: Callable[[Path], object]) -> bool:
    files = [p for p in sorted((session.run / "states").rglob("*")) if p.is_file()]
    chosen = session.draw.sample(files, min(len(files), session.draw.randint(1, 3)))
    for path in chosen:
        try:
            how(path)
        except OSError:  # it has gone meanwhile
            return False
    return bool(chosen)


def garble(path: Path) -> None:
    """Other bytes in the middle of a file that is there."""
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"garbled")


def second_driver(session: Session) -> bool:
    """Another process wants to continue the same run: it must be refused."""
    if not (session.run / "config.json").exists():
        return False
    said = subprocess.run(
        [sys.executable, *COMMAND, session.command, "--resume", str(session.run), "--workers", "0"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "SEQSEARCH_CACHE": str(session.run.with_suffix(".cache"))},
    )
    if said.returncode == 0 and session.process.poll() is not None:  # the first was at its end
        return False
    if said.returncode != 2 or "in use by another process" not in said.stderr:
        raise Unclean(f"a second driver was not refused: {said.returncode} {said.stderr[-300:]}")
    return True


FAULTS: dict[str, Callable[[Session], bool]] = {
    "driver killed": kill,
    "driver and all it started killed": kill_all,
    "driver terminated": functools.partial(kill, number=signal.SIGTERM),
    "driver paused": pause,
    "second driver": second_driver,
    "states deleted": functools.partial(harm_states, how=Path.unlink),
    "states garbled": functools.partial(harm_states, how=garble),
}
"""Faults of a running session, by name; a function returns true if it found a target."""
RAY_FAULTS: dict[str, Callable[[Session], bool]] = {
    "worker killed": lambda s: kill_part(s, "ray::Worker", "ray::ImplicitFunc"),
    "all it started terminated": functools.partial(kill_all, number=signal.SIGTERM),
    "GCS killed": lambda s: kill_part(s, "gcs_server"),
    "raylet killed": lambda s: kill_part(s, "raylet"),
}
HARMS = ("states deleted", "states garbled")
ENDS = ("driver killed", "driver and all it started killed", "driver terminated", "disk full")
RAY_ENDS = ("GCS killed", "raylet killed", "all it started terminated")
AT_START, MOVED = ("clock set", "disk full"), "folder moved"


def _send(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
    except OSError:
        return ""
