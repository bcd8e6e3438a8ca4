"""Entry point that ``seqsearch`` runs (`seqsearch.__main__`); ``python -m protocols.cli`` does the same."""

import os
import sys

from protocols.cli.ending import end
from seqsearch.core import stop


def run() -> None:
    """Signals are handled before anything that takes time is imported."""
    _open_missing_streams()
    stop.install(end)
    from protocols.cli.main import main

    try:
        main()
    finally:
        stop.over()


def _open_missing_streams() -> None:
    """A process that is started without standard streams would give their numbers to files of its own."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


if __name__ == "__main__":
    from seqsearch import __main__

    __main__.run()
