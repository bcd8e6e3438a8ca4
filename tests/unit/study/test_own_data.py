"""A study on images, backbones and hyperparameters of one's own: real data, real training, in process."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import timm
import torch
from safetensors.torch import save_file

from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import prepare
from protocols.cldyb.tuning import Trial, Tuning
from protocols.report.cldyb.notes import notes
from protocols.report.page import laid_out
from protocols.running.folder import RunFolder
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.core.registry import load, names
from seqsearch.core.types import ClassId
from seqsearch.methods.config import LogUniform, build_config
from seqsearch.methods.sampling import proposals, search_space
from seqsearch.pools.open import build_pool
from tests.photos import write_digits, write_photos
from tests.studies import SMALL, execute, run_small, small_settings, summary_of

DIGITS = {"tasks": 3, "classes_per_task": 2, "candidates": 6, "condensed": 3, "clusters": 2, "simulations": 4}
"""Ten classes: three tasks of two, and a look-ahead."""


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_digits(tmp_path_factory.mktemp("data") / "digits", 24)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name in ("test_vit", "test_resnet"):
        torch.manual_seed(0)
        found[name] = tmp_path_factory.mktemp("weights") / f"{name}.safetensors"
        save_file(timm.create_model(name, pretrained=False, num_classes=0).state_dict(), found[name])
    return found


def indices(sequence: Any) -> list[list[int]]:
    return [[c.index for c in task.classes] for task in sequence]


def finish(path: Path, **changes: Any) -> Path:
    """A whole run, files and report included."""
    settings = CldybSettings(**{**SMALL, **changes})
    with contextlib.closing(RunFolder.create(path, settings)) as folder:
        execute(folder, settings)
    return path


# ------------------------------------------------------------------------------------------------ pools


@pytest.mark.long
def test_a_folder_and_its_parquet_file_find_the_same_sequence(tmp_path: Path, digits: Path) -> None:
    build_parquet([("digits", build_pool(str(digits)))], tmp_path / "digits.parquet", Options(min_images=4), 1)
    found = [
        run_small(tmp_path / str(i), pool=str(pool), methods="simplecil,er:epochs=1", **DIGITS)
        for i, pool in enumerate((digits, tmp_path / "digits.parquet"))
    ]
    a, b = (indices(f.plans.searches[0].sequence) for f in found)
    assert a == b
    folder, parquet = (f.plans.searches[0].trace for f in found)
    assert [j.value for j in folder] == [j.value for j in parquet]
    pools = {c.pool for f in found for c in f.plans.searches[0].sequence[0].classes}
    assert len(pools) == 2


def test_several_pools_are_one(tmp_path: Path, digits: Path) -> None:
    write_photos(tmp_path / "photos", 10)
    found = run_small(tmp_path, pool=f"{digits},{tmp_path / 'photos'},glyphs:classes=9,train=6,reward=3,test=3")
    union = found.study.world.images
    assert len(union.classes) == 10 + 12 + 9
    assert len({c.pool for c in found.study.view.class_ids}) == 3
    ids = found.study.world.class_ids(range(31))
    assert [found.study.world.class_index(c) for c in ids] == list(range(31))
    with pytest.raises(UserError, match="is named twice"):
        prepare(small_settings(pool=f"{digits},{digits}"), tmp_path, "cpu")


@pytest.mark.parametrize("name", ["a b", "a,b", "a:b", "a=b", "a@b", "a:b=c", "ä"])
def test_any_folder_name_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_digits(tmp_path / name, 8)
    study = prepare(small_settings(pool=name), tmp_path, "cpu")
    assert len(study.view.class_ids) == 10
    assert study.view.groups[0] == name
    assert Path(study.world.pool) == tmp_path / name


def test_a_pool_that_grows(tmp_path: Path, digits: Path) -> None:
    settings = {"pool": "glyphs:classes=24,train=8,reward=4,test=4", "tasks": 4, "classes_per_task": 3}
    before = run_small(tmp_path / "before", **settings)
    grown = run_small(tmp_path / "grown", **settings, grow=(f"3:{digits}",))
    old, new = before.plans.searches[0], grown.plans.searches[0]
    assert new.sequence[:2] == old.sequence[:2]  # nothing is known of what will come
    assert [j.task for j in new.trace if j.step == 2] == [j.task for j in old.trace if j.step == 2]
    assert [j.value for j in new.trace if j.step == 2] == [j.value for j in old.trace if j.step == 2]
    added = grown.study.world.images.parts[1].digest
    candidates = [c for j in new.trace if j.step >= 3 for c in j.task.classes]
    assert any(c.pool == added for c in candidates)
    for sequence in grown.plans.baseline[0].sequences:
        assert all(c.pool != added for task in sequence[:2] for c in task.classes)
    assert any(c.pool == added for s in grown.plans.baseline[0].sequences for t in s[2:] for c in t.classes)


def test_growth_and_exclusion_are_in_the_journal_and_the_report(tmp_path: Path, digits: Path) -> None:
    path = finish(
        tmp_path / "run",
        pool="glyphs:classes=48,train=8,reward=4,test=4",
        grow=(f"2:{digits}",),
        exclude_groups="Arrows",
    )
    [note] = [
        e["note"]
        for e in map(json.loads, (path / "journal.jsonl").read_text().splitlines())
        if "pools" in e.get("note", {})
    ]
    assert [(p["from_step"], p["in_play"]) for p in note["pools"]] == [(1, 47), (2, 10)]
    assert note["pools"][0]["excluded_groups"] == ["Arrows"]
    report = (path / "report.html").read_text()
    assert "these groups are left out: Arrows." in report
    assert str(laid_out("there from task 2 on (--grow)")) in report
    assert "known by path, size and time of its files" in report
    assert [n.values["step"] for n in notes(summary_of(path)) if n.code == "pool.grown"] == [2]
    rows = pq.read_table(path / "sequences.parquet").to_pylist()
    ours = {ClassId(r["pool_digest"], r["class_id"]): r["class_name"] for r in rows}
    assert all(ours.values())
    assert any(r["group"] == "digits" for r in rows)


@pytest.mark.parametrize(
    ("grow", "said"),
    [
        ("more.parquet", "write STEP:POOL"),
        ("1:glyphs:part=pretrain", "the step must be from 2 to --tasks 3"),
        ("4:glyphs:part=pretrain", "the step must be from 2 to --tasks 3"),
        ("2:nowhere", "nowhere' does not exist: name a folder of images"),
        ("2:glyphs:classes=48,train=8,reward=4,test=4", "are the same: name it once"),
    ],
)
def test_growth_that_cannot_be(tmp_path: Path, grow: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        prepare(small_settings(grow=(grow,)), tmp_path, "cpu")


def test_an_empty_file_is_found_before_any_compute(tmp_path: Path) -> None:
    write_digits(tmp_path / "digits", 8)
    (tmp_path / "digits" / "digit 3" / "x.png").write_bytes(b"")
    with pytest.raises(UserError, match=r"digit 3/x.png is empty"):
        prepare(small_settings(pool=str(tmp_path / "digits")), tmp_path, "cpu")


def test_an_image_that_turns_out_corrupt_stops_the_run(tmp_path: Path) -> None:
    """Here before its first result, so that no folder is left."""
    write_digits(tmp_path / "digits", 12)
    (tmp_path / "digits" / "digit 3" / "0005.png").write_bytes(b"x")
    with pytest.raises(UserError, match=r"digit 3/0005.png is unusable: not an image"):
        finish(tmp_path / "run", pool=str(tmp_path / "digits"), **DIGITS)
    assert not (tmp_path / "run").exists()


# ------------------------------------------------------------------------------------------------ backbones


@pytest.mark.long
def test_every_method_searches_in_its_own_space(tmp_path: Path, digits: Path, weights: dict[str, Path]) -> None:
    """CLDyB Figs. 11 and 12: mixed backbones, jointly and separately."""
    files = tuple(f"{name}={file}" for name, file in weights.items())
    methods = "simplecil@test_vit,simplecil@test_resnet,simplecil"
    path = finish(tmp_path / "joint", pool=str(digits), methods=methods, weights=files, **DIGITS)
    results = pq.read_table(path / "results.parquet").to_pylist()
    tags = {r["method_id"]: r["weight_tag"] for r in results}
    assert tags["simplecil@test_vit"].startswith("test_vit.file-")
    assert tags["simplecil@test_resnet"].startswith("test_resnet.file-")
    assert tags["simplecil"].startswith("glyph_vit.r1-")
    trace = pq.read_table(path / "trace.parquet").to_pylist()
    evaluated = [r["nll"] for r in trace if r["nll"]]
    assert evaluated
    assert all(len(set(n)) == 3 for n in evaluated)  # one loss per method, each its own
    apart = run_small(tmp_path / "apart", pool=str(digits), methods=methods, weights=files, separate=True, **DIGITS)
    assert [p.methods[0].label for p in apart.plans.searches] == methods.split(",")


def test_weights_that_nobody_uses(tmp_path: Path, weights: dict[str, Path]) -> None:
    with pytest.raises(UserError, match="no method uses backbone 'test_vit'; they use glyph_vit"):
        prepare(small_settings(weights=(f"test_vit={weights['test_vit']}",)), tmp_path, "cpu")
    with pytest.raises(UserError, match="write BACKBONE=FILE"):
        small_settings(weights=("test_vit",))
    with pytest.raises(UserError, match="has a file already"):
        small_settings(weights=("a=b", "a=c"))


# ------------------------------------------------------------------------------------------------ hyperparameters


@pytest.mark.parametrize("name", names("method"))
def test_search_spaces_are_settings_that_the_method_accepts(name: str) -> None:
    method = load("method", name)
    tried = proposals(method, {}, 20, 0)
    assert tried[0] == {}
    assert len({build_config(method, p) for p in tried}) == len(tried)
    assert proposals(method, {}, 5, 0) == tried[:5] or len(tried) <= 5
    for space in search_space(method, {}).values():
        assert (isinstance(space, LogUniform) and 0 < space.low < space.high) or len(space) > 1
    if tried[1:]:
        first = next(iter(tried[1]))
        assert first not in search_space(method, {first: 1})
        assert proposals(method, {}, 20, 1) != tried


TUNED = {
    "methods": "simplecil,ranpac:M=200", "pool": "glyphs:classes=60,train=8,reward=4,test=4",
    "tune_tasks": 2, "tune_trials": 3,
}  # fmt: skip


def test_tuning_uses_classes_outside_the_run(tmp_path: Path) -> None:
    study = prepare(small_settings(**TUNED), tmp_path / "states", "cpu")
    tuned_on = {c for task in study.tuning for c in task.classes}
    assert len(tuned_on) == 2 * 3
    assert tuned_on.isdisjoint(study.view.class_ids)
    assert len(study.view.class_ids) == 60 - 6
    trials = Tuning(study).trials
    assert [(t.method.label, t.number) for t in trials] == [("simplecil", 0), *(("ranpac:M=200", n) for n in range(3))]
    assert all(dict(t.spec.params)["M"] == 200 for t in trials[1:])  # what the user fixed stays
    with pytest.raises(UserError, match="has 8 classes in play beside the 6 to tune on, 3 tasks of 3 need 9"):
        prepare(small_settings(**{**TUNED, "pool": "glyphs:classes=14"}), tmp_path, "cpu")


def test_tuned_values_trials_and_cost_are_in_the_run(tmp_path: Path) -> None:
    path = finish(tmp_path / "run", **TUNED)
    rows = pq.read_table(path / "trials.parquet").to_pylist()
    assert len(rows) == 4
    best = max((r for r in rows if r["method_id"] == "ranpac:M=200"), key=lambda r: (r["accuracy"], -r["trial"]))
    assert [r["chosen"] for r in rows] == [True, *(r is best for r in rows[1:])]
    assert all(r["train_seconds"] > 0 and r["trainings"] == 2 for r in rows)
    config = json.loads((path / "config.json").read_text())
    assert config["tuned"]["ranpac:M=200"] == json.loads(best["params"])
    results = pq.read_table(path / "results.parquet").to_pylist()
    assert {r["config_digest"] for r in results if r["method_id"] == "ranpac:M=200"} == {best["config_digest"]}
    assert "of classes outside the run" in (path / "report.html").read_text()
    chosen = {n.values["method"]: n.values["values"] for n in notes(summary_of(path)) if n.code == "tuned.chosen"}
    assert "M=200" not in chosen["ranpac:M=200"], "given, and not chosen"
    trained = pq.read_table(path / "trainings.parquet").to_pylist()
    assert sum("[trial" in r["method_id"] for r in trained) == 4 * 2
    assert len({r["state"] for r in trained}) == len(trained)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.5, 0.5, 0.4], ": its defaults (best of 3, 1 other as good)"),
        ([0.5, 0.5, 0.5], ": its defaults (best of 3, 2 others as good)"),
        ([0.4, None, 0.5], " (best of 3)"),
    ],
)
def test_it_is_said_how_many_settings_were_as_good(tmp_path: Path, scores: list[float | None], said: str) -> None:
    class Known(Tuning):
        def _accuracy(self, trial: Trial) -> float | None:
            return scores[trial.number]

    lines = Known(prepare(small_settings(**TUNED), tmp_path / "states", "cpu")).in_words()
    assert lines[0] == "simplecil: nothing to tune"
    assert lines[1].startswith("ranpac:M=200: ")
    assert lines[1].endswith(said)


@pytest.mark.long
def test_an_interrupted_tuning_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seqsearch.training.trainer import Trainer

    whole = finish(tmp_path / "whole", **TUNED)
    trained, real = [], Trainer.train

    def train(self: Trainer, edge: Any) -> Any:
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append(edge)
        return real(self, edge)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train", train)
        with pytest.raises(KeyboardInterrupt):
            finish(tmp_path / "cut", **TUNED)
    folder, settings = RunFolder.resume(tmp_path / "cut", CldybSettings, {})
    execute(folder, settings)
    for name in ("trials", "sequences"):
        a, b = (pq.read_table(p / f"{name}.parquet").drop(["run_id"]) for p in (whole, tmp_path / "cut"))
        same = [c for c in a.column_names if c != "train_seconds"]
        assert a.select(same).equals(b.select(same))


@pytest.mark.long
def test_the_papers_way_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = finish(tmp_path / "run", **{**TUNED, "tune_on": "first"})
    assert "tuned.circular" in {n.code for n in notes(summary_of(path))}
    assert str(laid_out("(--tune-on first, the paper")) in (path / "report.html").read_text()
    rows = pq.read_table(path / "trials.parquet").to_pylist()
    assert len(rows) == 4
    with pytest.raises(UserError, match="--tune-tasks 4 --tune-on first: a sequence has 3 tasks only"):
        small_settings(tune_tasks=4, tune_on="first")


OWN_POOL = """
import numpy as np
from seqsearch.pools.base import ClassInfo, SplitSizes

class Stripes:
    name, digest, native_size, split_sizes, given = "stripes", "stripes-1", 32, SplitSizes(), None
    classes = tuple(ClassInfo(f"every {i + 2}", "stripes", 16) for i in range(20))

    def images(self, rows, view):
        x = np.arange(view.size)
        bars = np.stack([(x % (r // 16 + 2) == r % 3) for r in rows])
        noise = np.stack([np.random.default_rng(r).random((view.size, view.size)) for r in rows])
        return np.repeat(((bars[:, None, :] * 0.5 + noise * 0.5) * 255).astype(np.uint8)[:, None], 3, axis=1)

class Half:
    name = "half"
"""


def test_a_pool_of_ones_own_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_POOL)
    found = run_small(tmp_path, pool=f"{tmp_path}/mine.py:Stripes")
    assert len(found.plans.searches[0].sequence) == 3
    with pytest.raises(
        UserError, match="has no digest, classes, native_size, split_sizes, given, images: see seqsearch/pools"
    ):
        prepare(small_settings(pool=f"{tmp_path}/mine.py:Half"), tmp_path, "cpu")
