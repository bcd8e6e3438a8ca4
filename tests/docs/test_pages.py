"""All code in README.md and docs: read, parsed, and run on miniature data as it stands there, sizes cut."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from protocols.cli.main import main
from tests.conformance import clip
from tests.docs.blocks import PAGES, ROOT, all_blocks, blocks_of, seqsearch_commands
from tests.docs.miniature import (
    write_all,
    write_data_sets,
    write_order,
    write_own_learner,
    write_parquet,
    write_pictures,
    write_resnet,
    write_runs,
)
from tests.docs.running import run_blocks, run_command
from tests.docs.test_first_method import first
from tests.servers import hub, s3

BLOCKS = all_blocks()
SHELL = [b for b in BLOCKS if b.language == "shell"]
RUNNABLE = sorted(
    {
        b.page
        for b in BLOCKS
        if (b.language == "python" or (b.language == "shell" and seqsearch_commands(b)))
        and not b.page.startswith("docs/tutorials/")  # run as notebooks (test_tutorials)
    }
)
REFUSED = {
    "pool fetch cifar100": "is there and is not CIFAR-100 as published",
    "vit_b_16-c867db91.pth": "No such file or directory",
    "vit_base_patch16_224": "in the hub's cache",
    "flava-full": "flava-full",
    "--look-alikes resnet18": "in the hub's cache",
    "~/data": "--data ~/data is no folder",
    "downloads/": "--from downloads is no folder",
    "doctor --gpu": "this machine has no GPU",
    "--shift cloc": "a shift of 16384 leaves none to be evaluated",
}
"""What needs weights or images that are published elsewhere, by a part of its line, and what is said where they are not."""
BEFORE: dict[str, Callable[[Path], object]] = {
    "docs/clip.md": lambda root: clip.written(root / "clip-vit-base-patch16"),
    "README.md": lambda root: (shutil.rmtree(root / "runs/mine"), (root / "mine.py").unlink()),
    "docs/data_sets.md": write_data_sets,
    "docs/drawings.md": write_pictures,
    "docs/custom_method.md": lambda root: (root / "first.py").write_text(first()),
    "docs/export.md": write_order,
    "docs/learners.md": write_own_learner,
    "docs/score.md": write_order,
    "docs/similarity.md": write_resnet,
}
"""What is prepared for a page alone."""
BIRDS = "pool build CUB_200_2011/images birds.parquet --captions text_c10 --workers 1"
STREAM = "--images photos/ --search cloc_pretrain.txt --holdout cloc_test.txt"
FIRST = {
    "docs/explain.md": ["explain runs/mine --out runs/explain-20260101-120000"],
    "docs/flava.md": [BIRDS],
    "docs/mcil.md": [BIRDS],
    "docs/text_at_test.md": [BIRDS],
    "docs/online.md": [f"stream build cloc_train.txt {name}.parquet {STREAM}" for name in ("cloc", "photos")],
    "docs/score.md": ["score runs/mine --methods simplecil --out runs/score-20260101-120000"],
}
"""Commands whose results a page goes on from."""
ELSEWHERE = {"docs/captioned_sets.md": 1}
"""The line from which on the code of a page is run by a test of its own (`tests/unit/building/test_docs_of_captions.py`)."""


def test_every_page_is_read() -> None:
    assert len(SHELL) > 40
    assert {"README.md", "docs/schema.md", "docs/similarity.md"} <= set(RUNNABLE)
    assert sum(len(seqsearch_commands(b)) for b in SHELL) > 140
    fenced, indented = blocks_of(
        "a", "x\n\n```python\nimport os\n```\n\n    seqsearch show \\\n      run\n\n- a list\n\n    goes on\n"
    )
    assert (fenced.language, fenced.line, indented.language, indented.line) == ("python", 4, "shell", 7)
    assert seqsearch_commands(indented) == [["show", "run"]]


@pytest.mark.parametrize("block", SHELL, ids=lambda b: b.place)
def test_shell_blocks_are_valid(block) -> None:
    """The syntax of every line, and the flags and values of every command of seqsearch and make."""
    text = block.text.replace("<this repository>", "REPOSITORY")
    parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stderr
    for words in seqsearch_commands(block):
        command: click.Command | None = main
        while isinstance(command, click.Group):
            name, *words = words
            command = command.get_command(click.Context(command), name)
        assert command is not None, f"{block.place}: no command {name}"
        words = words[: words.index("--")] if "--" in words else words  # what follows is for another command
        known = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
        assert {w for w in words if w.startswith("--")} <= known, block.place


def test_targets_of_make_are_there() -> None:
    targets = {line.split()[1] for b in SHELL for line in b.text.split("\n") if line.startswith("make ")}
    assert targets
    for target in targets:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_setting_up_is_a_target_of_its_own_that_help_and_the_readme_name(tmp_path: Path) -> None:
    def told(*words: str) -> str:
        done = subprocess.run(["make", *words], cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout

    assert "make setup " in told("help")
    assert told() == told("help")
    does = told("-n", "setup", f"VENV={tmp_path / 'venv'}")
    assert "pip install" in does
    assert "seqsearch cldyb" not in does
    assert any(line.startswith("make setup ") for b in SHELL if b.page == "README.md" for line in b.text.split("\n"))


@pytest.fixture(scope="module")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_all(tmp_path_factory.mktemp("miniature"))
    write_runs(root, run_command)
    return root


@contextlib.contextmanager
def served(page: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The servers that a page names."""
    with contextlib.ExitStack() as stack:
        if page == "docs/pools.md":
            for folder in ("inat2021", "data"):
                (root / folder).mkdir(parents=True)
                write_parquet(root / folder, "part.parquet", [f"species {c}" for c in "abcdefghi"])
            stack.enter_context(s3(monkeypatch, "bucket", root))
            stack.enter_context(hub(monkeypatch, root, "USER/NAME"))
        yield


@pytest.mark.long
@pytest.mark.usefixtures("one_epoch")
@pytest.mark.parametrize("page", RUNNABLE)
def test_the_code_of_a_page_runs(page: str, miniature: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(miniature, tmp_path / "here")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    BEFORE.get(page, lambda _: None)(folder)
    assert [said for line in FIRST.get(page, []) if (said := run_command(line.split(), {}))] == []
    blocks = [b for b in BLOCKS if b.page == page and b.line < ELSEWHERE.get(page, b.line + 1)]
    with served(page, tmp_path / "there", monkeypatch):
        wrong = run_blocks(blocks, REFUSED)
    assert not wrong, "\n".join(wrong)


def test_the_learner_on_the_page_of_commands_is_the_one_that_runs() -> None:
    code = (ROOT / "tests/docs/nearest_colour.py").read_text().partition('"""\n\n')[2]
    assert code in (ROOT / "docs/commands.md").read_text()


def test_no_page_is_left_out() -> None:
    assert set(RUNNABLE) <= set(PAGES)
