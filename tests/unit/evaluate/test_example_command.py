"""The learner by command of the docs, which wraps a strategy of Avalanche: in `score` it is what it is when run by hand."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.studies import finished_run
from tests.unit.evaluate.commands import rows, told

EXAMPLE = Path(__file__).parents[3] / "protocols" / "cli" / "templates" / "command.py"
LABEL = "cmd:command.py"


def by_hand(folder: Path, out: Path) -> dict[str, Any]:
    listed = folder / "images" / "images.csv"
    subprocess.run([sys.executable, EXAMPLE, folder / "sequence", listed, out], check=True, capture_output=True)
    answer: dict[str, Any] = json.loads(out.read_text())
    return answer


@pytest.mark.long
def test_the_example_is_in_score_what_it_is_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a home folder where Avalanche never ran, and where a command may not write."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("seqsearch.training.command.process.shutil.rmtree", lambda *_, **__: None)  # the images stay
    run, out = (
        finished_run(tmp_path / "run", methods="simplecil", simulations=2, condensed=2, score_seeds=2),
        tmp_path / "score",
    )
    command = "cmd:" + shlex.join([sys.executable, str(EXAMPLE), "{sequence}", "{predict}", "{out}"])
    said = told("score", out, run, "--methods", command, "--which", "found")
    assert not said["troubles"]
    found: dict[int, list[list[float]]] = {}
    for row in sorted(rows(out), key=lambda r: (r["seed"], r["trained_step"], r["evaluated_step"])):
        if row["method_id"] == LABEL:
            steps = found.setdefault(row["seed"], [])
            steps += [[]] if row["evaluated_step"] == 1 else []
            steps[-1].append(row["accuracy"])
    folders = sorted((out / "commands").iterdir())
    assert len(folders) == len(found) == 2
    answers = [by_hand(folder, tmp_path / f"{folder.name}.json") for folder in folders]
    assert answers == [json.loads((folder / "out" / "accuracy.json").read_text()) for folder in folders]
    assert all(len(set(row)) > 1 for answer in answers for row in answer["predicted"])
    sizes = json.loads((folders[0] / "sequence" / "sequence.json").read_text())["task_sizes"]
    assert all(mean(steps[-1]) > 1.2 / sum(sizes) for steps in found.values()), "no better than chance"
    one, other = found.values()
    assert one != other, "the seed of the training has no effect"
