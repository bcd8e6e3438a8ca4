"""A request to stop, from outside: Ctrl-C, SIGTERM, a terminal that was closed.

The handler sets a flag, and what runs looks at it where it can be left (`check`). It raises by itself only in `interruptible`,
around what may take long and can be left at any instruction, and ends the process in `expendable`, around imports: an exception
that a handler raises there is swallowed, or taken for a missing library.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_AFTER = 1.0
"""Seconds within which a second signal counts as the first: a terminal signals a whole group, and a parent passes it on."""


class Stopped(KeyboardInterrupt):
    """A signal asked this process to stop. What catches every ``Exception``, as methods do, and Ray let it through."""


class _Mode(Enum):
    """Actions of the handler besides setting the flag."""

    WAIT, RAISE, END = range(3)


_requested = 0
_since = 0.0
_mode = _Mode.WAIT
_process = 0
_end: Callable[[int], object] = os._exit
_hosted = False
"""The process is a user's own (`hosted`), which no signal may end."""


def install(end: Callable[[int], object]) -> None:
    """Handle `SIGNALS` from now on, but for those that this process was started to ignore (``nohup``). Main thread only.

    ``end`` gets the number of a signal, and ends the process: called for a second one, and in `expendable`, as
    which everything counts until it says otherwise.
    """
    global _end, _process, _mode
    _end, _process, _mode = end, os.getpid(), _Mode.END
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)
    # the last of all, before Python gives its signals back to the system, which would end the process
    atexit.register(_ignore)


@contextmanager
def hosted() -> Iterator[None]:
    """Ctrl-C asks the block to stop, in a process that is a user's own: a notebook's kernel, a script.

    The handler of SIGINT is restored after the block; other signals are left to the process. A second Ctrl-C is a
    `KeyboardInterrupt` wherever it arrives. In other threads than the main one, and where `install` handles signals, nothing
    changes.
    """
    global _end, _process, _mode, _requested, _hosted
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if not main or _process == os.getpid() or handler in (None, signal.SIG_IGN):
        yield
        return
    before = _end, _process, _mode
    _end, _process, _mode, _hosted = _interrupt, os.getpid(), _Mode.WAIT, True
    signal.signal(signal.SIGINT, _handle)
    try:
        yield
    finally:
        _end, _process, _mode = before
        _requested, _hosted = 0, False
        signal.signal(signal.SIGINT, handler)


def _interrupt(_: int) -> None:
    raise KeyboardInterrupt


def over() -> None:
    """The process is about to exit with what it has come to: a signal changes nothing any more, a second one ends a hang."""
    global _mode, _requested
    _mode, _requested = _Mode.WAIT, 0


def _ignore() -> None:
    for number in SIGNALS:
        if signal.getsignal(number) is _handle:
            signal.signal(number, signal.SIG_IGN)


def requested() -> int:
    """The number of the signal that asked this process to stop; 0: none did."""
    return _requested


def check() -> None:
    """A place where a run can be left.

    Raises:
        Stopped: it was asked to.
    """
    if _requested:
        raise Stopped


@contextmanager
def interruptible() -> Iterator[None]:
    """The block is left at once, wherever it is.

    Raises:
        Stopped: it was asked to, before the block or in it.
    """
    with _as(_Mode.RAISE):
        check()
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """The block is left where it looks, and nowhere else, also inside `interruptible`."""
    with _as(_Mode.WAIT):
        yield


@contextmanager
def expendable() -> Iterator[None]:
    """The process may end in the block: nothing is begun that has to be left in order.

    Raises:
        Stopped: it was asked to, before the block.
    """
    with _as(_Mode.END):
        check()
        yield


@contextmanager
def _as(mode: _Mode) -> Iterator[None]:
    global _mode
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def _handle(number: int, _: object) -> None:
    global _requested, _since
    if os.getpid() != _process:  # a child that was forked ends as children do
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    if number == signal.SIGHUP:
        _leave_terminal()
    if _requested:
        if time.monotonic() - _since >= AGAIN_AFTER:
            _end(number)
        return
    _requested, _since = number, time.monotonic()
    if _mode is _Mode.END and not _hosted:
        _end(number)
    if _mode is _Mode.RAISE:
        raise Stopped


def _leave_terminal() -> None:
    """Where the terminal is gone, writing to it would raise."""
    for stream in (1, 2):
        try:
            os.write(stream, b"")
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
