"""The moment by which a run must stop. The clock is given from outside, so that tests need not wait."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from seqsearch.core import stop


class TimeIsUp(Exception):
    """The deadline has passed and there is more to do."""


class Struck(KeyboardInterrupt):
    """What interrupts a block at its deadline."""


class Deadline:
    """``seconds`` from now on by ``clock`` (s); infinite: never."""

    def __init__(self, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + seconds

    def left(self) -> float:
        """Seconds until then; negative when it has passed."""
        return self._at - self._clock()

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Interrupt this block, and nothing outside of it, when the deadline passes, or a signal asks the process to stop.

        What waits or computes in it is left at once, as Ctrl-C would do it: Ray and methods that catch every ``Exception``
        let only a KeyboardInterrupt through. In another thread than the main one, only the beginning of the block is checked.

        Raises:
            TimeIsUp: it passed before the block ended.
            Stopped: a signal came.
        """
        stop.check()
        if self.left() <= 0:
            raise TimeIsUp
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if self._at == math.inf:
            with stop.interruptible():
                yield
            return
        armed, struck = True, False

        def strike(*_: object) -> None:
            nonlocal struck
            if armed and self.left() <= 0:
                struck = True
                raise Struck

        handler = signal.signal(signal.SIGALRM, strike)
        # again every second: a clock may be slow, and a method may swallow the first interrupt
        timer = signal.setitimer(signal.ITIMER_REAL, max(self.left(), 1e-3), 1.0)
        try:
            with stop.interruptible():
                yield
        except KeyboardInterrupt:
            if struck and not stop.requested():
                raise TimeIsUp from None
            raise
        finally:
            armed = False
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
