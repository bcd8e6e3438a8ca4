"""Runs on Ray from Python: in the user's process, on the user's Ray, and in the kernel of a notebook that is interrupted."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

import seqsearch as ss
from seqsearch.core.installation import ROOT
from tests.commands import seqsearch_here

pytestmark = [pytest.mark.long, pytest.mark.alone]
SMALL = (
    "pool='glyphs:classes=12,train=6,reward=4,test=4', tasks=2, classes_per_task=2, candidates=4, condensed=2, clusters=2, "
    "simulations=2, score_seeds=1, random_sequences=5, quiet=True, workers=1"
)
HOST = f"""
import os, signal, sys, threading
import ray, torch
import seqsearch as ss
from tests.unit.api.test_host import found

def run(name, **more):
    return ss.cldyb(methods="simplecil", out=name, {SMALL}, **more)

before = found()
first = run("first")
after = found()
after["pools"] = [p for p in after["pools"] if p in before["pools"] or p[1] != torch.get_num_threads()]  # loaded meanwhile
changed = [n for n, value in after.items() if value != before[n]]
print("changed:", changed, {{k for k in os.environ if k not in before["environment"]}})
print("own Ray left:", ray.is_initialized())
second = run("second")
ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
address = ray.get_runtime_context().gcs_address
third = run("third")
print("user's Ray left:", ray.is_initialized() and ray.get_runtime_context().gcs_address == address)
print(ray.get(ray.remote(lambda: 7).remote()))
try:
    run("elsewhere", address="127.0.0.1:1")
except ValueError as error:
    print(str(error).replace(address, "HERE"))
found_sequences = [r.df("sequences").drop(columns="run_id") for r in (first, second, third)]
print("same:", all(f.equals(found_sequences[0]) for f in found_sequences))
"""


def test_the_process_and_the_users_ray_are_left_as_they_were(tmp_path: Path) -> None:
    """One after the other in one process: on a Ray of its own twice, and on the user's."""
    done = subprocess.run(
        [sys.executable, "-c", HOST],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "changed: ['environment'] {'RAY_AUTH_MODE'}",
        "own Ray left: False",
        "user's Ray left: True",
        "7",
        "this process is connected to the Ray at HERE, not to 127.0.0.1:1: leave --address out, or disconnect first "
        "(ray.shutdown())",
        "same: True",
    ]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


CELLS = (
    "import time\nimport seqsearch as ss\nfrom seqsearch.methods.simplecil import build as Base\n",
    "class Mine(Base):\n    def fit_task(self, task):\n        time.sleep(0.5)\n        return super().fit_task(task)\n",
)


def test_an_interrupted_kernel_leaves_a_run_that_goes_on(
    kernel: tuple[KernelManager, BlockingKernelClient], tmp_path: Path
) -> None:
    """The class of a cell is trained by a worker of Ray; the run is resumed in the same kernel and by the command line."""
    manager, client = kernel
    said: list[str] = []

    def run(code: str) -> dict[str, Any]:
        reply: dict[str, Any] = client.execute_interactive(
            code, timeout=200, output_hook=lambda m: said.append(str(m["content"].get("text", "")))
        )
        content: dict[str, Any] = reply["content"]
        return content

    def interrupt() -> None:
        journal = tmp_path / "run" / "journal.jsonl"
        end = time.monotonic() + 120
        while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b'"edge"') > 3):
            time.sleep(0.05)
        manager.interrupt_kernel()

    for cell in CELLS:
        assert run(cell)["status"] == "ok"
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    stopped = run(f"ss.cldyb(methods=[Mine], out='run', {SMALL})")
    interrupter.join()
    assert (stopped["status"], stopped["ename"]) == ("error", "Interrupted")
    assert f"seqsearch.resume('{tmp_path}/run')" in stopped["evalue"]
    before = ss.open(tmp_path / "run").table("trainings") if ss.open(tmp_path / "run").tables else None
    assert before is None, "it was interrupted too late to prove anything"
    assert run("time.sleep(0)")["status"] == "ok"
    assert run("print('now', ss.resume('run', workers=1, quiet=True, time_budget='2s').status)")["status"] == "ok"
    assert "now stopped" in "".join(said)
    seqsearch_here("cldyb", "--resume", tmp_path / "run", "--workers", 0, "--quiet")
    finished = ss.open(tmp_path / "run")
    assert finished.status == "finished"
    trained = finished.df("trainings").state
    assert trained.is_unique
    assert (tmp_path / "run" / "code").is_dir()
