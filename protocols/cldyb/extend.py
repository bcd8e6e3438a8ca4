"""``seqsearch extend``: a finished run becomes an unfinished one with more tasks."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.running.event_log import EventLog
from protocols.running.folder import RunFolder
from protocols.running.launch import Launch
from protocols.running.protocol import MARK
from seqsearch.core import command_line, stop
from seqsearch.core.errors import UserError
from seqsearch.storage.files import sync_folder, write_json
from seqsearch.storage.reading import json_object

if TYPE_CHECKING:
    from protocols.cldyb.study import CldybStudy


@contextlib.contextmanager
def extending(run: Path, tasks: int) -> Iterator[Launch]:
    """A finished run that goes on to so many tasks. Nothing is changed before its study is prepared.

    Raises:
        UserError: the run is not finished, has as many tasks already, or was made with a command.
    """
    with stop.deferred():
        folder, settings = RunFolder.resume(run, CldybSettings, {})
        with contextlib.closing(folder):
            if any(command_line.in_list(value) for value in vars(settings).values()):
                raise UserError(
                    f"{run} was made with a command, which is not started from here: make a longer run anew"
                )
            if not CLDYB.finished(run):
                raise UserError(f"run {run} is not finished: finish it with {CLDYB.resume_command(run)}")
            yield Launch(CLDYB, settings.extended(tasks), folder, lambda study: reopen(folder, study))


def reopen(folder: RunFolder, study: CldybStudy) -> None:
    """Make a finished run an unfinished one with the settings of ``study``; its report is kept under another name.

    Killed in between it is the run that it was, or the new one: the mark goes first, the settings come last.

    Raises:
        UserError: names in its settings stand for something else by now.
    """
    settings = study.settings
    folder.identify(study.identity(), CLDYB.may_change, CLDYB.finished(folder.path))
    before = folder.config["settings"]["tasks"]
    os.replace(folder.file(MARK), folder.path / f"report-{before}-tasks.html")
    sync_folder(folder.path)
    with contextlib.suppress(UserError):
        stats = json_object(folder.path / "stats.json")
        stats.update(complete=False, reached=f"step {before + 1}/{settings.tasks}")
        write_json(folder.file("stats.json"), stats)
    folder.config["settings"] = dataclasses.asdict(settings)
    folder.save()
    EventLog(folder.path).write("extended", tasks=settings.tasks, extended_from=settings.extended_from)
