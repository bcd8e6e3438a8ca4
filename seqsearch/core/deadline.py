"""Deadlines of runs, and whether the user, the clock or a method's own code ended a session. The clock is an argument,
so that tests need not wait."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from seqsearch.core import stop


class TimeIsUp(Exception):
    """The deadline has passed and there is more to do."""


class Struck(KeyboardInterrupt):
    """The exception that interrupts a block at its deadline."""


_BOUNDS = ("contextlib", __name__, stop.__name__)
"""Modules whose code enters and leaves a block: what a signal handler raises there would pass by the end of the block."""
_struck = False
"""Whether the block under way was interrupted, whatever the code in it has made of that."""


def check() -> None:
    """Before anything is kept: what was interrupted may have swallowed that, and be half done.

    Raises:
        TimeIsUp: the block under way was interrupted at its deadline.
        Stopped: a signal asked the process to stop.
    """
    stop.check()
    if _struck:
        raise TimeIsUp


def ends_session(error: BaseException) -> bool:
    """Whether an exception is how a session ends (its time is up, a signal), not what a method raised by itself."""
    if stop.requested() or _struck:  # whatever the job that it interrupted has made of it
        return True
    if not isinstance(error, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return isinstance(error, TimeIsUp)  # nowhere but in the main thread do signals arrive
    return isinstance(error, (Struck, stop.Stopped)) or signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Deadline:
    """``seconds`` by ``clock`` (s), from now on, or if it ``waits`` from the first block that it interrupts; infinite: never."""

    def __init__(
        self, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic, *, waits: bool = False
    ) -> None:
        self._seconds, self._clock, self._waits, self._made = seconds, clock, waits, clock()
        self._at = None if waits else self._made + seconds

    @property
    def counts(self) -> bool:
        """Whether its time has begun."""
        return self._at is not None

    @property
    def starting(self) -> float | None:
        """Seconds that it waited for its time to begin; None if it does not wait, is infinite, or has not begun."""
        if not self._waits or self._at is None or not math.isfinite(self._seconds):
            return None
        return max(0.0, self._at - self._seconds - self._made)

    @property
    def spent(self) -> float:
        """Seconds since its time began."""
        return 0.0 if self._at is None else max(0.0, self._seconds - self.left())

    def left(self) -> float:
        """Seconds until then, all of them before its time has begun; negative when it has passed."""
        return self._seconds if self._at is None else self._at - self._clock()

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Interrupt this block, and nothing outside of it, when the deadline passes, or a signal asks the process to stop.

        What waits or computes in it is left at once, as Ctrl-C would do it: Ray and methods that catch every ``Exception``
        let only a KeyboardInterrupt through. What the block makes of it does not count, whether it raises something else or ends
        as if nothing had been. In another thread than the main one, only the beginning of the block is checked.

        Raises:
            TimeIsUp: it passed before the block ended.
            Stopped: a signal came.
        """
        global _struck
        stop.check()
        if self._at is None:
            self._at = self._clock() + self._seconds
        if self.left() <= 0:
            raise TimeIsUp
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if self._at == math.inf:
            with _interruptible():
                yield
            return
        armed, around = True, _struck

        def strike(_: int, frame: FrameType | None) -> None:
            global _struck
            if not armed or self.left() > 0:
                return
            if frame and frame.f_globals.get("__name__") in _BOUNDS:
                signal.setitimer(signal.ITIMER_REAL, 1e-3, 1.0)
                return
            _struck = True
            raise Struck

        handler = signal.signal(signal.SIGALRM, strike)
        # again every second: a clock may be slow, and a method may swallow the first interrupt
        timer = signal.setitimer(signal.ITIMER_REAL, max(self.left(), 1e-3), 1.0)
        try:
            with _interruptible():
                yield
        finally:
            armed, _struck = False, around
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)


@contextmanager
def _interruptible() -> Iterator[None]:
    """As `stop.interruptible`; once it is interrupted, nothing else comes of the block."""
    try:
        with stop.interruptible():
            yield
    except BaseException:
        if not (stop.requested() or _struck):
            raise
    check()
