"""The command line: ``seqsearch``, and ``python -m protocols.cli`` where no console script is installed."""

from protocols.cli.ending import end
from seqsearch.core import stop


def run() -> None:
    """Signals are handled before anything that takes time is imported."""
    stop.install(end)
    from protocols.cli.main import main

    try:
        main()
    finally:
        stop.over()


if __name__ == "__main__":
    run()
