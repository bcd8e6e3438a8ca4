"""Summaries and sequences of runs, on stdout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from protocols.report.commands import hyperparameters, sequences
from protocols.report.commands.status import show as show_status
from protocols.report.terminal import render
from protocols.report.text import show
from protocols.report.view import protocol_of, view_of
from protocols.running.protocol import Exported, Protocol, check_exported
from protocols.running.provenance import STAND_IN, stand_in
from protocols.running.status import is_running, status
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable
from seqsearch.results.in_names import read_in_names
from seqsearch.results.run import read_config
from seqsearch.results.schema import SEQUENCES, STATS
from seqsearch.storage.inside import Inside


def print_summary(run: Path, as_json: bool, details: bool = False) -> None:
    """The summary of a run on stdout; the status of one that was stopped before anything was exported.

    With ``details`` all tables and notes, and the hyperparameters of its methods.

    Raises:
        UserError: no run, or it is running, and nothing of it was exported yet.
    """
    protocol = protocol_of(run)
    _warn_if_running(run, exported := Inside(run).has(STATS))
    if not exported and status(run).state != "finished":
        show_status(run, as_json=as_json, again=False)
        return
    print_exported(protocol, protocol.read(run), read_config(run), as_json, details)


def print_sequences(run: Path, as_json: bool) -> None:
    """The task sequences of a run on stdout, with names and groups of their classes.

    Raises:
        UserError: no run, one whose protocol has none, or nothing of it was exported yet.
    """
    protocol = protocol_of(run)
    if SEQUENCES.file not in protocol.exports:
        raise UserError(
            f"run {run} is of seqsearch {protocol.command}, which has no task sequences: leave --sequence out"
        )
    _warn_if_running(run, Inside(run).has(SEQUENCES.file))
    check_exported(run, protocol.resume_command(run), [SEQUENCES.file])
    found = read_in_names(run / SEQUENCES.file)
    if as_json:
        click.echo(json.dumps({"run": run.name, "sequences": sequences.to_json(found)}))
    else:
        more = f": seqsearch show {copyable(run)} --sequence --json has all"
        show(sequences.render(f"run {run.name}", found, more))


def _warn_if_running(run: Path, exported: bool) -> None:
    """On stderr that a run is running, where what an earlier session ``exported`` is shown.

    Raises:
        UserError: it is running, and nothing was exported yet.
    """
    if not exported and (said := is_running(run, "nothing of it can be shown yet")):
        raise UserError(said)
    if exported and (said := is_running(run, "what follows is what it had before")):
        click.echo(said, err=True)


def print_exported(
    protocol: Protocol, exported: Exported, config: Mapping[str, Any], as_json: bool, details: bool = False
) -> None:
    """A summary on stdout; of a run on stand-in data, as its ``config`` says, it begins with that."""
    view = view_of(protocol, exported)
    warned = {"stand_in": STAND_IN} if stand_in(config) else {}
    if as_json:
        trained_with = {"hyperparameters": hyperparameters.hyperparameters(config)}
        click.echo(json.dumps({**warned, **view.to_json(), **trained_with}))
        return
    for text in warned.values():
        click.echo(text)
    show(render(view, details))
    if details:
        show(hyperparameters.render(config))
