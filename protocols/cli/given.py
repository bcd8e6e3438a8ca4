"""What commands have in common that are about a RUN or a file of sequences: its settings, and what scoring costs."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.command import refuse_unknown, workers_at_a_time
from protocols.cli.options import given
from seqsearch.core.errors import UserError

if TYPE_CHECKING:
    from protocols.evaluate.parts.source import OfRun
    from protocols.running.protocol import Protocol
    from protocols.running.runtime import Runtime
    from seqsearch.core.types import Tasks


def of_source(
    context: click.Context, protocol: Protocol[Any, Any], source: str | None, values: dict[str, Any], resume: Path | None,
    *, methods: OfRun,
) -> dict[str, Any]:  # fmt: skip
    """Values of the settings with those of the source run where the user did not name them.

    Args:
        methods: whether those of the run are judged, too.

    Raises:
        UserError: no source; a source beside ``--resume``; a run that does not say how it was made.
    """
    if resume is not None:
        if source is not None:
            raise UserError("--resume continues a run with its own sequences: leave RUN out")
        return values
    if source is None:
        raise UserError("name a RUN, or a file of sequences (.parquet, .json, .csv)")
    fields = {f.name for f in dataclasses.fields(protocol.settings)}
    named = given(context, fields)
    refuse_unknown(protocol, {n: values[n] for n in named & values.keys()})
    from protocols.evaluate.parts.source import filled

    return filled(protocol.settings, {**values, "source": source}, named, methods=methods)


def longest(study: Any) -> Tasks:
    """The tasks of the longest of the sequences that are judged."""
    found: Tasks = max(study.sequences, key=lambda s: len(s.tasks)).tasks
    return found


def print_costs(
    protocol: Protocol[Any, Any], settings: Any, runtime: Runtime, example: Callable[[Any], Tasks] = longest
) -> None:
    """Trainings and hours of a study, timed on the first two tasks of the ``example`` of its sequences.

    Raises:
        UserError: bad input.
    """
    from protocols.cli.cost_words import at_work, each, memory_json, memory_of, time_of
    from protocols.report.text import count
    from protocols.running.costs import unit_costs

    with tempfile.TemporaryDirectory() as scratch:
        study = protocol.prepare(settings, Path(scratch), runtime.engine.device, Path.cwd())
        most = protocol.expected(study)
        tasks = example(study)
        unit = unit_costs(study, tasks[:2], "test", Path(scratch), len(tasks))
    workers = workers_at_a_time(runtime)
    hours = most.trainings * unit.seconds / 3600 / workers
    if runtime.json:
        said = {"trainings": most.trainings, "rollouts": most.rollouts, "hours": hours, "workers": workers}
        click.echo(json.dumps({**said, "seconds_per_training": unit.seconds, **memory_json(unit.memory)}))
        return
    click.echo(
        f"{count(most.trainings, 'training')} at most ({count(most.rollouts, 'time')} a method is trained on a sequence)\n"
        f"{time_of(3600 * hours)} {at_work(runtime, workers)}, at {each(unit.seconds)} a training on this machine\n"
        f"{memory_of(unit.memory, workers)}nothing was run"
    )
