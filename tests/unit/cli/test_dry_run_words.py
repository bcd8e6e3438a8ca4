"""What dry runs say: who trains, proper plurals, and no zero for what is only little."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from protocols.cli.cost_words import at_work
from protocols.cli.main import main

POOL = "glyphs:classes=12,train=8,reward=4,test=4"
TASKS = "--tasks 2 --classes-per-task 2"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (f"cldyb {TASKS} --candidates 2 --methods simplecil --pool {POOL}", "under 1 MB of disk at most\n"),
        (f"duel simplecil ranpac:M=8 {TASKS} --sequences 6 --pool {POOL}", "trainings at most ("),
        (f"edge --tasks 2 --score-seeds 2 --methods simplecil --pool {POOL}", " trainings at most ("),
        (
            f"mcil --experiences 2 --orders 1 --seeds 1 --methods simplecil --pool {POOL} --backbone glyph_vit",
            "2 trainings (1 method, 1 class order with 1 training seed each, 2 experiences",
        ),
        (
            "online --methods ncm --seeds 1 --batch 16 --shift 16 --stream pool:glyphs:classes=4,train=16,reward=1,test=4",
            "(1 learner, 1 seed of those that draw, 1 order)",
        ),
        (
            f"gtep {TASKS} --params original --orders 1 --methods simplecil --tune-pool {POOL},half=1 "
            "--pool glyphs:classes=12,train=8,reward=4,test=4,half=2",
            " trainings at most: 0 to choose, ",
        ),
    ],
    ids=["cldyb", "duel", "edge", "mcil", "online", "gtep"],
)
def test_a_dry_run_in_this_process_says_so(command: str, says: str) -> None:
    ended = CliRunner().invoke(main, [*command.split(), "--workers", "0", "--dry-run"])
    assert ended.exit_code == 0, ended.output
    assert says in ended.output
    assert re.search(r"(\d+ m?s|min|h) in this process[,.]? ", ended.output), ended.output
    assert not re.search(r"\(s\)|\b0 s\b|\b0 MB|worker|\b1 (?!class )\w+s\b", ended.output), ended.output


def test_workers_are_counted() -> None:
    def said(workers: int | None, number: int, *words: str) -> str:
        return at_work(cast(Any, SimpleNamespace(engine=SimpleNamespace(workers=workers))), number, *words)

    assert [said(0, 1), said(1, 1), said(None, 2)] == ["in this process", "with 1 worker", "with 2 workers"]
    trials = "trial", " at a time"
    assert [said(0, 1, *trials), said(2, 2, *trials)] == ["in this process", "with 2 trials at a time"]
