"""Names of classes and files, messages of methods: wherever they are shown every character shows, and commands can be copied."""

from __future__ import annotations

import json
import shlex
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from protocols.cli.main import main

CLASSES = (
    "\x1b[31mred", "to the\u202eleft", "two\nlines", "=1+1", "<script>", "bell\a", "c1\x9b2J", "caf\u00e9 \u7aef",
)  # fmt: skip
METHOD = """
from seqsearch.methods.simplecil import build as SimpleCIL
from seqsearch.training.failures import Diverged
class Fails(SimpleCIL):
    def fit_task(self, task):
        if task.depth == 1 and int(task.train.indices.sum()) % 3:  # of some candidates
            raise Diverged("\\x1b[2J\\u202ewiped")
        return super().fit_task(task)
"""


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def shows(text: str) -> bool:
    """Whether nothing in it but line breaks is invisible, or moves a cursor."""
    return text.replace("\n", "").isprintable()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of glyphs under names that do harm."""
    root = tmp_path_factory.mktemp("pools") / "it's $(mine)"
    for number, name in enumerate(CLASSES):
        (root / name).mkdir(parents=True)
        rng = np.random.default_rng(number)
        for i in range(6):
            pixels = rng.integers(0, 255, (16, 16, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(root / name / f"{i}.png")
    return root


@pytest.fixture(scope="module", params=["cldyb", "edge", "gtep"])
def run(request: pytest.FixtureRequest, pool: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("runs") / "it's a $(run)"
    own = {
        "cldyb": ("--classes-per-task", 2, "--tasks", 4, "--searches", 1, "--random-sequences", 0, "--simulations", 4),
        "edge": ("--tasks", 4, "--random-sequences", 3, "--score-seeds", 2, "--crossed-orders", 2),
        "gtep": ("--tune-pool", f"{pool}:half=1", "--tasks", 2, "--trials", 1, "--orders", 1),
    }[request.param]
    evaluated = f"{pool}:half=2" if request.param == "gtep" else pool
    ended = call(request.param, "--methods", "simplecil", "--pool", evaluated, *own, "--out", out, "--workers", 0)
    assert ended.exit_code == 0, ended.stderr
    return out, ended


def test_terminal_log_and_report_show_every_character(run: tuple[Path, Result]) -> None:
    path, ended = run
    page, log = (path / "report.html").read_text(), (path / "log.jsonl").read_text()
    for text in (ended.stdout, ended.stderr, page, log, call("show", path).stdout, call("status", path).stdout):
        assert shows(text), [c for c in text if not c.isprintable() and c != "\n"][:5]
    assert "<script>" not in page
    assert "it's $(mine)" in unescape(page)
    assert "it's $(mine)" not in page
    if json.loads((path / "config.json").read_text())["protocol"] != "gtep":  # which shows no images
        assert r"\x1b[31mred" in page
        assert r"to the\u202eleft" in page
        assert "caf\u00e9 \u7aef" in page


def test_the_log_says_names_as_they_are(run: tuple[Path, Result]) -> None:
    said = [json.loads(line) for line in (run[0] / "log.jsonl").read_text().splitlines()]
    named = {n for event in said if event["event"] == "step-decided" for n in event["classes"]}
    if named:  # EDGE decides nothing step by step
        assert len(named & set(CLASSES)) >= 4


def test_printed_commands_are_words_of_a_shell(run: tuple[Path, Result]) -> None:
    path, _ = run
    again = call("cldyb", "--methods", "simplecil", "--out", path, "--workers", 0)
    assert again.exit_code == 2
    command = again.stderr.split("continue it with ")[1].split(", or choose")[0]
    assert shlex.split(command) == ["--resume", str(path)]
    finished = call("status", path).stdout
    assert shlex.split(finished.split("table: ")[1].strip()) == ["seqsearch", "show", str(path)]


def test_what_a_method_says_shows(pool: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(METHOD)
    ended = call(
        "cldyb",
        "--methods",
        f"simplecil,{tmp_path}/mine.py:Fails",
        "--pool",
        pool,
        "--classes-per-task",
        2,
        "--tasks",
        2,
        "--separate",
        "--searches",
        1,
        "--random-sequences",
        0,
        "--simulations",
        4,
        "--out",
        tmp_path / "run",
        "--workers",
        0,
    )
    said = ended.stdout + ended.stderr + (tmp_path / "run" / "log.jsonl").read_text()
    assert "wiped" in said
    assert shows(said)


def test_pools_and_matrices_show_names(pool: Path, tmp_path: Path) -> None:
    for ended in (
        call("pool", "show", pool, "--groups"),
        call("pool", "build", pool, tmp_path / "built.parquet", "--min-images", 4, "--min-side", 4),
        call("similarity", "prototypes", "--out", tmp_path / "m.parquet", "--pool", pool),
    ):
        assert ended.exit_code == 0, ended.stderr
        assert shows(ended.stdout + ended.stderr)
    refused = call("similarity", "prototypes", "--out", tmp_path / "m.csv", "--pool", pool)
    assert refused.exit_code == 2
    assert "holds characters that do not show: write .parquet instead" in refused.stderr
    assert not (tmp_path / "m.csv").exists()


def test_a_run_with_a_name_that_does_harm(run: tuple[Path, Result], tmp_path: Path) -> None:
    """What is said of a run that was damaged names its files."""
    path = Path(shutil.copytree(run[0], tmp_path / "x\x1b[31m\u202e"))
    (path / "stats.json").write_text("")
    command = json.loads((path / "config.json").read_text())["protocol"]
    again = call(command, "--resume", path, "--workers", 0)
    assert (again.exit_code, "written again" in again.stderr) == (0, True)
    (path / "config.json").write_text("")
    restored = call(command, "--resume", path, "--workers", 0)
    assert "restored from the journal" in restored.stderr
    assert shows(again.stdout + again.stderr + restored.stdout + restored.stderr)
