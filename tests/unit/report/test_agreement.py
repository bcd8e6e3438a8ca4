"""A number is the same wherever it is shown: page, terminal, JSON, tables, LaTeX, figures, site and trackers have what numpy
computes from the Parquet file."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import seqsearch as ss
from protocols.cli.main import main
from protocols.report.site.entry import entry_of
from protocols.trackers.metrics import metrics_of
from tests.unit.api.small import SMALL

METHODS = ("simplecil", "ranpac:M=64")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ss.cldyb(
        **{**SMALL, "methods": ",".join(METHODS), "tasks": 3}, out=tmp_path_factory.mktemp("runs") / "made"
    ).path


def printed(*words: object) -> str:
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def expected(run: Path, method: str, kind: str) -> float:
    """Final Acc: mean over tasks, then over sequences and training seeds."""
    rows = [
        r
        for r in pq.read_table(run / "results.parquet").to_pylist()
        if (r["method_id"], r["kind"], r["role"], r["split"], r["trained_step"]) == (method, kind, "rescore", "test", 3)
    ]
    by_rollout: dict[tuple[str, int], list[float]] = {}
    for r in rows:
        by_rollout.setdefault((r["sequence_id"], r["seed"]), []).append(r["correct"] / r["n"])
    assert {len(tasks) for tasks in by_rollout.values()} == {3}
    return float(np.mean([np.mean(tasks) for tasks in by_rollout.values()]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("kind", "key"), [("searched", "acc_found"), ("random", "acc_random")])
def test_every_output_has_the_number_of_the_file(run: Path, tmp_path: Path, method: str, kind: str, key: str) -> None:
    wanted = expected(run, method, kind)
    shown = f"{100 * wanted:.1f}"
    side = {"searched": "found", "random": "random"}[kind]

    [row] = [r for r in json.loads(printed("show", run, "--json"))["tables"]["methods"] if r["method"] == method]
    assert row[key] == pytest.approx(wanted)
    [line] = [line for line in printed("show", run).splitlines() if line.startswith(f"{method} ")]
    assert shown in line
    page = (run / "report.html").read_text()
    [of_page] = re.findall(rf'<th scope="row"[^>]*>{re.escape(method)}</th>(.*?)</tr>', page, re.S)[:1]
    assert shown in of_page

    only = ("--columns", f"method,{key}")
    [of_csv] = [
        r for r in csv.DictReader(io.StringIO(printed("tables", run, "--to", "csv", *only))) if r["method"] == method
    ]
    assert float(of_csv[key]) == pytest.approx(wanted)
    latex = printed("tables", run, "--macros", *only)
    assert re.search(rf"^{re.escape(method)} & (\\bfseries )?{shown}", latex, re.M)
    name = "Methods" + {"simplecil": "Simplecil", "ranpac:M=64": "RanpacMSixFour"}[method]
    assert rf"\newcommand{{\{name}{key.title().replace('_', '')}}}{{{shown}}}" in latex

    printed("figures", run, "--to", "svg", "--out", tmp_path / "figs")
    drawn = json.loads((tmp_path / "figs/figures.json").read_text())["runs"][0]["figures"]
    [tasks] = [f for f in drawn if f["name"] == f"tasks-{METHODS.index(method) + 1}"]
    [curve] = [part for part in tasks["values"].split("; ") if part.startswith(f"{side}: ")]
    assert curve.endswith(shown)

    [entry] = [r for r in entry_of(run)[0].rows if r.method == method]
    [figure] = [f for f in entry.figures if f.column in (key, f"acc_{side}")]
    assert figure.value == pytest.approx(wanted)
    printed("site", run, "--out", tmp_path / "site")
    assert shown in (tmp_path / "site/index.html").read_text()

    metrics = {m.name: m.value for m in metrics_of(run).metrics if not m.step}
    assert metrics[f"methods/{method}/{key}"] == pytest.approx(wanted)
    points = {m.step: m.value for m in metrics_of(run).metrics if m.name == f"curve/{method}/{kind}"}
    assert points[3] == pytest.approx(wanted)
