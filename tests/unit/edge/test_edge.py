"""EDGE runs in process with real training: seeds, and runs that grow, stop, resume and fail."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from actors.options import EngineOptions
from protocols.cli.main import main
from protocols.edge.settings import EdgeSettings
from protocols.edge.study import prepare
from protocols.edge.trained import expected
from protocols.report.edge.notes import headline, notes
from protocols.report.page import laid_out
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.planners.replicates import of_given, of_order
from tests.studies import execute, summary_of
from tests.unit.running.test_time_budget import results_in

POOL = "glyphs:classes=6,train=4,reward=3,test=10"


def edge(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["edge", *map(str, arguments)])


# ------------------------------------------------------------------------------------------------ growing, stopping, failing

SMALL = (
    "--pool", "glyphs:classes=9,train=4,reward=3,test=8", "--tasks", 3, "--workers", 0, "--moves", 500, "--rs-seeds", "",
    "--score-seeds", 2, "--crossed-orders", 1,
)  # fmt: skip


def stopped_after(results: int, path: Path, **settings: Any) -> None:
    """A run of which the time is up when so many lines are journalled."""
    made = EdgeSettings(
        pool=SMALL[1],
        tasks=3,
        moves=500,
        rs_seeds="",
        score_seeds=2,
        crossed_orders=1,
        random_sequences=3,
        methods="er:epochs=1",
        **settings,
    )
    folder = RunFolder.create(path, made)
    deadline = Deadline(results, results_in(path))
    assert not execute(folder, made, Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline))
    folder.close()


@pytest.mark.long
def test_a_stopped_run_goes_on_with_the_same_plan(tmp_path: Path) -> None:
    flags = ("--methods", "er:epochs=1", *SMALL, "--random-sequences", 3)
    whole = edge(*flags, "--out", tmp_path / "whole")
    assert whole.exit_code == 0, whole.stderr
    stopped_after(12, tmp_path / "cut")
    assert not (tmp_path / "cut" / "report.html").exists()
    shown = CliRunner().invoke(main, ["show", str(tmp_path / "cut")]).stdout
    assert "Not finished: the run stopped at " in shown
    assert f"Go on with: seqsearch edge --resume {tmp_path / 'cut'}" in shown
    resumed = edge("--resume", tmp_path / "cut", "--workers", 0)
    assert resumed.exit_code == 0, resumed.stderr
    for file in ("sequences", "results", "estimates"):
        tables = []
        for name in ("whole", "cut"):
            table = pq.read_table(tmp_path / name / f"{file}.parquet").drop_columns("run_id")
            tables.append(table.drop_columns([c for c in ("train_seconds",) if c in table.column_names]).to_pylist())
        assert tables[0] == tables[1]


def test_unequal_tasks_several_extremes_and_own_orders(tmp_path: Path) -> None:
    (tmp_path / "orders.txt").write_text("8 7 6 5 4 3 2 1 0\n0 1 2 3 4 5 6 7 8\n")
    said = edge(
        "--methods",
        "simplecil",
        *SMALL,
        "--initial-classes",
        5,
        "--random-sequences",
        4,
        "--extremes",
        2,
        "--orders",
        tmp_path / "orders.txt",
        "--objective",
        "lags",
        "--out",
        tmp_path / "run",
    )
    assert said.exit_code == 0, said.stderr
    rows = pq.read_table(tmp_path / "run" / "sequences.parquet").to_pandas()
    sizes = rows.groupby(["sequence_id", "step"]).size().unstack()
    assert (sizes.values == [5, 2, 2]).all()
    assert {"hard-1", "easy-1", "own-order-0", "own-order-1"} <= set(rows.sequence_id)
    assert "Tasks have 2 to 5 classes, and Eq. 1 counts every task alike" in " ".join(said.stdout.split())
    [m] = summary_of(tmp_path / "run").methods
    assert len(m.placed["own"].orders) == 2
    seeds = pq.read_table(tmp_path / "run" / "results.parquet").to_pandas().groupby("sequence_id").seed.unique()
    assert [list(seeds[f"own-order-{i}"]) for i in range(2)] == [[of_given(0)], [of_given(1)]]
    report = (tmp_path / "run" / "report.html").read_text()
    assert str(laid_out("extremes of the similarity of tasks at several distances (--objective lags)")) in report


def test_a_method_that_no_order_changes_is_said(tmp_path: Path) -> None:
    said = edge(
        "--methods",
        "simplecil",
        *SMALL,
        "--random-sequences",
        3,
        "--similarity",
        "confusion",
        "--out",
        tmp_path / "run",
    )
    assert said.exit_code == 0, said.stderr
    assert "Every trained sequence scores the same for simplecil." in said.stdout
    found = summary_of(tmp_path / "run")
    assert headline(found).code == "edge.constant"
    coded = {n.code: n for n in notes(found)}
    assert coded["edge.unmoved"].values == {"method": "simplecil", "sequences": 5}
    report = (tmp_path / "run" / "report.html").read_text()
    assert "The similarity (confusion of simplecil) took one training on all classes at once" in report
    assert found.plans[0].source == "confusion of simplecil"


def test_sequences_that_fail_are_said_and_others_added_for_until(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from seqsearch.methods.simplecil import build as SimpleCIL\n\n"
        "class Picky(SimpleCIL):\n"
        "    def fit_task(self, task):\n"
        "        if task.depth == 1 and int(task.train.indices[0]) % 2:\n"
        "            raise ValueError('not this one')\n"
        "        return super().fit_task(task)\n"
    )
    said = edge(
        "--methods",
        f"{tmp_path}/own.py:Picky",
        *SMALL,
        "--random-sequences",
        6,
        "--until",
        "q25",
        "--out",
        tmp_path / "run",
    )
    assert said.exit_code == 0, said.stderr
    rows = pq.read_table(tmp_path / "run" / "results.parquet").to_pandas()
    status = rows[rows.seed >= of_order(0)].groupby("sequence_id").status.first()
    status = status[sorted(status.index, key=lambda name: int(name.removeprefix("random-")))]
    failed = int((status == "failed").sum())
    assert failed > 0
    assert len(status) == 11 + failed  # as many as q25 asks for, those that failed not counted
    found = summary_of(tmp_path / "run")
    left = {"method": "own.py:Picky", "lost": failed, "of": len(status), "what": "random"}
    assert left in [n.values for n in notes(found) if n.code == "edge.left_out"]
    assert found.methods[0].groups["random"].names == tuple(status.index[status == "ok"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tasks": 4}, "6 classes in 4 tasks leave a task with one class"),
        ({"classes": 7}, "--classes 7: pool"),
        ({"similarity": "magic"}, "--similarity 'magic': write names, prototypes, confusion, or a file"),
        ({"similarity": "none.npy"}, "none.npy"),
        (
            {"similarity": "names", "similarity_method": "er"},
            "--similarity-method is for --similarity prototypes or confusion",
        ),
        ({"similarity": "confusion", "encoder": "clip"}, "--encoder encodes class names"),
        ({"enumerate": True, "enumerate_limit": 89}, "90 sequences"),
        ({"enumerate": True, "encoders": "names,names"}, "two are called 'names'"),
        ({"orders": "none.txt"}, "none.txt: cannot be read"),
        ({"exclude_groups": "Klingon"}, "no such group"),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    settings = EdgeSettings(**{"methods": "simplecil", "pool": POOL, "tasks": 3, **wrong})
    with pytest.raises(UserError) as error:
        prepare(settings, tmp_path, "cpu", tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_dry_run_counts_trainings(tmp_path: Path) -> None:
    said = edge(
        "--methods", "simplecil", "--pool", POOL, "--tasks", 3, "--enumerate", "--score-seeds", 1, "--dry-run", "--json"
    )
    assert said.exit_code == 0, said.stderr
    found = json.loads(said.stdout)
    assert (found["trainings"], found["sequences"]) == (
        195 + 39 * 3 + 3 * 3,
        "90",
    )  # random and RS with their own seeds
    assert found["rollouts"] == 2 + 3 + 39 + 3 + 39 + 90
    study = prepare(EdgeSettings(methods="simplecil,er", pool=POOL, tasks=3), tmp_path, "cpu")
    most = expected(study)
    assert most.rollouts == 2 * (
        2 * 3 + 3 + 39 + 4 * 3
    )  # extremes, RS, random, the first of these with the scoring seeds
    assert most.trainings == 3 * most.rollouts
    for until, random in (("q25", 39), ("q05", 59), ("mean:0.01", 80)):
        asked = replace(study, settings=replace(study.settings, until=until, max_sequences=80))
        assert expected(asked).rollouts == most.rollouts + 2 * (random - 39)
    few = replace(study, settings=replace(study.settings, until="q05", max_sequences=40))
    assert expected(few).rollouts == most.rollouts + 2 * (40 - 39)
    assert study.similarity_method is not None
    assert (study.similarity_method.label, found["similarity_method"]) == ("simplecil", "simplecil")


@pytest.mark.long
def test_a_run_resumes_with_what_it_began_with_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "orders.txt").write_text("0 1 2 3 4 5 6 7 8\n")
    stopped_after(12, tmp_path / "run", orders=str(tmp_path / "orders.txt"))
    (tmp_path / "orders.txt").write_text("8 7 6 5 4 3 2 1 0\n")
    changed = edge("--resume", tmp_path / "run", "--workers", 0)
    assert changed.exit_code == 2
    assert "orders changed since run" in changed.stderr
    (tmp_path / "orders.txt").write_text("0 1 2 3 4 5 6 7 8\n")
    plan = tmp_path / "run" / "plan.json"
    said = json.loads(plan.read_text())
    tasks = said["plans"][0]["hard"][0]["tasks"]
    tasks[0][0], tasks[1][0] = tasks[1][0], tasks[0][0]
    plan.write_text(json.dumps(said))
    edited = edge("--resume", tmp_path / "run", "--workers", 0)
    assert edited.exit_code == 2
    assert "its checksum says that it was changed): remove it to have it planned again" in edited.stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--lags", "1,2"), "--lags is for --objective lags: leave it out"),
        (("--planner", "exact", "--budget", "2"), "--budget is for --planner anneal"),
        (("--diversity", "2"), "--diversity is for --extremes 2 or more"),
        (("--enumerate", "--crossed-orders", "2"), "--crossed-orders says how many share the seeds"),
        (("--rs-seeds", "", "--rs-draw", "toolbox"), "--rs-draw is for --rs-seeds"),
        (("--plan-only", "--dry-run"), "leave --dry-run out"),
        (("--plan-only", "--similarity", "m.csv", "--classes", "5"), "--classes draws from a pool"),
        (("--tasks", "1"), "--objective adjacent says nothing of 1 task of 6 classes"),
        (("--score-seeds", "100000000"), "--score-seeds 100000000: must be at most 1000"),
    ],
)
def test_flags_without_effect_are_refused(tmp_path: Path, flags: tuple[str, ...], said: str) -> None:
    result = edge(
        "--methods", "simplecil", "--pool", POOL, "--tasks", 3, *flags, "--workers", 0, "--out", tmp_path / "run"
    )
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "run").exists()


def test_status_of_a_plan_is_finished(tmp_path: Path) -> None:
    planned = edge("--pool", POOL, "--tasks", 3, "--plan-only", "--planner", "exact", "--out", tmp_path / "plan")
    assert planned.exit_code == 0, planned.stderr
    status = CliRunner().invoke(main, ["status", str(tmp_path / "plan")]).stdout
    assert "finished" in status
    assert "resume" not in status
