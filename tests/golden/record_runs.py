"""Record small run folders of the version at hand: ``python -m tests.golden.record_runs FOLDER``, in an environment that has it.

Each command is run three times over: to its end (``COMMAND-finished``), looked at while it runs (``COMMAND-running``: its folder
is copied between two trainings), and asked to stop (``COMMAND-stopped``). Folders of a version are recorded once, before the next
version, and never again: the tests beside this file hold later versions to what they promise of them.

Left out to keep them small: pages, which hold images, and states, which any version trains again.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

POOL = "glyphs:classes=24,train=4,reward=2,test=4,size=32"
TASKS = ("--tasks", "3", "--classes-per-task", "2")
SEARCH = ("--candidates", "6", "--condensed", "3", "--clusters", "2", "--simulations", "4", "--in-flight", "2")
FINISHED = "cldyb-finished"
COMMANDS = {
    "cldyb": ("--methods", "simplecil,er", "--pool", POOL, *TASKS, *SEARCH, "--random-sequences", "5"),
    "edge": ("--methods", "er", "--pool", POOL, "--classes", "12", "--tasks", "3", "--random-sequences", "6"),
    "gtep": (
        *("--methods", "ranpac,er", "--tune-pool", f"{POOL},half=1", "--pool", f"{POOL},half=2"),
        *("--tasks", "3", "--trials", "2", "--orders", "2"),
    ),
    "online": (
        *("--methods", "er,acm", "--stream", "glyphs:samples=4000,classes=10,burst=8,size=32"),
        *("--shift", "64", "--batch", "8", "--seeds", "2"),
    ),
    "mcil": (
        *("--methods", "simplecil,finetune", "--backbone", "glyph_vit", "--pool", "glyphs:train=4,reward=2,test=4"),
        *("--classes", "8", "--experiences", "2", "--seeds", "3"),
    ),
    "score": (FINISHED, "--methods", "slca", "--references"),
    "explain": (FINISHED, "--draws", "3", "--methods", "simplecil"),
    "duel": ("simplecil", "er", "--pool", POOL, *TASKS, "--sequences", "6"),
}
"""Options of each command, sized for seconds."""


def command(name: str, out: Path) -> list[str]:
    """The command line that makes one run, in this process."""
    return ["seqsearch", name, *COMMANDS[name], "--seed", "0", "--workers", "0", "--quiet", "--out", out.name]


def finish(name: str, folder: Path) -> None:
    """Run a command to its end."""
    out = folder / f"{name}-finished"
    subprocess.run(command(name, out), cwd=folder, check=True, stdout=subprocess.DEVNULL)


def interrupt(name: str, folder: Path) -> None:
    """Copy a run halfway, then ask it to stop.

    Raises:
        RuntimeError: it ended before its journal was half as long as that of the finished run.
    """
    whole = len((folder / f"{name}-finished/journal.jsonl").read_text().splitlines())
    out, running = folder / f"{name}-stopped", folder / f"{name}-running"
    process = subprocess.Popen(command(name, out), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = out / "journal.jsonl"
    while not (journal.exists() and len(journal.read_text().splitlines()) >= max(2, whole // 2)):
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended with {process.returncode} before it was half done")
        time.sleep(0.005)
    process.send_signal(signal.SIGSTOP)
    shutil.copytree(out, running)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    process.wait()


def slim(run: Path) -> None:
    """Remove what is large or can be made again."""
    (run / "report.html").unlink(missing_ok=True)
    shutil.rmtree(run / "states", ignore_errors=True)
    for partial in run.rglob("*.tmp*"):
        partial.unlink()


def main() -> None:
    """Record all commands."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    for name in COMMANDS:
        finish(name, folder)
    for name in COMMANDS:
        interrupt(name, folder)
    for run in folder.iterdir():
        slim(run)


if __name__ == "__main__":
    main()
