"""Who ended it: the user and the clock, or a method's own code."""

from __future__ import annotations

import signal
import threading

from seqsearch.core import stop
from seqsearch.core.deadline import Struck, TimeIsUp


def ends_session(error: BaseException) -> bool:
    """Whether an exception is how a session ends (its time is up, a signal), not what a method raised by itself."""
    if stop.requested():  # whatever the job that it interrupted has made of it
        return True
    if not isinstance(error, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return isinstance(error, TimeIsUp)  # nowhere but in the main thread do signals arrive
    return isinstance(error, (Struck, stop.Stopped)) or signal.getsignal(signal.SIGINT) is signal.default_int_handler
