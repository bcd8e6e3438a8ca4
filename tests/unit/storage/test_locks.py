"""Locks end with their process, are seen from outside, and follow no link."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from seqsearch.storage.locks import is_locked, lock

HOLDER = (
    "import sys, time; from pathlib import Path; from seqsearch.storage.locks import lock; "
    "held = lock(Path(sys.argv[1]), shared=sys.argv[2] == 'shared'); print(held is not None, flush=True); time.sleep(600)"
)


def other(path: Path, kind: str) -> subprocess.Popen[str]:
    """A process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path), kind], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


@pytest.mark.parametrize("kind", ["alone", "shared"])
def test_a_lock_ends_with_its_process(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lock"
    holder = other(path, kind)
    assert lock(path) is None
    shared = lock(path, shared=True)
    assert (shared is None) == (kind == "alone")
    assert is_locked(path) == (kind == "alone")
    if shared:
        shared.close()
    holder.kill()
    holder.wait()
    assert not is_locked(path)
    mine = lock(path)
    assert mine is not None
    mine.close()


def test_whoever_waits_gets_it(tmp_path: Path) -> None:
    first = lock(tmp_path / "lock")
    assert first is not None
    threading.Timer(0.05, first.close).start()
    second = lock(tmp_path / "lock", wait=True)
    assert second is not None
    assert first.closed
    second.close()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="it is a link"):
        lock(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()


def test_looking_makes_nothing(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "lock")
    assert not os.listdir(tmp_path)
