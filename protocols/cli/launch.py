"""From a run folder and its settings to a finished, or stopped, run: what all commands that run something have in common."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from protocols.running.event_log import EventLog
from seqsearch.core.errors import UserError
from seqsearch.core.settings import CldybSettings, StudySettings

if TYPE_CHECKING:
    from protocols.running.folder import RunFolder
    from protocols.running.runtime import Runtime


def launch(folder: RunFolder, settings: StudySettings, runtime: Runtime, extend_to: int | None = None) -> None:
    """Run, resume, or extend to so many tasks, and print the summary; whatever ends it early says how to go on.

    Raises:
        UserError: bad input; before anything is computed, and before a run to be extended is changed.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        protocol = importlib.import_module(f"protocols.{settings.protocol}.run")
        if extend_to is not None:
            assert isinstance(settings, CldybSettings)  # no other protocol is extended
            settings = folder.longer(settings, extend_to)
        study = protocol.prepare(
            settings,
            folder.path / "states",
            device(runtime.engine.gpus_per_worker, here=runtime.engine.workers == 0),
            Path(folder.config.get("directory", ".")),
        )
        if extend_to is not None:
            folder.identify(study.identity())
            folder.reopen(study.settings)
            EventLog(folder.path).write("extended", tasks=extend_to, extended_from=study.settings.extended_from)
        if not runtime.silent:
            click.echo(f"run {folder.path}", err=True)
        finished = protocol.run(folder, study, runtime)
    except UserError:
        if folder.created:
            folder.discard_if_empty()
        raise
    except KeyboardInterrupt:
        click.echo(f"\nstopped; nothing is lost. Continue with: {_resume(folder)}", err=True)
        sys.stderr.flush()
        os._exit(130)  # not through atexit handlers that wait for a cluster
    finally:
        folder.close()
    print_summary(folder.path, runtime.json)
    if not finished:
        click.echo(f"time is up; nothing is lost. Continue with: {_resume(folder)}", err=True)
    elif not runtime.silent:
        click.echo(f"report: {folder.path / 'report.html'}", err=True)


def device(gpus_per_worker: float, here: bool) -> str:
    """``cuda`` if workers get a share of a GPU.

    Raises:
        UserError: it is to be used in this process, which has none.
    """
    if not gpus_per_worker > 0:
        return "cpu"
    if here:
        import torch

        if not torch.cuda.is_available():
            raise UserError(
                "--gpus-per-worker: this machine has no GPU that torch can use; leave it out to run on the CPU"
            )
    return "cuda"


def _resume(folder: RunFolder) -> str:
    from protocols.running.folder import resume_command

    return resume_command(folder.path, folder.config["protocol"])


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def print_summary(run: Path, as_json: bool) -> None:
    """The summary of a run on stdout, as its protocol has it.

    Raises:
        UserError: no run, or nothing of it was exported yet.
    """
    from rich.console import Console

    from seqsearch.results.run import read_config

    config = read_config(run)
    edge, settings = config.get("protocol") == "edge", config.get("settings")
    if edge and isinstance(settings, dict) and settings.get("plan_only") is True:
        from protocols.edge.plan import show

        show(run, as_json)
        return
    words = importlib.import_module("protocols.report.edge_words" if edge else "protocols.cldyb.summary")
    summary = words.summarise(run)
    if as_json:
        click.echo(json.dumps(summary.to_json()))
    else:
        Console(width=None if sys.stdout.isatty() else 120).print(words.render(summary))
