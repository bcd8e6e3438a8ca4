"""``seqsearch mcil`` through the command line: whole runs, resumed ones, what others do with them, and bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.backbones.open import build_backbone
from seqsearch.results.experience_schema import EXPERIENCE_LAYOUTS
from tests.lines import messages

SMALL = ["--pool", "glyphs:classes=14", "--backbone", "glyph_vit", "--experiences", "4", "--classes", "11"]
OWN = """
from seqsearch.methods.simplecil import SimpleCIL

class Halves(SimpleCIL):
    def classifiers(self, batch):
        scores = self.predict(batch)
        return {"head": scores, "upside down": -scores}

class Fails(SimpleCIL):
    def fit_task(self, task):
        if self.n_tasks == 2:
            raise RuntimeError("out of ideas")
        return super().fit_task(task)
"""


def mcil(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["mcil", *map(str, arguments), "--workers", "0"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcil")
    (folder / "own.py").write_text(OWN)
    methods = f"simplecil,ranpac,{folder}/own.py:Halves,{folder}/own.py:Fails"
    ended = mcil(*SMALL, "--methods", methods, "--seeds", "2", "--orders", "3", "--out", folder / "run", "--json")
    assert ended.exit_code == 0, ended.output
    (folder / "said.json").write_text(ended.stdout)
    return folder / "run"


def test_figures_follow_from_what_was_right(run: Path) -> None:
    rows = pd.read_parquet(run / "experiences.parquet")
    sequences = pd.read_parquet(run / "sequences.parquet")
    assert sequences.groupby(["sequence_id", "step"]).size().unstack().to_numpy().tolist() == [[3, 3, 3, 2]] * 3
    for r in rows.itertuples():
        assert list(r.sizes) == [3, 3, 3, 2][: r.experience]
        shares = np.array(r.class_correct) / r.class_n
        assert r.balanced == pytest.approx(shares.mean())
        assert r.pooled == pytest.approx(sum(r.class_correct) / sum(r.class_n)) == pytest.approx(r.correct / r.images)
        assert list(r.by_experience) == pytest.approx([p.mean() for p in np.split(shares, np.cumsum(r.sizes)[:-1])])
    results = pd.read_parquet(run / "results.parquet")
    last = results[(results.trained_step == 4) & (results.method_id == "simplecil")].groupby(["sequence_id", "seed"])
    heads = rows[(rows.experience == 4) & (rows.classifier == "head") & (rows.method_id == "simplecil")]
    assert heads.set_index(["sequence_id", "seed"]).correct.to_dict() == last.correct.sum().to_dict()


def test_figures_of_a_run_are_those_of_its_experiences(run: Path) -> None:
    figures, rows = pd.read_parquet(run / "run_figures.parquet"), pd.read_parquet(run / "experiences.parquet")
    assert len(figures) == 6 * (1 + 1 + 2 + 1)
    for f in figures.itertuples():
        own = rows[(rows.sequence_id == f.sequence_id) & (rows.method_id == f.method_id) & (rows.seed == f.seed)]
        A = own[own.classifier == f.classifier].sort_values("experience").balanced.tolist()
        assert f.average == pytest.approx(np.mean(A))
        assert f.pd_printed == pytest.approx(A[0] - np.mean(A))
        assert f.pd_final == pytest.approx(A[0] - A[-1])
        assert f.experiences == len(A) == (2 if "Fails" in f.method_id else 4)
    own = figures.set_index("method_id")
    assert set(own.status[own.index.str.contains("Fails")]) == {"failed"}
    [backbone] = set(own.backbone_bytes[own.status == "ok"])
    assert backbone == 4 * sum(p.numel() for p in build_backbone("glyph_vit").module().parameters())


def test_what_is_said_is_said_again_and_what_failed_is_compared_with_none(run: Path) -> None:
    said = json.loads((run.parent / "said.json").read_text())
    again = CliRunner().invoke(main, ["show", str(run), "--json"])
    assert said == json.loads(again.stdout)
    by = {m["label"].rpartition(":")[2]: m for m in said["methods"]}
    assert by["Fails"]["status"] == "failed"
    assert [label.rpartition(":")[2] for label in said["ranking"]].count("Fails") == 0
    assert len(said["pairs"]) == 3
    assert (said["orders"], said["seeds"], said["sizes"]) == (3, 2, [3, 3, 3, 2])
    pairs = {frozenset(p[n].rpartition(":")[2] for n in ("first", "second")): p for p in said["pairs"]}
    assert pairs[frozenset({"simplecil", "Halves"})]["order"] == "equal in every run"
    (worth,) = said["modalities"]
    assert worth["judged_by"] == "upside down"
    assert worth["lost"]["value"] > 0.5
    noise = {n["method"].rpartition(":")[2]: n for n in said["noise"]}
    assert noise["simplecil"]["seed_sd"] == 0
    assert noise["ranpac"]["seed_sd"] > 0
    assert any("Fails (failed)" in f for f in said["notes"])
    page = (run / "report.html").read_text()
    for title in (
        "Methods",
        "Further figures of methods",
        "Over the experiences",
        "By what is evaluated",
        "Orders and seeds",
    ):
        assert f"<h2>{title}</h2>" in page


def test_where_no_method_came_to_its_end_the_first_reason_of_each_is_told(tmp_path: Path, run: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    out = ["--methods", f"{tmp_path}/own.py:Fails,{tmp_path}/own.py:Never", "--seeds", "2", "--out", tmp_path / "run"]
    with (tmp_path / "own.py").open("a") as file:
        file.write(
            "\nclass Never(SimpleCIL):\n    def fit_task(self, task):\n        raise ValueError('not at\\nall')\n"
        )
    ended = mcil(*SMALL, *out)
    assert ended.exit_code == 2
    said = " ".join(ended.stderr.split())
    for why in (
        "own.py:Fails' failed: RuntimeError: out of ideas (own.py:12)",
        "own.py:Never' failed: ValueError: not at all (own.py:17)",
    ):
        assert f"a training went wrong: method '{why}" in said
    assert "seqsearch: no method has a complete result: method 'own.py:" in said
    copied = shutil.copytree(run, tmp_path / "copied")
    stats = json.loads((copied / "stats.json").read_text())
    (copied / "stats.json").write_text(json.dumps({**stats, "failures": {"a": 3}}))
    refused = CliRunner().invoke(main, ["show", str(copied)])
    assert "stats.json: failures is" in refused.stderr


def test_a_score_is_the_mean_over_all_seeds_of_each_order(run: Path, tmp_path: Path) -> None:
    """Each class order has training seeds of its own; a method that is new is trained with the same."""
    score = ["score", run, "--methods", "ranpac,ranpac:M=16", "--workers", 0, "--out", tmp_path / "scored", "--json"]
    ended = CliRunner().invoke(main, list(map(str, score)))
    assert ended.exit_code == 0, ended.output
    said = {m["method"]: m["sides"]["random"] for m in json.loads(ended.stdout)["methods"]}
    results = pd.read_parquet(tmp_path / "scored" / "results.parquet")
    for method in ("ranpac", "ranpac:M=16"):
        own = results[results.method_id == method]
        by_step = own.groupby(["trained_step", "sequence_id", "seed"]).accuracy.mean()
        assert len(by_step[4]) == 6
        last = by_step[4].groupby("sequence_id").mean()
        assert (said[method]["sequences"], said[method]["seeds"]) == (3, 2)
        assert said[method]["acc"] == pytest.approx(last.mean(), abs=1e-12)
        assert said[method]["worst"] == pytest.approx(last.min(), abs=1e-12)
        assert said[method]["acc_by_step"] == pytest.approx([by_step[t].mean() for t in range(1, 5)])
        assert (said[method]["low"][3], said[method]["high"][3]) == pytest.approx((by_step[4].min(), by_step[4].max()))
    seeds = results.groupby("method_id").seed.unique().map(set)
    assert seeds["ranpac:M=16"] == seeds["ranpac"]
    assert "relative drop" not in CliRunner().invoke(main, ["show", str(tmp_path / "scored")]).stdout


def test_shown_scored_and_exported_although_experiences_differ_in_size(run: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["show", str(run)])
    assert shown.exit_code == 0, shown.output
    assert "PD A_1 - Avg" in shown.output
    score = ["score", run, "--methods", "simplecil", "--workers", 0, "--out", tmp_path / "scored", "--json"]
    scored = CliRunner().invoke(main, list(map(str, score)))
    assert scored.exit_code == 0, scored.output
    own = pd.read_parquet(tmp_path / "scored" / "results.parquet")
    whole = pd.read_parquet(run / "results.parquet")
    key, names = ["sequence_id", "trained_step", "evaluated_step"], ["simplecil"]
    a, b = (r[r.method_id.isin(names) & (r.role == "rescore")].groupby(key).accuracy.mean() for r in (own, whole))
    pd.testing.assert_series_equal(a, b)
    for kind in ("avalanche", "json"):
        out = ["export", run, "--to", kind, "--out", tmp_path / kind, "--sequence", "order-0"]
        exported = CliRunner().invoke(main, list(map(str, out)))
        assert exported.exit_code == 0, exported.output
    named = json.loads((tmp_path / "json" / "sequences.json").read_text())
    assert [len(t) for t in named["order-0"]] == [3, 3, 3, 2]


def test_a_run_that_is_resumed_is_the_run(run: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    shutil.copytree(run, cut)
    for name in (*(layout.file for layout in EXPERIENCE_LAYOUTS), "report.html"):
        (cut / name).unlink()
    journal = cut / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert mcil("--resume", cut).exit_code == 0
    for layout in EXPERIENCE_LAYOUTS:
        a, b = (pd.read_parquet(r / layout.file) for r in (run, cut))
        timed = ["run_id", "train_seconds", "judge_seconds"]
        pd.testing.assert_frame_equal(a.drop(columns=timed), b.drop(columns=timed))


@pytest.mark.parametrize(
    ("file", "column", "value", "says"),
    [
        ("experiences.parquet", "balanced", 0.123, "are not whole"),
        ("experiences.parquet", "correct", 10**6, "are not whole"),
        ("experiences.parquet", "experience", 1, "are not whole"),
        ("run_figures.parquet", "average", 0.123, "are not those of its experiences"),
        ("run_figures.parquet", "train_seconds", -1.0, "are not those of its experiences"),
        ("run_figures.parquet", "classifier", "other", "its runs are not those of"),
    ],
)
def test_files_that_were_changed_are_refused_in_one_line(run, tmp_path, file, column, value, says) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    frame = pd.read_parquet(copy / file)
    frame.loc[3, column] = value
    frame.to_parquet(copy / file)
    shown = CliRunner().invoke(main, ["show", str(copy)])
    assert shown.exit_code == 2
    [line] = shown.stderr.splitlines()
    assert says in line


def test_a_dry_run_tells_what_it_costs_and_leaves_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = mcil(*SMALL, "--methods", "simplecil,ranpac", "--dry-run", "--json")
    assert ended.exit_code == 0, ended.output
    said = json.loads(ended.stdout)
    assert (said["trainings"], said["rollouts"], said["sizes"]) == (24, 6, [3, 3, 3, 2])
    assert said["hours"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--methods", "simplecil", "--experiences", "8"], "11 classes in 8 experiences"),
        (["--methods", "nothing"], "unknown method 'nothing'"),
        (["--methods", "cmd:true"], "balanced accuracy needs that"),
        (["--methods", "simplecil", "--backbone", "nothing"], "nothing"),
    ],
)
def test_refused_in_one_line(more, says, tmp_path) -> None:
    ended = mcil(*SMALL, *more, "--out", tmp_path / "run")
    assert ended.exit_code == 2, ended.output
    [line] = messages(ended.stderr)
    assert says in line
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_what_each_modality_is_worth(tmp_path) -> None:
    pool = ["--pool", "glyphs:captions=first,classes=12,train=4,reward=2,test=4", "--backbone", "glyph_flava"]
    more = ["--methods", "simplecil", "--experiences", "3", "--seeds", "3", "--modalities", "--json"]
    ended = mcil(*pool, *more, "--out", tmp_path / "run")
    assert ended.exit_code == 0, ended.output
    said = json.loads(ended.stdout)
    assert json.loads((tmp_path / "run/config.json").read_text())["identity"]["scenario"] == "modalities"
    assert [w["judged_by"] for w in said["modalities"]] == [
        "image_only",
        "text_only",
        "mismatched_image",
        "mismatched_text",
    ]
    figures = pd.read_parquet(tmp_path / "run/run_figures.parquet").pivot_table("average", "seed", "classifier")
    for w in said["modalities"]:
        lost = (figures["head"] - figures[w["judged_by"]]).mean()
        assert w["lost"]["value"] == pytest.approx(lost)
