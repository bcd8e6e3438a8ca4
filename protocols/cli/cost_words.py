"""The costs of a study, on stdout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from protocols.running.costs import Cost
    from protocols.running.runtime import Runtime


def print_cost(cost: Cost, runtime: Runtime) -> None:
    """All of it, as text or as JSON; no zero for what is only little."""
    from protocols.report.text import duration
    from protocols.running.memory import gigabytes
    from seqsearch.core.text import counted

    if runtime.json:
        click.echo(json.dumps(cost.to_json()))
        return
    seconds = 3600 * cost.hours
    time = "under 1 s" if 0 < seconds < 1 else duration(seconds)
    then = " at a time" if cost.worker != "worker" else ""
    who = "in this process" if runtime.engine.workers == 0 else f"with {counted(cost.workers, cost.worker)}{then}"
    lines = [cost.trained, f"{time} {who}, {cost.timed}", *cost.notes]
    if need := cost.memory:
        several = cost.workers > 1
        together = f", {gigabytes(cost.workers * need.bytes)} with {counted(cost.workers, 'worker')}" if several else ""
        lines.append(f"about {gigabytes(need.bytes)} of memory at most a training ({need.method}){together}")
    click.echo("\n".join([*lines, "nothing was run"]))
