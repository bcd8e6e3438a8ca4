"""State of a run, for any process that sees its folder.

It only reads, and never disturbs the run.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from protocols.running.found import ID, id_of, journalled_config
from protocols.running.protocol import MARK, protocols
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable, shown
from seqsearch.results.run import no_run
from seqsearch.storage.inside import Inside
from seqsearch.storage.locks import is_locked
from seqsearch.storage.reading import json_object, parsed

LARGEST = 16 << 20
"""Bytes of a file that is looked at."""
SILENT = 60.0
"""Seconds without a sign of life after which a run on another machine, whose lock cannot be seen from here, counts as dead."""
AHEAD = 60.0
"""Seconds that clocks of two machines may be apart: a later time is no sign of life."""
EVERY = 2.0
"""Seconds between looks with ``--watch``."""
State = Literal["running", "stopped", "finished", "killed"]


@dataclass(frozen=True)
class Status:
    """A run at this moment.

    Attributes:
        silent_seconds: since its last sign of life.
        journalled: lines of its journal, where it has no ``status.json``.
        protocol: the command that made it, by its ``config.json``; by the journal where that is broken.
        broken: what is wrong with its ``config.json``, without which nothing reads the run; empty: nothing. ``restored``: the
            journal has what it said, so that ``--resume`` restores it.
        said: its ``status.json``; empty if it has none (it never began, or an older version made it).
    """

    path: Path
    run: str
    state: State
    silent_seconds: float | None
    journalled: int
    protocol: str
    said: dict[str, Any]
    broken: str = ""
    restored: bool = False

    @property
    def process(self) -> str:
        """Return the process of the run (``process 7 on HOST``); empty if it does not run or has not reported yet."""
        if self.state != "running" or self.said.get("state") != "running":  # of an earlier session
            return ""
        return f"process {self.said.get('pid')} on {self.said.get('host')}"

    def to_json(self) -> dict[str, Any]:
        """All that is known, plain."""
        return {
            **self.said,
            "run": self.run,
            "path": str(self.path),
            "state": self.state,
            "silent_seconds": self.silent_seconds,
            "journalled": self.journalled,
            "protocol": self.protocol,
            **({"broken": self.broken} if self.broken else {}),
        }


def status(run: Path) -> Status:
    """Look at a run folder in any state.

    Raises:
        UserError: it is no run.
    """
    here = Inside(run)
    if not os.path.lexists(run / "config.json") and not here.has("journal.jsonl"):
        raise no_run(run)
    config, broken = _config(run)
    kept = journalled_config(run) if broken else None
    config = kept or config
    said = _said(here)
    silent = _silent(said.get("at"))
    journalled = 0 if said else _lines(here)
    if silent is None and (journal := here.stat("journal.jsonl")):
        silent = max(0.0, time.time() - journal.st_mtime)
    name, protocol = _named(config.get("run_id")) or id_of(run), str(_named(config.get("protocol")))
    return Status(
        run,
        name,
        _state(run, config.get("protocol"), said, silent),
        silent,
        journalled,
        protocol,
        said,
        broken,
        bool(kept),
    )


def is_running(run: Path, what: str) -> str:
    """That a run is running, ``what`` follows from that, and how to look at it, in words; empty if it is not running.

    Raises:
        UserError: it is no run.
    """
    now = status(run)
    if now.state != "running":
        return ""
    by = f" ({now.process})" if now.process else ""
    return shown(f"run {run} is running{by}: {what}; see how it is doing with: seqsearch status {copyable(run)}")


def check_not_running(run: Path) -> None:
    """Raises UserError: a run is running, so that what it has so far is no result."""
    if said := is_running(run, "wait until it has finished"):
        raise UserError(said)


def watch(run: Path) -> Iterator[Status]:
    """Look again and again, as long as it runs."""
    while True:
        now = status(run)
        yield now
        if now.state != "running":
            return
        time.sleep(EVERY)


# ------------------------------------------------------------------------------------------------ what is there


def _config(run: Path) -> tuple[dict[str, Any], str]:
    """``config.json``, and what is wrong with it."""
    try:
        config = json_object(run / "config.json", LARGEST)
    except UserError as error:
        return {}, str(error).removesuffix(": restore it")
    if config.get("protocol") not in list(protocols()):
        return config, f"{run / 'config.json'} does not say what the run is of"
    return config, ""


def _state(run: Path, protocol: object, said: dict[str, Any], silent: float | None) -> State:
    known = protocols().get(protocol) if isinstance(protocol, str) else None
    if known.finished(run) if known else (run / MARK).exists() or said.get("state") == "finished":
        return "finished"
    elsewhere = said.get("host") not in (None, socket.gethostname())
    if is_locked(run / "lock") or (
        elsewhere and said.get("state") == "running" and silent is not None and silent < SILENT
    ):
        return "running"
    return "killed" if said.get("state") == "running" else "stopped"


def _silent(at: Any) -> float | None:
    """Seconds since a sign of life; None if there was none, or it is of a time to come."""
    since = age(at)
    try:
        ahead = (datetime.fromisoformat(at) - datetime.now(UTC)).total_seconds() if since == 0 else 0.0
    except (TypeError, ValueError):
        return None
    return since if ahead <= AHEAD else None


def _named(value: Any) -> str | None:
    """A name of the form that ours have."""
    return value if isinstance(value, str) and ID.fullmatch(value) else None


def _said(run: Inside) -> dict[str, Any]:
    try:
        said = parsed(run.read("status.json", LARGEST))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _lines(run: Inside) -> int:
    try:
        with run.reader("journal.jsonl") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0


def age(since: Any, until: Any = None) -> float | None:
    """Seconds between two times in ISO 8601 (``until`` None: now); None if that is not what they are."""
    try:
        end = datetime.now(UTC) if until is None else datetime.fromisoformat(until)
        return max(0.0, (end - datetime.fromisoformat(since)).total_seconds())
    except (TypeError, ValueError):
        return None
