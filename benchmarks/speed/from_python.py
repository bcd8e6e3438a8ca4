"""Time and memory of the driver: a run from Python beside the same run from the command line.

    python -m benchmarks.speed.from_python [--repeats 7] [--write]

Both are processes of their own, measured in turn, with features in the cache. ``import`` is ``import seqsearch`` alone, beyond
Python's own start. ``run`` is a small study in the process of the driver, page included. Printed are the medians of CPU seconds
and of the largest resident set, and their ratios, Python by command line.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common.results import write_result

STUDY = {
    "methods": "simplecil,ranpac:M=200",
    "pool": "glyphs:classes=24,train=8,reward=6,test=6",
    "tasks": 3,
    "classes_per_task": 4,
    "workers": 0,
}
CODE = "import sys, seqsearch as ss; ss.cldyb(**{study!r}, quiet=True, out=sys.argv[1])"


def used(command: list[str], folder: Path) -> tuple[float, float]:
    """CPU seconds and MB of a process."""
    environment = {**os.environ, "SEQSEARCH_CACHE": str(folder / "cache")}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(command)[:200]} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in STUDY.items()]
    commands = {
        "nothing": [sys.executable, "-c", "pass"],
        "import": [sys.executable, "-c", "import seqsearch"],
        "command_line": [sys.executable, "-m", "protocols.cli", "cldyb", *flags, "--quiet", "--out"],
        "python": [sys.executable, "-c", CODE.format(study=STUDY)],
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for number in range(given.repeats + 1):
            for name, command in commands.items():
                runs = name in ("command_line", "python")
                measured = used([*command, str(folder / f"{name}-{number}")] if runs else command, folder)
                if number:  # the first ones fill the cache
                    found[name].append(measured)
    seconds, megabytes = ({n: statistics.median(m[i] for m in all_of) for n, all_of in found.items()} for i in (0, 1))
    result = {
        "repeats": given.repeats,
        "import_cpu_seconds": round(seconds["import"] - seconds["nothing"], 3),
        "cpu_seconds": {n: round(seconds[n], 2) for n in ("command_line", "python")},
        "megabytes": {n: round(megabytes[n]) for n in ("command_line", "python")},
        "ratio_of_cpu_seconds": round(seconds["python"] / seconds["command_line"], 3),
        "ratio_of_megabytes": round(megabytes["python"] / megabytes["command_line"], 3),
    }
    print(json.dumps(result, indent=2))
    if given.write:
        write_result("from_python", result)


if __name__ == "__main__":
    main()
