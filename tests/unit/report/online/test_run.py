"""A small run of `seqsearch online`, from the command to its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.online.protocol import ONLINE
from protocols.report.online.tables import baseline
from seqsearch.results.stream_schema import STREAM_LAYOUTS
from seqsearch.results.tables import read_rows

STREAM = "glyphs:samples=400,classes=4,burst=20"


@pytest.mark.long
def test_a_run_ends_in_figures_a_page_and_the_same_summary_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    asked = ["--stream", STREAM, "--methods", "ncm", "--batch", "8", "--shift", "64", "--windows", "64", "--trace"]
    ended = CliRunner().invoke(main, ["online", *asked, "--workers", "0", "--json", "--out", str(run)])
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    by = {x["label"]: x for x in found["learners"]}
    label = baseline(ONLINE.read(run).summary)
    assert set(by) == {"ncm", label}
    rows = {(r["method_id"], r["shift"], r["samples"], r["learned_window"], r["judged_window"]): r for r in _rows(run)}
    assert by["ncm"]["online"]["value"] == rows["ncm", 0, "common", 0, 0]["accuracy"]
    assert by["ncm"]["near_future"]["value"] == rows["ncm", 64, "all", 0, 0]["accuracy"]
    assert by["ncm"]["retention"]["value"] == rows["ncm", -1, "holdout", 0, 0]["accuracy"]
    assert by[label]["online"]["value"] > by[label]["near_future"]["value"] + 0.3  # bursts of 20, 64 ahead
    (two_by_two,) = found["shuffled"]
    assert {(c["trained"], c["judged"]) for c in two_by_two["accuracy"]} == {
        (t, j) for t in ("ordered", "shuffled") for j in ("ordered", "shuffled")
    }
    page = (run / "report.html").read_text()
    for title in ("Accuracy over the stream", "Retention", "What labels alone give away", "In order and shuffled"):
        assert f"<h2>{title}</h2>" in page
    assert "Of the models on the way" in page
    shown = CliRunner().invoke(main, ["show", str(run), "--json"])
    assert shown.exit_code == 0, shown.output
    assert found == json.loads(shown.stdout)
    assert list(found)[-1] == "hyperparameters"
    for layout in STREAM_LAYOUTS:
        assert read_rows(run / layout.file, layout)


def _rows(run: Path) -> list[dict[str, object]]:
    return list(ONLINE.read(run).results.figures)
