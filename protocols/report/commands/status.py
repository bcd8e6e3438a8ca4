"""The output of ``seqsearch status``: the state of a run, in words."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from rich.live import Live
from rich.text import Text

from protocols.report.text import console, duration, percent
from protocols.running.protocol import MARK, resume_command
from protocols.running.status import Status, age, status, watch
from seqsearch.core.text import copyable, counted, shown
from seqsearch.core.typed import sensible


def show(run: Path, *, as_json: bool, again: bool) -> None:
    """Print the status; with ``again`` until the run ends.

    Raises:
        UserError: it is no run.
    """
    out = console()
    looks = watch(run) if again else iter([status(run)])
    with contextlib.suppress(KeyboardInterrupt):  # how one leaves --watch
        if as_json:
            for look in looks:
                print(json.dumps(look.to_json()), flush=True)
        elif again and out.is_terminal:
            with Live(console=out, auto_refresh=False) as live:
                for look in looks:
                    live.update(Text("\n".join(lines(look))), refresh=True)
        else:
            for look in looks:
                out.print(Text("\n".join(lines(look))), soft_wrap=True)


def lines(s: Status) -> list[str]:
    """A status in words."""
    record = s.said if s.state != "running" or s.said.get("state") == "running" else {}  # of an earlier session
    where = f" ({s.process})" if s.process else ""
    reason = f": {record['reason']}" if s.state == "stopped" and record.get("reason") else ""
    life = f", last sign of life {duration(s.silent_seconds)} ago" if s.silent_seconds is not None else ""
    found = [f"run {s.run}: {s.state}{reason}{where}{'' if s.state == 'finished' else life}"]
    if record:
        found += _figures(record, running=s.state == "running")
    elif s.journalled:
        found.append(f"  {counted(s.journalled, 'line')} in its journal; it said no more (made by an older version)")
    if s.broken:
        found.append(f"  {s.broken}: {'--resume restores it from the journal' if s.restored else 'restore it'}")
    if s.state in ("stopped", "killed"):
        found.append(f"  nothing is lost; continue with: {resume_command(s.path, s.protocol)}")
    if s.state == "finished":
        report = f"report: {s.path / 'report.html'}; " if (s.path / MARK).exists() else ""
        again = f", with {resume_command(s.path, s.protocol)}" if s.restored else ""
        table = f"table: seqsearch show {copyable(s.path)}"
        found.append(f"  {report}{f'{table} (when it is restored{again})' if s.broken else table}")
    return [shown(line) for line in found]


def _figures(record: dict[str, Any], running: bool) -> list[str]:
    """The lines about a run's own record; a missing number is 0."""

    def n(name: str) -> int:
        value = record.get(name)
        return int(value) if isinstance(value, (int, float)) and sensible(value) else 0

    if not n("total"):  # nothing has begun yet
        return [f"  {', '.join([str(record.get('phase', 'starting')), *_times(record, running)])}"]
    of = "" if record.get("state") == "finished" else f" of about {n('total'):,}"
    evaluated = f", {counted(n('judged'), 'candidate')} evaluated" if n("judged") else ""
    earlier = f"; {counted(n('replayed'), 'result')} of earlier sessions" if n("replayed") else ""
    again = f", {n('saved'):,} asked for again and not repeated" if n("saved") else ""
    found = [
        f"  {record.get('phase')}: {n('done'):,}{of} {record.get('unit')}{evaluated}",
        f"  {counted(n('trained'), 'training')} done{again}{earlier}",
    ]
    if running:
        here = "in the driver's process, one at a time"
        workers = f"{n('busy')} of {counted(n('workers'), 'worker')} busy" if n("workers") else here
        if n("workers") and isinstance(share := record.get("busy_share"), float):
            workers += f" ({percent(share)} % of the time so far)"
        jobs = max(0, n("in_flight") - (0 if n("workers") else n("queued")))  # in this process the others only wait
        found.append(f"  {workers}, {counted(jobs, 'job')} under way, {n('queued'):,} queued")
    if times := _times(record, running):
        found.append(f"  {', '.join(times)}")
    troubles = record.get("troubles")
    return found + [f"  went wrong: {trouble}" for trouble in (troubles[-3:] if isinstance(troubles, list) else [])]


def _times(record: dict[str, Any], running: bool) -> list[str]:
    at, left = record.get("at"), record.get("left_seconds")
    since, stop = age(record.get("started"), at), age(at, record.get("stops_at"))
    times = [f"{duration(since)} in this session"] if since is not None else []
    if running and isinstance(left, (int, float)) and sensible(left):
        times.append(f"about {duration(left)} left at most")
    if running and record.get("stops_at") and stop is not None:
        times.append(f"stops in {duration(stop)} (--time-budget)")
    return times
