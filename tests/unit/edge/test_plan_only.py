"""``seqsearch edge --plan-only``: sequences from a matrix, without pool and training."""

from __future__ import annotations

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.edge import plan_only
from protocols.edge.plan import plan, read_plans, write_plans
from protocols.edge.plan_only import PlanSummary
from protocols.edge.plan_settings import EdgePlanSettings
from protocols.evaluate.common.source import read_source
from protocols.report.edge.plan import view, way
from seqsearch.core.errors import UserError
from seqsearch.results.schema import PLANS
from seqsearch.similarity.files import write
from seqsearch.similarity.matrix import Similarity, checked
from tests.lines import messages


def seqsearch(*arguments: Any) -> Result:
    """The command, in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def some(n: int, seed: int = 0) -> Similarity:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6))
    return checked(x @ x.T, [f"class {i}" for i in range(n)], "made up", "made up")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "s.csv"
    write(path, some(12))
    return path


@pytest.fixture(scope="module")
def planned(matrix: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("plans") / "mine"
    arguments = ("--similarity", matrix, "--tasks", 4, "--plan-only", "--planner", "exact", "--seed", 3, "--out", out)
    said = seqsearch("edge", *arguments)
    assert said.exit_code == 0, said.stderr
    return out, said.stdout


def sequences(folder: Path) -> dict[str, dict[str, Any]]:
    """Tasks (names), kind and value of each sequence of a file, read without our code."""
    found: dict[str, dict[str, Any]] = {}
    for row in pq.read_table(folder / "sequences.parquet").to_pylist():
        one = found.setdefault(row["sequence_id"], {"kind": row["kind"], "value": row["value"], "tasks": {}})
        one["tasks"].setdefault(row["step"], []).append(int(row["class_name"].split()[1]))
    return found


def s_of(tasks: dict[int, list[int]], values: np.ndarray) -> float:
    """S as the paper has it, straight from the definition."""
    ordered = [tasks[t] for t in sorted(tasks)]
    return float(np.mean([np.mean([[values[a, b] for b in y] for a in x]) for x, y in pairwise(ordered)]))


@pytest.mark.parametrize("name", [PLANS, "sequences.parquet"])
def test_an_empty_file_of_a_plan_is_written_again(planned: tuple[Path, str], tmp_path: Path, name: str) -> None:
    run = Path(shutil.copytree(planned[0], tmp_path / "run"))
    (run / name).write_bytes(b"")
    said = seqsearch("edge", "--resume", run)
    assert said.exit_code == 0, said.stderr
    assert f"{run}/{name}" in said.stderr
    assert said.stderr.count(": planned again\n") == 1
    assert "journal" not in said.stderr
    assert [p.digest for p in read_plans(run)] == [p.digest for p in read_plans(planned[0])]
    assert sequences(run) == sequences(planned[0])


def test_sequences_are_written_with_their_s(planned: tuple[Path, str]) -> None:
    found, values = sequences(planned[0]), some(12).values
    assert {"hard-0", "easy-0", "random-0"} <= set(found)
    assert {s["kind"] for s in found.values()} == {"hard", "easy", "random"}
    for one in found.values():
        assert sorted(c for t in one["tasks"].values() for c in t) == list(range(12))
        assert one["value"] == pytest.approx(s_of(one["tasks"], values))
    assert found["hard-0"]["value"] < found["random-0"]["value"] < found["easy-0"]["value"]


def test_s_bound_and_time_are_printed(planned: tuple[Path, str]) -> None:
    out, text = planned
    found = sequences(out)
    for name in ("hard-0", "easy-0", "random-0"):
        assert f"{found[name]['value']:.5g}" in next(line for line in text.splitlines() if line.startswith(name))
    assert "bound" in text
    assert re.search(r"Planning took \d+\.\d\d s in all\.", text)


def test_of_the_time_it_is_said_what_compiling_took() -> None:
    found = plan("names", some(6), (2, 2, 2), EdgePlanSettings(planner="exact"))

    def said(*figures: float) -> dict[str, str]:
        of = view(PlanSummary(found, (0.1,), figures[0] if figures else None, (), *figures[1:]))
        assert all(n in of.ordered[0] for n in of.notes if n.code in TOOK)
        return {n.code: n.text for n in of.notes if n.code in TOOK}

    TOOK = ("edge.plan_time", "edge.plan_compiling", "edge.plan_holds")
    holds = "sequences.parquet holds hard, easy and 1 random sequence."
    compiling = "Of this, 8.15 s were spent on compiling, or on loading compiled code."
    assert list(said(8.154, 8.149).values()) == ["Planning took 8.15 s in all.", compiling, holds]
    assert list(said(0.5, 0.001).values()) == list(said(0.5).values()) == ["Planning took 0.50 s in all.", holds]
    assert said() == {}


def test_the_planned_sequences_are_printed_by_names_and_lie_in_the_plan(planned: tuple[Path, str]) -> None:
    out, text = planned
    [said] = json.loads((out / PLANS).read_text())["plans"]
    words = " ".join(text.split())
    for name, side in (("hard-0", "hard"), ("easy-0", "easy")):
        by_step = sequences(out)[name]["tasks"]
        tasks = [[f"class {c}" for c in by_step[t]] for t in sorted(by_step)]
        assert " ".join(f"{name} {t} {', '.join(task)}" for t, task in enumerate(tasks, 1)) in words
        assert said[side][0]["names"] == tasks
    asked = json.loads(seqsearch("show", out, "--json").stdout)["sequences"]
    assert {"hard-0", "easy-0", "random-0"} <= {s["sequence_id"] for s in asked}
    assert asked[0]["tasks"][0]["classes"][0]["name"] in words


def test_a_plan_without_names_is_read_as_well(planned: tuple[Path, str], tmp_path: Path) -> None:
    run = Path(shutil.copytree(planned[0], tmp_path / "run"))
    said = json.loads((run / PLANS).read_text())
    for side in ("hard", "easy"):
        for extreme in said["plans"][0][side]:
            del extreme["names"]
    (run / PLANS).write_text(json.dumps(said))
    assert read_plans(run) == read_plans(planned[0])
    assert seqsearch("show", run).stdout == seqsearch("show", planned[0]).stdout


def test_a_plan_on_a_pool_is_printed_with_groups(tmp_path: Path) -> None:
    flags = ("--pool", "glyphs:classes=6", "--tasks", 3, "--plan-only", "--planner", "exact", "--out", tmp_path / "run")
    said = seqsearch("edge", *flags)
    assert said.exit_code == 0, said.stderr
    assert "Basic Latin: exclamation mark" in " ".join(said.stdout.split())


def test_show_prints_the_plan_again(planned: tuple[Path, str]) -> None:
    shown = seqsearch("show", planned[0])
    assert shown.exit_code == 0
    took = ("Planning took", "Of this,", "sequences.parquet holds")
    lines = [text for text in planned[1].splitlines() if not text.removeprefix("- ").startswith(took)]
    assert lines == shown.stdout.splitlines()
    assert json.loads(seqsearch("show", planned[0], "--json").stdout)["hard"]


def test_the_same_seed_plans_the_same_and_json_says_all(matrix: Path, tmp_path: Path) -> None:
    flags = (
        "--similarity",
        matrix,
        "--tasks",
        3,
        "--plan-only",
        "--moves",
        2000,
        "--seed",
        5,
        "--extremes",
        2,
        "--json",
    )
    said = [seqsearch("edge", *flags, "--out", tmp_path / name) for name in ("a", "b")]
    tables = [
        pq.read_table(tmp_path / name / "sequences.parquet").drop_columns("run_id").to_pylist() for name in ("a", "b")
    ]
    assert tables[0] == tables[1]
    found = json.loads(said[0].stdout)
    assert [len(found[side]) for side in ("hard", "easy")] == [2, 2]
    assert found["hard"][0]["moves"] == 2 * 2000
    assert found["hard"][0]["bound"] <= found["hard"][0]["value"] <= found["mean"] <= found["easy"][0]["value"]


def test_names_of_a_pool_need_no_file(tmp_path: Path) -> None:
    said = seqsearch(
        "edge", "--pool", "glyphs", "--classes", 20, "--tasks", 5, "--plan-only", "--out", tmp_path / "run"
    )
    assert said.exit_code == 0, said.stderr
    rows = pq.read_table(tmp_path / "run" / "sequences.parquet").to_pylist()
    assert len({r["class_name"] for r in rows}) == 20
    assert all(r["group"] for r in rows)


def test_the_end_that_is_called_hard_can_be_turned_round() -> None:
    low, high = (
        plan("s", some(9), (3, 3, 3), EdgePlanSettings(planner="exact", hard_end=end)) for end in ("low", "high")
    )
    assert [e.tasks for e in low.hard] == [e.tasks for e in high.easy]
    assert [e.tasks for e in low.easy] == [e.tasks for e in high.hard]
    assert low.digest != high.digest


def test_without_bounds_the_sequences_are_the_same_and_nothing_is_said_of_bounds(matrix: Path, tmp_path: Path) -> None:
    flags = ("--similarity", matrix, "--tasks", 4, "--moves", 300, "--plan-only")
    bare = seqsearch("edge", *flags, "--no-bound", "--out", tmp_path / "bare")
    full = seqsearch("edge", *flags, "--out", tmp_path / "full")
    cells = [next(x.split() for x in s.stdout.splitlines() if x.startswith("hard-0")) for s in (bare, full)]
    assert cells[0][1] == cells[1][1]
    assert cells[0][2:4] == ["-", "-"]
    assert float(cells[1][2]) <= float(cells[1][1])
    (without,), (with_it,) = read_plans(tmp_path / "bare"), read_plans(tmp_path / "full")
    assert [e.tasks for e in without.hard] == [e.tasks for e in with_it.hard]
    assert without.hard[0].bound is None
    assert without.digest != with_it.digest


@pytest.mark.long
def test_a_budget_cuts_the_bound_and_says_so(tmp_path: Path) -> None:
    write(tmp_path / "s.csv", some(300))
    flags = ("--similarity", tmp_path / "s.csv", "--tasks", 30, "--plan-only", "--restarts", 1)
    said = seqsearch("edge", *flags, "--budget", 0.02, "--out", tmp_path / "cut", "--json")
    assert said.exit_code == 0, said.stderr
    found = json.loads(said.stdout)
    assert all(e["bound_cut"] for side in ("hard", "easy") for e in found[side])
    assert (
        found["hard"][0]["bound"] <= found["hard"][0]["value"] <= found["easy"][0]["value"] <= found["easy"][0]["bound"]
    )
    shown = " ".join(seqsearch("show", tmp_path / "cut").stdout.split())
    assert "the budget cut the bound short. The bound holds" in shown
    assert {"edge.bound_cut", "edge.plan_budget"} <= {n["code"] for n in found["coded"]["notes"]}
    whole = seqsearch("edge", *flags, "--moves", 100, "--out", tmp_path / "whole", "--json")
    assert not {"edge.bound_cut", "edge.plan_budget"} & {n["code"] for n in json.loads(whole.stdout)["coded"]["notes"]}


def test_of_all_sequences_the_extreme_is_optimal_also_without_a_bound() -> None:
    (exact, annealed) = (
        plan("s", some(9), (3, 3, 3), EdgePlanSettings(planner=p, bound=False)) for p in ("exact", "anneal")
    )
    assert [way(p, p.hard[0]) for p in (exact, annealed)] == ["proven optimum", None]


def test_plans_are_read_again_as_they_were_written(tmp_path: Path) -> None:
    made = plan("s", some(8), (3, 3, 2), EdgePlanSettings(moves=300, extremes=2))
    write_plans(tmp_path / PLANS, [made])
    assert read_plans(tmp_path) == [made]
    assert read_plans(tmp_path / "elsewhere") == []


DAMAGE: list[Any] = [
    lambda p: p.pop("hard"),
    lambda p: p["easy"][0]["tasks"][0].pop(),
    lambda p: p.update(sizes=[1, 2]),
    lambda p: p["hard"][0].update(extra=1),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_plans_are_one_line(tmp_path: Path, damage: Any) -> None:
    write_plans(tmp_path / PLANS, [plan("s", some(6), (2, 2, 2), EdgePlanSettings(planner="exact"))])
    said = json.loads((tmp_path / PLANS).read_text())
    damage(said["plans"][0])
    (tmp_path / PLANS).write_text(json.dumps(said))
    with pytest.raises(UserError, match="remove it to have it planned again"):
        read_plans(tmp_path)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--similarity", "none.csv"), "none.csv"),
        (("--similarity", "prototypes"), "--plan-only trains nothing: make the matrix first"),
        (("--similarity", "{matrix}", "--tasks", 13), "12 classes cannot make 13 tasks"),
        (("--similarity", "{matrix}", "--tasks", 4, "--initial-classes", 11), "a first task of 11 classes"),
        (("--similarity", "{matrix}", "--encoder", "clip"), "--encoder encodes class names: leave it out"),
        (("--similarity", "{asymmetric}"), "make it symmetric"),
        (("--similarity", "{matrix}", "--tasks", 2, "--moves", 5, "--budget", 1), "give one of them"),
        (("--pool", "glyphs:classes=8", "--classes", 9), "--classes 9: pool 'glyphs:classes=8' has 8 classes in play"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    matrix: Path, tmp_path: Path, flags: tuple[Any, ...], said: str
) -> None:
    uneven = some(5).values.copy()
    uneven[1, 3] += 1
    np.save(tmp_path / "uneven.npy", uneven)
    named = [str(f).format(matrix=matrix, asymmetric=tmp_path / "uneven.npy") for f in flags]
    found = seqsearch("edge", *named, "--plan-only", "--out", tmp_path / "run")
    assert found.exit_code == 2, found.stdout
    assert said in found.stderr
    assert len(messages(found.stderr)) == 1
    assert not (tmp_path / "run").exists()


def test_a_plan_has_no_accuracies_and_no_command_continues_it_to_some(
    planned: tuple[Path, str], tmp_path: Path
) -> None:
    run = Path(shutil.copytree(planned[0], tmp_path / "run"))
    said = seqsearch("score", run, "--methods", "simplecil", "--workers", 0)
    assert said.exit_code == 2
    assert said.stderr.endswith(
        f"trained nothing, so that it has no accuracies: name its sequences, {run}/sequences.parquet\n"
    )
    unnamed = seqsearch("explain", run)
    assert (unnamed.exit_code, unnamed.stderr) == (2, said.stderr), "before --methods is asked for"
    assert read_source(run / "sequences.parquet").sequences
    (run / "sequences.parquet").unlink()
    said = seqsearch("score", run, "--methods", "simplecil", "--workers", 0)
    assert f"finish it with seqsearch edge --resume {run}\n" in said.stderr
    assert seqsearch("edge", "--resume", run).exit_code == 0
    assert (run / "sequences.parquet").exists()


# ------------------------------------------------------------------------------------------------ features


def test_features_give_the_plan_of_their_cosines(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(24, 5)) * np.arange(1, 25)[:, None]  # of different lengths
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "d.npy", unit @ unit.T)
    flags = ("--plan-only", "--tasks", 6, "--moves", 50_000, "--json")
    found, wanted = (
        json.loads(seqsearch("edge", *flags, "--similarity", source, "--out", tmp_path / name).stdout)
        for name, source in (("ours", f"features:{tmp_path}/x.npy"), ("theirs", tmp_path / "d.npy"))
    )
    for key in ("mean", "sd"):
        assert found[key] == pytest.approx(wanted[key], abs=1e-7)
    for end in ("hard", "easy"):
        assert found[end][0]["value"] == pytest.approx(wanted[end][0]["value"], rel=1e-3)
    assert (
        found["hard"][0]["bound"] <= found["hard"][0]["value"] < found["easy"][0]["value"] <= found["easy"][0]["bound"]
    )
    assert "cosines of x.npy" in seqsearch("show", tmp_path / "ours").stdout


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_only_the_direction_of_features_counts(scale: float, tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(12, 5))
    for name, made in (("a", x), ("b", scale * x)):
        np.save(tmp_path / f"{name}.npy", made)
    flags = ("--plan-only", "--tasks", 3, "--moves", 1000, "--json", "--similarity")
    a, b = (
        json.loads(seqsearch("edge", *flags, f"features:{tmp_path}/{name}.npy", "--out", tmp_path / name).stdout)
        for name in ("a", "b")
    )
    assert a["hard"][0]["tasks"] == b["hard"][0]["tasks"]
    assert a["hard"][0]["value"] == pytest.approx(b["hard"][0]["value"], abs=1e-6)


def test_features_with_no_time_for_their_eigenvalues_have_no_bound(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(60, 600)))
    flags = ("--plan-only", "--tasks", 6, "--budget", 0.01, "--json", "--out", tmp_path / "o")
    found = json.loads(seqsearch("edge", *flags, "--similarity", f"features:{tmp_path}/x.npy").stdout)
    assert (found["hard"][0]["bound"], found["hard"][0]["bound_cut"]) == (None, True)
    assert "edge.no_bound" in {n["code"] for n in found["coded"]["notes"]}


@pytest.mark.parametrize(
    ("made", "flags", "said"),
    [
        (np.zeros((3, 2, 2)), (), "it holds no array [N, d] of real numbers"),
        (np.zeros((1, 4)), (), "it is 1 x 4, must be of 2 to 1,000,000 classes"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), (), "the features of class 0 are not finite"),
        (np.ones((4, 2)), ("--extremes", 2), "--extremes 2 or more, need a matrix"),
        (np.ones((4, 2)), ("--planner", "paper"), "--planner paper and exact"),
    ],
)
def test_features_that_cannot_be_used(made: np.ndarray, flags: tuple[Any, ...], said: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", made)
    done = seqsearch(
        "edge",
        "--plan-only",
        "--tasks",
        2,
        "--similarity",
        f"features:{tmp_path}/x.npy",
        *flags,
        "--out",
        tmp_path / "o",
    )
    assert done.exit_code == 2
    assert said in messages(done.stderr)[-1]


def test_features_are_for_plans_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((12, 2)))
    flags = ("--methods", "simplecil", "--pool", "glyphs:classes=12", "--tasks", 3, "--out", tmp_path / "o")
    done = seqsearch("edge", *flags, "--similarity", f"features:{tmp_path}/x.npy")
    assert done.exit_code == 2
    assert "features alone are for --plan-only" in done.stderr


def test_so_many_random_sequences_are_written_as_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_only, "MOST_ROWS", 30)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(12, 3)))
    flags = ("--plan-only", "--tasks", 3, "--moves", 100, "--random-sequences", 10, "--json")
    done = seqsearch("edge", *flags, "--similarity", f"features:{tmp_path}/x.npy", "--out", tmp_path / "o")
    assert len(json.loads(done.stdout)["random"]) == 2
