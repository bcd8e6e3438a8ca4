"""Rows of tables as sentences, and what their columns give away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.building.audit import audited, check_audit
from seqsearch.building.caption_tables import DEFAULT, columns_of, open_table, read_coded, sentences
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo

ROWS = """ Maker , Color,Reg_year,Engin_size,Seats,Note
Ford,Blue,2012.0,1.6,5,
Kia, Dark  Red ,,2,NaN,"a, b"
Ford,,2014,2.25,5.5,n/a
"""


def told(path: Path, *names: str) -> list[str]:
    table = open_table(path)
    return sentences({name: read_coded(table, name) for name in names})


def test_clauses_by_the_rules(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(ROWS)
    assert told(tmp_path / "t.csv", "Color", "Reg_year", "Engin_size", "Seats", "Note") == [
        "the color is Blue, the reg year is 2012, the engin size is 1.6, the seats is 5.0.",
        "the color is Dark Red, the engin size is 2.0, the note is a, b.",
        "the reg year is 2014, the engin size is 2.2, the seats is 5.5.",
    ]
    assert told(tmp_path / "t.csv", "Note") == ["", "the note is a, b.", ""]


def test_types_of_a_parquet_file_tell_the_same(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "a": [1, None, 3],
        "b": [1.0, 2.0, None],
        "c": [1.26, None, 2.0],
        "d": ["x", None, "007"],
    }
    pq.write_table(pa.table({**columns, "e": pa.array([True, False, None])}), tmp_path / "t.parquet")
    assert told(tmp_path / "t.parquet", *"abcde") == [
        "the a is 1, the b is 1, the c is 1.3, the d is x, the e is true.",
        "the b is 2, the e is false.",
        "the a is 3, the c is 2.0, the d is 007.",
    ]
    pq.write_table(pa.table({"a": [[1], [2]]}), tmp_path / "lists.parquet")
    with pytest.raises(UserError, match=r"column 'a' is of type list<.*>, must hold texts or numbers"):
        told(tmp_path / "lists.parquet", "a")


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.integers(-5, 5), st.sampled_from(["x", "y z"]))] * 3), max_size=8))
def test_sentences_agree_with_a_loop_over_rows(rows: list[tuple[Any, ...]]) -> None:
    names = ["A_b", "c", "D"]
    columns = {}
    for at, name in enumerate(names):
        values = sorted({str(r[at]) for r in rows if r[at] is not None})
        codes = [-1 if r[at] is None else values.index(str(r[at])) for r in rows]
        columns[name] = (np.array(codes, dtype=np.int64), values)
    expected = []
    for row in rows:
        clauses = [f"the {s} is {v}" for s, v in zip(("a b", "c", "d"), row, strict=True) if v is not None]
        expected.append(", ".join(clauses) + "." if clauses else "")
    assert sentences(columns) == expected


def test_columns_that_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Image_name,Genmodel,Price,Extra,Color,Adv_ID\n1,2,3,4,5,6\n")
    table = open_table(tmp_path / "t.csv")
    assert columns_of(table, "default", []) == (["Color", "Price"], False)
    assert columns_of(table, "all", ["Extra"]) == (["Price", "Color"], False)
    assert columns_of(table, "Genmodel, Price", []) == (["Genmodel", "Price"], True)
    assert len(DEFAULT) == 13
    for asked, said in (
        ("Colour", r"has no column 'Colour' \(--caption-columns\); the nearest: 'Color'"),
        ("Price,Price", "names 'Price' twice"),
    ):
        with pytest.raises(UserError, match=said):
            columns_of(table, asked, [])
    (tmp_path / "u.csv").write_text("Image_name,x\n1,2\n")
    with pytest.raises(UserError, match="has none of the columns of DVM-CAR; it has 'Image_name, x'"):
        columns_of(open_table(tmp_path / "u.csv"), "default", [])
    (tmp_path / "v.csv").write_text("x, x \n1,2\n")
    with pytest.raises(UserError, match="has two columns 'x': rename one"):
        open_table(tmp_path / "v.csv")


# ------------------------------------------------------------------------------------------------ the audit


LABELS = np.repeat(np.arange(4), 40)
CLASSES = tuple(ClassInfo(n, "g", 40) for n in ("Ford Focus", "Kia Rio", "Mini One", "VW Golf"))
ALONE = -1 - np.arange(160)


def coded(values: list[str]) -> tuple[np.ndarray, list[str]]:
    distinct = sorted(set(values))
    return np.array([distinct.index(v) for v in values]), distinct


def test_what_a_column_tells_of_unseen_images() -> None:
    rng = np.random.default_rng(0)
    key = coded([f"k{c}" for c in LABELS])
    noise = coded([str(v) for v in rng.integers(0, 5, 160)])
    serial = coded([str(i) for i in range(160)])  # in-sample a lookup of this would be right always
    half = coded([f"k{c}" if i % 2 else "other" for i, c in enumerate(LABELS)])
    missing = np.full(160, -1), ["never"]
    named = coded([f"{c.name} {i % 7}" for c in CLASSES for i in range(40)])
    columns = {"key": key, "noise": noise, "serial": serial, "half": half, "missing": missing, "named": named}
    found = {a.column: a for a in audited(columns, LABELS, ALONE, CLASSES)}
    assert found["key"].accuracy == 1
    assert abs(found["noise"].accuracy - 0.25) < 0.15
    assert found["serial"].accuracy == found["missing"].accuracy == 0
    assert 0.5 < found["half"].accuracy < 0.85
    assert {a.chance for a in found.values()} == {0.25}
    assert found["named"].naming == 1
    assert [a.column for a in found.values() if a.names_class] == ["key", "named"]
    with pytest.raises(
        UserError, match=r"t.csv: column 'key' names the class \(predicts it for 100% of unseen images\): leave it"
    ):
        check_audit(list(found.values()), "t.csv", named=False)
    check_audit(list(found.values()), "t.csv", named=True)
    assert audited(columns, LABELS, ALONE, CLASSES) == list(found.values())


def test_large_classes_do_not_hide_small_ones() -> None:
    labels = np.repeat([0, 1], [400, 20])
    values = ["a"] * 320 + ["b"] * 80 + ["b"] * 20
    classes = (ClassInfo("many", "g", 400), ClassInfo("few", "g", 20))
    (found,) = audited({"x": coded(values)}, labels, -1 - np.arange(420), classes)
    assert found.accuracy == pytest.approx(0.9, abs=0.05)  # by counts, "b" would be of the large class: one half


def test_images_of_one_advert_are_learned_or_judged_not_both() -> None:
    """A value that is an advert's own, as its mileage, gives nothing away; by image it would seem to."""
    adverts = np.repeat(np.arange(40), 4)
    mileage = coded([f"{a} miles" for a in adverts])
    (by_advert,) = audited({"miles": mileage}, LABELS, adverts, CLASSES)
    (by_image,) = audited({"miles": mileage}, LABELS, ALONE, CLASSES)
    assert by_advert.accuracy == 0
    assert by_image.accuracy > 0.5
