"""The sequences of a run by the names of their classes: ``show --sequence``, and what a run says of it when it ends."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.report.commands.sequences import FOUND, KINDS, MOST
from protocols.running.protocol import protocols
from seqsearch.core.types import ClassId, Task
from seqsearch.results.rows import RunInfo, SequenceKind, TaskSequence
from seqsearch.results.tables import write_sequences
from tests.studies import finished_run

GROUPS = ("birds", "cars")


def show(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["show", *map(str, arguments)])


def run_of(folder: Path, protocol: str, sequences: list[TaskSequence], names: dict[int, tuple[str, str]]) -> Path:
    """A run as far as its sequences are asked for."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"protocol": protocol, "settings": {}}))
    info = RunInfo(folder.name, "config", {ClassId("pool", i): said for i, said in names.items()})
    write_sequences(folder / "sequences.parquet", info, sequences)
    return folder


def sequence(name: str, kind: SequenceKind, tasks: list[list[int]], values: list[float | None]) -> TaskSequence:
    made = tuple(Task(tuple(ClassId("pool", c) for c in task), "split") for task in tasks)
    return TaskSequence(name, kind, ("er",), 0, made, tuple(values))


NAMES = {i: (f"name-{i}", GROUPS[i % 2]) for i in range(8)}
FOUND_ONE = sequence("search-0", "searched", [[0, 2, 1], [3, 4]], [None, -0.25])


@pytest.mark.parametrize("protocol", sorted(n for n, p in protocols().items() if "sequences.parquet" in p.exports))
def test_found_and_random_sequences_are_shown_with_names_and_groups(tmp_path: Path, protocol: str) -> None:
    drawn = [sequence(f"random-{i}", "random", [[0, 2, 1], [5, 6]], [None, None]) for i in range(2)]
    run = run_of(tmp_path / "run", protocol, [*drawn, FOUND_ONE], NAMES)
    said = show(run, "--sequence")
    assert said.exit_code == 0, said.output
    lines = [line.rstrip() for line in said.stdout.splitlines()]
    found, random = (
        lines.index(head) for head in ("search-0: found by search, for er; 2 tasks", "random-0: random; 2 tasks")
    )
    assert found < random
    assert lines[found + 1].split() == ["1", "birds:", "name-0,", "name-2;", "cars:", "name-1"]
    assert lines[found + 2].split() == ["2", "J", "-0.250", "cars:", "name-3;", "birds:", "name-4"]
    assert max(map(len, lines)) <= 100
    said_json = json.loads(show(run, "--sequence", "--json").stdout)
    assert [s["sequence_id"] for s in said_json["sequences"]] == ["random-0", "random-1", "search-0"]
    tasks = said_json["sequences"][2]["tasks"]
    assert [[(c["name"], c["group"]) for c in t["classes"]] for t in tasks] == [
        [NAMES[c] for c in task] for task in ([0, 2, 1], [3, 4])
    ]
    assert [(t["step"], t["value"]) for t in tasks] == [(1, None), (2, -0.25)]


def test_of_many_random_sequences_the_first_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    drawn = [sequence(f"random-{i}", "random", [[0], [1]], [None, None]) for i in range(MOST + 3)]
    planned = [sequence(f"hard-{i}", "hard", [[0], [1]], [0.5, 0.5]) for i in range(MOST + 1)]
    run = run_of(tmp_path / "run", "edge", [*drawn, *planned], NAMES)
    text = show(run, "--sequence").stdout
    assert [f"random-{i}:" in text for i in range(MOST + 3)] == [True] * MOST + [False] * 3
    assert all(f"hard-{i}: planned hard; 2 tasks; S 0.5" in text for i in range(MOST + 1))
    assert "3 more" in text
    assert len(json.loads(show(run, "--sequence", "--json").stdout)["sequences"]) == 2 * MOST + 4


def test_names_of_others_move_no_cursor_and_long_ones_are_wrapped(tmp_path: Path) -> None:
    names = {0: ("\x1b[2Jred \u202ekcab[bold]", "a\nb"), 1: ("long " * 200, "g"), 2: ("x" * 300, "")}
    run = run_of(tmp_path / "run", "cldyb", [sequence("\x1b]0;s", "random", [[0, 1, 2, 3]], [None])], names)
    said = show(run, "--sequence")
    assert said.exit_code == 0
    assert all(c.isprintable() or c == "\n" for c in said.stdout)
    assert r"a\nb: \x1b[2Jred \u202ekcab[bold]" in said.stdout
    assert "class 3 of another pool" in " ".join(said.stdout.split())
    assert max(map(len, said.stdout.splitlines())) <= 120


def test_a_file_that_is_no_list_of_sequences_is_one_line(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "cldyb", [FOUND_ONE], NAMES)
    whole = pq.read_table(run / "sequences.parquet")
    pq.write_table(pa.concat_tables([whole, whole]), run / "sequences.parquet")
    said = show(run, "--sequence")
    assert (said.exit_code, len(said.stderr.splitlines())) == (2, 1)
    assert "sequences.parquet" in said.stderr
    (run / "sequences.parquet").rename(tmp_path / "elsewhere")
    (run / "sequences.parquet").symlink_to(tmp_path / "elsewhere")
    assert show(run, "--sequence").exit_code == 2


def test_a_run_without_sequences_says_why(tmp_path: Path) -> None:
    for protocol, why in (
        ("online", "which has no task sequences"),
        ("cldyb", "finish it with seqsearch cldyb --resume"),
    ):
        run = tmp_path / protocol
        run.mkdir()
        (run / "config.json").write_text(json.dumps({"protocol": protocol, "settings": {}}))
        said = show(run, "--sequence")
        assert (said.exit_code, len(said.stderr.splitlines())) == (2, 1)
        assert why in said.stderr


def test_every_kind_has_words_and_the_found_ones_are_among_them() -> None:
    assert set(KINDS) == set(typing.get_args(SequenceKind))
    assert set(FOUND) < set(KINDS)


def test_the_end_of_a_run_says_how_to_see_its_sequence(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", random_sequences=5, simulations=2, candidates=4, tasks=2, score_seeds=1)
    said = CliRunner().invoke(main, ["cldyb", "--resume", str(run), "--workers", "0"])
    assert said.exit_code == 0, said.output
    assert f"seqsearch show {run} --sequence" in said.stderr
    text = " ".join(show(run, "--sequence").stdout.split())
    names = [
        c["name"]
        for s in json.loads(show(run, "--sequence", "--json").stdout)["sequences"]
        for t in s["tasks"]
        for c in t["classes"]
    ]
    assert names
    assert all(name in text for name in names)
