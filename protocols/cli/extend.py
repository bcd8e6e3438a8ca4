"""``seqsearch extend``."""

from __future__ import annotations

from pathlib import Path

import click

from protocols.cldyb.extend import extending
from protocols.cli.completion import runs
from protocols.cli.grouped import RunCommand, grouped_option
from protocols.cli.run_commands import run
from protocols.cli.runtime_options import runtime_options
from protocols.cli.types import Whole
from protocols.running.runtime import Runtime
from seqsearch.core.settings import MOST_TASKS


@click.command(cls=RunCommand)
@click.argument("path", metavar="RUN", type=click.Path(path_type=Path), shell_complete=runs)
@grouped_option(
    "--tasks", group="first", type=Whole(1, MOST_TASKS), required=True, help="Tasks that a sequence is to have then."
)
@runtime_options
def extend(path: Path, tasks: int, runtime: Runtime) -> None:
    """Continue a finished RUN with more tasks: what was found stays, the search goes on, everything is scored again.

    \b
    seqsearch extend runs/mine --tasks 4
    seqsearch cldyb --resume runs/mine      # should it be interrupted
    """
    with extending(path, tasks) as launch:
        run(launch, runtime)
