"""Metrics of runs in trackers, read back from what these store: their values, twice, after a resume, and hostile names."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import seqsearch as ss
from protocols.cli.main import main
from protocols.report.plain import texts_changed
from protocols.report.site.command import without_folders
from protocols.report.view import view_of_run
from protocols.trackers.metrics import Metric, RunMetrics, level, metrics_of
from protocols.trackers.publish import publish
from protocols.trackers.wandb import replace_metrics
from seqsearch.core.errors import UserError
from tests.unit.api.small import SMALL
from tests.unit.report.report_pages import RANDOM, TASKS, evaluated
from tests.unit.run_folders import glyphs, sequence, write_run
from tests.unit.running.test_time_budget import session

HOSTILE = ("er", "er/low", "er%2Flow", "a\"'<b>\n\x1b[31m", "a\"'<b>\\n\\x1b[31m", "../../x", "\u202ex")
"""Labels of methods, all different, and some of them alike once they are shown."""
Points = dict[tuple[str, int], float]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ss.cldyb(**{**SMALL, "methods": "simplecil,ranpac:M=64"}, out=tmp_path_factory.mktemp("runs") / "made").path


def made_up(path: Path, methods: tuple[str, ...] = ("er", "slca")) -> Path:
    """A run that is not trained, whose tables have intervals."""
    pool = glyphs()
    found = sequence(pool, "search-0", "searched", methods, TASKS)
    random = [sequence(pool, f"random-{i}", "random", methods, tasks) for i, tasks in enumerate(RANDOM)]
    rows = [r for s in (found, *random) for r in evaluated(s, methods)]
    return write_run(path, pool, [found, *random], rows, methods)


def stored(board: Path, name: str) -> Points:
    """What TensorBoard reads; a name and a step that are there twice fail."""
    reader = EventAccumulator(str(board / name), size_guidance={"scalars": 0})
    reader.Reload()
    points = [(tag, e.step, e.value) for tag in reader.Tags()["scalars"] for e in reader.Scalars(tag)]
    found = {(tag, step): value for tag, step, value in points}
    assert len(found) == len(points)
    return found


def points_of(metrics: RunMetrics) -> Points:
    return {(m.name, m.step): m.value for m in metrics.metrics}


def refused(*words: object) -> str:
    done = CliRunner().invoke(main, ["publish", *map(str, words)])
    assert done.exit_code == 2, done.output
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def rows_of(run: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(run / f"{name}.parquet").to_pylist()
    return found


# ------------------------------------------------------------------------------------------------ values


def test_curves_are_means_of_the_rows(run: Path) -> None:
    found = points_of(metrics_of(run))
    for method in ("simplecil", "ranpac:M=64"):
        for kind in ("searched", "random"):
            for task in (1, 2):
                of: dict[Any, list[float]] = {}
                for r in rows_of(run, "results"):
                    wanted = (method, kind, "rescore", "test", task)
                    if (r["method_id"], r["kind"], r["role"], r["split"], r["trained_step"]) == wanted:
                        of.setdefault((r["sequence_id"], r["seed"]), []).append(r["correct"] / r["n"])
                mean = np.mean([np.mean(tasks) for tasks in of.values()])
                assert found[f"curve/{method}/{kind}", task] == pytest.approx(mean)
        acc = found[f"methods/{method}/acc_found", 0]
        assert acc == pytest.approx(found[f"curve/{method}/searched", 2])


def test_the_search_and_the_journal(run: Path) -> None:
    found = points_of(metrics_of(run))
    chosen = {r["step"]: r["value"] for r in rows_of(run, "trace") if r["chosen"]}
    assert chosen
    assert {step: v for (name, step), v in found.items() if name == "search/search-0/J"} == chosen
    trainings = rows_of(run, "trainings")
    assert found["journal/trainings", 0] == len(trainings)
    assert found["journal/training_seconds", 0] == pytest.approx(sum(t["seconds"] for t in trainings))
    assert found["journal/failed", 0] == 0


def test_metrics_carry_their_bounds(tmp_path: Path) -> None:
    run = made_up(tmp_path / "made")
    found = points_of(metrics_of(run))
    bounds = 0
    for table in view_of_run(run).key:
        for record in table.records():
            for key, value in record.items():
                if key.endswith(("_low", "_high")) and value is not None:
                    name, _, bound = key.rpartition("_")
                    assert found[f"{table.name}/{record['method']}/{name}/{bound}", 0] == value
                    bounds += 1
    assert bounds > 4


# ------------------------------------------------------------------------------------------------ again, and resumed


def test_twice_is_once(run: Path, tmp_path: Path) -> None:
    said = json.loads(
        CliRunner().invoke(main, ["publish", str(run), "--to", f"tensorboard:{tmp_path}", "--json"]).stdout
    )
    metrics = metrics_of(run)
    assert (said["tracker"], said["state"]) == ("tensorboard", "finished")
    assert (said["metrics"], said["points"]) == (len(metrics.names), len(metrics.metrics))
    first = stored(tmp_path, "made")
    assert first == pytest.approx(points_of(metrics), rel=1e-6)
    ss.open(run).publish(f"tensorboard:{tmp_path}")
    assert stored(tmp_path, "made") == first
    assert len(list((tmp_path / "made").iterdir())) == 2


def test_an_unfinished_run_and_its_resume(tmp_path: Path) -> None:
    run, board = tmp_path / "made", tmp_path / "board"
    assert not session(run, 4)
    before = {p: p.read_bytes() for p in run.rglob("*") if p.is_file()}
    early = publish(run, f"tensorboard:{board}")
    assert {p: p.read_bytes() for p in run.rglob("*") if p.is_file()} == before
    assert early.state == "stopped"
    assert stored(board, "made")["journal/results", 0] >= 3
    with (run / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"edge":{"dig')  # what is being written
    assert points_of(metrics_of(run))["journal/results", 0] == stored(board, "made")["journal/results", 0]
    assert session(run)
    late = publish(run, f"tensorboard:{board}")
    assert (late.place, late.state) == (early.place, "finished")
    assert late.points > early.points
    assert stored(board, "made") == pytest.approx(points_of(metrics_of(run)), rel=1e-6)


def test_a_run_without_results_has_its_journal(run: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    for name in ("config.json", "journal.jsonl"):
        (tmp_path / "new" / name).write_bytes((run / name).read_bytes())
    found = metrics_of(tmp_path / "new")
    assert {m.name.partition("/")[0] for m in found.metrics} == {"journal"}
    assert found.key == metrics_of(run).key


# ------------------------------------------------------------------------------------------------ untrusted text, privacy


def test_hostile_labels_stay_one_level_and_different(tmp_path: Path) -> None:
    metrics = metrics_of(made_up(tmp_path / "made", HOSTILE))
    levels = [level(m) for m in HOSTILE]
    assert len(set(levels)) == len(HOSTILE)
    names = metrics.names
    assert all(name.isprintable() for name in names)
    assert {name.split("/")[1] for name in names if name.startswith("curve/")} == set(levels)
    assert set(levels) <= {name.split("/")[1] for name in names if name.startswith("methods/")}
    assert len(points_of(metrics)) == len(metrics.metrics)
    publish(tmp_path / "made", f"tensorboard:{tmp_path / 'board'}")
    assert stored(tmp_path / "board", "made") == pytest.approx(points_of(metrics), rel=1e-6)


def test_the_name_of_a_run_is_a_name(tmp_path: Path) -> None:
    run = made_up(tmp_path / "made")
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "run_id": "../../x"}))
    assert metrics_of(run).run == "made"


def test_settings_have_no_folders_of_the_machine() -> None:
    given = {
        "pool": "/home/me/my photos/a:train=5,captions=/data/c.json",
        "methods": "er, /home/me/mine.py:Mine, cmd:python ~/x/run.py {out}",
        "weights": ["~me/net.safetensors", "timm/vit_base", "s3://bucket/net"],
        "seed": 1,
    }
    assert texts_changed(given, without_folders) == {
        "pool": "a:train=5,captions=c.json",
        "methods": "er, mine.py:Mine, cmd:python run.py {out}",
        "weights": ["net.safetensors", "timm/vit_base", "s3://bucket/net"],
        "seed": 1,
    }


def test_what_is_stored_says_nothing_of_the_machine(run: Path, tmp_path: Path) -> None:
    publish(run, f"tensorboard:{tmp_path}")
    check_private(tmp_path, run)


def check_private(folder: Path, run: Path) -> None:
    words = (os.uname().nodename + ".", str(run.parent), str(Path.cwd()), str(Path.home()) + "/")
    for path in (p for p in folder.rglob("*") if p.is_file() and p.suffix != ".log"):
        assert not [w for w in words if w.encode() in path.read_bytes() or w in path.name], path


# ------------------------------------------------------------------------------------------------ refusals


def test_what_cannot_be_sent_is_one_line(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--to wand:x: did you mean wandb? it takes tensorboard:DIR, trackio:PROJECT, wandb:PROJECT" in refused(
        run, "--to", "wand:x"
    )
    assert "wandb needs wandb:PROJECT" in refused(run, "--to", "wandb:")
    assert "wandb needs wandb:PROJECT" in refused(run, "--to", "wandb:a\x1b/b/c")
    assert "trackio needs trackio:PROJECT" in refused(run, "--to", "trackio")
    assert "tensorboard needs tensorboard:DIR" in refused(run, "--to", "tensorboard")
    assert "is no run folder" in refused(tmp_path, "--to", "tensorboard:board")
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    assert "pip install 'tensorboardX>=2.6'" in refused(run, "--to", f"tensorboard:{tmp_path / 'new'}")
    assert not (tmp_path / "new").exists()


def test_folders_of_others_are_left_alone(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "file is a file: name a folder, tensorboard:DIR" in refused(run, "--to", f"tensorboard:{tmp_path}/file/x")
    (tmp_path / "other" / "made").mkdir(parents=True)
    (tmp_path / "other" / "made" / "thesis.tex").touch()
    assert "has other files" in refused(run, "--to", f"tensorboard:{tmp_path}/other")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "made").symlink_to(tmp_path / "other")
    assert "is a link" in refused(run, "--to", f"tensorboard:{tmp_path}/linked")
    made_up(tmp_path / "made")
    publish(tmp_path / "made", f"tensorboard:{tmp_path}/board")
    with pytest.raises(UserError, match="has metrics of another run of this name"):
        publish(run, f"tensorboard:{tmp_path}/board")


def test_a_damaged_journal_is_one_line(tmp_path: Path) -> None:
    run = made_up(tmp_path / "made")
    (run / "journal.jsonl").write_text("{}\n")
    assert "journal.jsonl, line 1: not a line of a journal" in refused(run, "--to", f"tensorboard:{tmp_path}/board")


# ------------------------------------------------------------------------------------------------ wandb, Trackio


def command(run: Path, to: str, **environment: str) -> str:
    """``seqsearch publish`` in a process of its own, since trackers leave processes and threads behind."""
    done = subprocess.run(
        [sys.executable, "-m", "seqsearch", "publish", str(run), "--to", to, "--json"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def records(path: Path) -> Iterator[Any]:
    """Records of an offline run: blocks of 32 KB, records with checksum, length and kind (first, middle, last or whole)."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, part = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        size, kind = struct.unpack_from("<HB", data, at + 4)
        part += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):
            yield Record.FromString(part)
            part = b""


@pytest.mark.long
def test_wandb_offline_has_a_summary_and_no_history(tmp_path: Path) -> None:
    run = made_up(tmp_path / "made", HOSTILE)
    for _ in range(2):
        said = json.loads(command(run, "wandb:project", WANDB_MODE="offline", WANDB_DIR=str(tmp_path)))
        assert "wandb sync" in said["place"]
    folders = sorted((tmp_path / "wandb").glob("offline-run-*"))
    assert len({f.name.rpartition("-")[2] for f in folders}) == 1
    for folder in folders:
        [file] = folder.glob("*.wandb")
        found = list(records(file))
        assert not any(r.WhichOneof("record_type") in ("history", "stats", "files", "artifact") for r in found)
        [begun] = [r.run for r in found if r.WhichOneof("record_type") == "run"]
        assert (begun.run_id, begun.display_name, begun.host) == (metrics_of(run).key, "made", "")
        values = {u.key: json.loads(u.value_json) for r in found for u in r.summary.update if "/" in u.key}
        wanted = {f"{m.name}/{m.step}" if m.step else m.name: m.value for m in metrics_of(run).metrics}
        assert values == pytest.approx(wanted)
        check_private(folder, run)


@pytest.mark.long
def test_wandb_that_is_not_reached_is_one_line(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MODE": "online", "BASE_URL": "http://127.0.0.1:9", "API_KEY": "a" * 40}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    assert "wandb failed (CommError" in refused(run, "--to", "wandb:project")


def test_a_summary_loses_what_the_run_has_no_more() -> None:
    summary: dict[str, Any] = {"methods/er/acc": 0.1, "methods/gone/acc": 0.2, "mine": 3, "_runtime": 4}
    replace_metrics(
        summary, RunMetrics("made", "key", "finished", {}, (Metric("methods/er/acc", 0.5), Metric("c", 1, 2)))
    )
    assert summary == {"methods/er/acc": 0.5, "c/2": 1, "mine": 3, "_runtime": 4}


def test_trackio_has_a_run_once(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    for _ in range(2):
        command(run, "trackio:project", TRACKIO_DIR=str(tmp_path))
    code = "import json, trackio; [r] = trackio.Api().runs('project'); s = trackio.SQLiteStorage; " + (
        "print(json.dumps([r.id, r.config, s.get_logs('project', r.name, run_id=r.id)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TRACKIO_DIR": str(tmp_path)}, capture_output=True, check=True
    )
    key, config, logs = json.loads(done.stdout)
    metrics = metrics_of(run)
    assert (key, config) == (metrics.key, metrics.config)
    found = [(name, log["step"], v) for log in logs for name, v in log.items() if name not in ("step", "timestamp")]
    assert len(found) == len(metrics.metrics)
    assert {(name, step): v for name, step, v in found} == pytest.approx(points_of(metrics))
