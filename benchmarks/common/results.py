"""Shared by all benchmarks: calls the command line, and writes results with a description of the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from actors.processes import descendants

RESULTS = Path(__file__).parents[1] / "results"


def seqsearch(*arguments: str) -> str:
    """Standard output of the command, in a process of its own."""
    command = [sys.executable, "-m", "protocols.cli", *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def write_result(name: str, result: dict[str, Any], folder: Path = RESULTS) -> None:
    """Write ``benchmarks/results/<name>.json``, or the file of that name in another folder."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"machine": _machine(), **result}, indent=2) + "\n")


def write_rows(name: str, result: dict[str, Any], digits: int = 6) -> None:
    """As `write_result`, for a result with long lists of records: a line for each, its numbers rounded."""
    values = {"machine": _machine(), **result}
    lists = {k: v for k, v in values.items() if isinstance(v, list)}
    head = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in values.items() if k not in lists]
    rounded = {
        k: [{n: round(x, digits) if isinstance(x, float) else x for n, x in r.items()} for r in v]
        for k, v in lists.items()
    }
    body = [f"{json.dumps(k)}: [\n" + ",\n".join(map(json.dumps, v)) + "\n]" for k, v in rounded.items()]
    (RESULTS / f"{name}.json").write_text("{\n" + ",\n".join([*head, *body]) + "\n}\n")


def device_name(device: str) -> str:
    """A device of torch, in words."""
    import torch

    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}


class Memory:
    """Peak memory [bytes] of a process (this one, if none is named) and all its children, sampled while the block runs; shared
    pages count once."""

    def __init__(self, every: float = 0.2, pid: int | None = None) -> None:
        self.peak, self._every, self._pid, self._stop = 0, every, pid or os.getpid(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._every):
            self.peak = max(self.peak, sum(map(_proportional, descendants(self._pid))))


def _proportional(pid: int) -> int:
    """Bytes of a process, what it shares with others divided among them (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
