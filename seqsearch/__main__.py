"""The command line: ``seqsearch``, and ``python -m seqsearch`` where no console script is installed."""

import importlib
import sys

from seqsearch.core.errors import UserError
from seqsearch.core.installation import check_together


def run() -> None:
    """Look where Python finds our packages before one of them is imported that may be another's."""
    try:
        check_together()
    except UserError as error:
        if sys.stderr is not None:
            print(f"seqsearch: {error}", file=sys.stderr)
        sys.exit(2)
    importlib.import_module("protocols.cli.__main__").run()


if __name__ == "__main__":
    run()
