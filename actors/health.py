"""Whether the Ray that this process works with is still there.

What is asked of a dead Ray is never answered, and a minute after its control service (GCS) has died Ray ends this process without
a word. So it is looked at before it is asked.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from actors.processes import descendants
from seqsearch.core.errors import EngineDied

NAMES = {"gcs_server": "Ray's control service (GCS)", "raylet": "Ray's node manager (raylet)"}
"""Processes of a locally started Ray that nothing works without."""
STUCK_AFTER = 10.0
"""Seconds in which what works with a Ray that has died must have been left."""
LOOK_EVERY, PROBE_EVERY, PROBE_SECONDS = 0.5, 5.0, 2.0
GIVEN_UP_AFTER = 40.0
"""Seconds that the control service of a cluster may be out of reach: it may be restarted, and Ray waits for 60."""

_probed = _reached = 0.0
_interrupts, _found = False, ""


def watch() -> None:
    """Ray was started, or joined: look at it from now on."""
    global _probed, _reached
    _probed = _reached = time.monotonic()


def died() -> str:
    """Describe the part of Ray that has died; empty if Ray is healthy."""
    here = ray_node()
    if here is None:
        return ""  # not connected, or as a client, which Ray tells of it
    if here.is_head():
        gone = [NAMES[kind] for kind, _ in here.dead_processes() if kind in NAMES]
        return f"{gone[0]} has died (killed, or out of memory)" if gone else ""
    if not _in_reach(here.gcs_address):
        return f"the Ray cluster at {here.gcs_address} has been out of reach for {GIVEN_UP_AFTER:.0f} s"
    return ""


def check() -> None:
    """
    Raises:
        EngineDied: Ray has died.
    """
    if what := died():
        raise EngineDied(what)


class _Dead(BaseException):
    """Raised in the main thread by a signal; no code of others catches it."""


@contextlib.contextmanager
def watched(stuck: Callable[[str], object]) -> Iterator[None]:
    """Look at Ray from another thread while the block works with it.

    Some calls of Ray, as the one that starts an actor, wait for a dead control service in compiled code, where neither a signal
    nor `check` reaches them. ``stuck`` is called with what has died, in the other thread, when the block has not been left
    `STUCK_AFTER` seconds later; it is to end this process before Ray does.
    """
    main, over = threading.current_thread() is threading.main_thread(), threading.Event()

    def look() -> None:
        since = None
        while not over.wait(LOOK_EVERY):
            if not (what := died()):
                since = None  # a cluster that is in reach again
                continue
            since = since or time.monotonic()
            if main and _interrupts:
                os.kill(os.getpid(), signal.SIGUSR2)  # again, should somebody have caught what the first has raised
            if time.monotonic() - since > STUCK_AFTER and not over.is_set():
                stuck(what)

    before = signal.signal(signal.SIGUSR2, _interrupt) if main else None
    looks = threading.Thread(target=look, daemon=True)
    looks.start()
    try:
        yield
    finally:
        over.set()
        looks.join()
        if main:
            signal.signal(signal.SIGUSR2, before or signal.SIG_DFL)


@contextlib.contextmanager
def interrupting() -> Iterator[None]:
    """Inside `watched`: the block waits for Ray in code that does not `check`, and is interrupted. In the main thread only.

    Raises:
        EngineDied: Ray has died.
    """
    global _interrupts, _found
    _interrupts, _found = True, ""
    try:
        yield
    except BaseException:
        _interrupts = False
        if what := _found or died():  # what was interrupted does not go on, even if a cluster is in reach again
            raise EngineDied(what) from None
        raise
    finally:
        _interrupts = False


def _interrupt(_: int, frame: FrameType | None) -> None:
    global _found
    entering_or_leaving = frame is not None and frame.f_globals.get("__name__") in ("contextlib", __name__)
    if _interrupts and not entering_or_leaving and (what := died()):  # else it comes again
        _found = what
        raise _Dead


def abandon() -> None:
    """End what was started here of a Ray that has died, and what that started; it is not asked."""
    here = ray_node()
    if here is None:
        return
    started = [pid for _, process in here.live_processes() for pid in descendants(process.pid)]
    here.kill_all_processes(check_alive=False, allow_graceful=False)
    for pid in started:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def ray_node() -> Any:
    """Return Ray's record of the processes that this process started or joined; None if there is none."""
    from ray._private import worker

    return worker._global_node


def _in_reach(address: str) -> bool:
    """Whether the control service has answered lately."""
    global _probed, _reached
    if time.monotonic() - _probed >= PROBE_EVERY:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS).close()
            _reached = time.monotonic()
        except OSError:
            pass
        _probed = time.monotonic()
    return _probed - _reached < GIVEN_UP_AFTER
