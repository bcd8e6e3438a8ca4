"""``seqsearch extend``: a finished run becomes an unfinished one with more tasks."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING

from protocols.cldyb.protocol import Cldyb
from protocols.cldyb.settings import CldybSettings
from protocols.running.event_log import EventLog
from protocols.running.folder import RunFolder
from protocols.running.protocol import MARK
from seqsearch.core.errors import UserError
from seqsearch.storage.files import sync_folder, write_json
from seqsearch.storage.reading import json_object

if TYPE_CHECKING:
    from protocols.cldyb.study import CldybStudy


def longer(folder: RunFolder, protocol: Cldyb, settings: CldybSettings, tasks: int) -> CldybSettings:
    """The settings of a run with more tasks; nothing is changed yet.

    Raises:
        UserError: it is not finished, or has as many tasks already.
    """
    if not protocol.finished(folder.path):
        raise UserError(f"run {folder.path} is not finished: finish it with {protocol.resume_command(folder.path)}")
    return settings.extended(tasks)


def reopen(folder: RunFolder, protocol: Cldyb, study: CldybStudy) -> None:
    """Make a finished run an unfinished one with the settings of ``study``; its report is kept under another name.

    Killed in between it is the run that it was, or the new one: the mark goes first, the settings come last.

    Raises:
        UserError: names in its settings stand for something else by now.
    """
    settings = study.settings
    folder.identify(study.identity(), protocol.may_change, protocol.finished(folder.path))
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
