"""Small runs of every command find and show what was recorded (`tests.golden.commands`).

Where device and package versions are as recorded, every row is the same to the last bit. Elsewhere the same files have rows with
the same columns.
"""

from __future__ import annotations

import copy
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.changes.every_command import COMMANDS, run_command
from tests.golden.commands import FILE, Found, found_in
from tests.golden.record import here

RECORD = json.loads(lzma.decompress(FILE.read_bytes()))


def differences(before: Found, after: Found, exactly: bool) -> Iterator[str]:
    """What is not as it was, a line each."""
    for file in sorted(before.keys() | after.keys()):
        old, new = before.get(file, []), after.get(file, [])
        if exactly:
            yield from (f"{file}: only before: {row}" for row in old if row not in new)
            yield from (f"{file}: only after: {row}" for row in new if row not in old)
        elif columns(old) != columns(new):
            yield f"{file}: columns {columns(old) ^ columns(new)} are in one of the two"


def columns(rows: list[list[Any]]) -> set[str]:
    return {name for _, row in rows for name in row}


LONG = ("edge", "explain", "gtep", "easy", "online", "mcil", "score", "compare", "duel")
"""They train most, or read the runs of those that do. The unit tests of each protocol run it as well."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("commands")


def run_once(folder: Path, name: str) -> None:
    """Run a command, unless it has run, after those whose runs it reads."""
    if not (folder / name).exists():
        for other in COMMANDS:
            if f"{{{other}}}" in COMMANDS[name]:
                run_once(folder, other)
        run_command(folder, name)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long if n in LONG else ()) for n in COMMANDS])
def test_every_command_finds_and_shows_what_was_recorded(name: str, folder: Path) -> None:
    run_once(folder, name)
    before, after = {f: r for f, r in RECORD["files"].items() if f.startswith(f"{name}/")}, found_in(folder, name)
    assert after
    assert list(differences(before, after, RECORD["machine"] == here())) == []


def test_the_last_digit_of_one_row_is_noticed() -> None:
    before: Found = RECORD["files"]
    after = copy.deepcopy(before)
    results = after["cldyb/run/results.parquet"]
    results[0][1]["accuracy"] += 1e-12
    assert len(list(differences(before, after, exactly=True))) == 2
    assert list(differences(before, after, exactly=False)) == []
    for _, row in results:
        del row["accuracy"]
    assert list(differences(before, after, exactly=False)) == [
        "cldyb/run/results.parquet: columns {'accuracy'} are in one of the two"
    ]
