"""Time to read a finished run and to write its page, beside another version.

    python -m benchmarks.speed.pages FOLDER [--before PYTHON] [--repeats 5] [--write]

``FOLDER`` is made by `benchmarks.changes.every_command`. ``PYTHON`` is the interpreter of an environment into which
another version is installed. Both versions write the pages of the same runs in turn, each in a process of its own. A
process writes every page once before it is timed. Figures are medians of CPU seconds; ratios are this version over the
other.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common.results import write_rows

CODE = """
import json, sys, time
from pathlib import Path
from protocols.running.protocol import protocols
from seqsearch.results.run import read_config

try:
    from protocols.report.page import reporter
except ImportError:
    from protocols.report.view import report_of
    reporter = lambda protocol: getattr(report_of(protocol), "write_report", None)

found = {}
for run in map(Path, sys.argv[1:]):
    protocol = protocols()[read_config(run)["protocol"]]
    write = reporter(protocol)
    if write is None:
        continue
    for turn in range(2):
        start = time.process_time()
        write(run, protocol.read(run), ())
        spent = time.process_time() - start
    found[run.parent.name] = spent
print(json.dumps(found))
"""


def seconds(python: str, runs: list[Path]) -> dict[str, float]:
    """CPU seconds of each run, by the name of its command."""
    command = [python, "-c", CODE, *map(str, runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=runs[0].parent)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--before", default="")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    versions = {"now": sys.executable} | ({"before": given.before} if given.before else {})
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(given.folder, folder, dirs_exist_ok=True)
        runs = sorted(p for p in Path(folder).glob("*/run") if (p / "report.html").exists())
        times = [{name: seconds(python, runs) for name, python in versions.items()} for _ in range(given.repeats)]
    rows = []
    for command in times[0]["now"]:
        spent = {v: statistics.median(t[v][command] for t in times) for v in versions}
        ratio = {"ratio": spent["now"] / spent["before"]} if given.before else {}
        rows.append({"command": command, **spent, **ratio})
        print("  ".join(f"{k} {v if isinstance(v, str) else f'{v:.3f}'}" for k, v in rows[-1].items()))
    if given.write:
        write_rows("pages", {"rows": rows})


if __name__ == "__main__":
    main()
