"""Checks whether the Ray that this process works with is alive.

A dead Ray never answers a request, and a minute after its control service (GCS) has died it ends this process without a message.
So its health is checked before requests, and from another thread while requests wait.
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
"""Processes of a locally started Ray that are essential, and their names in messages."""
STUCK_AFTER = 10.0
"""Grace period, in seconds, between Ray's death and the call of ``stuck`` (`watched`)."""
LOOK_EVERY = 0.5
"""Seconds between two checks of the watching thread."""
PROBE_EVERY = 5.0
"""Seconds, at least, between two connections to the control service of a cluster."""
PROBE_SECONDS = 2.0
"""Timeout of such a connection, in seconds."""
GIVEN_UP_AFTER = 40.0
"""Seconds after which a cluster whose control service is out of reach counts as dead: it may be restarted, and Ray waits for
60."""

_probed = _reached = 0.0
_interrupts, _found = False, ""


def mark_reachable() -> None:
    """Restart the clocks of `_in_reach`: Ray was just started or joined, so its control service is in reach."""
    global _probed, _reached
    _probed = _reached = time.monotonic()


def cause_of_death() -> str:
    """Return a text that says which part of Ray has died; empty if Ray is healthy."""
    here = ray_node()
    if here is None:
        return ""  # not connected, or connected as a Ray client, to which Ray itself reports a lost connection
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
    if what := cause_of_death():
        raise EngineDied(what)


class _Dead(BaseException):
    """Raised in the main thread by a signal. A `BaseException`, so that ``except Exception`` of other code does not catch it."""


@contextlib.contextmanager
def watched(stuck: Callable[[str], object]) -> Iterator[None]:
    """Look at Ray from another thread while the block works with it.

    Some calls of Ray, such as the one that starts an actor, wait for a dead control service in compiled code, where neither a
    signal nor `check` reaches them. If the block has not ended `STUCK_AFTER` seconds after Ray's death, the other thread calls
    ``stuck`` with the cause of death. ``stuck`` should end this process before Ray does.
    """
    main, over = threading.current_thread() is threading.main_thread(), threading.Event()

    def look() -> None:
        since = None
        while not over.wait(LOOK_EVERY):
            if not (what := cause_of_death()):
                since = None  # the cluster is in reach again
                continue
            since = since or time.monotonic()
            if main and _interrupts:
                # repeated, in case other code has caught the exception of the first signal
                os.kill(os.getpid(), signal.SIGUSR2)
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
        # The interrupted call cannot continue, even if the cluster is in reach again.
        if what := _found or cause_of_death():
            raise EngineDied(what) from None
        raise
    finally:
        _interrupts = False


def _interrupt(_: int, frame: FrameType | None) -> None:
    global _found
    entering_or_leaving = frame is not None and frame.f_globals.get("__name__") in ("contextlib", __name__)
    if _interrupts and not entering_or_leaving and (what := cause_of_death()):  # else the signal is sent again
        _found = what
        raise _Dead


def abandon() -> None:
    """Kill the processes of a dead Ray that this process started, and their descendants, without a request to Ray."""
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
    """Whether the control service has accepted a connection within the last `GIVEN_UP_AFTER` seconds."""
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
