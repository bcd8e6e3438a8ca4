"""Memory of this process."""

from __future__ import annotations

import resource
import sys


def peak_memory() -> int:
    """Bytes that this process had at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
