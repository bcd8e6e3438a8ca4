"""The job that ``seqsearch slurm`` prints: valid bash, and run for real on this machine by a stand-in for srun and scontrol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.results.run import read_results
from tests.programs import needs

SIZES = "--tasks 6 --classes-per-task 4 --random-sequences 9 --workers 0"
STUDY = ["--methods", "simplecil", "--pool", "glyphs:classes=60", *SIZES.split()]
TWO = ["--", "cldyb", "--methods", "er,ranpac", "--workers", "4", "--out", "a b'c"]


def job(*words: str) -> str:
    done = CliRunner().invoke(main, ["slurm", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("nodes", ["1", "4"])
def test_a_job_is_valid_bash(nodes: str) -> None:
    text = job(
        "--nodes",
        nodes,
        "--gpus",
        "2",
        "--sbatch=--partition=gpu",
        "--",
        "cldyb",
        "--methods",
        "er,ranpac",
        "--out",
        "a b'c",
    )
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"#SBATCH --nodes={nodes}\n" in text
    assert "#SBATCH --gpus-per-node=2\n#SBATCH --partition=gpu\n#SBATCH --signal=B:TERM@300\n" in text
    assert ("ray start --head" in text) == (nodes == "4")


@needs("shellcheck")
@pytest.mark.parametrize("nodes", ["1", "4"])
def test_shellcheck_finds_nothing(nodes: str, tmp_path: Path) -> None:
    (tmp_path / "job").write_text(job("--nodes", nodes, *TWO))
    done = subprocess.run(
        ["shellcheck", "--exclude=SC1091", tmp_path / "job"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "cldby", "--out", "x"], "did you mean cldyb?"),
        (["--", "show", "runs/x"], "makes no runs"),
        (["--", "cldyb", "--methods", "er"], "needs --out RUN"),
        (["--sbatch=; rm -rf /", "--", "cldyb", "--out", "x"], "is no option or time of Slurm"),
        (["--time", "1\n#SBATCH --x", "--", "cldyb", "--out", "x"], "is no option or time of Slurm"),
        (["--nodes", "0", "--", "cldyb", "--out", "x"], "--nodes"),
    ],
)
def test_what_cannot_be_a_job_is_one_line(words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, ["slurm", *words])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def programs(folder: Path) -> dict[str, str]:
    """An environment in which srun runs a command here, and scontrol notes what it is asked."""
    here, venv = folder / "bin", folder / ".venv/bin"
    here.mkdir()
    venv.mkdir(parents=True)
    (venv / "activate").write_text("")
    (here / "srun").write_text('#!/bin/bash\nwhile [[ "$1" == --* ]]; do shift; done\nexec "$@"\n')
    (here / "scontrol").write_text(f'#!/bin/bash\necho "$@" >> {folder}/asked\n')
    (here / "seqsearch").write_text(f'#!/bin/bash\nexec {sys.executable} -m protocols.cli "$@"\n')
    for program in here.iterdir():
        program.chmod(0o755)
    root = str(Path(__file__).parents[3])
    return {**os.environ, "PATH": f"{here}:{os.environ['PATH']}", "PYTHONPATH": root, "SLURM_JOB_ID": "7"}


@pytest.mark.long
def test_a_job_that_is_stopped_is_requeued_and_finds_the_same(tmp_path: Path) -> None:
    environment = programs(tmp_path)
    (tmp_path / "job").write_text(job("--", "cldyb", *STUDY, "--out", "run"))
    begun = subprocess.Popen(["bash", "job"], cwd=tmp_path, env=environment)
    journal = tmp_path / "run/journal.jsonl"
    while begun.poll() is None and not (journal.exists() and journal.stat().st_size > 2000):
        time.sleep(0.05)
    begun.send_signal(signal.SIGTERM)
    assert begun.wait(timeout=60) == 0
    assert (tmp_path / "asked").read_text() == "requeue 7\n"
    assert json.loads((tmp_path / "run/status.json").read_text())["state"] != "finished"
    subprocess.run(["bash", "job"], cwd=tmp_path, env=environment, check=True, timeout=300)
    assert (tmp_path / "asked").read_text() == "requeue 7\n", "it is requeued no more"
    alone = ["seqsearch", "cldyb", *STUDY, "--quiet", "--out", "alone"]
    subprocess.run(alone, cwd=tmp_path, env=environment, check=True, timeout=300)
    found, wanted = (read_results(tmp_path / name) for name in ("run", "alone"))
    assert [s.tasks for s in found.sequences] == [s.tasks for s in wanted.sequences]
    assert found.rollouts.keys() == wanted.rollouts.keys()
    for rollout, scored in found.rollouts.items():
        assert np.array_equal(scored.accuracy, wanted.rollouts[rollout].accuracy, equal_nan=True)
