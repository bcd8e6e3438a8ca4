import json
import math
import re
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.core.types import ClassId, Task
from seqsearch.results.experience_schema import EXPERIENCE_LAYOUTS
from seqsearch.results.rows import RunInfo, TaskSequence, model_bytes, result_rows, stored_bytes, trace_rows
from seqsearch.results.schema import LAYOUTS, RESULTS, SEQUENCES, TRACE, VERSION, Column
from seqsearch.results.split_schema import SPLIT
from seqsearch.results.stream_schema import STREAM_LAYOUTS
from seqsearch.results.tables import read_rows, read_sequences, write_rows, write_sequences
from tests.unit.run_folders import glyphs, outcome, rescored, run_info, sequence, traced, write_run

DOCS = Path(__file__).parents[3] / "docs/schema.md"
INFO = RunInfo("run", "config", {ClassId("pool", i): (f"class {i}", "group") for i in range(40)})


@st.composite
def task_sequences(draw: st.DrawFn) -> TaskSequence:
    order = draw(st.permutations(range(40)))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    pools = st.sampled_from(["pool", "grown pool"])
    tasks, used = [], 0
    for size in sizes:
        classes = tuple(ClassId(draw(pools), i) for i in order[used : used + size])
        tasks.append(Task(classes, draw(st.sampled_from(["split", "other split"]))))
        used += size
    value = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    return TaskSequence(
        draw(st.text(max_size=5)),
        draw(st.sampled_from(["searched", "random", "hard", "easy", "given"])),
        tuple(draw(st.lists(st.text(max_size=5), max_size=3))),
        draw(st.integers(0, 2**62)),
        tuple(tasks),
        tuple(draw(value) for _ in tasks),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(task_sequences(), max_size=4, unique_by=lambda s: s.sequence_id))
def test_sequences_come_back_as_they_were_written(tmp_path_factory, sequences):
    path = tmp_path_factory.mktemp("round") / "sequences.parquet"
    write_sequences(path, INFO, sequences)
    assert read_sequences(path) == sequences
    assert [p.name for p in path.parent.iterdir()] == ["sequences.parquet"]


def test_names_and_groups_go_by_class_index_and_are_null_for_another_pool(tmp_path):
    s = TaskSequence("s", "given", (), 0, (Task((ClassId("pool", 7), ClassId("grown", 3)), "split"),), (None,))
    write_sequences(tmp_path / "s.parquet", INFO, [s])
    rows = read_rows(tmp_path / "s.parquet", SEQUENCES)
    assert [(r["class_name"], r["group"], r["position"]) for r in rows] == [("class 7", "group", 0), (None, None, 1)]


def test_the_order_of_rows_does_not_matter_to_the_reader(tmp_path):
    pool = glyphs()
    sequences = [sequence(pool, n, "searched", ["er"], [[5, 1], [2, 9], [0, 3]]) for n in ("a", "b")]
    write_sequences(tmp_path / "s.parquet", run_info(tmp_path, pool), sequences)
    frame = pd.read_parquet(tmp_path / "s.parquet").sample(frac=1, random_state=0)
    frame.assign(mine=1).to_parquet(tmp_path / "shuffled.parquet")
    assert {s.sequence_id: s for s in read_sequences(tmp_path / "shuffled.parquet")} == dict(
        zip("ab", sequences, strict=True)
    )


def test_files_of_the_same_seed_are_identical(tmp_path):
    s = sequence(glyphs(), "a", "searched", ["er"], [[5, 1], [2, 9]])
    for name in ("one", "two"):
        write_sequences(tmp_path / name, run_info(Path("run"), glyphs()), [s])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.assign(step=f.step + 1), "steps must count from 1"),
        (lambda f: f.assign(position=0), "steps must count from 1"),
        (lambda f: f.assign(class_id=4), "a class comes twice"),
        (lambda f: f.drop(columns="position"), "no column position"),
        (lambda f: f.assign(class_id="four"), "not a readable sequences.parquet"),
    ],
)
def test_a_sequence_that_is_none_is_refused_in_one_line(tmp_path, change, said):
    path = tmp_path / "s.parquet"
    write_sequences(path, run_info(tmp_path, glyphs()), [sequence(glyphs(), "a", "given", [], [[5, 1], [2, 9]])])
    change(pd.read_parquet(path)).to_parquet(path)
    with pytest.raises(UserError, match=said) as error:
        read_sequences(path)
    assert "\n" not in str(error.value)


def test_a_column_that_was_added_is_null_in_older_files(tmp_path):
    path = tmp_path / "s.parquet"
    write_sequences(path, run_info(tmp_path, glyphs()), [sequence(glyphs(), "a", "given", [], [[5, 1], [2, 9]])])
    new = Column("seconds", "float64?", "s", "new", added=True)
    now = replace(SEQUENCES, columns=(*SEQUENCES.columns, new))
    assert [row["seconds"] for row in read_rows(path, now)] == [None] * 4
    with pytest.raises(UserError, match="no column seconds"):
        read_rows(path, replace(now, columns=(*SEQUENCES.columns, replace(new, added=False))))


def test_files_that_cannot_be_read_are_refused(tmp_path):
    path = tmp_path / "s.parquet"
    with pytest.raises(UserError, match="no such file"):
        read_sequences(path)
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(UserError, match="not a readable"):
        read_sequences(path)
    write_sequences(path, INFO, [])
    later = pq.read_table(path).replace_schema_metadata({"seqsearch.schema_version": str(VERSION + 1)})
    pq.write_table(later, path)
    with pytest.raises(UserError, match="upgrade seqsearch"):
        read_sequences(path)


def test_a_repeated_key_is_not_written(tmp_path):
    s = sequence(glyphs(), "a", "random", [], [[1], [2]])
    with pytest.raises(ValueError, match="primary key"):
        write_sequences(tmp_path / "s.parquet", run_info(tmp_path, glyphs()), [s, s])
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------ results, trace


def test_results_hold_the_lower_triangle(tmp_path):
    s = sequence(glyphs(), "a", "searched", ["er"], [[1], [2]])
    result = outcome([[0.5], [0.25, 0.75]], [[0.5], [0.5, 1.0]], n=8, footprint=(5, 10, 20, 30))
    write_rows(tmp_path / "r", RESULTS, INFO, result_rows([rescored(s, "er", 1000, result)]))
    rows = read_rows(tmp_path / "r", RESULTS)
    names = ("trained_step", "evaluated_step", "n", "correct", "accuracy", "masked_accuracy")
    got = [tuple(r[name] for name in names) for r in rows]
    assert got == [(1, 1, 8, 4, 0.5, 0.5), (2, 1, 8, 2, 0.25, 0.5), (2, 2, 8, 6, 0.75, 1.0)]
    for row in rows:
        assert [row[f"{part}_bytes"] for part in ("backbone", "params", "statistics", "exemplar")] == [5, 10, 20, 30]
        assert (stored_bytes(row), model_bytes(row)) == (60, 15)
        assert (row["seed"], row["role"], row["split"]) == (1000, "rescore", "test")
        assert row["config_digest"] == "config of er"
        assert (row["train_seconds"], row["weight_tag"], row["status"]) == (2.5, "weights", "ok")


@pytest.mark.parametrize("evaluated", [0, 1, 2])
def test_a_failed_rollout_leaves_what_was_judged_and_one_row_that_says_so(tmp_path, evaluated):
    s = sequence(glyphs(), "a", "searched", ["er"], [[1], [2], [3]])
    result = outcome([[0.5], [0.25, 0.75]][:evaluated], status="diverged", steps=3, footprint=None)
    write_rows(tmp_path / "r", RESULTS, INFO, result_rows([rescored(s, "er", 0, result)]))
    rows = read_rows(tmp_path / "r", RESULTS)
    assert len(rows) == evaluated * (evaluated + 1) // 2 + 1
    assert {r["status"] for r in rows} == {"diverged"}
    stop = rows[-1]
    assert (stop["trained_step"], stop["evaluated_step"], stop["accuracy"]) == (evaluated + 1, evaluated + 1, None)
    assert all(r["accuracy"] is not None and r["n"] is None for r in rows[:-1])
    assert rows[0]["params_bytes"] is stored_bytes(rows[0]) is model_bytes(rows[0]) is None


def test_a_candidate_without_a_value_has_none(tmp_path):
    s = sequence(glyphs(), "a", "searched", ["er"], [[1], [2]])
    write_rows(tmp_path / "t", TRACE, INFO, trace_rows(INFO, traced(s)))
    rows = read_rows(tmp_path / "t", TRACE)
    assert [(r["candidate"], r["chosen"], r["visits"]) for r in rows] == [(0, True, 4), (1, False, 3), (2, False, 2)]
    assert (rows[2]["value"], rows[2]["reward"], rows[2]["status"]) == (None, None, "method 'er' diverged: loss")
    assert rows[0]["class_ids"] == [2]
    assert rows[0]["nll"] == [1.0, 2.0]
    assert math.isclose(rows[0]["value"], -0.4)


# ------------------------------------------------------------------------------------------------ for others


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    pool = glyphs()
    found = [sequence(pool, f"search-{i}", "searched", ["er", "slca"], [[i, 9], [7, 8]]) for i in range(2)]
    random = [sequence(pool, f"random-{i}", "random", ["er", "slca"], [[20, 21], [30 + i, 40]]) for i in range(5)]
    evaluated = [
        rescored(s, m, seed, outcome([[0.75], [0.5, 0.25 + i / 20]], [[0.75], [0.75, 0.5]]))
        for i, s in enumerate([*found, *random])
        for m in ("er", "slca")
        for seed in (1000, 1001)
    ]
    return write_run(
        tmp_path_factory.mktemp("work") / "runs/my-run", pool, [*found, *random], evaluated, ["er", "slca"]
    )


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda x: x.file)
def test_pandas_and_duckdb_read_the_declared_columns_with_a_unique_key(run, layout):
    names = [c.name for c in layout.columns]
    frame = pd.read_parquet(run / layout.file)
    assert list(frame.columns) == names
    assert len(frame) > 0
    assert not frame.duplicated(list(layout.key)).any()
    assert frame.duplicated(list(layout.key[:-1])).any() or len(frame) == 1, "the key is longer than it need be"
    query = duckdb.sql(f"SELECT * FROM '{run / layout.file}'")
    assert query.columns == names
    assert len(query.fetchall()) == len(frame)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda x: x.file)
def test_metadata_say_version_config_units_and_meaning(run, layout):
    schema = pq.read_schema(run / layout.file)
    assert schema.metadata[b"seqsearch.schema_version"] == str(VERSION).encode()
    assert schema.metadata[b"seqsearch.config_digest"] == b"config"
    assert json.loads(schema.metadata[b"seqsearch.units"]) == {c.name: c.unit for c in layout.columns}
    plain = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
    for column in layout.columns:
        field = schema.field(column.name)
        assert field.metadata[b"description"].decode() == column.meaning
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        assert kind == plain[column.type.removesuffix("?").removeprefix("list<").removesuffix(">")]
        assert pa.types.is_list(field.type) == column.type.startswith("list<")


def test_importing_costs_no_parquet_library():
    import subprocess
    import sys

    code = "import sys, seqsearch.results.tables; sys.exit('pyarrow' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=DOCS.parents[1], check=False).returncode == 0


def test_the_documentation_lists_exactly_what_is_written():
    sections = re.split(r"^## ", DOCS.read_text(), flags=re.M)
    by_title = {s.splitlines()[0]: s for s in sections[1:]}
    for layout in (*LAYOUTS, *STREAM_LAYOUTS, *EXPERIENCE_LAYOUTS, SPLIT):
        text = by_title[layout.file]
        lines = [line for line in text.splitlines() if line.startswith("| `")]
        listed = [tuple(cell.strip(" `") for cell in line[1:-1].split("|")) for line in lines]
        assert listed == [(c.name, c.type, c.unit, c.meaning) for c in layout.columns]
        assert f"Primary key: `{', '.join(layout.key)}`." in text


EXAMPLES = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("number", range(3))
def test_the_examples_of_the_documentation_run(run, number, monkeypatch, capsys):
    assert len(EXAMPLES) == 3
    monkeypatch.chdir(run.parents[1])
    exec(compile(EXAMPLES[number], f"example {number}", "exec"), names := {})
    said = capsys.readouterr().out
    if number == 0:
        assert np.isclose(names["final"]["er", "searched", "search-1", 1000], (0.5 + 0.3) / 2)
    elif number == 1:  # found, after step 2: mean(0.75, 0.5) - mean(0.5, 0.25, 0.5, 0.3)
        assert "0.2375" in said
    else:
        assert said == "{'class_order': [0, 9, 7, 8], 'init_cls': 2, 'increment': 2}\n"
