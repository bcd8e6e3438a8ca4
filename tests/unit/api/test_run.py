"""Handles on runs in any state: what they answer is what the files hold."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from matplotlib.figure import Figure

import seqsearch as ss
from protocols.report.latex import tabular
from protocols.report.table import Column
from seqsearch.core.errors import UserError
from seqsearch.core.installation import ROOT
from tests.golden.test_old_runs import ARCHIVES, FOUND_ACCURACY
from tests.unit.api.small import SMALL


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ss.Run:
    return ss.cldyb(**SMALL, out=tmp_path_factory.mktemp("runs") / "made")


def test_what_it_is(run: ss.Run) -> None:
    assert (run.command, run.status, run.seed, run.failures) == ("cldyb", "finished", 0, [])
    assert run.settings["tasks"] == 2
    assert "torch" in run.versions
    assert run.report().name == "report.html"
    assert run == ss.open(str(run.path)) == ss.Run(run)
    assert len({run, ss.open(run.path)}) == 1
    assert ss.runs(run.path.parent) == [run]
    assert "finished" in repr(run)


def test_tables_and_frames_are_the_files(run: ss.Run) -> None:
    for name in run.tables:
        assert isinstance(run.table(name), pa.Table)
        pd.testing.assert_frame_equal(run.df(name), pd.read_parquet(run.path / f"{name}.parquet"))
    both = ss.runs_df(run, run)
    assert len(both) == 2 * len(run.df("results"))
    assert set(both.run) == {str(run.path)}
    with pytest.raises(UserError, match=r"has no table 'result'; did you mean results\?"):
        run.table("result")


def test_a_matrix_is_recomputed_from_the_rows(run: ss.Run) -> None:
    rows = run.df("results")
    rows = rows[(rows.role == "rescore") & (rows.kind == "searched")]
    for seed in (0, 1):
        wanted = np.full((2, 2), np.nan)
        for r in rows[rows.seed == sorted(rows.seed.unique())[seed]].itertuples():
            wanted[r.trained_step - 1, r.evaluated_step - 1] = r.correct / r.n
        np.testing.assert_allclose(run.matrix("simplecil", seed=int(sorted(rows.seed.unique())[seed])), wanted)
    mean = np.mean([run.matrix("simplecil", seed=int(s)) for s in rows.seed.unique()], axis=0)
    np.testing.assert_allclose(run.matrix("simplecil"), mean)
    with pytest.raises(UserError, match=r"has no method 'simplecl'; did you mean simplecil\?"):
        run.matrix("simplecl")
    np.testing.assert_allclose(run.matrix("simplecil", 0), run.matrix("simplecil"))
    for wrong in ("x", -99, 1.5, b"x"):
        with pytest.raises(UserError, match="has no sequence"):
            run.matrix("simplecil", wrong)
    with pytest.raises(UserError, match=r"did not learn .* with seed 99"):
        run.matrix("simplecil", seed=99)


def test_sequences_and_their_export(run: ss.Run, tmp_path: Path) -> None:
    found = run.sequences()
    assert len(found) == len(set(run.df("sequences").sequence_id))
    first = found[0]
    assert found[first.sequence.sequence_id] is first
    assert [len(t) for t in first.tasks] == [2, 2]
    assert json.loads(json.dumps(found.to_json()))[0]["sequence_id"] == first.sequence.sequence_id
    out = found.export("json", tmp_path / "out")
    assert (out / "README.md").is_file()


def test_images_of_a_task_are_those_that_the_run_saw(run: ss.Run) -> None:
    from torch.utils.data import DataLoader

    parts = {part: run.split(part, task=1) for part in ("train", "val", "reward", "test")}
    assert sum(map(len, parts.values())) == 2 * 14
    names = [c.name for c in run.sequences()[0].tasks[1]]
    assert parts["train"].classes == names
    images, labels = next(iter(DataLoader(parts["test"], batch_size=64)))
    assert images.dtype == torch.uint8
    assert images.shape == (2 * 4, 3, 32, 32)
    assert sorted(labels.tolist()) == [0] * 4 + [1] * 4
    assert labels.tolist() == parts["test"].targets
    assert len(run.split("test").classes) == 12
    for wrong, said in (
        ({"part": "tests"}, "no part 'tests'; did you mean test"),
        ({"part": "test", "task": 2}, "has no task 2"),
    ):
        with pytest.raises(UserError, match=said):
            run.split(**wrong)


def test_summary_figures_and_latex(run: ss.Run) -> None:
    from matplotlib.figure import Figure

    summary = run.summary
    assert summary.headline in str(summary)
    html = run._repr_html_()
    assert len(html) < 50_000
    assert "<script" not in html
    assert all(
        note.split("<")[0][:20] in html.replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")
        for note in summary.notes
    )
    figures = run.figures()
    assert {"placed", "tasks"} <= set(figures)
    ax = Figure().subplots()
    assert run.plot("tasks", ax) is ax.figure
    assert ax.lines
    assert "<caption>" in html
    with pytest.raises(UserError, match=r"no figure 'task'; did you mean tasks or masked\?"):
        run.plot("task")
    [table] = [t for n, t in summary.tables.items() if n == next(iter(summary.tables))]
    assert run.to_latex() == tabular(table)
    keys = [c.key for c in table.columns]
    assert run.to_latex(columns=keys[:2]).count("&") == 2
    with pytest.raises(UserError, match="has no column"):
        run.to_latex(columns=["nothing"])


def test_a_notebook_shows_figures_and_tables(run: ss.Run) -> None:
    picture, size = run.plot("placed")._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size["width"] == 380
    assert "_repr_png_" not in vars(run.plot("placed", ax=Figure().subplots()))
    with pytest.raises(UserError, match="ax must be the axes of one plot, not ndarray"):
        run.plot("placed", ax=Figure().subplots(1, 2))
    hostile = dataclasses.replace(run.summary.tables["methods"], columns=(Column("a", "<b>"),), rows=(("<script>",),))
    assert "&lt;script&gt;" in hostile._repr_html_()
    assert "<b>" not in hostile._repr_html_()
    assert repr(hostile) == "<table methods, 1 row: a>"


def test_sequences_are_named_by_id_place_or_themselves(run: ss.Run) -> None:
    first, second = run.sequences()[0], run.sequences()[1]
    assert (first.sequence_id, first.kind) == ("search-0", "searched")
    assert repr(run.sequences()).startswith("<12 task sequences: search-0, random-0")
    assert repr(first).startswith("<search-0 (searched): ")
    for same in (second, second.sequence_id, 1, np.int64(1)):
        np.testing.assert_array_equal(run.matrix("simplecil", same), run.matrix("simplecil", "random-0"))
        assert run.split("train", 0, sequence=same).classes == run.split("train", 0, sequence="random-0").classes
    for wrong in (-1, 12, True, "random-9"):
        with pytest.raises(UserError, match="has no sequence"):
            run.matrix("simplecil", wrong)
    nothing: Any = None
    with pytest.raises(UserError, match="tasks must be a whole number, not None"):
        run.extend(nothing)


def test_a_handle_stays_what_it_is_wherever_the_process_goes(
    run: ss.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle
    import shutil

    monkeypatch.chdir(run.path.parent)
    handle, before = ss.open("made"), hash(run)
    monkeypatch.chdir(tmp_path)
    assert handle == run == pickle.loads(pickle.dumps(run))
    assert hash(handle) == before
    gone = ss.open(shutil.copytree(run.path, tmp_path / "copy"))
    shutil.rmtree(gone.path)
    assert "no run folder" in repr(gone)
    made = ss.cldyb(**{**run.settings, "seed": 3}, workers=0, quiet=True)
    assert made.settings == {**run.settings, "seed": 3}


def test_a_run_goes_on_to_more_tasks(run: ss.Run, tmp_path: Path) -> None:
    import shutil

    longer = ss.open(shutil.copytree(run.path, tmp_path / "copy"))
    assert len(longer.extend(3, workers=0, quiet=True).sequences()[0].tasks) == 3


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda p: p.name)
def test_runs_of_older_versions_open_in_every_state(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    states = {"finished": "stopped", "running": "killed", "stopped": "stopped"}  # pages are not in the archive
    for run in ss.runs(tmp_path):
        command, _, state = run.path.name.partition("-")
        assert (run.command, run.status) == (command, states[state])
        assert isinstance(run.settings["methods"], str)
        if state == "finished":
            assert run.summary.headline
            assert run.tables
        else:
            with pytest.raises(UserError):
                _ = run.summary
        assert run._repr_html_()
    finished = ss.open(tmp_path / "cldyb-finished")
    for method, accuracy in FOUND_ACCURACY.items():
        assert finished.matrix(method)[-1].mean() == pytest.approx(accuracy)


def test_a_running_run_is_opened_and_left_alone(run: ss.Run, tmp_path: Path) -> None:
    import fcntl
    import shutil

    path = shutil.copytree(run.path, tmp_path / "busy")
    (path / "report.html").unlink()
    with open(path / "lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = ss.open(path)
        assert busy.status == "running"
        assert busy.df("results").equals(run.df("results"))
        with pytest.raises(UserError, match="in use by another process"):
            ss.resume(busy, workers=0, quiet=True)


def test_frames_without_pandas_are_refused_in_a_line(run: ss.Run) -> None:
    code = f"""
import sys
sys.modules["pandas"] = None
import seqsearch as ss
try:
    ss.open({str(run.path)!r}).df("results")
except ValueError as error:
    print(error)
print(ss.open({str(run.path)!r}).table("results").num_rows > 0)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["data frames need pandas: pip install pandas; or take run.table(...), a pyarrow table", "True"]


def test_a_folder_of_the_users_that_hides_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "protocols").mkdir()
    (tmp_path / "protocols" / "__init__.py").touch()
    code = """
import seqsearch as ss
try:
    ss.cldyb
except ValueError as error:
    print(error)
"""
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"Python finds protocols in {tmp_path}/protocols" in said
    assert "rename protocols" in said


def test_importing_it_and_bad_input_bring_nothing_heavy() -> None:
    code = """
import sys
import seqsearch as ss
print(sorted({"torch", "ray", "matplotlib", "pandas", "numpy", "pyarrow", "scipy", "click", "rich"} & set(sys.modules)))
for call in (
    lambda: ss.cldyb(methods="simplecl"),
    lambda: ss.cldyb(method="er"),
    lambda: ss.cldyb(methods=[int]),
    lambda: ss.gtep(methods="er", tune_pool="glyphs:half=3", pool="glyphs:half=2"),
    lambda: ss.open("nothing"),
    lambda: ss.resume("nothing"),
):
    try:
        call()
    except ValueError as error:
        print(type(error).__name__)
print(sorted({"torch", "ray", "matplotlib", "pandas"} & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["[]", *["UserError"] * 6, "[]"]
