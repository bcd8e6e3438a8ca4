"""``seqsearch cldyb`` and ``seqsearch extend``. Heavy imports are inside."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cldyb.protocol import Cldyb
from protocols.cldyb.settings import CldybSettings
from protocols.cli.command import as_before, run_options, start, workers_at_a_time
from protocols.cli.completion import offered, runs
from protocols.cli.grouped import RunCommand, grouped_option
from protocols.cli.options import given
from protocols.cli.runtime_options import runtime_options
from protocols.cli.types import Whole
from protocols.running.runtime import Runtime
from seqsearch.core import command_line, stop
from seqsearch.core.errors import UserError
from seqsearch.core.settings import MOST_TASKS
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from protocols.cldyb.study import CldybStudy

PROTOCOL = Cldyb()


@click.command(cls=RunCommand)
@run_options(PROTOCOL)
@grouped_option(
    "--difficulty",
    group="first",
    type=click.Choice(["hard", "medium", "easy"]),
    help="Name for a --temperature: 0, 1, inf.",
)
@click.pass_context
def cldyb(
    context: click.Context, /, difficulty: str | None, out: Path | None, resume: Path | None, dry_run: bool,
    runtime: Runtime, **values: Any,
) -> None:  # fmt: skip
    """Build, step by step, a task sequence that is hard for the given methods (CLDyB), and score it against random ones.

    \b
    seqsearch cldyb --methods ranpac,simplecil --pool glyphs:classes=50 --tasks 3 --out runs/mine
    seqsearch cldyb --methods ranpac,simplecil --pool glyphs:classes=50 --tasks 3 --difficulty easy --out runs/easy
    seqsearch cldyb --methods ranpac,er --tasks 5 --classes-per-task 10
    seqsearch cldyb --methods mine.py:MyMethod:lr=0.01,ranpac --workers 8 --out runs/own
    seqsearch cldyb --resume runs/mine
    """
    _merge_difficulty(context, values, difficulty)
    start(
        context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime,
        print_costs=_print_costs, also_given=frozenset({"temperature"} if difficulty else ()),
    )  # fmt: skip


@click.command(cls=RunCommand)
@click.argument("run", type=click.Path(path_type=Path), shell_complete=offered(runs))
@grouped_option(
    "--tasks", group="first", type=Whole(1, MOST_TASKS), required=True, help="Tasks that a sequence is to have then."
)
@runtime_options
@stop.deferred()
def extend(run: Path, tasks: int, runtime: Runtime) -> None:
    """Continue a finished RUN with more tasks: what was found stays, the search goes on, everything is scored again.

    \b
    seqsearch extend runs/mine --tasks 4
    seqsearch cldyb --resume runs/mine      # should it be interrupted
    """
    from protocols.cldyb.extend import longer, reopen
    from protocols.cli.launch import launch
    from protocols.running.folder import RunFolder

    folder, settings = RunFolder.resume(run, CldybSettings, {})
    try:
        if any(command_line.in_list(getattr(settings, f.name)) for f in dataclasses.fields(settings)):
            raise UserError(f"{run} was made with a command, which is not started from here: make a longer run anew")
        settings = longer(folder, PROTOCOL, settings, tasks)
    except UserError:
        folder.close()
        raise
    launch(folder, PROTOCOL, settings, as_before(runtime, run), prepared=lambda study: reopen(folder, PROTOCOL, study))


def commands() -> Sequence[click.Command]:
    return cldyb, extend


def _merge_difficulty(context: click.Context, values: dict[str, Any], difficulty: str | None) -> None:
    """``--difficulty`` is a name for a ``--temperature``.

    Raises:
        UserError: both were given.
    """
    if difficulty is None:
        return
    if given(context, {"temperature"}):
        raise UserError("--difficulty and --temperature set the same thing: give one of them")
    from seqsearch.planners.allocation import DIFFICULTY

    values["temperature"] = DIFFICULTY[difficulty]


def _print_costs(settings: CldybSettings, runtime: Runtime) -> None:
    from protocols.cldyb.costs import calibrate, estimate
    from protocols.cldyb.lowered import beforehand
    from protocols.cli.cost_words import at_work, disk_of, each, memory_json, memory_of, time_of
    from protocols.report.text import count
    from seqsearch.core.grammar import parse_items

    def tell(study: CldybStudy) -> None:
        if (said := beforehand(study)) and not runtime.silent:
            click.echo(shown(said), err=True)

    unit, instead, jointly = calibrate(settings, runtime.engine.device, tell)
    methods = len(parse_items(settings.methods, "method"))
    cost = estimate(settings, methods, unit, workers_at_a_time(runtime), instead, jointly)
    memory = max((u.memory for u in (unit, instead) if u and u.memory), key=lambda need: need.bytes, default=None)
    if runtime.json:
        seconds = {"seconds_per_training": unit.seconds, **memory_json(memory)}
        if instead:
            seconds["seconds_per_surrogate_training"] = instead.seconds
        click.echo(json.dumps({**dataclasses.asdict(cost), "trainings": cost.trainings, **seconds}))
        return
    by = f" by the surrogates, at {each(instead.seconds)} each" if instead else ""
    click.echo(
        f"{count(cost.trainings, 'training')} at most ({cost.search} search{by}, "
        f"{cost.scoring} scoring, {cost.random} random baseline"
        f"{f', {cost.joint} on all classes at once' if cost.joint else ''}"
        f"{f', {cost.tuning} tuning' if cost.tuning else ''}; "
        f"naive retraining: {cost.naive})\n"
        f"{time_of(3600 * cost.hours)} {at_work(runtime, cost.workers)}, at {each(unit.seconds)} a training on this machine\n"
        f"{disk_of(cost.disk_bytes)} of disk at most\n{memory_of(memory, cost.workers)}"
        f"{_verdict(settings)}nothing was run"
    )


def _verdict(s: CldybSettings) -> str:
    """A line on whether the random sequences allow a verdict; empty where all sequences are one task."""
    from protocols.report.text import count
    from seqsearch.distribution.rank_test import fewest_random

    if s.tasks == 1:
        return ""
    if not s.random_sequences:
        return "no random sequences: no verdict, and no drop\n"
    searches, fewest = count(s.searches, "search"), fewest_random(s.searches)
    more = fewest - s.random_sequences
    said = f"needs {more} more random sequences" if more > 0 else f"is possible (from {fewest} random sequences on)"
    return f"a verdict on {searches} {said}; seqsearch power RUN reports how large a difference a study detects\n"
