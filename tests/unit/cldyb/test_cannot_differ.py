"""Where found and random sequences cannot differ it is said, before training and after, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.cldyb.preflight import ONE_TASK, expected, measured
from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from seqsearch.results.run import read_results
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

POOL = "glyphs:classes=6,train=2,reward=1,test=1"


@pytest.mark.parametrize(
    ("methods", "tasks", "said"),
    [
        (
            "simplecil",
            3,
            "will hardly differ: each holds all 6 classes in play, and the final accuracy of simplecil does not",
        ),
        ("simplecil", 2, ""),
        ("finetune", 3, ""),
        ("simplecil,finetune", 3, ""),
        ("finetune", 1, f"will not differ: {ONE_TASK}."),
        ("simplecil", 1, f"will not differ: {ONE_TASK}."),
    ],
    ids=["all classes", "classes left", "order matters", "order matters to one", "one task", "one task of a mean"],
)
def test_before_anything_is_trained(tmp_path: Path, methods: str, tasks: int, said: str) -> None:
    settings = CldybSettings(pool=POOL, methods=methods, tasks=tasks, classes_per_task=2)
    study = CLDYB.prepare(settings, tmp_path, "cpu", tmp_path)
    found = expected(study)
    assert said in found
    assert bool(found) == bool(said)
    assert found in CLDYB.announcement(study)


@pytest.mark.parametrize(
    ("found", "random", "tasks", "said"),
    [
        ([[0, 1], [2, 3]], [[2, 3], [0, 1]], 2, "all of them hold the same 4 classes, and neither their order"),
        ([[0, 1], [2, 3]], [[0, 2], [1, 3]], 2, "nor how they are grouped changes what is known in the end"),
        ([[0, 1], [2, 3]], [[0, 1], [2, 4]], 2, ""),
        ([[0, 1]], [[0, 1]], 1, ONE_TASK),
    ],
    ids=["order", "grouping", "other classes", "one task"],
)
def test_of_a_run_in_which_nothing_differs(
    tmp_path: Path, found: list[list[int]], random: list[list[int]], tasks: int, said: str
) -> None:
    pool = glyphs()
    of = [sequence(pool, "search-0", "searched", ["er"], found), sequence(pool, "random-0", "random", ["er"], random)]
    evaluated = [rescored(s, "er", 1000, outcome([[0.5] * (t + 1) for t in range(tasks)])) for s in of]
    data = read_results(write_run(tmp_path / "run", pool, of, evaluated, ["er"]))
    told = measured(data)
    assert said in told
    assert bool(told) == bool(said)
