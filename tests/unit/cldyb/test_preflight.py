"""What a search does with less of than it was asked for is said before anything is trained; a dry run says it, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from protocols.cldyb.preflight import ONE_TASK, ineffective_settings
from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main

POOL = "glyphs:classes=12,train=2,reward=1,test=1"
ONE = "One candidate is evaluated at each step (--{} 1): nothing will be chosen by training."


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, ""),
        ({"condensed": 9, "candidates": 4}, "--condensed 9: no more than 4 are proposed at a step (--candidates), and all of "
         "these are evaluated, without clustering."),
        ({"condensed": 9, "candidates": 4, "clustering": False}, "--condensed 9: no more than 4 are proposed at a step "
         "(--candidates), and all of these are evaluated."),
        ({"clusters": 9, "condensed": 2}, "--clusters 9: candidates of no more than 2 of them are evaluated at a step "
         "(--condensed)."),
        ({"clusters": 9, "condensed": 2, "clustering": False}, ""),
        ({"clusters": 9, "condensed": 2, "candidates": 4}, "--clusters 9: no more than 4, one for each of --candidates."),
        ({"simulations": 4}, "--simulations 4: at most 4 of 8 candidates are evaluated at a step."),
        ({"lookahead": 5}, "--lookahead 5: no more than 3, since task 5 is the last (--tasks)."),
        ({"tasks": 2}, ""),
        ({"lookahead": 5, "tasks": 2}, "--lookahead 5: none, since task 2 is the last (--tasks)."),
        ({"condensed": 1, "lookahead": 5}, ONE.format("condensed")),
        ({"candidates": 1}, ONE.format("candidates")),
        ({"condensed": 2, "simulations": 1}, ONE.format("simulations")),
        ({"condensed": 1, "selector": "random"}, ""),
        ({"condensed": 1, "tasks": 1}, ""),
    ],
)  # fmt: skip
def test_what_is_lowered(settings: dict[str, Any], said: str) -> None:
    assert ineffective_settings(CldybSettings(methods="simplecil", pool=POOL, **settings)) == said


def test_a_run_says_it_before_it_trains(tmp_path: Path) -> None:
    settings = CldybSettings(methods="simplecil", pool=POOL, tasks=2, classes_per_task=2, lookahead=5)
    assert ineffective_settings(settings) in CLDYB.announcement(CLDYB.prepare(settings, tmp_path, "cpu", tmp_path))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--tasks", "1"], f"will not differ: {ONE_TASK}."),
        (["--tasks", "2", "--lookahead", "5"], "--lookahead 5: none,"),
    ],
)
def test_a_dry_run_says_what_a_run_says(asked: list[str], said: str) -> None:
    words = [
        "cldyb",
        "--methods",
        "simplecil",
        "--pool",
        POOL,
        "--classes-per-task",
        "2",
        "--workers",
        "0",
        "--dry-run",
        *asked,
    ]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0
    assert said in told.stderr
    assert "nothing was run" in told.stdout
    assert said not in CliRunner().invoke(main, [*words, "--quiet"]).stderr
