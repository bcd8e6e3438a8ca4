"""The first example of every help text, as it stands there, its sizes cut: it needs no data, and ends well."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from tests.docs.running import GLYPHS, SMALL, small

ROOT = Path(__file__).parents[2]


def commands(group: click.Group = main, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands and groups, each with the words behind ``seqsearch``."""
    yield " ".join(words), group
    with click.Context(group) as context:
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            if isinstance(found, click.Group):
                yield from commands(found, (*words, name))
            else:
                yield " ".join((*words, name)), found


def examples(command: click.Command) -> list[str]:
    """Those of a help text, in their order."""
    lines = (line.strip() for line in (command.help or "").replace("\\\n", " ").splitlines())
    return [line for line in lines if line.startswith("seqsearch ")]


def ended(line: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of a line: in this process, or in bash if it is more than a command of ours."""
    if any(mark in line for mark in "|<>$&;*"):
        return in_bash(line, folder)
    with contextlib.chdir(folder):
        result = CliRunner().invoke(main, shlex.split(line, comments=True)[1:])
    return result.exit_code, f"{result.output}{result.exception or ''}"


def in_bash(line: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of a line as it stands there."""
    own = folder / "bin"
    if not own.exists():
        own.mkdir()
        script = own / "seqsearch"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m protocols.cli "$@"\n')
        script.chmod(0o755)
    known = {**os.environ, "PATH": f"{own}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def test_every_help_has_an_example() -> None:
    assert not [name for name, command in commands() if not examples(command)]


def cut(line: str) -> str:
    """The line with small sizes behind it, and without Ray, whose start takes longer than these trainings."""
    words = shlex.split(line, comments=True)
    if words[1] not in SMALL or "--dry-run" in words:
        return line.replace("glyphs:classes=50", f"glyphs:{GLYPHS}")  # the pool of the runs that it works on
    stream = ["--stream", "glyphs:samples=1000,ahead=200000", "--shift", "128", "--workers", "0"]
    return shlex.join([*words, *stream] if words[1] == "online" else ["seqsearch", *small(words[1:])])


@pytest.mark.long
@pytest.mark.usefixtures("one_epoch")
@pytest.mark.timeout(1800)
def test_the_first_example_of_every_help_runs(tmp_path: Path) -> None:
    """Those that work on a run work on the runs that the examples of cldyb leave; they come first."""
    every = dict(commands())
    made = [line for line in examples(every["cldyb"]) if "--out runs/mine" in line or "--out runs/easy" in line]
    first = [e[0] for command in every.values() if (e := examples(command))]
    wrong = []
    for line in dict.fromkeys([*made, *first]):
        begin = time.monotonic()
        code, said = ended(cut(line), tmp_path)
        print(f"{time.monotonic() - begin:6.1f} s  {line}")
        if code:
            wrong.append(f"{line}\n    ended with {code}: {said[-800:]}")
    assert not wrong, "\n".join(wrong)
