"""``seqsearch status``: how a run is doing, from any terminal that sees its folder. It only reads, and never disturbs the run."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from protocols.report.text import count, duration, percent
from protocols.running.folder import resume_command
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.storage.reading import content, open_regular, parsed

LARGEST = 16 << 20
"""Bytes of a file that is looked at."""
SILENT = 60.0
"""Seconds without a sign of life after which a run on another machine, whose lock cannot be seen from here, counts as dead."""
EVERY = 2.0
"""Seconds between looks with ``--watch``."""
State = Literal["running", "stopped", "finished", "killed"]


@dataclass(frozen=True)
class Status:
    """A run at this moment.

    Attributes:
        silent_seconds: since its last sign of life.
        journalled: lines of its journal, where it has no ``status.json``.
        protocol: the command that made it.
        said: its ``status.json``; empty if it has none (it never began, or an older version made it).
    """

    path: Path
    run: str
    state: State
    silent_seconds: float | None
    journalled: int
    protocol: str
    said: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """All that is known, plain."""
        return {
            **self.said, "run": self.run, "path": str(self.path), "state": self.state,
            "silent_seconds": self.silent_seconds, "journalled": self.journalled, "protocol": self.protocol,
        }  # fmt: skip


def status(run: Path) -> Status:
    """Look at a run folder in any state.

    Raises:
        UserError: it is no run.
    """
    try:
        config = parsed(content(run / "config.json", LARGEST))
    except FileNotFoundError:
        raise UserError(f"{run} is no run folder: it has no config.json") from None
    except (OSError, ValueError):
        config = {}
    said = _said(run / "status.json")
    silent = _age(said.get("at"))
    journalled = 0 if said else _lines(run / "journal.jsonl")
    if silent is None and (run / "journal.jsonl").exists():
        silent = time.time() - (run / "journal.jsonl").stat().st_mtime
    config = config if isinstance(config, dict) else {}
    name, protocol = config.get("run_id") or run.resolve().name, str(config.get("protocol"))
    return Status(run, str(name), _state(run, said, silent), silent, journalled, protocol, said)


def watch(run: Path) -> Iterator[Status]:
    """Look again and again, as long as it runs."""
    while True:
        now = status(run)
        yield now
        if now.state != "running":
            return
        time.sleep(EVERY)


def show(run: Path, *, as_json: bool, again: bool) -> None:
    """Print the status; with ``again`` until the run ends.

    Raises:
        UserError: it is no run.
    """
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120)
    looks = watch(run) if again else iter([status(run)])
    with contextlib.suppress(KeyboardInterrupt):  # how one leaves --watch
        if as_json:
            for look in looks:
                print(json.dumps(look.to_json()), flush=True)
        elif again and console.is_terminal:
            with Live(console=console, auto_refresh=False) as live:
                for look in looks:
                    live.update(Text("\n".join(lines(look))), refresh=True)
        else:
            for look in looks:
                console.print(Text("\n".join(lines(look))), soft_wrap=True)


def lines(s: Status) -> list[str]:
    """A status in words."""
    said = s.said if s.state != "running" or s.said.get("state") == "running" else {}  # of an earlier session
    where = f" (process {said.get('pid')} on {said.get('host')})" if said and s.state == "running" else ""
    reason = f": {said['reason']}" if s.state == "stopped" and said.get("reason") else ""
    life = f", last sign of life {duration(s.silent_seconds)} ago" if s.silent_seconds is not None else ""
    found = [f"run {s.run}: {s.state}{reason}{where}{'' if s.state == 'finished' else life}"]
    if said:
        found += _figures(said, running=s.state == "running")
    elif s.journalled:
        found.append(f"  {count(s.journalled, 'line')} in its journal; it said no more (made by an older version)")
    if s.state in ("stopped", "killed"):
        found.append(f"  nothing is lost; continue with: {resume_command(s.path, s.protocol)}")
    if s.state == "finished":
        report = f"report: {s.path / 'report.html'}; " if (s.path / "report.html").exists() else ""
        found.append(f"  {report}table: seqsearch show {s.path}")
    return [shown(line) for line in found]


def _figures(said: dict[str, Any], running: bool) -> list[str]:
    """The lines of what a run said of itself; what it did not say is 0."""

    def n(name: str) -> int:
        value = said.get(name)
        return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0

    if not n("total"):  # nothing has begun yet
        return [f"  {', '.join([str(said.get('phase', 'starting')), *_times(said, running)])}"]
    judged = f", {count(n('judged'), 'candidate')} judged" if n("judged") else ""
    found = [
        f"  {said.get('phase')}: {n('done'):,} of about {n('total'):,} {said.get('unit')}{judged}",
        f"  {count(n('trained'), 'training')} done, {n('saved'):,} saved; {count(n('cache_hits'), 'result')} from the journal",
    ]
    if running:
        workers = f"{n('busy')} of {count(n('workers'), 'worker')} busy" if n("workers") else "in the driver's process"
        if n("workers") and isinstance(share := said.get("busy_share"), float):
            workers += f" ({percent(share)} % of the time so far)"
        found.append(f"  {workers}, {count(n('in_flight'), 'job')} under way, {n('queued'):,} queued")
    if times := _times(said, running):
        found.append(f"  {', '.join(times)}")
    troubles = said.get("troubles")
    return found + [f"  went wrong: {trouble}" for trouble in (troubles[-3:] if isinstance(troubles, list) else [])]


def _times(said: dict[str, Any], running: bool) -> list[str]:
    at, left = said.get("at"), said.get("left_seconds")
    since, stop = _age(said.get("started"), at), _age(at, said.get("stops_at"))
    times = [f"{duration(since)} in this session"] if since is not None else []
    if running and isinstance(left, (int, float)):
        times.append(f"about {duration(left)} left at most")
    if running and said.get("stops_at") and stop is not None:
        times.append(f"stops in {duration(stop)} (--time-budget)")
    return times


# ------------------------------------------------------------------------------------------------ what is there


def _state(run: Path, said: dict[str, Any], silent: float | None) -> State:
    if (run / "report.html").exists() or _planned(run):
        return "finished"
    elsewhere = said.get("host") not in (None, socket.gethostname())
    if _locked(run / "lock") or (
        elsewhere and said.get("state") == "running" and silent is not None and silent < SILENT
    ):
        return "running"
    return "killed" if said.get("state") == "running" else "stopped"


def _planned(run: Path) -> bool:
    """Whether it is a plan (``seqsearch edge --plan-only``), which has nothing but its sequences."""
    return (
        (run / "plan.json").exists() and (run / "sequences.parquet").exists() and not (run / "journal.jsonl").exists()
    )


def _locked(path: Path) -> bool:
    """Whether a process holds the lock; a run that begins in this very instant waits for that long (`RunFolder`)."""
    try:
        with open(open_regular(path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # not there, or a file system without locks
        return False
    return False


def _said(path: Path) -> dict[str, Any]:
    try:
        said = parsed(content(path, LARGEST))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _lines(path: Path) -> int:
    try:
        with open(open_regular(path), "rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0


def _age(since: Any, until: Any = None) -> float | None:
    """Seconds between two times in ISO 8601 (``until`` None: now); None if that is not what they are."""
    try:
        end = datetime.now(UTC) if until is None else datetime.fromisoformat(until)
        return max(0.0, (end - datetime.fromisoformat(since)).total_seconds())
    except (TypeError, ValueError):
        return None
