"""Random faults: runs that are killed, paused, starved and damaged until they finish all the same, and with the same result.

    python -m benchmarks.faults.chaos --faults 200 --seed 1 [--commands gtep,online]

A small study of each protocol is run once undisturbed. Then it is run again and again, and each of its sessions meets some faults
at moments drawn at random: signals to the driver, to all its processes, to a worker or to parts of Ray; states that are deleted
or garbled; a clock that is set; a disk that is full; a second driver; a folder that is moved. A run goes on (``--resume``) until
it has met its share, and then to its end. Counted are runs that differ (all tables, bit for bit), results that are journalled
twice, states trained twice in runs whose states nobody harmed, files (also in the folder for temporary ones) and processes that
are left, and ends of sessions that were not clean: a traceback, or an exit code that says nothing. The exit status is 1 if there
are any.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors.processes import descendants
from benchmarks.common.results import write_result
from benchmarks.common.two_runs import differences
from benchmarks.faults.chaos_faults import (
    AT_START,
    COMMAND,
    ENDS,
    FAULTS,
    HARMS,
    MOVED,
    RAY_ENDS,
    RAY_FAULTS,
    Session,
    Unclean,
    kill_all,
)
from tests.unit.gtep.small import trimmed

POOL = ("--pool", "glyphs:classes=48,train=8,reward=4,test=4")
TASKS = ("--tasks", "3", "--classes-per-task", "3")
METHODS = ("--methods", "simplecil,ranpac:M=32")
FOUND, OWN = "{found}", "{own}"
"""The undisturbed run of cldyb, and a file with a method that learns in milliseconds."""
STUDIES = {
    "cldyb": (
        *METHODS, *POOL, *TASKS, "--candidates", "6", "--condensed", "3", "--clusters", "2", "--simulations", "3",
        "--score-seeds", "1", "--random-sequences", "5",
    ),
    "edge": (*METHODS, *POOL, "--classes", "12", "--tasks", "3", "--random-sequences", "6"),
    "gtep": (
        "--methods", f"{OWN}:Trimmed", "--tune-pool", f"{POOL[1]},half=1", "--pool", f"{POOL[1]},half=2", "--tasks", "3",
        "--orders", "2", "--trials", "4",
    ),
    "online": (
        "--methods", "ncm,fc_only", "--stream", "glyphs:samples=900,classes=10,burst=4,size=32", "--shift", "16", "--batch", "8",
        "--seeds", "2",
    ),
    "mcil": (
        "--methods", "simplecil,ranpac:M=32", "--backbone", "glyph_vit", "--pool", "glyphs:train=4,reward=2,test=4",
        "--classes", "8", "--experiences", "2", "--seeds", "3",
    ),
    "score": (FOUND, "--methods", "ranpac:M=16", "--references"),
    "explain": (FOUND, "--draws", "3", "--methods", "simplecil"),
    "duel": ("simplecil", "ranpac:M=32", *POOL, *TASKS, "--sequences", "6"),
}  # fmt: skip
"""Options of each command, sized for seconds."""
CACHE_OF_TORCH = "torchinductor_"
"""Beginning of the name of a folder for temporary files that torch makes, one for each user, and uses again."""
PER_RUN = 8
"""Faults that a run meets."""
ON_RAY = 0.25
"""Share of sessions with two workers; they take several times as long."""
PATIENCE = 300.0
"""Seconds after which a session counts as one that hangs."""
CLEAN = {
    2: ("disk full", "GCS killed", "raylet killed", "all it started terminated"),
    128 + signal.SIGTERM: ("driver terminated", "all it started terminated"),
    -signal.SIGKILL: ("driver killed", "driver and all it started killed"),
}  # fmt: skip
"""Exit codes, and the faults that may lead to them; 0 always may. A driver that is terminated together with its Ray while it
waits for that in compiled code does not notice the signal: it ends as one whose Ray has died."""
SET_CLOCK = """
import runpy, sys, time
right, began = time.time, time.monotonic()
time.time = lambda: right() + {days} * 86400 * (time.monotonic() - began > {after})
sys.argv[0] = "seqsearch"
runpy.run_module("protocols.cli", run_name="__main__", alter_sys=True)
"""


# ------------------------------------------------------------------------------------------------ runs


@dataclass
class Storm:
    """Faults injected into the runs of a study, and their consequences."""

    command: str
    options: list[str]
    scratch: Path
    temporary: Path
    """The folder for temporary files that sessions are given."""
    draw: random.Random
    seconds: float = 0.0
    """Of the undisturbed run."""
    files: frozenset[str] = frozenset()
    """That it leaves."""
    faults: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    sessions: int = 0
    on_ray: int = 0
    """Sessions."""
    differences: list[str] = field(default_factory=list)
    twice: Counter[str] = field(default_factory=Counter)
    leaked: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)
    processes: dict[int, str] = field(default_factory=dict)
    """When each that was seen began."""

    def undisturbed(self) -> None:
        begin = time.monotonic()
        self._session(self.whole, [], 0)
        if not (self.whole / "report.html").exists():
            sys.exit("\n".join([f"{self.command} does not finish by itself:", *self.unclean]))
        self.seconds = time.monotonic() - begin
        self.files = left_by(self.whole)

    @property
    def whole(self) -> Path:
        return self.scratch / f"{self.command}-whole"

    def run(self, most: int) -> None:
        """A run that meets up to ``most`` faults, and is then looked at."""
        self.runs += 1
        run, met, harmed = self.scratch / f"{self.command}-{self.runs}", 0, self.draw.random() < 0.3
        while met < most and not (run / "report.html").exists():
            workers = 2 if self.draw.random() < ON_RAY else 0
            struck = self._session(run, self._faults(harmed, workers)[-(most - met) :], workers)
            if self.draw.random() < 0.2 and (run / "config.json").exists():
                run, cache = run.rename(run.with_name(run.name + "-moved")), run.with_suffix(".cache")
                if cache.exists():
                    cache.rename(run.with_suffix(".cache"))
                struck.append(MOVED)
            met += len(struck)
            self.faults.update(struck)
        if not (run / "report.html").exists():
            self._session(run, [], 0)
        self._evaluate(run, harmed)

    def run_on_ray(self) -> None:
        """A run on Ray that meets nothing: it removes what the Rays of killed ones left behind."""
        self.runs += 1
        run = self.scratch / f"{self.command}-{self.runs}"
        self._session(run, [], 2)
        self._evaluate(run, False)

    def _faults(self, harmed: bool, workers: int) -> list[str]:
        """Draw the faults of a session: some that it survives, and mostly one that ends it."""
        passing = ["driver paused", "second driver", *(HARMS if harmed else ())]
        passing += ["worker killed", "worker killed"] if workers else ["clock set"]
        ends = [*ENDS, *RAY_ENDS] if workers else list(ENDS)
        chosen = self.draw.sample(passing, self.draw.randint(1, len(passing)))
        return chosen + self.draw.sample(ends, int(self.draw.random() < 0.8))

    def _session(self, run: Path, faults: list[str], workers: int) -> list[str]:
        """Start or continue a run; which faults it met."""
        self.sessions, self.on_ray = self.sessions + 1, self.on_ray + (workers > 0)
        resumed = (run / "config.json").exists()
        arguments = ["--resume", str(run)] if resumed else list(self.options)
        arguments += ["--workers", str(workers), "--quiet", *(() if resumed else ("--out", str(run)))]
        entry, limit, after, begin = (*COMMAND, self.command), None, 0.0, time.monotonic()
        if "clock set" in faults:
            days, after = self.draw.choice([-30, -1, 1, 30]), self.draw.uniform(0, self.seconds)
            entry = ("-c", SET_CLOCK.format(days=days, after=after), self.command)
        if "disk full" in faults:
            limit = self._room(run)
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [sys.executable, *entry, *arguments],
                stdout=subprocess.DEVNULL,
                stderr=said,
                env={
                    **os.environ,
                    "SEQSEARCH_CACHE": str(run.with_suffix(".cache")),
                    "RAY_USAGE_STATS_ENABLED": "0",
                    "TMPDIR": str(self.temporary),
                },
                preexec_fn=functools.partial(_limit_files, limit),
            )
            struck = self._strike(Session(process, self.command, run, self.draw), faults)
            said.seek(0)
            text = said.read().decode(errors="replace")
        if "clock set" in faults and time.monotonic() - begin > after:
            struck.append("clock set")
        if "disk full" in faults and process.returncode == 2:
            struck.append("disk full")
        met = {*struck, *faults} & set(CLEAN.get(process.returncode, ()))
        if "Traceback" in text or (process.returncode and not met):
            self.unclean.append(f"{run.name} after {faults}: exit code {process.returncode}, {text[-600:]!r}")
        return struck

    def _strike(self, session: Session, faults: list[str]) -> list[str]:
        struck: list[str] = []
        waiting = [(f, self._moment(session.run, f in (*ENDS, *RAY_ENDS))) for f in faults if f not in AT_START]
        end = time.monotonic() + PATIENCE
        while session.process.poll() is None:
            for pid in descendants(session.process.pid):
                self.processes.setdefault(pid, _began(pid))
            for name, due in list(waiting):
                if due() and session.process.poll() is None:
                    waiting.remove((name, due))
                    try:
                        struck += [name] * {**FAULTS, **RAY_FAULTS}[name](session)
                    except Unclean as error:
                        self.unclean.append(f"{session.run.name}: {error}")
            if time.monotonic() > end:
                self.unclean.append(f"{session.run.name} after {struck}: hangs")
                print(self.unclean[-1], file=sys.stderr)
                kill_all(session)
            time.sleep(0.02)
        return struck

    def _moment(self, run: Path, late: bool) -> Callable[[], bool]:
        """After some seconds, or when some more lines are journalled; what comes ``late`` lets others come before it."""
        at = time.monotonic() + self.draw.uniform(0.3 * late, 1) * self.seconds
        if self.draw.random() < 0.4:
            return lambda: time.monotonic() > at
        lines = _lines(run) + self.draw.randint(1, 8) * (1 + 2 * late)
        return lambda: _lines(run) >= lines

    def _room(self, run: Path) -> int:
        """Bytes that a file may have: what the run has already, and not all that it will have."""
        have = max((p.stat().st_size for p in (run / "journal.jsonl", run / "log.jsonl") if p.exists()), default=0)
        return have + self.draw.randint(2000, (self.whole / "report.html").stat().st_size)

    def _evaluate(self, run: Path, harmed: bool) -> None:
        try:
            self.differences += [f"{run.name}/{line}" for same, line in differences(self.whole, run) if not same]
        except SystemExit as error:
            self.differences.append(str(error))
        results, states = journalled(run)
        self.twice["results"] += len(results) - len(set(results))
        self.twice["states"] += 0 if harmed else len(states) - len(set(states))
        self.leaked += [f"{run.name}: {name}" for name in sorted(left_by(run) - self.files)]
        shutil.rmtree(run, ignore_errors=True)
        shutil.rmtree(run.with_suffix(".cache"), ignore_errors=True)

    def left_processes(self, patience: float = 90.0) -> list[int]:
        """Of all that were seen; Ray's agents take a while to see that what they serve is gone."""
        end = time.monotonic() + patience
        while True:
            left = [pid for pid, began in self.processes.items() if began and _began(pid) == began]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.5)


def left_by(run: Path) -> frozenset[str]:
    """Files of a run, and of its cache."""
    return frozenset(
        str(p.relative_to(root)) for root in (run, run.with_suffix(".cache")) for p in root.rglob("*") if p.is_file()
    )


def journalled(run: Path) -> tuple[list[str], list[str]]:
    """Digests of the results in a journal, and of the states that were trained for them."""
    results, states = [], []
    for line in (run / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        found = entry.get("edge") or entry.get("probe")
        if found:
            results.append(found["digest"])
            states += found["trained"]
    return results, states


def storm(seed: int, faults: int, scratch: Path, commands: Sequence[str] = tuple(STUDIES)) -> dict[str, Any]:
    """Runs that meet ``faults`` in all, and what came of it."""
    begin, draw, storms = time.monotonic(), random.Random(seed), list[Storm]()
    places = {FOUND: str(scratch / "cldyb-whole"), OWN: trimmed(scratch).partition(":")[0]}
    with tempfile.TemporaryDirectory(prefix="c-") as temporary:  # a short name: sockets lie in it
        for command in dict.fromkeys(["cldyb", *commands]):  # which others go by
            options = [functools.reduce(lambda w, p: w.replace(*p), places.items(), word) for word in STUDIES[command]]
            storms.append(Storm(command, options, scratch, Path(temporary), draw))
            storms[-1].undisturbed()
        storms = [s for s in storms if s.command in commands]
        while (left := faults - sum(s.faults.total() for s in storms)) > 0:
            least = min(storms, key=lambda s: s.faults.total())
            least.run(min(PER_RUN, left, math.ceil(faults / len(storms))))
            print(f"{faults - left} faults, {time.monotonic() - begin:.0f} s, {least.command}", file=sys.stderr)
        for made in storms:
            made.run_on_ray()
        leaked = sorted(p.name for p in Path(temporary).iterdir() if not p.name.startswith(CACHE_OF_TORCH))
    return {
        "seed": seed,
        "faults": sum(s.faults.total() for s in storms),
        "seconds": round(time.monotonic() - begin),
        "by_kind": dict(sum((s.faults for s in storms), Counter[str]()).most_common()),
        "by_command": {
            s.command: {
                "faults": s.faults.total(),
                "runs": s.runs,
                "sessions": s.sessions,
                "on_ray": s.on_ray,
                "seconds_undisturbed": round(s.seconds, 1),
            }
            for s in storms
        },
        "differences": [d for s in storms for d in s.differences],
        "results_journalled_twice": sum(s.twice["results"] for s in storms),
        "states_trained_twice": sum(s.twice["states"] for s in storms),
        "leaked_files": [*(f for s in storms for f in s.leaked), *leaked],
        "leaked_processes": sum(len(s.left_processes()) for s in storms),
        "unclean_ends": [u for s in storms for u in s.unclean],
    }


def bad(result: dict[str, Any]) -> list[str]:
    """Return the kinds of damage that a result reports."""
    twice = ("results_journalled_twice", "states_trained_twice")
    return [k for k in ("differences", *twice, "leaked_files", "leaked_processes", "unclean_ends") if result[k]]


def _lines(run: Path) -> int:
    try:
        return (run / "journal.jsonl").read_bytes().count(b"\n")
    except OSError:
        return 0


def _limit_files(size: int | None) -> None:
    if size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _began(pid: int) -> str:
    """Return when a process began (Linux), which distinguishes processes of equal pid; empty if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", default=",".join(STUDIES))
    parser.add_argument("--result", default="chaos", help="name of the file in benchmarks/results; empty: none")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seqsearch-chaos-") as scratch:
        result = storm(given.seed, given.faults, Path(scratch), given.commands.split(","))
    print(json.dumps(result, indent=2))
    if given.result:
        write_result(given.result, result)
    sys.exit(bool(bad(result)))


if __name__ == "__main__":
    main()
