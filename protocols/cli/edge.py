"""``seqsearch edge``: its flags, and what runs behind them. Heavy imports are inside."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from protocols.cli.command import run_options, start, workers_at_a_time
from protocols.cli.grouped import RunCommand, grouped_option
from protocols.cli.options import given
from protocols.edge.plan_only import EdgePlan
from protocols.edge.protocol import Edge
from protocols.edge.settings import EdgeSettings
from protocols.running.protocol import Protocol
from protocols.running.runtime import Runtime
from seqsearch.core.errors import UserError
from seqsearch.core.settings import flag

PROTOCOL, PLANS = Edge(), EdgePlan()
FIELDS = {f.name for f in dataclasses.fields(EdgeSettings)}


@click.command(cls=RunCommand)
@run_options(PROTOCOL)
@grouped_option(
    "--plan-only",
    group="first",
    is_flag=True,
    help="Find and write the sequences, train nothing; with a --similarity FILE no pool is needed.",
)
@click.pass_context
def edge(
    context: click.Context, /, plan_only: bool, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime,
    **values: Any,
) -> None:  # fmt: skip
    """Train methods on the hard, the easy and random class sequences, and estimate the distribution of accuracies (EDGE).

    \b
    seqsearch edge --methods simplecil --pool glyphs:classes=12 --tasks 3 --random-sequences 19
    seqsearch edge --methods ranpac,slca --pool photos/ --tasks 10
    seqsearch edge --methods slca --pool glyphs:classes=6 --tasks 3 --enumerate      # and the truth beside it
    seqsearch edge --methods slca --pool cifar100/ --tasks 10 --orders frozen:cifar100-hard-10
    seqsearch edge --similarity matrix.csv --tasks 10 --plan-only --out plans/mine   # no pool, no training
    seqsearch edge --resume runs/mine
    """
    if resume is None:
        _check_effect(values, given(context, FIELDS), plan_only)
    if plan_only and dry_run:
        raise UserError("--plan-only trains nothing: leave --dry-run out")
    if plan_only and not given(context, {"similarity"}):
        del values["similarity"]  # a plan has a default of its own
    if resume is None and values["orders"]:
        from seqsearch.results.frozen import pinned

        values["orders"] = pinned(values["orders"])
    protocol: Protocol[Any, Any] = PLANS if plan_only or _is_plan(resume) else PROTOCOL
    start(context, protocol, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs)


def commands() -> Sequence[click.Command]:
    return (edge,)


def _is_plan(run: Path | None) -> bool:
    """Whether a run to be resumed is one of plans alone."""
    from seqsearch.results.run import read_config

    with contextlib.suppress(UserError):  # it is told when the run is resumed, or restored
        return run is not None and read_config(run).get("protocol") == PLANS.name
    return False


def _check_effect(values: dict[str, Any], named: set[str], plan_only: bool) -> None:
    """Raises UserError: a flag was given that would have no effect."""
    if plan_only and named & {"enumerate", "until", "orders", "fit"}:
        raise UserError("--plan-only trains nothing: leave --enumerate, --until, --orders and --fit out")
    anneals = values["planner"] in ("auto", "anneal")
    from_file = values["similarity"] not in ("names", "prototypes", "confusion")
    idle = {
        "lags": (values["objective"] != "lags", "is for --objective lags"),
        "moves": (not anneals, "is for --planner anneal"),
        "budget": (not anneals, "is for --planner anneal"),
        "restarts": (not anneals, "is for --planner anneal"),
        "diversity": (values["extremes"] == 1, "is for --extremes 2 or more"),
        "max_sequences": (not values["until"], "is for --until"),
        "crossed_orders": (values["enumerate"], "says how many share the seeds, and with --enumerate all do"),
        "rs_draw": (not values["rs_seeds"], "is for --rs-seeds"),
        "fit_extremes": (not values["fit"], "is for --fit"),
        "fit_seeds": (not values["fit"], "is for --fit"),
        "enumerate_limit": (not values["enumerate"], "is for --enumerate"),
        "classes": (plan_only and from_file, "draws from a pool, and the plan is made from a file"),
        "exclude_groups": (plan_only and from_file, "leaves classes of a pool out, and the plan is made from a file"),
    }
    for name, (has_none, why) in idle.items():
        if has_none and name in named:
            raise UserError(f"{flag(name)} {why}: leave it out")


def _print_costs(settings: EdgeSettings, runtime: Runtime) -> None:
    from protocols.cli.cost_words import at_work, each, memory_json, memory_of, time_of
    from protocols.edge.plan import random_tasks
    from protocols.edge.study import prepare
    from protocols.edge.trained import expected
    from protocols.report.text import count
    from protocols.running.costs import unit_costs
    from seqsearch.distribution.sampling import number_of_sequences, required_sequences

    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), runtime.engine.device)
        view, tasks = study.view, random_tasks(study.sizes, settings.seed, 0)
        prefix = tuple(view.task(view.class_ids[c] for c in task) for task in tasks[:2])
        unit = unit_costs(study, prefix, "test", Path(scratch), settings.tasks)
    most, there = expected(study), number_of_sequences(study.sizes)
    at_a_time = workers_at_a_time(runtime)
    hours = most.trainings * unit.seconds / 3600 / at_a_time
    needed = required_sequences(there, 0.05, 0.05)
    asked = study.similarity_method.label if study.similarity_method else ""
    if runtime.json:
        record = {
            "trainings": most.trainings,
            "rollouts": most.rollouts,
            "hours": hours,
            "workers": at_a_time,
            "seconds_per_training": unit.seconds,
            "sequences": str(there),
            "required_for_5_points": needed,
            "similarity_method": asked,
            **memory_json(unit.memory),
        }
        click.echo(json.dumps(record))
        return
    shown = f"{there:,}" if there < 10**9 else f"about 10^{len(str(there)) - 1}"
    click.echo(
        f"{count(most.trainings, 'training')} at most ({count(most.rollouts, 'time')} a method is trained on a sequence)\n"
        + f"one training of {asked} on all classes at once, for their similarity\n" * bool(asked)
        + f"{time_of(3600 * hours)} {at_work(runtime, at_a_time)}, at {each(unit.seconds)} a training on this machine\n"
        f"{shown} class sequences there are; {needed:,} random ones bound the mean to 5 points in 95 % of cases, whatever the "
        "method (Serfling); intervals from the run itself are narrower\n"
        f"{memory_of(unit.memory, at_a_time)}nothing was run"
    )
