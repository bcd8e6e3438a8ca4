"""Tables for papers: those of a run, of several runs, and further columns, recomputed from the run's Parquet files."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import seqsearch as ss
from protocols.cli.main import main
from protocols.report.costs import KEYS
from protocols.report.table_files import Wanted, files, tables_of
from seqsearch.core.errors import UserError
from seqsearch.results.costs import method_costs
from tests.unit.api.small import SMALL


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ss.cldyb(**{**SMALL, "methods": "simplecil,ranpac:M=64"}, out=tmp_path_factory.mktemp("runs") / "made").path


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ss.cldyb(**SMALL, seed=1, out=tmp_path_factory.mktemp("runs") / "other").path


def told(*words: object) -> str:
    done = CliRunner().invoke(main, ["tables", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*words: object) -> str:
    done = CliRunner().invoke(main, ["tables", *map(str, words)])
    assert done.exit_code == 2
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def test_every_form_has_the_figures_of_the_rows(run: Path) -> None:
    """Acc of found and of random sequences, from results.parquet by numpy alone."""
    rows = pq.read_table(run / "results.parquet").to_pylist()
    wanted = {}
    for method in ("simplecil", "ranpac:M=64"):
        for kind in ("searched", "random"):
            wanted_rows = (method, kind, "rescore", 2)
            of = [r for r in rows if (r["method_id"], r["kind"], r["role"], r["trained_step"]) == wanted_rows]
            of = [r for r in of if not r["sequence_id"].endswith("/joint")]
            by_sequence = {(r["sequence_id"], r["seed"]): [0, 0] for r in of}
            for r in of:
                by_sequence[r["sequence_id"], r["seed"]][0] += r["correct"]
                by_sequence[r["sequence_id"], r["seed"]][1] += r["n"]
            wanted[method, kind] = float(np.mean([right / n for right, n in by_sequence.values()]))
    columns = "method,acc_found,acc_random"
    read = {r["method"]: r for r in csv.DictReader(io.StringIO(told(run, "--to", "csv", "--columns", columns)))}
    latex, markdown, html = (told(run, "--to", kind, "--columns", columns) for kind in ("latex", "markdown", "html"))
    for method in ("simplecil", "ranpac:M=64"):
        found, random = wanted[method, "searched"], wanted[method, "random"]
        assert float(read[method]["acc_found"]) == pytest.approx(found)
        assert float(read[method]["acc_random"]) == pytest.approx(random)
        shown = [f"{100 * found:.1f}", f"{100 * random:.1f}"]
        for text, between in ((latex, r"(?: & |\\bfseries )+"), (markdown, r" \| ")):
            assert re.search(re.escape(method) + between + between.join(map(re.escape, shown)), text), text
        assert all(cell in html for cell in shown)


def test_costs_are_recomputed_from_the_files(run: Path) -> None:
    trainings = pq.read_table(run / "trainings.parquet").to_pylist()
    results = pq.read_table(run / "results.parquet").to_pylist()
    config = json.loads((run / "config.json").read_text())
    for method, cost in method_costs(run).items():
        own = [t for t in trainings if t["method_id"] == method]
        ends = [r for r in results if r["method_id"] == method and r["role"] == "rescore"]
        assert cost.seconds == pytest.approx(sum(t["seconds"] for t in own))
        assert cost.peak_bytes == max(t["peak_bytes"] for t in own)
        assert cost.parameters == max(r["backbone_bytes"] + r["params_bytes"] for r in ends) // 4
        assert cost.stored_bytes == max(r["params_bytes"] + r["statistics_bytes"] + r["exemplar_bytes"] for r in ends)
        assert cost.images == 4 * config["identity"]["images"]["trained"]  # two tasks of two classes


def test_columns_on_request_stand_behind_those_of_methods(run: Path) -> None:
    [table], _ = tables_of([run], Wanted(costs=KEYS))
    assert [c.key for c in table.columns][-5:] == [f"cost_{key}" for key in KEYS]
    by_method = {r["method"]: r for r in table.records()}
    cost = method_costs(run)["ranpac:M=64"]
    assert cost.seconds is not None
    assert by_method["ranpac:M=64"]["cost_hours"] == pytest.approx(cost.seconds / 3600)
    assert by_method["mean"]["cost_hours"] is None
    assert "device hours" in told(run, "--costs", "hours")


def test_runs_share_a_table_if_its_columns_are_the_same(run: Path, other: Path, tmp_path: Path) -> None:
    [table], _ = tables_of([run, other], Wanted())
    assert [r["run"] for r in table.records()] == ["made", "made", "made", "other"]
    shutil.copytree(other, tmp_path / "elsewhere" / "other")
    [twice], _ = tables_of([other, tmp_path / "elsewhere" / "other"], Wanted(costs=("hours",)))
    assert [r["run"] for r in twice.records()] == ["other", "other-2"]
    plan = ss.edge(pool="glyphs:classes=6", tasks=2, plan_only=True, workers=0, quiet=True, out=tmp_path / "plan").path
    name = next(iter(ss.open(plan).summary.tables))
    assert "there are" in refused(run, plan, "--table", "nothing")
    with pytest.raises(UserError, match="there are"):
        tables_of([run], Wanted((name,)))


def test_a_folder_has_what_a_paper_includes(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    told(run, "--table", "all", "--macros", "--out", out)
    names = {f"{name}.tex" for name in ss.open(run).summary.tables}
    assert {p.name for p in out.iterdir()} == names | {"preamble.tex", "macros.tex", "tables.json"}
    defined = re.findall(r"\\newcommand{\\(\w+)}", (out / "macros.tex").read_text())
    assert len(set(defined)) == len(defined) > 10
    told(run, "--table", "all", "--out", out)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "main.tex").touch()
    assert "has other files" in refused(run, "--out", tmp_path / "thesis")


def test_what_cannot_be_written_is_one_line(run: Path, tmp_path: Path) -> None:
    assert "--columns acc_foun: did you mean acc_found" in refused(run, "--columns", "acc_foun")
    assert "--costs hour: did you mean hours?" in refused(run, "--costs", "hour")
    assert "--table method: did you mean methods?" in refused(run, "--table", "method")
    assert "is no run folder" in refused(tmp_path / "nothing")


def test_notes_of_the_page_stand_below_a_table_of_latex(run: Path) -> None:
    found, notes = tables_of([run], Wanted())
    text = dict(files([run], found, notes, "latex", "brackets", with_macros=False))["methods.tex"]
    assert notes
    assert text.count(r"\item") == len(notes)
    assert not any(math.isnan(v) for r in found[0].records() for v in r.values() if isinstance(v, float))


def test_a_run_that_is_named_twice_is_one_line(run: Path) -> None:
    assert "is named twice" in refused(run, run)


def test_a_file_above_the_folder_is_one_line(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is no folder" in refused(run, "--out", tmp_path / "file/sub")
