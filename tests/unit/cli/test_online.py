"""``seqsearch online`` through the command line: whole runs, resumed ones, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.online.protocol import ONLINE
from protocols.online.reading import BY_SAMPLE, IN_BATCHES
from protocols.report.online.notes import notes
from tests.lines import messages

STREAM = "glyphs:samples=900,classes=5,burst=6"
SMALL = ["--stream", STREAM, "--methods", "ncm", "--batch", "16", "--shift", "32,96", "--holdout", "0.1"]
OWN = """
import numpy as np
import torch
from seqsearch.learners.base import Learner

class Fails(Learner):
    def predict(self, batch):
        return torch.zeros(len(batch), dtype=torch.int64)
    def learn(self, step):
        if step.number == 5:
            raise RuntimeError("out of ideas")
    def state_dict(self):
        return {}
    def load_state_dict(self, state):
        pass

class Tosses(Fails):
    def learn(self, step):
        self.last = int(step.draws("toss").integers(5))
    def predict(self, batch):
        return torch.full((len(batch),), getattr(self, "last", 0))
    def state_dict(self):
        return {"last": getattr(self, "last", 0)}
    def load_state_dict(self, state):
        self.last = int(state["last"])
"""


def online(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["online", *map(str, arguments), "--workers", "0"])


def refused(path: Path, *arguments: object) -> str:
    """What is said; nothing was computed, and no folder is left."""
    ended = online(*arguments, "--out", path / "run")
    assert ended.exit_code == 2, ended.output
    assert "Traceback" not in ended.output
    assert not (path / "run").exists()
    [line] = messages(ended.stderr)
    assert line.startswith("seqsearch: ")
    return line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--methods", "ncm", "--stream", "nowhere"], "nowhere"),
        (["--methods", "nothing", "--stream", STREAM], "unknown learner 'nothing'"),
        (["--methods", "ncm:k=3", "--stream", STREAM, "--shift", "64"], "no parameter 'k'"),
        (["--methods", "ncm", "--stream", STREAM, "--shift", "100"], "no multiple of --batch"),
        (["--methods", "ncm", "--stream", STREAM, "--shift", "8192"], "leaves none to be evaluated"),
        pytest.param(
            ["--methods", "ncm", "--stream", STREAM], "--shift auto: none can be chosen", marks=pytest.mark.long
        ),
        (["--methods", "fc_only:budget=0.001", "--stream", STREAM, "--shift", "64"], "makes none in"),
        (["--methods", "blind:k=5000", "--stream", STREAM, "--shift", "64"], "k=5000 is more than the"),
        (["--methods", "ncm@scratch:tiny-16", "--stream", STREAM, "--shift", "64"], "scratch"),
        (
            ["--methods", "ncm", "--stream", STREAM, "--shift", "64", "--weights", "resnet18=x.pt"],
            "no learner uses backbone",
        ),
    ],
)
def test_refused_in_one_line(arguments, says, tmp_path):
    assert says in refused(tmp_path, *arguments)


def test_a_run_leaves_figures_that_fit_together(tmp_path):
    run = tmp_path / "run"
    ended = online(*SMALL, "--windows", "128", "--trace", "--checkpoint-every", "9", "--out", run)
    assert ended.exit_code == 0, ended.output
    figures = pd.read_parquet(run / "figures.parquet")
    assert (figures.n == figures.block_n.map(np.sum)).all()
    assert (figures.correct == figures.block_correct.map(np.sum)).all()
    assert np.allclose(figures.accuracy, figures.correct / figures.n)
    own = figures[(figures.method_id == "ncm") & (figures.learned_window == 0) & (figures.judged_window == 0)]
    main = json.loads((run / "config.json").read_text())["identity"]["stream"]["main"]
    by = own.set_index(["samples", "shift"]).n
    assert (by["all", 0], by["all", 32], by["all", 96]) == (main, main - 32, main - 96)
    assert (by["common", 0], by["common", 32], by["common", 96]) == (main - 96,) * 3
    assert set(figures.method_id) == {"ncm", IN_BATCHES, BY_SAMPLE}
    curves = pd.read_parquet(run / "curves.parquet")
    last = curves[(curves.measure == "accuracy") & (curves.method_id == "ncm")].groupby(
        ["learned_window", "judged_window", "shift"]
    )
    for (learned, evaluated, shift), rows in last:
        same = figures[(figures.method_id == "ncm") & (figures.samples == "all") & (figures.learned_window == learned)]
        same = same[(same.judged_window == evaluated) & (same["shift"] == shift)]
        assert rows.sort_values("position").accuracy.iloc[-1] == pytest.approx(same.accuracy.iloc[0])
    assert set(curves.measure) == {"accuracy", "retention", "trace"}
    shown = CliRunner().invoke(main_of(), ["show", str(run), "--json"])
    assert shown.exit_code == 0, shown.output


def main_of():
    return main


@pytest.mark.long
def test_a_run_that_is_resumed_is_the_run(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    methods = ["--methods", f"ncm,{tmp_path / 'own.py'}:Tosses", "--seeds", "2", "--checkpoint-every", "9"]
    assert online(*SMALL, *methods, "--out", tmp_path / "whole").exit_code == 0
    assert online(*SMALL, *methods, "--out", tmp_path / "cut").exit_code == 0
    journal = tmp_path / "cut" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for name in ("figures.parquet", "curves.parquet", "report.html"):
        (tmp_path / "cut" / name).unlink(missing_ok=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    ended = online("--resume", tmp_path / "cut")
    assert ended.exit_code == 0, ended.output
    timed = ["run_id", "learning_seconds", "judging_seconds"]
    a, b = (pd.read_parquet(tmp_path / n / "figures.parquet").drop(columns=timed) for n in ("whole", "cut"))
    pd.testing.assert_frame_equal(a, b)
    assert a[a.method_id.str.contains("Tosses")].seed.nunique() == 2
    assert a[a.method_id == "ncm"].seed.nunique() == 1


@pytest.mark.long
def test_a_learner_that_fails_is_a_result_and_the_others_go_on(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    ended = online(
        *SMALL,
        "--methods",
        f"ncm,{tmp_path / 'own.py'}:Fails",
        "--seeds",
        "1",
        "--checkpoint-every",
        "3",
        "--out",
        tmp_path / "run",
    )
    assert ended.exit_code == 0, ended.output
    figures = pd.read_parquet(tmp_path / "run" / "figures.parquet")
    status = figures.groupby("method_id").status.first().to_dict()
    assert status["ncm"] == "ok"
    assert next(s for m, s in status.items() if "Fails" in m) == "failed"
    assert "out of ideas" in (tmp_path / "run" / "journal.jsonl").read_text()


def test_what_it_would_cost_is_told_and_nothing_is_run(tmp_path):
    ended = online(*SMALL, "--dry-run", "--json")
    assert ended.exit_code == 0, ended.output
    said = json.loads(ended.stdout)
    assert (said["runs"], said["shift"]) == (1, 32)
    assert said["hours"] > 0


def stream_of(path: Path, features: bool) -> Path:
    """A stream of 400 labels in runs of five, with features or labels alone."""
    labels = np.repeat(np.arange(80) % 4, 5)
    if features:
        drawn = np.random.default_rng(0).normal(size=(400, 6)) + 4 * np.eye(6)[labels]
        np.save(path / "features.npy", drawn.astype(np.float32))
        np.save(path / "labels.npy", labels)
        source = [str(path / "features.npy"), "--labels", str(path / "labels.npy")]
    else:
        pd.DataFrame({"label": labels}).to_parquet(path / "labels.parquet")
        source = [str(path / "labels.parquet")]
    ended = CliRunner().invoke(main, ["stream", "build", *source, str(path / "s.parquet")])
    assert ended.exit_code == 0, ended.output
    return path / "s.parquet"


@pytest.mark.parametrize(
    ("features", "reads", "learners"), [(True, "er", "ncm,slda,blind"), (False, "ncm", "blind,majority")]
)
def test_streams_without_images(features, reads, learners, tmp_path):
    rest = ["--batch", "8", "--shift", "16", "--stream", stream_of(tmp_path, features)]
    assert f"learner '{reads}' reads " in refused(tmp_path, "--methods", reads, *rest)
    ended = online("--methods", learners, *rest, "--out", tmp_path / "run")
    assert ended.exit_code == 0, ended.output
    figures = pd.read_parquet(tmp_path / "run" / "figures.parquet")
    near = figures[(figures["shift"] == 16) & (figures.samples == "all")].set_index("method_id").accuracy
    assert near.get("ncm", 1.0) > 0.9 > near["blind"]


CUTS = """
import os
import torch
from seqsearch.learners.base import Learner

class Cuts(Learner):
    def predict(self, batch):
        return batch.frozen.argmax(1) % 4
    def learn(self, step):
        if step.number == 30 and os.path.exists("CUT"):
            os.truncate("STREAM", 5000)
    def state_dict(self):
        return {}
    def load_state_dict(self, state):
        pass
"""


def test_a_stream_that_is_cut_off_while_it_is_played_ends_in_one_line_and_the_run_goes_on(tmp_path):
    stream, own, cut = stream_of(tmp_path, features=True), tmp_path / "own.py", tmp_path / "cut"
    own.write_text(CUTS.replace("CUT", str(cut)).replace("STREAM", str(stream)))
    given = ["--methods", f"{own}:Cuts", "--stream", stream, "--batch", "4", "--shift", "8", "--checkpoint-every", "10"]
    assert online(*given, "--out", tmp_path / "whole").exit_code == 0
    whole, cut_off = stream.read_bytes(), tmp_path / "run"
    cut.touch()
    ended = online(*given, "--out", cut_off)
    assert ended.exit_code == 2, ended.output
    [line] = [x for x in messages(ended.stderr) if "restore" in x]
    assert line.startswith("seqsearch: ")
    assert "the file has been changed: restore it, then resume" in line
    journal = (cut_off / "journal.jsonl").read_bytes()
    assert journal.count(b'"trained"') >= 3, "what was learned before is kept"
    stream.unlink()
    gone = online("--resume", cut_off)
    assert gone.exit_code == 2, gone.output
    [line] = messages(gone.stderr)
    assert f"stream '{stream}' does not exist" in line
    cut.unlink()
    stream.write_bytes(whole)
    assert online("--resume", cut_off).exit_code == 0
    assert (cut_off / "journal.jsonl").read_bytes().startswith(journal)
    timed = ["run_id", "learning_seconds", "judging_seconds"]
    a, b = (pd.read_parquet(tmp_path / n / "figures.parquet").drop(columns=timed) for n in ("whole", "run"))
    pd.testing.assert_frame_equal(a, b)


def test_what_is_no_learner_is_refused_before_anything_is_made(tmp_path):
    (tmp_path / "own.py").write_text("class Not: pass\n")
    assert "is no learner: derive its class" in refused(tmp_path, *SMALL, "--methods", f"{tmp_path}/own.py:Not")


def test_a_class_that_is_none_is_a_failure_of_the_learner(tmp_path):
    text = OWN + "\nclass Odd(Fails):\n    def predict(self, batch):\n        return torch.full((len(batch),), 99)\n"
    (tmp_path / "own.py").write_text(text)
    ended = online(*SMALL, "--methods", f"ncm,{tmp_path}/own.py:Odd", "--out", tmp_path / "run")
    assert ended.exit_code == 0, ended.output
    assert "must be classes from -1 to 4: it says 99" in (tmp_path / "run" / "journal.jsonl").read_text()


def test_a_named_shift_stands_beside_what_the_rule_gives(tmp_path):
    stream = ["--stream", "glyphs:samples=60000,classes=5,burst=8", "--search", "0.99", "--tolerance", "0.1"]
    rest = ["--methods", "blind,majority", "--batch", "4", "--shift", "4", "--seeds", "1"]
    ended = online(*stream, *rest, "--out", tmp_path / "run")
    assert ended.exit_code == 0, ended.output
    rule = json.loads((tmp_path / "run" / "shift.json").read_text())["by_rule"]["shift"]
    assert 8 <= rule <= 64
    said = " ".join(ended.output.split())
    assert f"gives {rule} on the search part, so labels are correlated beyond S = 4" in said
    [note] = [n for n in notes(ONLINE.read(tmp_path / "run").summary) if n.code == "online.rule_longer"]
    assert note.values == {"rule": rule, "shift": 4}
