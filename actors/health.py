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
from typing import Any

from actors.processes import family
from seqsearch.core.errors import EngineDied

NAMES = {"gcs_server": "Ray's control service (GCS)", "raylet": "Ray's node manager (raylet)"}
"""What nothing works without, of a Ray that was started here."""
STUCK_AFTER = 5.0
"""Seconds in which a signal must have interrupted what waits for a Ray that has died."""
LOOK_EVERY, PROBE_EVERY, PROBE_SECONDS = 0.5, 5.0, 2.0
GIVEN_UP_AFTER = 40.0
"""Seconds that the control service of a cluster may be out of reach: it may be restarted, and Ray waits for 60."""

_probed = _reached = 0.0


def watch() -> None:
    """Ray was started, or joined: look at it from now on."""
    global _probed, _reached
    _probed = _reached = time.monotonic()


def died() -> str:
    """What of Ray has died, in words; empty if it is well."""
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
    """Look at Ray while the block waits for it in code that is not ours; by a signal, so in the main thread only.

    ``stuck``: called with what has died, in another thread, where a signal does not interrupt the block: some calls of Ray wait
    for a minute and then end this process without a word. It is to end it before that, with one.

    Raises:
        EngineDied: Ray has died. The block was interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over, found = threading.Event(), [""]

    def look() -> None:
        seen = 0.0
        while not over.wait(LOOK_EVERY):
            if what := died():
                found[0], seen = what, seen or time.monotonic()
                os.kill(os.getpid(), signal.SIGUSR2)  # again, should somebody have caught the first
                if time.monotonic() - seen > STUCK_AFTER and not over.is_set():
                    stuck(what)

    def interrupt(*_: object) -> None:
        if not over.is_set():
            raise _Dead

    before = signal.signal(signal.SIGUSR2, interrupt)
    looks = threading.Thread(target=look, daemon=True)
    looks.start()
    try:
        yield
    except BaseException:
        over.set()
        if found[0]:
            raise EngineDied(found[0]) from None
        raise
    finally:
        over.set()
        looks.join()
        signal.signal(signal.SIGUSR2, before or signal.SIG_DFL)


def abandon() -> None:
    """End what was started here of a Ray that has died, and what that started; it is not asked."""
    here = ray_node()
    if here is None:
        return
    started = [pid for _, process in here.live_processes() for pid in family(process.pid)]
    here.kill_all_processes(check_alive=False, allow_graceful=False)
    for pid in started:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def ray_node() -> Any:
    """What Ray keeps of its processes that this one started or joined; None: nothing."""
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
