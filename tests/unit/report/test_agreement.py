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


@pytest.fixture(scope="module")
def written(run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What commands print and write of the run."""
    out, only = tmp_path_factory.mktemp("written"), ("--columns", "method,acc_found,acc_random")
    printed("figures", run, "--to", "svg", "--out", out / "figs")
    printed("site", run, "--out", out / "site")
    return {
        "json": printed("show", run, "--json"),
        "terminal": printed("show", run),
        "page": (run / "report.html").read_text(),
        "csv": printed("tables", run, "--to", "csv", *only),
        "latex": printed("tables", run, "--macros", *only),
        "figures": (out / "figs/figures.json").read_text(),
        "site": (out / "site/index.html").read_text(),
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("kind", "key"), [("searched", "acc_found"), ("random", "acc_random")])
def test_every_output_has_the_number_of_the_file(
    run: Path, written: dict[str, str], method: str, kind: str, key: str
) -> None:
    wanted = expected(run, method, kind)
    shown = f"{100 * wanted:.1f}"

    [row] = [r for r in json.loads(written["json"])["tables"]["methods"] if r["method"] == method]
    assert row[key] == pytest.approx(wanted)
    [line] = [line for line in written["terminal"].splitlines() if line.startswith(f"{method} ")]
    assert shown in line
    [of_page] = re.findall(rf'<th scope="row"[^>]*>{re.escape(method)}</th>(.*?)</tr>', written["page"], re.S)[:1]
    assert shown in of_page

    [of_csv] = [r for r in csv.DictReader(io.StringIO(written["csv"])) if r["method"] == method]
    assert float(of_csv[key]) == pytest.approx(wanted)
    [of_latex] = [line for line in written["latex"].splitlines() if line.startswith(f"{method} & ")]
    assert shown in of_latex
    name = "MethodsMade" + {"simplecil": "Simplecil", "ranpac:M=64": "RanpacMSixFour"}[method]
    assert rf"\newcommand{{\{name}{key.title().replace('_', '')}}}{{{shown}}}" in written["latex"]

    [tasks] = [
        f
        for f in json.loads(written["figures"])["runs"][0]["figures"]
        if f["name"] == f"tasks-{METHODS.index(method) + 1}"
    ]
    side = key.removeprefix("acc_")
    [curve] = [part for part in tasks["values"].split("; ") if part.startswith(f"{side}: ")]
    assert curve.endswith(shown)

    [entry] = [r for r in entry_of(run)[0].rows if r.method == method]
    [figure] = [f for f in entry.figures if f.column == key]
    assert figure.value == pytest.approx(wanted)
    assert shown in written["site"]

    metrics = {(m.name, m.step): m.value for m in metrics_of(run).metrics}
    assert metrics[f"methods/{method}/{key}", 0] == pytest.approx(wanted)
    assert metrics[f"curve/{method}/{kind}", 3] == pytest.approx(wanted)
