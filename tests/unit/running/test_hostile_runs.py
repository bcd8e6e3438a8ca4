"""Files of a run that somebody edited, or made up: one line that names the file, never a traceback, a hang or a full memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.results.tables import read_sequences
from tests.unit.run_folders import STATS, glyphs, outcome, rescored, sequence, write_run

NAN, INFINITY = float("nan"), float("inf")


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def refused(result: Result, says: str) -> None:
    assert result.exit_code == 2, (result.output, result.exception)
    said = result.stderr.strip()
    assert says in " ".join(said.split())
    assert len(said) < 1500


@pytest.fixture
def run(tmp_path: Path) -> Path:
    pool = glyphs()
    both = [
        sequence(pool, "search-0", "searched", ["er"], [[0], [1]]),
        sequence(pool, "r", "random", ["er"], [[2], [3]]),
    ]
    evaluated = [rescored(s, "er", seed, outcome([[0.9], [0.5, 0.6]])) for s in both for seed in (1, 2)]
    return write_run(tmp_path / "run", pool, both, evaluated, ["er"])


JUNK = [
    "", "{", "[]", "null", "\x00\x01", '{"a": 1}}', "[" * 10**5, '{"a":' * 10**5, '{"settings": ' + "9" * 5000 + "}",
    '{"a": ' + "[" * 30 + "]" * 30 + "}",
]  # fmt: skip


@pytest.mark.parametrize("text", JUNK)
@pytest.mark.parametrize("name", ["config.json", "stats.json"])
def test_a_broken_file_of_a_run_is_named(run: Path, name: str, text: str) -> None:
    (run / name).write_text(text)
    refused(call("show", run), f"{name} ")


def test_a_huge_or_strange_file_of_a_run_is_not_read(run: Path) -> None:
    with (run / "stats.json").open("wb") as file:
        file.truncate(1 << 40)
    refused(call("show", run), "stats.json cannot be read (it has more than 16 MB)")
    (run / "config.json").unlink()
    os.mkfifo(run / "config.json")
    refused(call("show", run), "no config.json")


@pytest.mark.parametrize(
    "said",
    [
        {"trained": "many"}, {"trained": -3}, {"naive": 1e30}, {"wall_seconds": NAN}, {"sessions": []},
        {"starting_seconds": -1.0}, {"budget_seconds": "soon"},
        {"moved": []}, {"moved": None}, {"moved": {"er": 0.1}}, {"moved": {"er": ["a", 1]}}, {"moved": {"er": [NAN, 1]}},
        {"moved": {"er": [0.1, 0.5]}}, {"moved": {"er": [0.1, -1]}}, {"moved": {"er": [0.1, 1, 1]}},
    ],
)  # fmt: skip
def test_counts_that_are_none(run: Path, said: dict[str, Any]) -> None:
    (run / "stats.json").write_text(json.dumps({**STATS, **said}))
    refused(call("show", run), f"stats.json: {next(iter(said))} is ")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"settings": None}, "does not say how the run was made"),
        ({"settings": {"surprise": 1}}, "does not say how the run was made"),
        ({"settings": {"methods": 3}}, "--methods 3: must be a text"),
        ({"settings": {"methods": "er", "tasks": "3"}}, "--tasks '3': must be a whole number"),
        ({"settings": {"methods": "er", "tasks": 10**400}}, "--tasks "),
        ({"settings": {"methods": "er", "temperature": NAN}}, "--temperature nan: must be "),
        ({"settings": {"methods": "er", "grow": "x"}}, "--grow 'x': must be a list"),
        ({"settings": {"methods": "er", "grow": ["9" * 5000 + ":x"]}}, "--grow "),
        ({"run_id": ["a"]}, "run_id is ['a']"),
        ({"directory": 7}, "directory is 7"),
        ({"protocol": None}, "protocol is None"),
    ],
)
def test_settings_of_a_run_that_are_none(run: Path, changes: dict[str, Any], says: str) -> None:
    config = {"protocol": "cldyb", "run_id": "run", "directory": None, "settings": {"methods": "er"}}
    (run / "config.json").write_text(json.dumps({**config, **changes}))
    refused(call("cldyb", "--resume", run, "--workers", 0), says)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"identity": {"pools": 3}}, "identity.pools"),
        ({"identity": {"pools": [{"pool": 1}]}}, "pool in identity.pools"),
        ({"tuned": [1], "settings": {}}, "what was tuned"),
        ({"settings": {"tasks": 2, "extended_from": [1, "x"]}}, "extended_from"),
    ],
)
def test_origins_that_are_none(run: Path, changes: dict[str, Any], says: str) -> None:
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, **changes}))
    refused(call("show", run), says)


@pytest.mark.parametrize("name", ["status.json", "config.json", "lock", "journal.jsonl"])
@pytest.mark.parametrize("what", [*JUNK[:6], '{"at": 5, "total": [1], "done": {}, "troubles": 3, "host": []}', None])
def test_a_look_at_a_run_survives_whatever_lies_there(run: Path, name: str, what: str | None) -> None:
    (run / name).unlink(missing_ok=True)
    if what is None:
        os.mkfifo(run / name)
    else:
        (run / name).write_text(what)
    assert call("status", run).exit_code == 0


def test_what_a_run_says_of_itself_cannot_steer_the_terminal(run: Path) -> None:
    (run / "status.json").write_text(json.dumps({"total": 1, "phase": "\x1b[2J", "troubles": ["\x1b]0;x\x07"]}))
    said = call("status", run)
    assert said.exit_code == 0
    assert "\x1b" not in said.stdout
    assert r"\x1b[2J" in said.stdout


# ------------------------------------------------------------------------------------------------ YAML


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &a [1]\n" + "".join(f"b{i}: &b{i} [*a, *a, *a]\n" for i in range(40)), "line 2 has an alias (*a)"),
        ("methods: &m er\npool: *m\n", "line 2 has an alias (*m)"),
        ("methods: " + "[" * 2000, "line 1 is nested too deeply"),
        ("methods: " + "{a: " * 2000, "line 1 is nested too deeply"),
        ("methods: !!python/object/apply:os.system ['touch trap']\n", "cannot be read as YAML"),
        ("methods: er\n" + "#" * 10**5, "it has more than 64 kB"),
        ("seed: 2020-99-99\n", "cannot be read as YAML"),
        (f"seed: {'9' * 5000}\n", "cannot be read as YAML"),
        ("seed: 99999999999999999999999\n", "seed is 99999999999999999999999, must be of type integer"),
        ("temperature: .nan\n", "--temperature nan: must be at least 0"),
        ("? [1, 2]\n: 3\n", "cannot be read as YAML"),
        ("x" * 500 + ": 1\n", "unknown key 'xxxxxxxxxxxx...xxxxxxxxxxxxx'"),
        ("\x00", "cannot be read as YAML"),
    ],
)
def test_yaml_that_is_no_settings(tmp_path: Path, text: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(text)
    refused(call("cldyb", "--methods", "er", "--workers", 0, "--config", tmp_path / "study.yaml"), says)
    assert [p.name for p in tmp_path.iterdir()] == ["study.yaml"]


# ------------------------------------------------------------------------------------------------ Parquet files of a run


def test_a_small_file_of_very_many_rows_is_refused(run: Path) -> None:
    table = pq.read_table(run / "sequences.parquet")
    pq.write_table(table.take(np.zeros(3_000_000, np.int64)), run / "sequences.parquet", compression="zstd")
    assert (run / "sequences.parquet").stat().st_size < 200_000
    with pytest.raises(UserError, match=r"sequences\.parquet: not a readable .* a decompression bomb"):
        read_sequences(run / "sequences.parquet")


@pytest.mark.parametrize("column", ["class_id", "pool_digest", "sequence_id", "step", "method_ids"])
def test_a_value_that_is_not_there_is_named(run: Path, column: str) -> None:
    table = pq.read_table(run / "sequences.parquet")
    at = table.schema.get_field_index(column)
    nothing = pa.nulls(table.num_rows, table.schema.field(at).type)
    pq.write_table(table.set_column(at, column, nothing), run / "sequences.parquet")
    refused(call("show", run), f"Casting field '{column}' with null values to non-nullable")


def test_a_list_with_a_hole_is_named(run: Path) -> None:
    table = pq.read_table(run / "sequences.parquet")
    holes = pa.array([["er", None]] * table.num_rows, pa.list_(pa.string()))
    at = table.schema.get_field_index("method_ids")
    pq.write_table(table.set_column(at, "method_ids", holes), run / "sequences.parquet")
    refused(call("show", run), "sequences.parquet: a value of method_ids in row 0 is null")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("trained_step", 10**9),
        ("evaluated_step", 0),
        ("accuracy", 7.0),
        ("accuracy", -INFINITY),
        ("sequence_id", "other"),
    ],
)
def test_results_that_cannot_be(run: Path, column: str, values: Any) -> None:
    table = pq.read_table(run / "results.parquet")
    at = table.schema.get_field_index(column)
    same = pa.array([values] * table.num_rows, table.schema.field(at).type)
    pq.write_table(table.set_column(at, column, same), run / "results.parquet")
    refused(call("show", run), "results.parquet: ")
