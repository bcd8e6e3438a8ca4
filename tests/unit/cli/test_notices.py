"""What takes long says so on stderr when it begins, unless the command is to be quiet."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqsearch.core.notices import notice, shown_by
from tests.unit.running.baits import call

SMALL = ("--pool", "glyphs:classes=12", "--classes-per-task", 3, "--tasks", 2, "--workers", 0, "--score-seeds", 1)
STUDIES = {
    "cldyb": ("cldyb", "--methods", "simplecil", *SMALL, "--random-sequences", 0),
    "edge": ("edge", "--methods", "simplecil", "--pool", "glyphs:classes=6", "--tasks", 2, "--workers", 0),
    "gtep": (
        "gtep",
        "--tune-pool",
        "glyphs:classes=12,half=1",
        "--pool",
        "glyphs:classes=12,half=2",
        "--methods",
        "simplecil",
        "--tasks",
        2,
        "--trials",
        2,
        "--orders",
        1,
        "--workers",
        0,
    ),
    "online": ("online", "--stream", "glyphs:samples=400,classes=6", "--methods", "ncm", "--shift", 64, "--workers", 0),
    "mcil": (
        "mcil",
        "--pool",
        "glyphs:classes=12",
        "--methods",
        "simplecil",
        "--backbone",
        "glyph_vit",
        "--experiences",
        2,
        "--workers",
        0,
    ),
    "duel": ("duel", "simplecil", "ranpac:M=50", *SMALL[:-2], "--sequences", 6),
}
BEGINS = ["loading libraries ...", "timing on the CPU of this machine ..."]


@pytest.fixture
def lines() -> list[str]:
    return []


def test_lines_go_to_the_innermost_listener_and_nowhere_without_one(lines: list[str]) -> None:
    notice("nobody")
    with shown_by(lines.append):
        notice("one")
        with shown_by(None):
            notice("nobody")
        notice("two")
    notice("nobody")
    assert lines == ["one", "two"]


@pytest.mark.parametrize("protocol", STUDIES)
def test_a_dry_run_says_what_it_does(protocol: str) -> None:
    learner = "learner" if protocol == "online" else "method"
    said = call(*STUDIES[protocol], "--dry-run")
    assert said.exit_code == 0, said.stderr
    first, *names = [line for line in said.stderr.splitlines() if line.endswith(" ...") and line not in BEGINS]
    assert said.stderr.splitlines()[:2] == BEGINS
    many = 2 if protocol == "duel" else 1
    assert first == f"reading code and weights of {many} {learner}{'s' * (many > 1)} ..."
    what = "the first steps" if protocol == "online" else "two tasks"
    of = ["ncm"] if protocol == "online" else ["simplecil", "ranpac:M=50"][:many]
    assert names == [f"timing {what} of {name} ..." for name in of]
    assert call(*STUDIES[protocol], "--dry-run", "--json").stderr == ""


@pytest.mark.long
def test_a_run_says_it_too_and_a_quiet_one_nothing(tmp_path: Path) -> None:
    said = call(*STUDIES["cldyb"], "--out", tmp_path / "run")
    assert said.exit_code == 0, said.stderr
    lines = said.stderr.splitlines()
    before = ["loading libraries ...", "reading code and weights of 1 method ...", f"run {tmp_path / 'run'}"]
    assert lines[:4] == [*before, "device: cpu, in this process"]
    assert "writing tables and report ..." in lines
    asked = ("score", tmp_path / "run", "--methods", "finetune:epochs=1", "--workers", 0, "--score-seeds", 1)
    scored = call(*asked, "--dry-run")
    assert "timing two tasks of finetune:epochs=1 ..." in scored.stderr.splitlines()
    assert call(*STUDIES["cldyb"], "--out", tmp_path / "quiet", "--quiet").stderr == ""
