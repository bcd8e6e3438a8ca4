"""``seqsearch check`` of custom pools and streams finds what a run could not notice."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.check.data import data_findings, data_kind
from seqsearch.core.grammar import parse_item
from tests.conformance.lab import TEMPLATES
from tests.photos import write_digits

POOL = """
import os
import threading
import numpy as np
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, SplitSizes, View, checked_rows

class Mine:
    name, digest, native_size, given, split_sizes = "mine", "d", 8, None, SplitSizes()
    classes = (ClassInfo("a", "g", 6), ClassInfo("b", "g", 6))

    def __init__(self, option=0):
        self.calls = 0

    def value(self, rows):
        return rows

    def images(self, rows, view):
        rows = checked_rows(rows, "mine", 12)
        return np.ones((1, 3, view.size, view.size), np.uint8) * self.value(rows).astype(np.uint8)[:, None, None, None]

{body}
"""
BREAKS = {
    "P1": ("    classes = [ClassInfo('a', 'g', 6)]", "classes is [ClassInfo("),
    "P1 ": ("    digest = ''", "digest is empty"),
    "P1  ": ("    classes = (ClassInfo('a', 'g', 6), ClassInfo('a', 'g', 6))", "class 'a' of group 'g' is there twice"),
    "P1   ": ("    given = np.full(12, 3, np.uint8)", "given must be None or a uint8 array [12]"),
    "P2": (
        "    classes = (ClassInfo('a', 'g', 9), ClassInfo('b', 'g', 3))",
        "class 'b' of pool 'mine' has 3 images, too few",
    ),
    "P3": ("    def value(self, rows):\n        return rows - rows.min()", "differs when it is read alone"),
    "P3 ": (
        "    def images(self, rows, view):\n        return np.zeros((len(rows), 1, 8, 8))",
        "images() returned float64",
    ),
    "P3  ": (
        "    def value(self, rows):\n        raise OSError('the disk is gone')",
        "OSError: the disk is gone (mine.py:",
    ),
    "P4": (
        "    def value(self, rows):\n        return rows + (threading.current_thread() is not threading.main_thread())",
        "images differ",
    ),
    "P5": ("    digest = str(os.getpid())", "digest differ there: digest: make it of the content"),
    "P5 ": (
        "    classes = (ClassInfo(f'a {os.getpid()}', 'g', 6), ClassInfo('b', 'g', 6))",
        "classes differ there: classes: sort",
    ),
    "P5  ": ("    def value(self, rows):\n        return rows + os.path.exists('beside.txt')", "images differ there"),
    "P5   ": (
        "    def __init__(self, option=0):\n        open('beside.txt').close()",
        "it cannot be made there (pool ",
    ),
}


def checked(text: str) -> Result:
    return CliRunner().invoke(main, ["check", text])


def broken(result: Result) -> list[str]:
    return [line for line in result.stdout.splitlines() if not line.endswith(": ok") and "not tested: " not in line]


@pytest.mark.parametrize("contract", BREAKS)
def test_a_broken_contract_of_a_pool_is_named(contract: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body, says = BREAKS[contract]
    (tmp_path / "mine.py").write_text(POOL.format(body=body))
    (tmp_path / "beside.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    result = checked("mine.py:Mine:option=3")
    assert result.exit_code == 2, result.output
    [line] = broken(result)
    assert line.startswith(f"{contract.strip()} ")
    assert says in line
    assert f"mine.py:Mine:option=3 breaks {contract.strip()} (docs/custom_data.md): " in result.stderr


def test_a_pool_that_keeps_them_passes_also_half_of_it_and_made_by_a_function(tmp_path: Path) -> None:
    more = "def make(option=0):\n    return Mine(option)"
    (tmp_path / "mine.py").write_text(POOL.format(body=more))
    for text in ("Mine", "Mine:half=2", "make:option=1", "make:half=first"):
        result = checked(f"{tmp_path}/mine.py:{text}")
        assert (result.exit_code, broken(result)) == (0, [result.stdout.splitlines()[-1]]), result.output
        assert "keeps P1 to P6" in result.stdout


def test_rows_that_are_not_refused_are_a_warning(tmp_path: Path) -> None:
    body = (
        "    def images(self, rows, view):\n        return np.full((len(rows), 3, view.size, view.size), 7, np.uint8)"
    )
    (tmp_path / "mine.py").write_text(POOL.format(body=body))
    result = checked(f"{tmp_path}/mine.py:Mine")
    assert result.exit_code == 0, result.output
    assert (
        "P6 rows that it does not have are refused: warning: row -1 gives an image, and rows are 0 to 11"
        in result.stdout
    )


def test_texts_are_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POOL.format(body="    def texts(self, rows):\n        return ['a text']"))
    result = checked(f"{tmp_path}/mine.py:Mine")
    assert result.exit_code == 2
    [line] = broken(result)
    assert line.startswith("P7 texts() gives one text per image, always the same: texts() gives ['a text'] for 5 rows")


STREAM = """
import os
from dataclasses import replace
from seqsearch.streams.glyphs import build
from seqsearch.streams.base import Stream

def mine(samples=300) -> Stream:
    made = build(samples=samples, classes=5)
    return replace(made, {change})
"""
STREAM_BREAKS = {
    "S1": ("times=made.times / 2", "times must be an array [n] of whole numbers"),
    "S1 ": ("known={'burst': float('nan')}", "known has burst=nan: must be a finite number"),
    "S2": ("classes=made.classes[::-1]", "must be the same, in order"),
    "S2 ": ("labels=(made.labels + 1) % 5", "lies in another class of the pool"),
    "S2  ": ("rows=made.rows * 0", "rows must have each row of the pool once"),
    "S5": ("digest=str(os.getpid())", "digest differ there"),
}


@pytest.mark.parametrize("contract", STREAM_BREAKS)
def test_a_broken_contract_of_a_stream_is_named(contract: str, tmp_path: Path) -> None:
    change, says = STREAM_BREAKS[contract]
    (tmp_path / "mine.py").write_text(STREAM.format(change=change))
    result = checked(f"{tmp_path}/mine.py:mine")
    assert result.exit_code == 2, result.output
    [line] = broken(result)
    assert line.startswith(f"{contract.strip()} ")
    assert says in line
    assert f"breaks {contract.strip()} (docs/custom_data.md): " in result.stderr


def test_a_stream_that_is_too_short_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(STREAM.format(change="digest='d'"))
    [line] = broken(checked(f"{tmp_path}/mine.py:mine:samples=3"))
    assert line.startswith("S6 ")
    assert "leaves its search part empty" in line


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Mine:opton=3", "pool 'mine.py:Mine:opton=3': no option 'opton'; did you mean option? it has option"),
        ("Mnie", "no 'Mnie' in that file; it has: Mine"),
        ("fails", "pool 'mine.py:fails' cannot be made: ZeroDivisionError: division by zero (mine.py:"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(POOL.format(body="def fails():\n    return 1 / 0"))
    monkeypatch.chdir(tmp_path)
    result = checked(f"mine.py:{text}")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert says in result.stderr


def test_flags_of_methods_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POOL.format(body=""))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine", "--learner"])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "Mine is a pool: --learner, --backbone and --weights are for methods" in result.stderr


@pytest.mark.parametrize(
    "name", ["method.py:ShrunkenMeans", "replay.py:TinyReplay", "pairs.py:TokenHead", "learner.py:FadingMeans"]
)
def test_methods_and_learners_are_no_data(name: str) -> None:
    assert data_kind(parse_item(f"{TEMPLATES}/{name}", "method")) is None


def test_our_own_kinds_keep_the_contracts() -> None:
    for kind, text in (
        ("pool", "glyphs:classes=4"),
        ("stream", "pool:glyphs:classes=4"),
    ):
        found = data_findings("pool" if kind == "pool" else "stream", text)
        assert [f for f in found if f.wrong] == [], text


def test_the_pool_that_ships_reads_a_zip_beside_it_wherever_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text((TEMPLATES / "pool.py").read_text())
    digits = write_digits(tmp_path / "digits", 8)
    with zipfile.ZipFile(tmp_path / "digits.zip", "w") as made:
        for file in sorted(digits.rglob("*.png")):
            made.write(file, file.relative_to(tmp_path))
    text = f"{tmp_path}/mine.py:ZippedImages:file=digits.zip"
    result = checked(text)
    assert result.exit_code == 0, result.output
    drawn = CliRunner().invoke(main, ["pool", "show", f"{tmp_path}/mine.py:ZippedImages"])
    zipped = CliRunner().invoke(main, ["pool", "show", text])
    assert "80 images" in zipped.stdout
    assert zipped.stdout.splitlines()[0] != drawn.stdout.splitlines()[0], "other images, other digest"
    absent = checked(f"{tmp_path}/mine.py:ZippedImages:file=nowhere.zip")
    assert (absent.exit_code, absent.stderr.count("\n")) == (2, 1)
    assert "file=nowhere.zip: [Errno 2] No such file or directory" in absent.stderr
