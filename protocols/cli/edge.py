"""``seqsearch edge``: its flags, and what runs behind them. Heavy imports are inside."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.options import given, read_yaml, settings_options
from protocols.edge.settings import EdgeSettings
from protocols.running.runtime import Runtime, runtime_options
from seqsearch.core.errors import UserError
from seqsearch.core.settings import flag

if TYPE_CHECKING:
    from protocols.edge.plan import Classes, ExtremesPlan
    from protocols.running.folder import RunFolder
    from seqsearch.core.types import ClassId
    from seqsearch.results.tables import SequenceKind
    from seqsearch.similarity.matrix import Similarity

FIELDS = {f.name for f in dataclasses.fields(EdgeSettings)}


@click.command()
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), is_eager=True, expose_value=False,
              callback=read_yaml, help="YAML file that sets the same keys; flags win.")  # fmt: skip
@settings_options(EdgeSettings)
@click.option("--out", type=click.Path(path_type=Path), help="Run folder to make.  [default: runs/edge-DATE-TIME]")
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Continue this run with its own settings."
)
@click.option("--dry-run", is_flag=True, help="Print trainings and hours (timed on two tasks), and stop.")
@runtime_options
@click.pass_context
def edge(
    context: click.Context, /, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime, **values: Any
) -> None:
    """Train methods on the hard, the easy and random class sequences, and estimate the distribution of accuracies (EDGE).

    \b
    seqsearch edge --methods ranpac,slca --pool photos/ --tasks 10
    seqsearch edge --methods slca --pool glyphs:classes=6 --tasks 3 --enumerate      # and the truth beside it
    seqsearch edge --similarity matrix.csv --tasks 10 --plan-only --out plans/mine   # no pool, no training
    seqsearch edge --resume runs/mine
    """
    from protocols.cli.launch import launch
    from protocols.running.folder import RunFolder

    if resume is not None:
        if out is not None:
            raise UserError("--resume continues a run where it is: leave --out out")
        folder, settings = RunFolder.resume(resume, EdgeSettings, {n: values[n] for n in given(context, FIELDS)})
    else:
        settings = EdgeSettings(**values)
        _effective(settings, given(context, FIELDS))
        if settings.plan_only:
            if dry_run:
                raise UserError("--plan-only trains nothing: leave --dry-run out")
            _plan_only(settings, out, runtime)
            return
        if dry_run:
            _print_estimate(settings, runtime)
            return
        folder = RunFolder.create(out, settings)
    if settings.plan_only or dry_run:
        folder.close()
        if settings.plan_only:
            raise UserError(f"{resume} is a plan, not a run that can be continued: plan again into another --out")
        _print_estimate(settings, runtime)
        return
    launch(folder, settings, runtime)


def _effective(s: EdgeSettings, named: set[str]) -> None:
    """Raises UserError: a flag was given that would have no effect."""
    from_file = s.plan_only and s.similarity not in ("names", "prototypes", "confusion")
    idle = {
        "lags": (s.objective != "lags", "is for --objective lags"),
        "moves": (s.planner != "anneal", "is for --planner anneal"),
        "budget": (s.planner != "anneal", "is for --planner anneal"),
        "restarts": (s.planner != "anneal", "is for --planner anneal"),
        "diversity": (s.extremes == 1, "is for --extremes 2 or more"),
        "max_sequences": (not s.until, "is for --until"),
        "enumerate_limit": (not s.enumerate, "is for --enumerate"),
        "classes": (from_file, "draws from a pool, and the plan is made from a file"),
        "exclude_groups": (from_file, "leaves classes of a pool out, and the plan is made from a file"),
    }
    for name, (has_none, why) in idle.items():
        if has_none and name in named:
            raise UserError(f"{flag(name)} {why}: leave it out")


def _plan_only(settings: EdgeSettings, out: Path | None, runtime: Runtime) -> None:
    from protocols.edge.plan import plan, random_tasks, score, show, write_plans
    from protocols.running.folder import RunFolder
    from seqsearch.extremes.objective import task_sizes

    similarity, classes = _similarity(settings)
    sizes = task_sizes(len(similarity), settings.tasks, settings.initial_classes)
    folder = RunFolder.create(out, settings)
    try:
        with _restarts(runtime) as run:
            start = time.perf_counter()
            found = plan(settings.similarity, similarity, sizes, settings, run)
            seconds = time.perf_counter() - start
        drawn = [random_tasks(sizes, settings.seed, i) for i in range(settings.random_sequences)]
        of = score(similarity, sizes, settings)
        values = [of(tasks) for tasks in drawn]
        write_plans(folder.path, [found])
        _write_sequences(folder, settings, classes, found, list(zip(drawn, values, strict=True)))
    except UserError:
        folder.discard_if_empty()
        raise
    finally:
        folder.close()
    show(folder.path, runtime.json)
    if not runtime.json:
        holds = f"{folder.path / 'sequences.parquet'} holds hard, easy and {len(drawn)} random sequences"
        click.echo(f"{seconds:.2f} s in all; {holds}")


def _similarity(s: EdgeSettings) -> tuple[Similarity, dict[ClassId, tuple[str, str]]]:
    """The matrix to plan on, and id, name and group of its classes, in its order.

    Raises:
        UserError: it cannot be read, or would have to be computed by a method.
    """
    from protocols.edge.study import classes_in_play, source_of
    from seqsearch.core.types import ClassId
    from seqsearch.similarity.files import read
    from seqsearch.study.class_similarity import class_names
    from seqsearch.study.study import world_of

    if s.similarity in ("prototypes", "confusion"):
        raise UserError(
            f"--plan-only trains nothing: make the matrix first (seqsearch similarity {s.similarity} --out FILE), then give "
            "the FILE"
        )
    if s.similarity != "names" and s.encoder:
        raise UserError(f"--encoder encodes class names: leave it out, or --similarity {s.similarity}")
    if s.similarity != "names":
        found = read(Path(s.similarity).expanduser())
        return found, {ClassId(found.digest, i): (name, "") for i, name in enumerate(found.names)}
    world = world_of(s, Path("."), "cpu", Path.cwd())
    indices, names = classes_in_play(world, s), class_names(world.images)
    known = source_of("names", s, [names[i] for i in indices], Path.cwd()).known
    assert known is not None
    classes = [world.images.classes[i] for i in indices]
    return known, {c: (i.name, i.group) for c, i in zip(world.class_ids(indices), classes, strict=True)}


@contextmanager
def _restarts(runtime: Runtime) -> Iterator[Any]:
    """How restarts of the annealing are run: one after the other, or, with ``--workers``, on Ray."""
    if not (runtime.engine.workers or runtime.engine.address):
        yield None
        return
    from actors.calls import on_ray
    from actors.open import connected
    from seqsearch.extremes.find import anneal_start

    with connected(runtime.engine):
        yield lambda starts: on_ray(anneal_start, starts)


def _write_sequences(
    folder: RunFolder, s: EdgeSettings, classes: dict[ClassId, tuple[str, str]], found: ExtremesPlan,
    drawn: Sequence[tuple[Classes, float | None]],
) -> None:  # fmt: skip
    from seqsearch.core.digests import digest_of
    from seqsearch.core.types import Task
    from seqsearch.results.tables import RunInfo, TaskSequence, write_sequences

    ids = list(classes)
    named: list[tuple[str, SequenceKind, Classes, float | None]] = []
    named += [(f"hard-{i}", "hard", e.tasks, e.value) for i, e in enumerate(found.hard)]
    named += [(f"easy-{i}", "easy", e.tasks, e.value) for i, e in enumerate(found.easy)]
    named += [(f"random-{i}", "random", tasks, value) for i, (tasks, value) in enumerate(drawn)]
    made = [
        TaskSequence(
            name, kind, (), s.seed, tuple(Task(tuple(ids[c] for c in t), "") for t in tasks), (value,) * len(tasks)
        )
        for name, kind, tasks, value in named
    ]
    info = RunInfo(folder.config["run_id"], digest_of(folder.config["settings"]), classes)
    write_sequences(folder.path / "sequences.parquet", info, made)


def _print_estimate(settings: EdgeSettings, runtime: Runtime) -> None:
    import json
    import os
    import tempfile

    from protocols.cli.launch import device
    from protocols.edge.plan import random_tasks
    from protocols.edge.run import expected
    from protocols.edge.study import prepare
    from protocols.report.text import duration
    from protocols.running.costs import unit_costs
    from seqsearch.distribution.sampling import number_of_sequences, required_sequences

    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), device(runtime.engine.gpus_per_worker, here=True))
        view, tasks = study.view, random_tasks(study.sizes, settings.seed, 0)
        prefix = tuple(view.task(view.class_ids[c] for c in task) for task in tasks[:2])
        unit = unit_costs(study, prefix, "test", Path(scratch))
    most, there = expected(study), number_of_sequences(study.sizes)
    at_a_time = (os.cpu_count() or 1) if runtime.engine.workers is None else max(1, runtime.engine.workers)
    hours = most.trainings * unit.seconds / 3600 / at_a_time
    needed = required_sequences(there, 0.05, 0.05)
    if runtime.json:
        record = {"trainings": most.trainings, "rollouts": most.rollouts, "hours": hours, "workers": at_a_time,
                  "seconds_per_training": unit.seconds, "sequences": str(there), "required_for_5_points": needed}  # fmt: skip
        click.echo(json.dumps(record))
        return
    shown = f"{there:,}" if there < 10**9 else f"about 10^{len(str(there)) - 1}"
    click.echo(
        f"{most.trainings:,} trainings at most ({most.rollouts:,} sequences times methods times seeds)\n"
        f"{duration(3600 * hours)} with {at_a_time} worker(s), at {unit.seconds:.2g} s a training on this machine\n"
        f"{shown} class sequences there are; {needed:,} random ones bound the mean to 5 points in 95 % of cases, whatever the "
        "method (Serfling); intervals from the run itself are narrower\nnothing was run"
    )
