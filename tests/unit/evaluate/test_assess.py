"""Methods in several respects, recomputed from the files of their runs by numpy."""

from __future__ import annotations

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import seqsearch as ss
from protocols.cli.main import main
from protocols.evaluate.assess.assessment import Wanted, assess
from protocols.evaluate.assess.images import ImageFeatures, Unavailable, task_map, task_similarity
from protocols.evaluate.assess.inference import measure_inference
from protocols.evaluate.assess.trees import tree
from protocols.report.assess.figures import figures
from protocols.report.assess.view import view
from seqsearch.core.errors import UserError
from tests.unit.api.small import SMALL

METHODS = ("simplecil", "ranpac:M=64")
STUDY: dict[str, Any] = {**SMALL, "methods": ",".join(METHODS), "tasks": 3, "searches": 2}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Searched for both methods together and for each alone; a third one scored on the common sequences."""
    out = tmp_path_factory.mktemp("runs")
    joint = ss.cldyb(**STUDY, out=out / "joint").path
    separate = ss.cldyb(**STUDY, separate=True, out=out / "separate").path
    return [joint, separate, ss.score(joint, methods="lwf:epochs=1", workers=0, quiet=True, out=out / "scored").path]


def rows_of(run: Path, method: str, alone: bool) -> list[dict[str, Any]]:
    """Rows of fresh trainings of a method on sequences that were found for it alone, or for several methods."""
    found = {
        r["sequence_id"]
        for r in pq.read_table(run / "sequences.parquet").to_pylist()
        if r["kind"] == "searched" and (r["method_ids"] == [method] if alone else len(r["method_ids"]) > 1)
    }
    rows = pq.read_table(run / "results.parquet").to_pylist()
    return [r for r in rows if (r["method_id"], r["role"]) == (method, "rescore") and r["sequence_id"] in found]


def matrices(rows: list[dict[str, Any]]) -> list[np.ndarray]:
    """Accuracy matrices ``[3, 3]`` of rollouts."""
    found: dict[tuple[str, int], np.ndarray] = {}
    for r in rows:
        a = found.setdefault((r["sequence_id"], r["seed"]), np.full((3, 3), np.nan))
        a[r["trained_step"] - 1, r["evaluated_step"] - 1] = r["correct"] / r["n"]
    return list(found.values())


def test_every_respect_follows_from_the_files(runs: list[Path]) -> None:
    found = {m.method: m for m in assess(runs, Wanted(images=0)).methods}
    assert set(found) == {*METHODS, "lwf:epochs=1"}
    for method, m in found.items():
        run = runs[2] if method == "lwf:epochs=1" else runs[0]
        rows, own = rows_of(run, method, alone=False), rows_of(runs[1], method, alone=True)
        common = matrices(rows)
        assert m.common is not None
        value = {name: estimate.value.value for name, estimate in m.common.estimates.items()}
        assert value["acc"] == pytest.approx(np.mean([a[2].mean() for a in common]))
        assert value["ar"] == pytest.approx(np.mean([(a[2, :2] - np.diagonal(a)[:2]).mean() for a in common]))
        assert value["ala"] == pytest.approx(np.mean([np.diagonal(a).mean() for a in common]))
        if method == "lwf:epochs=1":
            assert (m.own, own) == (None, [])
        else:
            assert m.own is not None
            assert m.own.estimates["acc"].value.value == pytest.approx(np.mean([a[2].mean() for a in matrices(own)]))
        kept = ("params_bytes", "statistics_bytes", "exemplar_bytes")
        assert m.stored == max(sum(r[name] for name in kept) for r in [*rows, *own])
        times = {(r["sequence_id"], r["seed"]): r["train_seconds"] for r in rows}
        assert m.seconds == pytest.approx(np.mean(list(times.values())))


def test_trajectories_and_their_distances(runs: list[Path]) -> None:
    a = assess(runs, Wanted(images=0))
    curves = {}
    for method in METHODS:
        rows = rows_of(runs[0], method, alone=False)
        of_sequence = [
            matrices([r for r in rows if r["sequence_id"] == s]) for s in dict.fromkeys(r["sequence_id"] for r in rows)
        ]
        by_sequence = [np.mean([[m[t, : t + 1].mean() for t in range(3)] for m in of], axis=0) for of in of_sequence]
        curves[method] = np.concatenate(by_sequence)
        assert a.trajectories[method] == pytest.approx(curves[method])
    found = tree({m: a.trajectories[m] for m in METHODS})
    assert found is not None
    distance = np.sqrt(np.mean((curves[METHODS[0]] - curves[METHODS[1]]) ** 2))
    assert found.distances == pytest.approx(np.array([[0, distance], [distance, 0]]))
    assert tree({"one": np.ones(3)}) is None


def test_a_tree_joins_the_nearest_first() -> None:
    found = tree({"a": np.array([0.0, 0.0]), "far": np.array([9.0, 9.0]), "b": np.array([1.0, 1.0])})
    assert found is not None
    assert set(found.names[:2]) in ({"a", "b"}, {"far", "a"}, {"far", "b"})
    assert sorted(max(heights) for heights, _ in found.branches) == pytest.approx([1.0, 8.5])


def test_similarity_of_tasks_is_the_mean_over_all_pairs_of_images(runs: list[Path]) -> None:
    a = assess(runs, Wanted(images=3))
    assert isinstance(a.images, ImageFeatures)
    [sequence, *_] = a.own[METHODS[0]]
    tasks = [np.concatenate([a.images.of_class[c] for c in t.classes]).astype(np.float64) for t in sequence.tasks]
    assert [len(t) for t in tasks] == [6, 6, 6]
    found = task_similarity(a.images, sequence)
    for i, j in combinations(range(3), 2):
        pairs = [x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x in tasks[i] for y in tasks[j]]
        assert found[i, j] == found[j, i] == pytest.approx(np.mean(pairs), abs=1e-6)
    assert a.alike is not None
    assert min(v.min() for v in a.alike.vectors.values()) == 0
    assert max(v.max() for v in a.alike.vectors.values()) == 1


def test_a_map_is_the_same_again_and_has_every_image(runs: list[Path]) -> None:
    a = assess(runs[:1], Wanted(images=6))
    assert isinstance(a.images, ImageFeatures)
    first, again = (task_map(a.images, a.common[0]) for _ in range(2))
    assert first is not None
    assert again is not None
    assert first.points.shape == (3 * 2 * 5, 2)
    assert np.bincount(first.tasks).tolist() == [10, 10, 10]
    assert (first.points == again.points).all()


def test_passes_are_those_of_the_methods(tmp_path: Path) -> None:
    """Prompts are chosen by a pass of their own; DER has a network for each task."""
    methods = "simplecil,dualprompt:epochs=1,der:epochs=1"
    small = {
        **SMALL,
        "methods": methods,
        "candidates": 1,
        "condensed": 1,
        "clusters": 1,
        "simulations": 1,
        "score_seeds": 1,
    }
    run = ss.cldyb(**{**small, "random_sequences": 0}, out=tmp_path / "run").path
    said: list[str] = []
    found, troubles = measure_inference(run, None, "cpu", (), said.append)
    assert said == list(found)
    assert troubles == []
    assert [i.passes for i in found.values()] == pytest.approx([1, 2, 2], abs=0.02)
    assert all(i.seconds > 0 for i in found.values())
    again, _ = measure_inference(run, None, "cpu", list(found), said.append)
    assert again == {}


def test_what_is_missing_is_a_note(runs: list[Path]) -> None:
    joint = view(assess(runs[:1], Wanted(images=0)))
    codes = {n.code for n in joint.notes}
    assert {"assess.no_own", "assess.no_images", "assess.no_latency"} <= codes
    assert [p.name for p in joint.draws()] == ["respects", "trajectories"]
    alone = view(assess(runs[1:2], Wanted(images=0)))
    assert alone.headline.code == "assess.own"
    assert "assess.no_common" in {n.code for n in alone.notes}
    elsewhere = assess(runs[:1], Wanted(pool="glyphs:classes=11"))
    assert isinstance(elsewhere.images, Unavailable)
    assert "not those that the run used" in elsewhere.images.because


def test_methods_that_were_not_searched_with_are_named(runs: list[Path]) -> None:
    shown = view(assess(runs, Wanted(images=0)))
    assert [n.values["methods"] for n in shown.notes if n.code == "assess.held_out"] == [["lwf:epochs=1"]]
    assert "assess.held_out" not in {n.code for n in view(assess(runs[:1], Wanted(images=0))).notes}


def test_figures_of_all_runs(runs: list[Path]) -> None:
    panels = figures(assess(runs, Wanted(images=3)))
    assert {p.name: len(p.panels) for p in panels} == {"respects": 3, "trajectories": 2, "similarity": 2, "tasks": 3}


def test_runs_of_other_images_are_refused(runs: list[Path], tmp_path: Path) -> None:
    other = ss.cldyb(**{**STUDY, "pool": "glyphs:classes=11,train=6,reward=4,test=4"}, out=tmp_path / "other").path
    with pytest.raises(UserError, match="differ in pool"):
        assess([runs[0], other], Wanted())


def test_a_run_without_found_sequences_is_refused(tmp_path: Path) -> None:
    small = {name: SMALL[name] for name in ("methods", "pool", "tasks", "workers", "quiet")}
    made = ss.edge(**small, classes=4, random_sequences=5, out=tmp_path / "edge").path
    (made / "sequences.parquet").rename(tmp_path / "kept.parquet")
    done = CliRunner().invoke(main, ["assess", str(made)])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)


def test_the_command_writes_a_page_figures_and_json(runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "assessed"
    words = ["assess", *map(str, runs), "--images", "3", "--to", "svg", "--json", "--out", str(out)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["methods"][0]["method"] == METHODS[0]
    assert json.loads((out / "assess.json").read_text())["tables"] == said["tables"]
    assert "Methods in all respects" in (out / "assess.html").read_text()
    drawn = json.loads((out / "figures/figures.json").read_text())["runs"][0]["figures"]
    assert sorted(f["file"] for f in drawn) == sorted(p.name for p in (out / "figures").glob("*.svg"))
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 0, again.output
    (tmp_path / "other").mkdir()
    (tmp_path / "other/mine.txt").write_text("mine")
    refused = CliRunner().invoke(main, [*words[:-1], str(tmp_path / "other")])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


def test_settings_that_others_have_edited_are_no_crash(runs: list[Path], tmp_path: Path) -> None:
    shutil.copytree(runs[0], tmp_path / "joint")
    said = json.loads((runs[0] / "config.json").read_text())
    (tmp_path / "joint/config.json").write_text(json.dumps({**said, "settings": "x", "identity": [1]}))
    a = assess([tmp_path / "joint"], Wanted())
    assert isinstance(a.images, Unavailable)
    assert "restore it" in a.images.because


@pytest.mark.parametrize("custom", ["planted.py:Net", "planted:Net"])
def test_code_that_a_run_names_is_not_executed(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, custom: str
) -> None:
    (tmp_path / "planted.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\nNet = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    shutil.copytree(runs[0], tmp_path / "joint")
    said = json.loads((runs[0] / "config.json").read_text())
    said["directory"] = str(tmp_path)
    for change in ({"backbone": custom}, {"methods": f"simplecil@{custom}"}, {"methods": custom}):
        settings = {**said["settings"], **change}
        (tmp_path / "joint/config.json").write_text(json.dumps({**said, "settings": settings}))
        a = assess([tmp_path / "joint"], Wanted(latency=True))
        assert any("is not executed" in t for t in a.troubles), change
        assert not any(m.inference for m in a.methods), change
    assert not (tmp_path / "executed").exists()
