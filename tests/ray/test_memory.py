"""Runs in a cgroup of 3 GB with a method that asks for more: its training is what fails, not the process or the machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ray.faults import bad_method

LIMIT = 3_000_000_000
LIMITS = ("memory/{}/memory.limit_in_bytes", "{}/memory.max")
"""Where the limit of a group is written, in version 1 and 2."""


@pytest.fixture
def group() -> Iterator[Path]:
    """The file of a cgroup that processes enter by."""
    limits = [Path("/sys/fs/cgroup") / limit.format(f"seqsearch-test-{uuid.uuid4().hex}") for limit in LIMITS]
    limit = next((path for path in limits if _made(path)), None)
    if limit is None:
        pytest.skip(
            "only root can make a cgroup, and only where /sys/fs/cgroup is not read-only, as in most containers"
        )
    limit.write_text(str(LIMIT))
    processes = limit.with_name("cgroup.procs")
    yield processes
    for _ in range(100):
        if not (left := processes.read_text().split()):
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.1)
    limit.parent.rmdir()


def _made(limit: Path) -> bool:
    try:
        limit.parent.mkdir()
    except OSError:
        return False
    if limit.exists():
        return True
    limit.parent.rmdir()  # no cgroups are mounted there
    return False


@pytest.mark.long
@pytest.mark.parametrize("workers", [0, 2])
def test_a_training_that_needs_more_than_there_is_fails_in_one_line(group: Path, tmp_path: Path, workers: int) -> None:
    method = bad_method(tmp_path / "m", "balloons", "always")
    command = [
        *(
            sys.executable,
            "-m",
            "protocols.cli",
            "cldyb",
            "--methods",
            f"{method},simplecil",
            "--pool",
            "glyphs:classes=12",
        ),
        *("--tasks", "2", "--classes-per-task", "3", "--workers", str(workers), "--out", str(tmp_path / "run")),
    ]
    entering = (
        f"import os; open({str(group)!r}, 'w').write(str(os.getpid())); os.execv({sys.executable!r}, {command!r})"
    )
    done = subprocess.run([sys.executable, "-c", entering], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert "oom: needs more memory than it may have" in last
    assert "killed" not in done.stderr
    entries = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    found = {e["edge"]["status"] for e in entries if "edge" in e}
    assert found == {"ok", "oom"}
