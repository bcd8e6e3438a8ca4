"""``seqsearch compare``: what it prints, writes and refuses."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.evaluate.compare.comparison import compare as compared
from protocols.evaluate.compare.table import read_table
from protocols.report.compare.notes import notes
from protocols.report.compare.ranks import BENCHMARK, accuracy
from protocols.report.text import console
from seqsearch.core.text import shown
from seqsearch.results.schema import ACCURACIES
from seqsearch.results.tables import read_rows
from tests.unit.evaluate.test_compare_runs import POOL, make, result
from tests.unit.run_folders import RenamedPool, rescored, sequence, write_run


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [make(tmp_path / "full", [[2, 3]]), make(tmp_path / "<b>easy", [[4, 5]], 0.1)]


def test_runs_are_printed_and_written(runs: list[Path], tmp_path: Path) -> None:
    ran = run(*runs, "--reference", "random", "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.output
    text = " ".join(ran.output.split())
    assert "No difference to full in accuracy on found sequences is shown" in text
    assert "+10.0 pp Acc on found sequences, <b>easy minus full" in text
    assert "SRCC with random 1.000 1.000 N/A" in text
    assert "<b>easy, found +10.0 +10" in text.replace("+5.0", "+10")  # Acc, then AvgAcc
    assert "differ in the found sequences alone" in text
    assert "seqsearch compare RUN... --details" in text
    assert "Agreement with random" not in text
    assert "Agreement with random" in run(*runs, "--reference", "random", "--details").output
    names = ["accuracy.csv", "accuracy.parquet", "compare.html", "compare.json"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == names
    rows = read_rows(tmp_path / "out" / "accuracy.parquet", ACCURACIES)
    assert [(r["column"], r["method_id"]) for r in rows[:3]] == [("full", "er"), ("full", "slca"), ("<b>easy", "er")]
    half_widths = compared(runs).reach.T.ravel().tolist()
    assert [r["half_width"] for r in rows] == [None if math.isnan(h) else h for h in half_widths]
    assert rows[0]["accuracy"] == pytest.approx(0.41)
    assert read_table(tmp_path / "out" / "accuracy.csv").columns == ("full", "<b>easy", "random")
    page = (tmp_path / "out" / "compare.html").read_text()
    assert page.count("<svg") == 2 + 2 + 2 + 1  # agreement of a run, a run, a method, random
    assert "<b>easy" not in page
    again = run(*runs, "--out", tmp_path / "out")
    assert (again.exit_code, "is there already" in again.output) == (2, True)


def test_json_has_all_and_nothing_that_json_has_not(runs: list[Path]) -> None:
    ran = run(*runs, "--json")
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.output)
    assert said["ranks"] is None
    assert said["table"]["columns"] == ["full", "<b>easy", "random"]
    assert said["differences"][0]["estimate"]["value"] == {"value": pytest.approx(0.1), "low": None, "high": None}


HOSTILE = ("\x1b[31mred", "<script>", "=cmd()", "a\nb", "[bold]m", "\u202eevil", "x" * 5000)


def test_names_of_strangers_are_shown_and_nothing_else(tmp_path: Path) -> None:
    f = sequence(POOL, "search-0", "searched", HOSTILE, [[0, 1], [2, 3]])
    run_of_strangers = write_run(
        tmp_path / "\x1b[2J\n<i>",
        RenamedPool(POOL, "c", "<u>\x1b[31m"),
        [f],
        [rescored(f, m, seed, result(0.5)) for m in HOSTILE for seed in (1000, 1001)],
        HOSTILE,
    )
    for arguments in ((), ("--json",), ("--out", tmp_path / "out"), ("--reference", "none")):
        ran = run(run_of_strangers, *arguments)
        assert ran.exit_code == 2 * ("--reference" in arguments), ran.output
        assert all(c.isprintable() or c == "\n" for c in ran.output)
    page = (tmp_path / "out" / "compare.html").read_text()
    assert all(c.isprintable() or c == "\n" for c in page)
    assert not any(tag in page for tag in ("<script>", "<i>\\n", "\\n<i>", "<u>"))
    assert read_table(tmp_path / "out" / "accuracy.csv").methods == tuple(map(shown, HOSTILE))
    assert "'=cmd()" in (tmp_path / "out" / "accuracy.csv").read_text()


def test_bad_input_is_one_line_and_exit_code_2(runs: list[Path], tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,A,B\ner,1,2\n")
    for arguments, said in (
        ((), "name RUNs to compare, or a --table"),
        ((runs[0], "--table", table), "one of the two"),
        (("--table", table, "--out", tmp_path / "x"), "--out is for runs"),
        ((tmp_path / "none",), "is no run folder"),
        ((runs[0], "--out", tmp_path / "no" / "x"), "does not exist"),
        (("--table", table, "--reference", "C"), "there is no such column"),
    ):
        ran = run(*arguments)
        assert (ran.exit_code, ran.output.count("\n")) == (2, 1), ran.output
        assert said in ran.output


def test_two_methods_one_and_constant_columns_say_what_they_can(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,A,B,R\n=er,1,2,3\nlae,2,2,4\n")
    text = " ".join(run("--table", table).output.split())
    assert "SRCC with R 1.000 - N/A" in text
    assert "A (2 methods) 1.000 1.000 1.000 1.000 all orders" in text
    assert "B (2 methods) - - - - a column has one value only" in text
    table.write_text("m,A,R\ner,1,2\n")
    assert "fewer than two methods have both" in run("--table", table).output


def test_more_than_nine_methods_have_approximate_p_values(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,A,R\n" + "".join(f"m{i},{i * i % 7},{i}\n" for i in range(12)))
    assert "approximate" in run("--table", table).output


@pytest.mark.parametrize(
    ("other", "all_methods", "says"),
    [
        ([4, 5], True, {"compare.found_alone"}),
        ([2, 3], True, {"compare.same_found", "compare.same_methods"}),
        ([2, 3], False, {"compare.same_found", "compare.other_methods"}),
        ([4, 5], False, {"compare.same_random", "compare.other_methods"}),
    ],
)
def test_what_runs_share_is_said_as_it_is(tmp_path: Path, other: list[int], all_methods: bool, says: set[str]) -> None:
    found = compared([make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", [other])])
    of_both = tuple(s for s in found.sides if (s.run, s.method) != ("b", "slca"))
    about = ("compare.found_alone", "compare.same_", "compare.other_")
    said = {n.code for n in notes(found if all_methods else replace(found, sides=of_both))}
    assert {code for code in said if code.startswith(about)} == says


def test_no_interval_of_an_accuracy_leaves_0_to_100(tmp_path: Path) -> None:
    made = [accuracy(0.979, 0.065), accuracy(0.03, 0.05), accuracy(0.03, math.nan)]
    assert [*map(BENCHMARK.text, made)] == ["97.9 [91.4, 100.0]", "3.0 [0.0, 8.0]", "3.0"]
    seeds = (1000, 1001, 1002)
    ran = run(make(tmp_path / "a", [[2, 3]], seeds=seeds), make(tmp_path / "b", [[4, 5]], seeds=seeds))
    assert "+-" not in ran.output
    assert "87.0 [" in ran.output  # slca on random sequences


def test_where_there_is_no_terminal_columns_say_how_wide(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for said, wide in (("80", 80), ("", 120), ("many", 120), ("0", 40)):
        monkeypatch.setenv("COLUMNS", said)
        assert console().width == wide
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, run(*runs).output.splitlines())) <= 80
    monkeypatch.delenv("COLUMNS")
    assert 80 < max(map(len, run(*runs).output.splitlines())) <= 120


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_what_the_encoding_of_the_output_has_not_is_escaped(tmp_path: Path, encoding: str) -> None:
    table = tmp_path / "t.csv"
    table.write_text("method,A \u4e2d,R\n\U0001f600,1,2\nb,2,1\nc,3,3\n", encoding="utf-8")
    command = [sys.executable, "-m", "protocols.cli", "compare", "--table", str(table)]
    ran = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=True)
    assert b"A \\u4e2d" in ran.stdout
    assert b"\\U0001f600" in ran.stdout


@pytest.mark.long
def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("method,A,R\na,1,2\nb,2,1\nc,3,3\n")
    command = [sys.executable, "-m", "protocols.cli", "compare", "--table", str(table)]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "seqsearch: the output cannot be written: No space left on device\n")


def test_a_folder_that_cannot_be_made_is_one_line(runs: list[Path]) -> None:
    refused = run(*runs, "--out", "/proc/none")
    assert refused.exit_code == 2
    assert refused.stderr == "seqsearch: '/proc/none': No such file or directory\n"
