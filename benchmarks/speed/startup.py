"""Startup time of the command line and of a run's first result, driver time of a rollout, and memory of a worker.

    python -m benchmarks.speed.startup [--before PYTHON [--clone FOLDER]] [--repeats 7] [--write]

``PYTHON`` is the interpreter of an environment into which another version is installed. Both versions are measured in
turn. Medians of each are printed, and their ratios. Compile both (``python -m compileall``): modules are not compiled
where the environment forbids it. ``FOLDER`` is a clone of the other version: ``driver_ms`` is then measured by its own
benchmark, since names in the library may have changed.

``help``, ``misspelt`` and ``show`` are CPU seconds of the command; ``misspelt`` is the name of a method, which is
refused. The run is a small one with one Ray worker and cached features. Its first result is the first line of its
journal that holds an edge. Memory is the resident set of Ray's largest worker at this moment. ``driver_ms`` is of a
rollout, as `benchmarks.speed.orchestration` measures it on a tree of made-up results.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from actors.processes import descendants
from benchmarks.common.results import write_result

RUN = (
    "cldyb --methods simplecil,er:epochs=1 --pool glyphs:classes=48,train=8,reward=4,test=4 --tasks 2 --classes-per-task 3 "
    "--candidates 4 --condensed 2 --simulations 2 --workers 1 --quiet"
)


class Version:
    """One environment, its cache, and a finished run of it."""

    def __init__(self, python: str, folder: Path, benchmarks: Path) -> None:
        """``benchmarks``: the folder of that name which fits this version of the library."""
        folder.mkdir()
        shutil.copytree(benchmarks, folder / "own" / "benchmarks")  # seqsearch is that of the environment
        self.python, self.folder, self.runs = python, folder, 0
        self.environment = {**os.environ, "SEQSEARCH_CACHE": str(folder / "cache")}
        self.finished = folder / "finished"
        self.answer(*RUN.split(), "--out", str(self.finished))

    def answer(self, *arguments: str, code: int = 0) -> float:
        """CPU seconds of a command that ends with this exit code."""
        _, status, used = os.wait4(self.start(*arguments).pid, 0)
        if os.waitstatus_to_exitcode(status) != code:
            raise SystemExit(f"{self.python}: seqsearch {' '.join(arguments)} did not end with {code}")
        return used.ru_utime + used.ru_stime

    def driver_ms(self) -> float:
        """Milliseconds of the driver for a rollout, without training."""
        [file] = (self.folder / "own").glob("benchmarks/**/orchestration.py")
        module = ".".join(file.relative_to(self.folder / "own").with_suffix("").parts)
        command = f"from {module} import tree; print(tree(2000)['last_tenth_ms'])"
        done = subprocess.run(
            [self.python, "-c", command],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
            env={**self.environment, "PYTHONPATH": str(self.folder / "own")},
        )
        return float(done.stdout)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.python, "-m", "protocols.cli", *arguments],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def first_result(self) -> tuple[float, float]:
        """Seconds from the start of a run to its first result, and MB of its largest worker then."""
        self.runs += 1
        out = self.folder / f"run{self.runs}"
        begin = time.perf_counter()
        process = self.start(*RUN.split(), "--out", str(out))
        journal = out / "journal.jsonl"
        while not (journal.exists() and b'{"edge"' in journal.read_bytes()):
            if process.poll() is not None:
                raise SystemExit(f"{self.python}: the run ended without a result")
            time.sleep(0.01)
        seconds, megabytes = time.perf_counter() - begin, max(map(resident, workers(process.pid)), default=0.0)
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        return seconds, megabytes

    def measure(self) -> dict[str, float]:
        seconds, megabytes = self.first_result()
        return {
            "help_cpu_seconds": self.answer("--help"),
            "misspelt_cpu_seconds": self.answer("cldyb", "--methods", "simplecl", code=2),
            "show_cpu_seconds": self.answer("show", str(self.finished)),
            "driver_ms": self.driver_ms(),
            "first_result_seconds": seconds,
            "worker_mb": megabytes,
        }


def workers(pid: int) -> list[int]:
    """Ray's worker processes among the descendants of a process."""
    found = []
    for member in descendants(pid):
        with contextlib.suppress(OSError):  # gone meanwhile
            if Path(f"/proc/{member}/cmdline").read_bytes().startswith(b"ray::"):
                found.append(member)
    return found


def resident(pid: int) -> float:
    """MB that a process occupies."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="PYTHON")
    parser.add_argument("--clone", metavar="FOLDER", type=Path, help="of the other version")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(__file__).parents[1]
        versions = {"now": Version(sys.executable, Path(scratch) / "now", here)}
        if given.before:
            own = given.clone / "benchmarks" if given.clone else here
            versions["before"] = Version(given.before, Path(scratch) / "before", own)
        measured: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
        for _ in range(given.repeats):
            for name, version in versions.items():
                measured[name].append(version.measure())
    found = {
        name: {figure: round(statistics.median(m[figure] for m in all_of), 3) for figure in all_of[0]}
        for name, all_of in measured.items()
    }
    if "before" in found:
        found["now_over_before"] = {f: round(found["now"][f] / v, 3) for f, v in found["before"].items()}
    for name, figures in found.items():
        print(f"{name:16}", "  ".join(f"{figure} {value}" for figure, value in figures.items()))
    if given.write:
        write_result("startup", found)


if __name__ == "__main__":
    main()
