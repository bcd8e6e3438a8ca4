"""``seqsearch compare`` of a run that ``seqsearch score`` made, references and all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.running.folder import RunFolder
from tests.studies import execute, small_settings

HELD = "glyphs:classes=12,size=32,train=8,reward=4,test=6"


@pytest.mark.long
def test_a_scored_run_is_compared_without_its_references(tmp_path: Path) -> None:
    few = {"tasks": 2, "score_seeds": 1, "simulations": 2, "condensed": 2, "random_sequences": 0}
    settings = small_settings(methods="simplecil,ranpac:M=32", **few)
    folder = RunFolder.create(tmp_path / "run", settings)
    assert execute(folder, settings)
    held_out = ["--heldout-pool", HELD, "--heldout-sequences", 2, "--workers", 0, "--quiet"]
    scored = ["score", folder.path, "--references", *held_out, "--out", tmp_path / "scored"]
    ran = CliRunner().invoke(main, list(map(str, scored)))
    assert ran.exit_code == 0, ran.output
    ran = CliRunner().invoke(main, ["compare", str(tmp_path / "scored"), "--json"])
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert said["table"]["methods"] == ["simplecil", "ranpac:M=32"]
    assert said["table"]["columns"] == ["scored", "held-out"]
    assert [a["correlations"]["n"] for a in said["ranks"]["columns"]] == [2]
    assert {s["method"] for s in said["sides"]} == {"simplecil", "ranpac:M=32", None}
    assert not any("left out" in note for note in said["notes"])
