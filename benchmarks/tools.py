"""What the benchmarks share: calling the command line, and writing results with the machine they come from."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def seqsearch(*arguments: str) -> str:
    """Standard output of the command, in a process of its own."""
    command = [sys.executable, "-m", "protocols.cli", *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def write_result(name: str, result: dict[str, Any]) -> None:
    """Write ``benchmarks/results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine, **result}, indent=2) + "\n")
