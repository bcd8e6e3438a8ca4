"""What dry runs say: who trains, proper plurals, and no zero for what is only little."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from actors.options import EngineOptions
from protocols.cli.main import main
from protocols.cli.run_commands import print_cost
from protocols.running.costs import Cost
from protocols.running.runtime import Runtime

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
    assert not re.search(r"\(s\)|\b0 s\b|\b0 MB|worker|\b1 (?!class |ms\b)\w+s\b", ended.output), ended.output


@pytest.mark.parametrize(
    ("workers", "worker", "says"),
    [
        (0, "worker", "1 h 0 min in this process, as timed"),
        (1, "worker", "1 h 0 min with 1 worker, as timed"),
        (None, "worker", "1 h 0 min with 2 workers, as timed"),
        (0, "trial", "1 h 0 min in this process, as timed"),
        (2, "trial", "1 h 0 min with 2 trials at a time, as timed"),
    ],
)
def test_workers_are_counted(workers: int | None, worker: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    cost = Cost("3 trainings", 1.0, 2 if workers is None else max(1, workers), "as timed", worker=worker)
    print_cost(cost, Runtime(EngineOptions(workers=workers)))
    assert capsys.readouterr().out == f"3 trainings\n{says}\nnothing was run\n"
