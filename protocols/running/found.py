"""Reads and cleans up a run folder when it is opened.

Somebody else may have made it, or a kill or loss of power may have interrupted its writers.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any

from protocols.running.event_log import BEGINS
from protocols.running.event_log import NAME as LOG
from seqsearch.core.errors import UserError
from seqsearch.engine.journal import NAME
from seqsearch.engine.journal_lines import LONGEST, understood
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import parsed
from seqsearch.storage.unfinished import sweep

ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
"""The form of the id of a run."""
FOLDERS = ((), ("arrays",), ("states",), ("states", "packs"), ("states", "unfinished"))
"""Where a run keeps files."""
FILES = re.compile(r".*\.(jsonl?|parquet|html)|lock")
"""The names of its files, about."""
NOTE = b'{"note":'
"""How a line of the journal begins that is no result."""
LOOKED_AT = 1 << 20
"""Bytes of the log in which a session without a journal is looked for."""


def id_of(path: Path) -> str:
    """The id of a run in this folder."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", path.resolve().name).lstrip(".-")[:128] or "run"


def refuse_links(run: Path) -> None:
    """
    Raises:
        UserError: a folder or file of the run is a link: what is behind it would be written, or taken for the run's.
    """
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = sorted(n for n in os.listdir(run) if FILES.fullmatch(n))
    for path in (*(run / n for n in names), *(run.joinpath(*parts) for parts in (*FOLDERS[1:], ("commands",)))):
        if path.is_symlink():
            raise UserError(f"{path} is a link: remove it")


def sweep_run(run: Path) -> None:
    """Remove what writers that are dead left in a run folder, and its folder of states if nothing is in it."""
    for parts in FOLDERS:
        sweep(Inside(run, parts))
    for parts in FOLDERS[:1:-1]:
        Inside(run, parts).remove_if_empty()


def journalled_config(run: Path) -> dict[str, Any] | None:
    """Return the ``config.json`` that the journal recorded when the last session began.

    Return None if the journal has no record of it, or is damaged.
    """
    config = _last_session(run).get("config")
    return config if isinstance(config, dict) else None


def journalled_workers(run: Path) -> int | None:
    """How many workers the last session was given, by the journal, or by the log where no session came as far as that; None if it
    was given no number, or neither says."""
    workers = (_last_session(run) or _last_begun(run)).get("workers")
    return workers if isinstance(workers, int) and not isinstance(workers, bool) else None


def has_results(run: Path) -> bool:
    """Whether its journal holds more than what it says of sessions; one that cannot be read may."""
    here = Inside(run)
    try:
        if here.stat(NAME) is None:
            return False
        with here.reader(NAME) as file:
            return any(not line.startswith(NOTE) for line in iter(lambda: file.readline(LONGEST + 1), b""))
    except OSError:
        return True


def _last_begun(run: Path) -> dict[str, Any]:
    """Return the last start of a session in the first `LOOKED_AT` bytes of the log; empty if the log cannot be read."""
    found: dict[str, Any] = {}
    with contextlib.suppress(OSError), Inside(run).reader(LOG) as file:
        for line in file.read(LOOKED_AT).splitlines():
            with contextlib.suppress(ValueError):
                said = parsed(line)
                found = said if isinstance(said, dict) and said.get("event") == BEGINS else found
    return found


def _last_session(run: Path) -> dict[str, Any]:
    """Return the journal's note of the last session that recorded its configuration.

    Return an empty mapping if the journal is missing or damaged. Results are not read: there may be many, and they are
    checked when the journal is opened.
    """
    found: dict[str, Any] = {}
    try:
        with Inside(run).reader(NAME) as file:
            for line in iter(lambda: file.readline(LONGEST + 1), b""):
                if line.startswith(NOTE) and (line.endswith(b"\n") or len(line) > LONGEST):
                    note = understood(line).get("note", {})
                    found = note if "config" in note else found
    except (OSError, ValueError):
        return {}
    return found
