"""EDGE runs in process with real training: the six-class study of the paper, and runs that grow, stop and resume."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from actors.options import EngineOptions
from protocols.cli.main import main
from protocols.edge.run import expected, shared_trainings
from protocols.edge.settings import EdgeSettings
from protocols.edge.study import prepare
from protocols.report import edge_words as words
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool
from tests.studies import execute, summary_of
from tests.text_models import text_models
from tests.unit.running.test_time_budget import results_in

POOL = "glyphs:classes=6,train=4,reward=3,test=10"


def edge(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["edge", *map(str, arguments)])


def accuracies(run: Path, method: str) -> pd.DataFrame:
    """Final accuracy (Eq. 1) by sequence, mean over seeds; straight from the files."""
    rows = pq.read_table(run / "results.parquet").to_pandas()
    rows = rows[(rows.method_id == method) & (rows.trained_step == rows.trained_step.max())]
    final = rows.groupby(["sequence_id", "seed"]).accuracy.mean().groupby("sequence_id").mean()
    of = pq.read_table(run / "sequences.parquet").to_pandas().groupby("sequence_id")[["kind", "value"]].first()
    return of.join(final)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """All 90 sequences of six classes in three tasks, with a method that depends on the path and an additive one."""
    words = {w.lower() for c in build_pool(POOL).classes for w in c.name.split()}
    encoders = text_models(tmp_path_factory.mktemp("models"), sorted(words))
    run = tmp_path_factory.mktemp("runs") / "every"
    said = edge(
        "--methods", "er:epochs=1,aper_adapter:epochs=1", "--pool", POOL, "--tasks", 3, "--enumerate", "--score-seeds", 1,
        "--encoders", f"prototypes,confusion,{encoders}/sentences,{encoders}/clip", "--planner", "exact", "--workers", 0,
        "--out", run,
    )  # fmt: skip
    assert said.exit_code == 0, said.stderr
    return run, said.stdout


def test_195_trainings_and_fewer_for_an_additive_method(every: tuple[Path, str]) -> None:
    trainings = pq.read_table(every[0] / "trainings.parquet").to_pylist()
    assert len({t["state"] for t in trainings}) == len(trainings)
    assert Counter(t["depth"] for t in trainings if t["method_id"] == "er:epochs=1") == {1: 15, 2: 90, 3: 90}
    additive = [t for t in trainings if t["method_id"] == "aper_adapter:epochs=1"]
    assert len(additive) == 15 + 90  # what it learns of a second task is added again wherever that task comes third
    assert shared_trainings((2, 2, 2)) == 195


def test_every_sequence_is_there_once(every: tuple[Path, str]) -> None:
    rows = pq.read_table(every[0] / "sequences.parquet").to_pandas()
    rows = rows[rows.kind == "enumerated"]
    made = rows.groupby("sequence_id").apply(
        lambda s: tuple(tuple(sorted(t.class_id)) for _, t in s.groupby("step")), include_groups=False
    )
    assert len(made) == len(set(made)) == 90
    assert rows.value.round(9).nunique() == 15


def test_exact_extremes_are_those_of_all_sequences(every: tuple[Path, str]) -> None:
    rows = accuracies(every[0], "er:epochs=1")
    values = rows[rows.kind == "enumerated"].value
    assert rows.value["hard-0"] == pytest.approx(values.min())
    assert rows.value["easy-0"] == pytest.approx(values.max())


def test_the_truth_and_table_1_can_be_recomputed(every: tuple[Path, str]) -> None:
    rows = accuracies(every[0], "er:epochs=1")
    truth = rows[rows.kind == "enumerated"].accuracy
    t = summary_of(every[0]).methods[0].truth
    assert t is not None
    assert (t.low, t.high, t.fit.mu) == pytest.approx((truth.min(), truth.max(), truth.mean()))
    rs = next(a for a in t.against if a.name == "RS (0, 42, 1993)")
    three = rows.accuracy[["rs-0", "rs-42", "rs-1993"]]
    assert (rs.low, rs.high) == pytest.approx((three.min(), three.max()))
    assert rs.fit is not None
    assert (rs.fit.mu, rs.fit.sigma) == pytest.approx((three.mean(), three.std(ddof=0)))
    grid = rs.fit.mu + rs.fit.sigma * stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    assert rs.w1 == pytest.approx(stats.wasserstein_distance(truth, grid), rel=5e-3)
    published = next(a for a in t.against if a.name.startswith("EDGE, as published"))
    assert published.fit is not None
    assert published.fit.mu == pytest.approx(rows.accuracy[["hard-0", "random-0", "easy-0"]].mean())
    c = t.correlation
    assert c is not None
    shown = rows[rows.kind == "enumerated"]
    assert c.raw_pearson.value.value == pytest.approx(stats.pearsonr(shown.value, shown.accuracy).statistic)
    assert (c.n, c.clusters) == (90, 15)
    means = shown.groupby(shown.value.round(9)).mean(numeric_only=True)
    assert c.pearson.value.value == pytest.approx(stats.pearsonr(means.value, means.accuracy).statistic)


def test_rs_orders_are_those_of_the_toolboxes(every: tuple[Path, str]) -> None:
    rows = pq.read_table(every[0] / "sequences.parquet").to_pandas()
    classes = sorted(rows.class_id.unique())
    for seed in (0, 42, 1993):
        np.random.seed(seed)
        order = np.random.permutation(6)
        mine = rows[rows.sequence_id == f"rs-{seed}"].groupby("step").class_id.apply(sorted).tolist()
        assert mine == [sorted(classes[c] for c in order[i : i + 2]) for i in (0, 2, 4)]


def test_further_similarities_get_extremes_of_their_own(every: tuple[Path, str]) -> None:
    rows = accuracies(every[0], "er:epochs=1")
    assert {"hard-0@prototypes", "easy-0@prototypes", "hard-0@confusion", "easy-0@confusion"} <= set(rows.index)
    t = summary_of(every[0]).methods[0].truth
    assert t is not None
    assert [a.name for a in t.encoders] == ["the run's own", "prototypes", "confusion", "sentences", "clip"]
    assert len({p.digest for p in summary_of(every[0]).plans}) == 5
    triple = rows.accuracy[["hard-0@confusion", "random-0", "easy-0@confusion"]]
    assert t.encoders[2].fit is not None
    assert t.encoders[2].fit.mu == pytest.approx(triple.mean())


def test_all_tables_are_printed_and_shown_again(every: tuple[Path, str]) -> None:
    run, text = every
    for title in (
        "Table 1",
        "Table A3",
        "Fig. 2 c",
        "Table A4",
        "Were these orders lucky?",
        "Distribution over class sequences",
    ):
        assert title in text
    assert "truth (90 sequences)" in text
    shown = CliRunner().invoke(main, ["show", str(run)])
    assert shown.stdout == text
    report = (run / "report.html").read_text()
    for title in (
        "Table 1",
        "Table A3",
        "Table A4",
        "Estimated distribution",
        "Bounds",
        "Similarity of tasks",
        "The tasks found",
    ):
        assert title in report
    assert "<script" not in report


def test_estimates_are_written_as_plain_rows(every: tuple[Path, str]) -> None:
    rows = pq.read_table(every[0] / "estimates.parquet").to_pandas().set_index(["method_id", "about", "figure"])
    assert rows.index.is_unique
    mine = rows.loc["er:epochs=1"]
    drawn = accuracies(every[0], "er:epochs=1")
    random = drawn[drawn.kind == "random"].accuracy
    assert mine.value["random", "mean"] == pytest.approx(random.mean())
    assert mine.value["random", "sd"] == pytest.approx(random.std(ddof=1))
    assert mine.low["random", "mean"] < mine.value["random", "mean"] < mine.high["random", "mean"]
    assert mine.value["truth", "sequences"] == 90


def test_a_finished_run_is_left_as_it_is(every: tuple[Path, str]) -> None:
    before = (every[0] / "report.html").stat().st_mtime_ns
    again = edge("--resume", every[0], "--workers", 0)
    assert again.exit_code == 0, again.stderr
    assert (every[0] / "report.html").stat().st_mtime_ns == before


# ------------------------------------------------------------------------------------------------ growing, stopping, failing

SMALL = (
    "--pool",
    "glyphs:classes=9,train=4,reward=3,test=8",
    "--tasks",
    3,
    "--workers",
    0,
    "--moves",
    500,
    "--rs-seeds",
    "",
)


def stopped_after(results: int, path: Path, **settings: Any) -> None:
    """A run of which the time is up when so many lines are journalled."""
    made = EdgeSettings(
        pool=SMALL[1], tasks=3, moves=500, rs_seeds="", random_sequences=3, methods="er:epochs=1", **settings
    )
    folder = RunFolder.create(path, made)
    deadline = Deadline(results, results_in(path))
    assert not execute(folder, made, Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline))
    folder.close()


def test_until_adds_sequences_and_says_the_same_again(tmp_path: Path) -> None:
    flags = ("--methods", "er:epochs=1", *SMALL, "--random-sequences", 3, "--until", "mean:0.03", "--max-sequences", 8)
    for name in ("a", "b"):
        said = edge(*flags, "--out", tmp_path / name)
        assert said.exit_code == 0, said.stderr
    tables = [pq.read_table(tmp_path / n / "sequences.parquet").drop_columns("run_id").to_pylist() for n in ("a", "b")]
    assert tables[0] == tables[1]
    m = summary_of(tmp_path / "a").methods[0]
    assert m.estimate is not None
    assert m.estimate.L in (3, 8)
    assert m.estimate.mean.half_width <= 0.03 or m.estimate.L == 8


def test_a_stopped_run_goes_on_with_the_same_plan(tmp_path: Path) -> None:
    flags = ("--methods", "er:epochs=1", *SMALL, "--random-sequences", 3)
    whole = edge(*flags, "--out", tmp_path / "whole")
    assert whole.exit_code == 0, whole.stderr
    stopped_after(12, tmp_path / "cut")
    assert not (tmp_path / "cut" / "report.html").exists()
    shown = CliRunner().invoke(main, ["show", str(tmp_path / "cut")]).stdout
    assert "nothing is claimed yet" in shown
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
        "--methods", "simplecil", *SMALL, "--initial-classes", 5, "--random-sequences", 4, "--extremes", 2, "--orders",
        tmp_path / "orders.txt", "--objective", "lags", "--out", tmp_path / "run",
    )  # fmt: skip
    assert said.exit_code == 0, said.stderr
    rows = pq.read_table(tmp_path / "run" / "sequences.parquet").to_pandas()
    sizes = rows.groupby(["sequence_id", "step"]).size().unstack()
    assert (sizes.values == [5, 2, 2]).all()
    assert {"hard-1", "easy-1", "own-order-0", "own-order-1"} <= set(rows.sequence_id)
    assert "Tasks have 2 to 5 classes, and Eq. 1 counts every task alike" in " ".join(said.stdout.split())
    [m] = summary_of(tmp_path / "run").methods
    assert len(m.placed["own"].orders) == 2


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
    assert "On this pool simplecil scores the same on every sequence." in said.stdout
    assert summary_of(tmp_path / "run").plans[0].source == "confusion of simplecil"


def test_a_method_that_fails_on_some_sequences_is_said(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from seqsearch.methods.simplecil import build as SimpleCIL\n\n"
        "class Picky(SimpleCIL):\n"
        "    def fit_task(self, task):\n"
        "        if task.depth == 1 and int(task.train.indices[0]) % 2:\n"
        "            raise ValueError('not this one')\n"
        "        return super().fit_task(task)\n"
    )
    said = edge("--methods", f"{tmp_path}/own.py:Picky", *SMALL, "--random-sequences", 6, "--out", tmp_path / "run")
    assert said.exit_code == 0, said.stderr
    rows = pq.read_table(tmp_path / "run" / "results.parquet").to_pandas()
    status = rows[rows.sequence_id.str.startswith("random-")].groupby("sequence_id").status.first()
    failed = int((status == "failed").sum())
    assert 0 < failed < 6
    found = summary_of(tmp_path / "run")
    assert f"own.py:Picky: {failed} of 6 sequences (random) failed with some seed and are left out." in words.notes(
        found
    )
    assert found.methods[0].groups["random"].names == tuple(status.index[status == "ok"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tasks": 4}, "6 classes in 4 tasks leave a task with one class"),
        ({"classes": 7}, "--classes 7: pool"),
        ({"similarity": "magic"}, "--similarity 'magic': write names, prototypes, confusion, or a file"),
        ({"similarity": "none.npy"}, "none.npy"),
        ({"similarity_method": "er"}, "--similarity-method is for --similarity prototypes or confusion"),
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
    assert (found["trainings"], found["sequences"]) == (195, "90")
    study = prepare(EdgeSettings(methods="simplecil,er", pool=POOL, tasks=3), tmp_path, "cpu")
    assert expected(study).trainings == (2 + 3 + 10) * 3 * 2 * 2


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
        (("--plan-only", "--dry-run"), "leave --dry-run out"),
        (("--plan-only", "--similarity", "m.csv", "--classes", "5"), "--classes draws from a pool"),
        (("--tasks", "1"), "--objective adjacent says nothing of 1 task(s) of 6 classes"),
        (("--score-seeds", "100000000"), "--score-seeds 100000000: must be between 1 and 1000"),
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
