"""``seqsearch explain``: what is new is trained, effects add up, and what cannot be explained is told in one line."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.evaluate.common.source import fill_from_run
from protocols.evaluate.explain.protocol import EXPLAIN
from protocols.evaluate.explain.settings import ExplainSettings
from protocols.evaluate.explain.study import ExplainStudy
from protocols.running.folder import RunFolder
from protocols.running.provenance import REWARDED_ON_TEST
from protocols.running.unchanged import check_settings
from seqsearch.core.errors import UserError
from seqsearch.methods.spec import capabilities_of
from tests.lines import messages
from tests.studies import finished_run
from tests.unit.evaluate.commands import ran, rows

RUN: dict[str, Any] = {"methods": "simplecil", "tasks": 4, "score_seeds": 2, "simulations": 3, "condensed": 3}
FAILS = """
from seqsearch.methods.simplecil import SimpleCIL

class Fails(SimpleCIL):
    def fit_task(self, task):
        if {int(row) // 16 for row in task.train.indices} == CLASSES:
            raise RuntimeError("not this one")
        return super().fit_task(task)
"""
SCRATCH = """
import torch
from seqsearch.methods.base import Caps, FitReport, Footprint, Method
from seqsearch.pools.base import View

class Scratch:
    name = tag = "scratch"
    digest, dim, view, vit = "scratch-1", 3072, View(32), False
    def module(self):
        return torch.nn.Flatten()
    def initialised(self, generator):
        return self.module()
    def preprocess(self, images):
        return torch.from_numpy(images).float() / 255

def build(**_):
    return Scratch()

class Pixels(Method):
    caps = Caps(trains_backbone=True)
    def __init__(self, context, config):
        super().__init__(context, config)
        self.means = torch.zeros(0, 3072)
    def fit_task(self, task):
        x = self.features(task.train)
        self.means = torch.cat([self.means, *(x[task.train.targets == c].mean(0, keepdim=True) for c in task.columns)])
        return FitReport()
    def predict(self, batch):
        return -torch.cdist(self.features(batch), self.means)
    def features(self, batch):
        return batch.images.flatten(1)
    def state_dict(self):
        return {"means": self.means.clone()}
    def load_state_dict(self, state):
        self.means = state["means"]
    def memory_footprint(self):
        return Footprint(statistics=4 * self.means.numel())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "run", **RUN)


@pytest.fixture(scope="module")
def out(run: Path) -> Path:
    """The run, explained."""
    result = explain(run, "--draws", 4, "--no-bound", "--out", run.parent / "explained", "--json")
    assert result.exit_code == 0, result.output
    return run.parent / "explained"


explain = partial(ran, "explain")


def said_of(run: Path) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["show", str(run), "--json"])
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def test_only_what_is_new_is_trained(run: Path, out: Path) -> None:
    kinds = {(r["sequence_id"], r["kind"]) for r in rows(out, "sequences")}
    made = [kind for _, kind in kinds]
    assert {k: made.count(k) for k in set(made)} == {"searched": 1, "random": 5, "regrouped": 4, "reordered": 4}
    known = {r["sequence_id"] for r in rows(run, "results") if r["role"] == "rescore"}
    states = rows(out, "trainings")
    assert len({t["state"] for t in states}) == len(states)
    fresh = [r for r in rows(out, "results") if r["sequence_id"] not in known]
    assert {r["kind"] for r in fresh} == {"regrouped", "reordered"}
    seeds = {r["sequence_id"]: set() for r in rows(out, "results") if r["kind"] == "random"}
    for r in rows(out, "results"):
        if r["kind"] == "random":
            seeds[r["sequence_id"]].add(r["seed"])
    assert {name: len(of) for name, of in seeds.items()} == {f"random-{i}": 2 if i < 4 else 1 for i in range(5)}
    again = [t for t in states if t["depth"] > 1]
    assert len(again) < (8 * 2 + 4) * 3 + 1  # beginnings are shared; four random ones have the second seed here


def test_effects_add_up_and_the_order_is_nothing_to_a_nearest_mean(run: Path, out: Path) -> None:
    [method] = said_of(out)["methods"]
    for measure in ("accuracy", "masked", "confusion"):
        m = method["measures"][measure]
        total = sum(e["interval"]["value"] for e in m["effects"].values())
        assert total == pytest.approx(
            m["means"]["random"]["interval"]["value"] - m["means"]["found"]["interval"]["value"]
        )
    for name in ("content", "grouping", "order"):
        parts = [
            method["measures"][m]["effects"][name]["interval"]["value"] for m in ("accuracy", "masked", "confusion")
        ]
        assert parts[0] == pytest.approx(parts[1] + parts[2])
    assert method["measures"]["accuracy"]["effects"]["order"]["nothing_differs"]
    assert not method["measures"]["accuracy"]["effects"]["content"]["nothing_differs"]
    [before] = said_of(run)["methods"]
    assert method["measures"]["accuracy"]["means"]["found"]["interval"]["value"] == pytest.approx(
        before["found"]["acc"]
    )
    table = {(r["measure"], r["figure"]): r for r in rows(out, "effects")}
    assert (
        table["accuracy", "content"]["value"]
        == method["measures"]["accuracy"]["effects"]["content"]["interval"]["value"]
    )
    assert table["accuracy", "content"]["over"] == ["random sequences", "regroupings", "test images"]


def test_what_classes_share_and_ranks_are_told_and_shown_again(out: Path) -> None:
    said = said_of(out)
    assert {(a["by"], a["about"]) for a in said["common"]["alike"]} == {
        (by, about) for by in ("names", "images") for about in ("content", "grouping", "order")
    }
    assert all(0 < a["place"]["p"] <= a["holm"] <= 1 for a in said["common"]["alike"])
    assert {p["task"] for p in said["common"]["pairs"]} <= {2, 3, 4}
    [rank] = said["methods"][0]["ranks"]
    assert rank["beats"] + rank["ties"] <= rank["random"] == 5
    [place] = [n["values"] for n in said["coded"]["notes"] if n["code"] == "explain.rank"]
    assert (place["beats"], place["random"]) == (rank["beats"], rank["random"])
    page = (out / "report.html").read_text()
    assert "What makes them hard" in page
    assert "data:image/png" in page


@pytest.mark.long
def test_the_same_again_gives_the_same_rows(run: Path, out: Path, tmp_path: Path) -> None:
    result = explain(run, "--draws", 4, "--no-bound", "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    for name in ("sequences", "effects"):
        assert [{**r, "run_id": ""} for r in rows(out, name)] == [
            {**r, "run_id": ""} for r in rows(tmp_path / "again", name)
        ]
    assert (out / "common.json").read_bytes() == (tmp_path / "again" / "common.json").read_bytes()


def test_a_regrouping_that_fails_is_left_out_and_told(run: Path, out: Path, tmp_path: Path) -> None:
    lost = {
        r["class_id"] for r in rows(out, "sequences") if r["sequence_id"].endswith("/regrouped-0") and r["step"] == 2
    }
    (tmp_path / "own.py").write_text(FAILS.replace("CLASSES", repr(lost)))
    result = explain(
        run, "--methods", f"{tmp_path}/own.py:Fails", "--draws", 4, "--no-bound", "--out", tmp_path / "o", "--json"
    )
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert any("1 of 4 regrouped sequences of search-0 left out" in note for note in said["notes"])
    assert said["methods"][0]["measures"]["accuracy"]["draws"]["regrouped"] == 3


def test_images_are_not_compared_by_a_backbone_from_scratch(run: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(SCRATCH)
    method = f"{tmp_path}/own.py:Pixels@{tmp_path}/own.py:build"
    pool = json.loads((run / "config.json").read_text())["settings"]["pool"]
    few = ["--pool", pool, "--draws", 3, "--no-bound", "--which", "found", "--score-seeds", 1]
    result = explain(run / "sequences.parquet", "--methods", method, *few, "--out", tmp_path / "o", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (
        "Images are not compared: all backbones begin from scratch, their features would say nothing." in said["notes"]
    )
    assert {a["by"] for a in said["common"]["alike"]} == {"names"}
    assert {t["method_id"] for t in rows(tmp_path / "o", "trainings")} == {said["methods"][0]["method"]}


def test_what_biases_the_search_is_told_of_its_explanation(out: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(out, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    config["identity"]["biases"] = [REWARDED_ON_TEST]
    (copy / "config.json").write_text(json.dumps(config))
    assert not any(REWARDED_ON_TEST in note for note in said_of(out)["notes"])
    result = explain(copy, "--draws", 4, "--no-bound", "--out", tmp_path / "o", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert REWARDED_ON_TEST in said["notes"]
    assert said["biases"] == [REWARDED_ON_TEST]
    assert not [t for t in rows(tmp_path / "o", "trainings") if t["depth"] > 1]  # all is known


def test_other_regroupings_are_not_taken_for_those_of_the_source(out: Path, tmp_path: Path) -> None:
    same, other = (explain(out, "--draws", n, "--no-bound", "--dry-run", "--out", tmp_path / "o") for n in (4, 3))
    assert same.exit_code == 0, same.output
    assert other.exit_code == 2
    assert "has another sequence 'search-0/regrouped-" in other.stderr
    assert len(messages(other.stderr)) == 1


@pytest.mark.parametrize(
    ("tasks", "wrong"),
    [
        ([["a", "b"], ["c", "d"]], "no other order, or no other grouping"),
        ([["a"], ["b"], ["c"]], "has 3 tasks, the last of 1 class: after the first they have no other order"),
        ([["a", "b"]], "has 1 task, the last of 2 classes: after the first"),
        ([[["a", "b"], ["c", "d"], ["e", "f"]], [["c", "b"], ["a", "d"], ["e", "f"]]], "begin with different tasks"),
    ],
)  # fmt: skip
def test_what_cannot_be_explained_is_one_line(run: Path, tmp_path: Path, tasks: list[Any], wrong: str) -> None:
    names = sorted({r["class_name"] for r in rows(run, "sequences")})
    text = json.dumps(tasks)
    for letter, name in zip("abcdef", names, strict=False):
        text = text.replace(json.dumps(letter), json.dumps(name))
    (tmp_path / "s.json").write_text(text)
    pool = json.loads((run / "config.json").read_text())["settings"]["pool"]
    result = explain(tmp_path / "s.json", "--pool", pool, "--methods", "simplecil", "--out", tmp_path / "o")
    assert result.exit_code == 2
    assert wrong in result.stderr
    assert len(messages(result.stderr)) == 1
    assert not (tmp_path / "o").exists()


def test_classes_that_come_late_are_not_put_before_they_are_there(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "grown")
    config = json.loads((copy / "config.json").read_text())
    pool = config["settings"]["pool"]
    config["settings"] |= {"pool": f"{pool},seed=1", "grow": [f"3:{pool}"]}
    (copy / "config.json").write_text(json.dumps(config))
    result = explain(copy, "--out", tmp_path / "o")
    assert result.exit_code == 2
    assert "sequence 'search-0' has classes that are there from task 3 on (--grow)" in result.stderr
    assert len(messages(result.stderr)) == 1
    assert not (tmp_path / "o").exists()


def test_damaged_common_is_told(out: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(out, tmp_path / "copy")
    (copy / "common.json").write_text('{"groups": 3}')
    result = CliRunner().invoke(main, ["show", str(copy)])
    assert result.exit_code == 2
    assert "common.json is not as it was written" in result.stderr


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({}, {"glyph_vit": "frozen"}),
        ({"methods": "simplecil,er"}, {"glyph_vit": "full"}),
        ({"methods": "simplecil,er@scratch:tiny"}, {"glyph_vit": "frozen", "scratch:tiny": "full"}),
        ({"bound_kind": "full"}, {"glyph_vit": "full"}),
        ({"methods": "er", "bound_kind": "frozen"}, {"glyph_vit": "frozen"}),
        ({"bound": False, "bound_kind": "full"}, {}),
    ],
)
def test_the_bound_is_of_the_kind_of_the_methods(
    run: Path, tmp_path: Path, given: dict[str, Any], kinds: dict[str, str]
) -> None:
    study = prepared(run, tmp_path, **given)
    assert study.kinds == kinds
    inputs = {b: capabilities_of(m).input for b, m in study.bounds.items()}
    assert inputs == {b: {"frozen": "frozen", "full": "images"}[kind] for b, kind in kinds.items()}


def prepared(run: Path, scratch: Path, **given: Any) -> ExplainStudy:
    settings = fill_from_run(ExplainSettings, {"source": str(run), **given}, set(given), methods="unless named")
    return EXPLAIN.prepare(ExplainSettings(**settings), scratch / "states", "cpu", Path.cwd())


def test_a_network_from_scratch_has_no_frozen_bound(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--bound-kind frozen: backbone 'scratch:tiny' begins from scratch"):
        prepared(run, tmp_path, methods="er@scratch:tiny", bound_kind="frozen")


def test_a_run_that_is_older_than_the_kinds_of_bounds_goes_on_with_the_full_one(run: Path, tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "old", ExplainSettings(source=str(run), methods="simplecil")).close()
    config = json.loads((tmp_path / "old" / "config.json").read_text())
    del config["settings"]["bound_kind"]
    (tmp_path / "old" / "config.json").write_text(json.dumps(config))
    folder, settings = RunFolder.resume(tmp_path / "old", ExplainSettings, {})
    folder.close()
    assert settings.bound_kind == "full"
    check_settings(tmp_path / "old", settings, config)  # as the journal of such a run has them


def test_a_dry_run_times_upper_bounds_and_names_their_kind(run: Path) -> None:
    said = json.loads(explain(run, "--draws", 3, "--dry-run", "--json").stdout)
    assert said["bound_kinds"] == {"glyph_vit": "frozen"}
    assert said["bound_trainings"] == 4 * 2  # sequences, training seeds
    whole = (said["trainings"] - 8) * said["seconds_per_training"] + 8 * said["seconds_per_bound"]
    assert 3600 * said["hours"] == pytest.approx(whole)


@pytest.mark.long
def test_the_gap_to_joint_training_grows_by_what_accuracy_loses_and_the_bound_does_not(
    run: Path, tmp_path: Path
) -> None:
    result = explain(run, "--draws", 3, "--out", tmp_path / "o", "--json")
    assert result.exit_code == 0, result.output
    [method], notes = (json.loads(result.stdout)[part] for part in ("methods", "notes"))
    assert method["bounds"] == ["frozen"]
    assert any("ridge regression on frozen features" in note for note in notes)
    measures = method["measures"]
    joint = {r["sequence_id"] for r in rows(tmp_path / "o", "results") if r["kind"] == "joint"}
    assert joint == {"search-0/joint", *(f"random-{i}/joint" for i in range(3))}
    for name in ("grouping", "order"):  # the same classes, the same bound
        own, gap = (measures[m]["effects"][name]["interval"]["value"] for m in ("accuracy", "gap"))
        assert gap == pytest.approx(own)
    bound = {
        n: measures["accuracy"]["means"][n]["interval"]["value"] - measures["gap"]["means"][n]["interval"]["value"]
        for n in ("random", "regrouped", "found")
    }
    assert bound["regrouped"] == pytest.approx(bound["found"])
    content = {m: measures[m]["effects"]["content"]["interval"]["value"] for m in ("accuracy", "gap")}
    assert content["accuracy"] - content["gap"] == pytest.approx(bound["random"] - bound["regrouped"])


@pytest.mark.long
def test_orders_of_all_classes_have_no_content_to_explain(tmp_path: Path) -> None:
    pool = "glyphs:classes=12,train=8,reward=4,test=4"
    made = ["edge", "--methods", "simplecil", "--pool", pool, "--tasks", "3", "--workers", "0", "--quiet"]
    assert CliRunner().invoke(main, [*made, "--out", str(tmp_path / "edge")]).exit_code == 0
    result = explain(tmp_path / "edge", "--out", tmp_path / "o")
    assert result.exit_code == 2
    assert "no sequence that was searched task by task" in result.stderr
