"""Similarity matrices in files: exact round trips, layouts of others, and what is said of files that are no matrix."""

from __future__ import annotations

import csv
import os
import resource
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.core.text import shows
from seqsearch.similarity.files import read, read_table, write
from seqsearch.similarity.matrix import Similarity, checked
from tests.unit.similarity.test_matrix import similarities

SMALL = checked([[0, -0.1, 1 / 3], [-0.1, 0, 1e-300], [1 / 3, 1e-300, 0]], ["cat, big", "dog", "é"], "x", "made up")
many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(found=similarities(), ending=st.sampled_from([".npy", ".csv", ".parquet", ".PARQUET"]))
def test_what_is_written_is_read_back(tmp_path: Path, found: Similarity, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    refused = "class_name" in found.names if ending.lower() == ".parquet" else not all(map(shows, found.names))
    if refused and ending != ".npy":
        with pytest.raises(UserError, match=r"write \.(csv|parquet) instead"):
            write(path, found)
        return
    write(path, found)
    again = read(path, found.names if ending == ".npy" else None)
    assert again.names == found.names
    assert again.values.tobytes() == found.values.tobytes()
    assert again.digest == found.digest
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path) -> None:
    names = ["=1+1", "-5", "@x", "'=", "'s day", "\uff1dx", "+", "a;=1+1"]
    found = checked(np.zeros((8, 8)), names, "x", "made up")
    write(tmp_path / "x.csv", found)
    with open(tmp_path / "x.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows[1:]] == rows[0][1:]
    assert not any(cell[0] in "=+-@\uff1d" for cell in rows[0])
    assert rows[0][5] == "'s day"
    assert '"a;=1+1"' in (tmp_path / "x.csv").read_text()
    assert read(tmp_path / "x.csv").names == tuple(names)


def test_names_choose_and_order(tmp_path: Path) -> None:
    for ending in (".csv", ".parquet"):
        write(tmp_path / f"x{ending}", SMALL)
        part = read(tmp_path / f"x{ending}", ["é", "dog"])
        assert part.names == ("é", "dog")
        assert part.values[0, 1] == 1e-300
    write(tmp_path / "x.npy", SMALL)
    assert read(tmp_path / "x.npy").names == ("0", "1", "2")
    with pytest.raises(UserError, match=r"x\.npy: 2 names for 3 classes"):
        read(tmp_path / "x.npy", ["é", "dog"])


def test_a_parquet_file_says_where_it_comes_from(tmp_path: Path) -> None:
    write(tmp_path / "x.parquet", SMALL)
    assert read(tmp_path / "x.parquet").source == "made up"
    frame = pd.read_parquet(tmp_path / "x.parquet")
    assert list(frame.columns) == ["class_name", *SMALL.names]
    assert frame["dog"][0] == -0.1


@pytest.mark.parametrize("kind", ["float32", "int64", "float16", "uint8"])
def test_frames_of_others(tmp_path: Path, kind: str) -> None:
    x = np.array([[9, 1, 2], [1, 9, 3], [2, 3, 9]]).astype(kind)
    names = ["a", "a.b", "0"]
    frame = pd.DataFrame(x, columns=names)
    frame.to_parquet(tmp_path / "bare.parquet", index=False)
    frame.assign(who=names)[["who", *names]].astype({"who": "category"}).to_parquet(
        tmp_path / "named.parquet", index=False
    )
    frame.to_csv(tmp_path / "bare.csv", index=False)
    frame.set_index(pd.Index(names)).to_csv(tmp_path / "named.csv")
    frame.set_index(pd.Index(names, name="class")).to_csv(tmp_path / "called.csv")
    np.save(tmp_path / "x.npy", np.asfortranarray(x))
    np.savetxt(tmp_path / "numbers.csv", x, delimiter=",")
    want = checked(x, names, "", "")
    for path in tmp_path.iterdir():
        assert (
            read(path, None if "." in path.stem or path.stem not in ("x", "numbers") else names).digest == want.digest
        )


def test_csv_with_all_that_tools_write(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes('\ufeff"","a","b"\r\n"a",,0.5\r\n"b", 5e-1 ,NaN\r\n\r\n'.encode())
    assert read(path).values.tolist() == [[0, 0.5], [0.5, 0]]
    assert read(path).names == ("a", "b")
    path.write_text("NaN,1\n1,NaN\n")
    assert read(path).names == ("0", "1")
    path.write_text("1,2\n0,1\n2,0\n")  # numbers above numbers are no names
    with pytest.raises(UserError, match="3 x 2, must be square"):
        read(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("a,b\n", "nothing below its first line"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, the first line 2"),
        (",a,b\na,0,x\nb,1,0\n", "line 2, column 3 holds 'x', which is no number"),
        (",a,b\na,0,1\nc,1,0\n", "row 2 is 'c' and column 2 'b'"),
        (",a,b\nb,0,1\na,1,0\n", "row 1 is 'b' and column 1 'a'"),
        ("who,a,b\nb,0,1\na,1,0\nc,1,1\n", "line 2, column 1 holds 'b', which is no number"),
        (",a,b\na,0,1\nb,2,0\n", "'a' and 'b' is 1.0 one way and 2.0 the other"),
        (",a,b\na,0,\nb,2,0\n", "'a' and 'b' is nan"),
        (",a,a\na,0,1\na,1,0\n", "'a' comes 2 times"),
        ('"a', "unexpected end of data"),
        ("a," * 3_000_000, "a line of more than"),
        ("x" * 200_000 + "\n", "field larger than field limit"),
        ("a,b\n\x001,2\n3,4\n", "line 2, column 1 holds '\\x001', which is no number"),
    ],
)
def test_csv_that_is_none(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert says in refusal(path)


def refusal(path: Path) -> str:
    """What is said of a file, in one line that names it."""
    with pytest.raises(UserError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    assert len(said) < 600
    return said


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "a matrix is a file in .npy, .csv, .parquet" in refusal(tmp_path / "x.txt")
    for ending in (".npy", ".csv", ".parquet"):
        assert "No such file" in refusal(tmp_path / f"none{ending}")
        (tmp_path / f"folder{ending}").mkdir()
        refusal(tmp_path / f"folder{ending}")
        os.mkfifo(tmp_path / f"pipe{ending}")
        assert "no plain file" in refusal(tmp_path / f"pipe{ending}")
        (tmp_path / f"other{ending}").write_bytes(b"\xff\x00 nothing of the kind")
        refusal(tmp_path / f"other{ending}")


def test_arrays_that_are_no_matrix(tmp_path: Path) -> None:
    path, before = tmp_path / "x.npy", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.save(path, np.array([[None, 1], [1, None]], dtype=object), allow_pickle=True)
    refusal(path)
    np.save(path, np.zeros(4))
    assert "1 dimension(s)" in refusal(path)
    np.save(path, np.array(["a"]))
    assert "no array of real numbers" in refusal(path)
    np.savez(tmp_path / "z.npz", a=np.zeros((2, 2)))
    (tmp_path / "z.npz").rename(path)
    assert "no array of real numbers" in refusal(path)
    np.save(path, np.zeros((2, 2)))
    data = path.read_bytes().replace(b"(2, 2), }          ", b"(99999, 99999), }  ")
    assert b"99999" in data
    path.write_bytes(data)
    refusal(path)
    with open(path, "r+b") as file:
        file.truncate(len(data) + 99999**2 * 8)  # sparse: says that it is 80 GB
    assert "at most 25000 classes" in refusal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_parquet_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    text = pa.array(["a", "b"])
    cases = [
        ({"a": [0.0, 1.0], "b": ["x", "y"]}, "column 'b' holds string, not numbers"),
        ({"a": [0.0, 1.0], "b": [True, False]}, "column 'b' holds bool"),
        ({"class_name": text, "a": [0.0, 1.0]}, "2 rows and 1 columns of numbers"),
        ({"class_name": text, "b": [0.0, 1.0], "a": [1.0, 0.0]}, "row 1 is 'a' and column 1 'b'"),
        ({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 2.0]}, "3 x 2, must be square"),
        ({"a": [0.0, None], "b": [1.0, 0.0]}, "the similarity of 'b' and 'a' is nan"),
        ({"a": [[0.0], [1.0]], "b": [1.0, 0.0]}, "column 'a' holds list"),
    ]
    for columns, says in cases:
        pq.write_table(pa.table(columns), path)
        assert says in refusal(path)
    pq.write_table(pa.table({"a": np.zeros(3_000_000)}), path)
    assert "3000000 rows in" in refusal(path)
    assert "a decompression bomb" in refusal(path)
    pq.write_table(pa.table({"a": np.arange(30_000.0)}), path)
    assert "30000 x 1 numbers, at most 25000 classes" in refusal(path)


@many
@given(
    seed=st.integers(0, 2**32 - 1),
    cut=st.floats(0, 1) | st.none(),
    ending=st.sampled_from([".npy", ".csv", ".parquet"]),
)
def test_any_damage_is_one_line_or_harmless(tmp_path: Path, seed: int, cut: float | None, ending: str) -> None:
    path, draw = tmp_path / f"d{ending}", np.random.default_rng(seed)
    write(path, SMALL)
    data = bytearray(path.read_bytes())
    for at in draw.integers(0, len(data), draw.integers(1, 8)):
        data[at] ^= 1 << int(draw.integers(8))
    path.write_bytes(data if cut is None else data[: int(cut * len(data))])
    try:
        found = read(path)
    except UserError:
        refusal(path)
    else:
        assert np.isfinite(found.values).all()
        assert np.array_equal(found.values, found.values.T)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is written as"):
        write(tmp_path / "x.txt", SMALL)
    with pytest.raises(UserError, match="does not exist: make it first"):
        write(tmp_path / "none" / "x.csv", SMALL)
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        write(tmp_path / "x.csv", SMALL)
    odd = checked(np.zeros((2, 2)), ["class_name", "b"], "", "")
    with pytest.raises(UserError, match=r"write \.csv instead"):
        write(tmp_path / "x.parquet", odd)
    assert list(tmp_path.glob("*.parquet")) == []


def test_a_table_need_not_be_symmetric(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(",a,b\na,5,1\nb,0,4\n")
    table = read_table(tmp_path / "counts.csv")
    assert table.names == ("a", "b")
    assert table.values.tolist() == [[5, 1], [0, 4]]
