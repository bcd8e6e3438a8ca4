"""``seqsearch duel``. Heavy imports are inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.command import refuse_unknown, run_options, start
from protocols.cli.completion import methods, offered
from protocols.cli.given import print_costs
from protocols.cli.grouped import RunCommand
from protocols.cli.options import given
from protocols.evaluate.duel.protocol import Duel
from protocols.evaluate.duel.settings import DuelSettings
from protocols.running.runtime import Runtime
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import flag
from seqsearch.planners.settings import SearchSettings

if TYPE_CHECKING:
    from protocols.evaluate.duel.study import DuelStudy
    from seqsearch.core.types import Tasks

PROTOCOL = Duel()
FIELDS = {f.name for f in dataclasses.fields(DuelSettings)}
OF_SEARCH = {f.name for f in dataclasses.fields(SearchSettings)} - {"tasks", "classes_per_task"}
"""Settings that only a search looks at."""
NOT_ON = {"tasks", "classes_per_task", "sequences", "fixed_first", "until", "max_sequences", "find"}
"""Settings that say which sequences there are."""


@click.command(cls=RunCommand)
@click.argument("a", required=False, shell_complete=offered(methods))
@click.argument("b", required=False, shell_complete=offered(methods))
@run_options(PROTOCOL)
@click.pass_context
def duel(
    context: click.Context, /, a: str | None, b: str | None, out: Path | None, resume: Path | None, dry_run: bool,
    runtime: Runtime, **values: Any,
) -> None:  # fmt: skip
    """Pair methods A and B (NAME or FILE.py:CLASS) over random task sequences: which is more accurate, how often, by how much.

    \b
    seqsearch duel ranpac simplecil --pool glyphs:classes=50 --tasks 3 --classes-per-task 5 --sequences 6
    seqsearch duel ranpac slca --pool photos/ --tasks 5 --classes-per-task 10 --sequences 50
    seqsearch duel ranpac mine.py:Mine:lr=0.01 --find both     # and the sequences that separate them most
    seqsearch duel ranpac slca --on runs/mine                  # on the sequences of a run
    seqsearch duel --resume runs/duel
    """
    if resume is None:
        values = _new(context, a, b, values)
    elif a is not None:  # which a run with commands asks for
        values = {**values, "methods": ",".join(filter(None, (a, b)))}
    start(
        context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs,
        also_given=frozenset({"methods"} if a is not None else ()),
    )  # fmt: skip


def commands() -> Sequence[click.Command]:
    return (duel,)


def _new(context: click.Context, a: str | None, b: str | None, values: dict[str, Any]) -> dict[str, Any]:
    """Settings of a new run, with those of the run behind ``--on``.

    Raises:
        UserError: not two methods, or a flag that would have no effect.
    """
    if a is None or b is None:
        raise UserError(
            "name two methods: seqsearch duel A B, e.g. seqsearch duel ranpac slca (see: seqsearch methods)"
        )
    for text in (a, b):
        if len(parse_items(text, "method")) > 1:
            raise UserError(f"{text}: is more than one method; a duel is between two, A and B")
    named = given(context, FIELDS)
    _check_effect(values, named)
    values = {**values, "methods": f"{a},{b}"}
    refuse_unknown(PROTOCOL, {n: values[n] for n in named | {"methods"}})
    if not values["on"]:
        return values
    from protocols.evaluate.parts.source import filled

    found = filled(DuelSettings, {**values, "source": values["on"]}, named, methods="never")
    return {**found, "on": found["source"]}


def _check_effect(values: dict[str, Any], named: set[str]) -> None:
    """Raises UserError: a flag was given that would have no effect."""
    if values["on"] and (idle := sorted(named & NOT_ON)):
        raise UserError(f"--on brings its own sequences: leave {flag(idle[0])} out")
    if values["find"] == "none" and (idle := sorted(named & OF_SEARCH)):
        raise UserError(f"{flag(idle[0])} is for --find: leave it out, or add --find both")
    if values["until"] == "none" and "max_sequences" in named:
        raise UserError("--max-sequences is for --until: leave it out, or add --until verdict")


def _print_costs(settings: DuelSettings, runtime: Runtime) -> None:
    def example(study: DuelStudy) -> Tasks:
        return (study.random(0) if study.asked else study.given[0]).tasks

    print_costs(PROTOCOL, settings, runtime, example)
