"""``seqsearch similarity`` in process, on the real glyph pool: files, figures, plots, and what is refused before any compute."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from protocols.cli.main import main
from protocols.cli.similarity import OPTIONS, similarity
from protocols.report.heatmap import NAMED, cluster, write_heatmap
from seqsearch.similarity.files import read, write
from seqsearch.similarity.matrix import checked
from seqsearch.similarity.names import from_names
from seqsearch.study.class_similarity import learned_similarity

POOL = "glyphs:classes=10,train=6,reward=4,test=4,strength=2.5"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["similarity", *arguments])


def figures(*arguments: str) -> dict:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def said(*arguments: str) -> str:
    """What is said of a mistake: one line, exit code 2."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    lines = result.output.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("seqsearch: ")
    return lines[0]


def test_names_of_a_pool(tmp_path: Path) -> None:
    out, plot = tmp_path / "n.parquet", tmp_path / "n.png"
    found = figures("names", "--pool", POOL, "--out", str(out), "--plot", str(plot))
    again = read(out)
    assert again.digest == found["digest"] == from_names(again.names).digest
    pairs = again.values[np.triu_indices(10, 1)]
    assert found["classes"] == 10
    assert [found[k] for k in ("mean", "sd", "min", "max")] == pytest.approx(
        [pairs.mean(), pairs.std(), pairs.min(), pairs.max()]
    )
    i, j = (again.names.index(n) for n in found["max_pair"])
    assert again.values[i, j] == found["max"]
    with Image.open(plot) as image:
        assert min(image.size) > 500
        assert len(image.convert("RGB").getcolors(1 << 24)) > 50


def test_to_a_model(tmp_path: Path) -> None:
    out = str(tmp_path / "x.csv")
    assert (
        figures("prototypes", "--pool", POOL, "--out", out)["digest"] == learned_similarity("prototypes", POOL).digest
    )
    assert read(Path(out)).digest == learned_similarity("prototypes", POOL).digest
    found = figures("prototypes", "--pool", POOL, "--images", "0", "--seed", "7", "--out", out)
    assert found["digest"] == learned_similarity("prototypes", POOL, seed=7, images=0).digest
    assert figures("confusion", "--pool", POOL, "--out", out)["digest"] == learned_similarity("confusion", POOL).digest
    found = figures("confusion", "--pool", POOL, "--method", "ranpac:M=50", "--out", out)
    assert found["digest"] == learned_similarity("confusion", POOL, "ranpac:M=50").digest
    some = learned_similarity("prototypes", POOL).names[7:2:-1]
    (tmp_path / "some.txt").write_text("\ufeff" + "\r\n\r\n".join(some))
    figures("prototypes", "--pool", POOL, "--names", str(tmp_path / "some.txt"), "--out", out)
    assert read(Path(out)).digest == learned_similarity("prototypes", POOL).restricted(some).digest


def test_names_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("maple_tree\noak_tree\n\nwhale\n")
    out = tmp_path / "n.npy"
    result = run("names", "--names", str(tmp_path / "names.txt"), "--out", str(out))
    assert result.exit_code == 0, result.output
    assert "3 classes" in result.output
    assert "max 0.3" in result.output
    assert ": maple_tree and oak_tree" in result.output
    assert "names are not in a .npy file" in result.output
    assert np.load(out).shape == (3, 3)


def test_a_file_becomes_another(tmp_path: Path) -> None:
    matrix = checked([[0, 0.5, -1], [0.5, 0, 2], [-1, 2, 0]], ["a", "b", "c"], "", "")
    write(tmp_path / "m.npy", matrix)
    (tmp_path / "names.txt").write_text("a\nb\nc\n")
    (tmp_path / "two.txt").write_text("c\na\n")
    figures(str(tmp_path / "m.npy"), "--names", str(tmp_path / "names.txt"), "--out", str(tmp_path / "m.parquet"))
    assert read(tmp_path / "m.parquet").digest == matrix.digest
    figures(str(tmp_path / "m.parquet"), "--names", str(tmp_path / "two.txt"), "--out", str(tmp_path / "m.csv"))
    assert read(tmp_path / "m.csv").digest == matrix.restricted(["c", "a"]).digest


def test_counts(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(",a,b,c\na,6,2,0\nb,1,3,0\nc,0,0,5\n")
    counts, out = str(tmp_path / "counts.csv"), str(tmp_path / "x.parquet")
    assert figures(counts, "--counts", "--out", out)["max"] == pytest.approx(0.25)
    (tmp_path / "two.txt").write_text("b\na\n")
    found = figures(counts, "--counts", "--names", str(tmp_path / "two.txt"), "--out", out)
    assert found["classes"] == 2
    assert found["max"] == pytest.approx(0.25)
    assert "--counts if these are confusion counts" in said(counts, "--out", out)
    (tmp_path / "counts.csv").write_text("6,2\n1,3\n")
    figures(counts, "--counts", "--names", str(tmp_path / "two.txt"), "--out", out)
    assert read(Path(out)).names == ("b", "a")


def test_mistakes(tmp_path: Path) -> None:
    out, names = str(tmp_path / "x.parquet"), tmp_path / "names.txt"
    names.write_text("exclamation_mark\nwhale\n")
    assert "unknown source 'name'" in said("name", "--out", out)
    assert "is written as .parquet, .csv, .npy" in said("names", "--out", str(tmp_path / "x.txt"))
    assert "is written as .png, .svg, .pdf" in said("names", "--out", out, "--plot", str(tmp_path / "x.jpg"))
    assert "make it first" in said("names", "--out", out, "--plot", str(tmp_path / "none" / "x.png"))
    assert "No such file" in said("none.csv", "--out", out)
    assert "did you mean 'exclamation mark'" in said("prototypes", "--pool", POOL, "--names", str(names), "--out", out)
    assert "no class 'exclamation_mark' and 1 more" in said(
        "names", "--pool", POOL, "--names", str(names), "--out", out
    )
    assert "cannot be read" in said("names", "--names", str(tmp_path), "--out", out)
    assert "no plain file" in said("names", "--names", os.devnull, "--out", out)
    assert "--seed is for prototypes, confusion, not for names" in said("names", "--seed", "1", "--out", out)
    assert "--encoder is for names, not for prototypes" in said("prototypes", "--encoder", "x", "--out", out)
    assert "--counts is for FILE" in said("names", "--counts", "--out", out)
    assert "--images is for prototypes" in said("confusion", "--method", "er", "--images", "3", "--out", out)
    assert "is for an encoder" in said("names", "--pool", POOL, "--template", "a {}", "--out", out)
    names.write_text("\n")
    assert "0 classes, need at least two" in said("names", "--names", str(names), "--out", out)
    assert list(tmp_path.iterdir()) == [names]


def test_every_option_is_for_something() -> None:
    always = {"source", "out", "plot", "pool", "names_file", "as_json"}
    assert {p.name for p in similarity.params} == always | set(OPTIONS)


def blocks(n: int) -> np.ndarray:
    """Three kinds of classes, shuffled; alike within a kind."""
    draw = np.random.default_rng(0)
    kinds = draw.integers(0, 3, n)
    noise = draw.uniform(0, 0.1, (n, n))
    return (kinds[:, None] == kinds) + noise + noise.T


@pytest.mark.parametrize(
    ("n", "ending"), [(2, ".png"), (3, ".pdf"), (NAMED, ".svg"), (NAMED + 1, ".svg"), (NAMED + 1, ".png")]
)
def test_heat_maps(tmp_path: Path, n: int, ending: str) -> None:
    found = checked(blocks(n), [f"$class_{i}\\ 的" for i in range(n)], "", "made up $")
    path, again = tmp_path / f"x{ending}", tmp_path / f"y{ending}"
    write_heatmap(found, path)
    write_heatmap(found, again)
    assert path.read_bytes() == again.read_bytes()
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml", b"%PDF-")
    if ending == ".svg":
        assert ("$class_0" in path.read_text()) == (n <= NAMED)


@pytest.mark.parametrize("kind", ["all alike", "a chain", "one pair", "huge"])
def test_heat_maps_of_odd_matrices(tmp_path: Path, kind: str) -> None:
    n = 1500 if kind == "a chain" else 70  # deeper than Python goes down by itself
    i = np.arange(float(n))
    values = {
        "all alike": np.ones((n, n)),
        "a chain": -(np.maximum.outer(i, i) ** 2),
        "one pair": (np.add.outer(i, i) == 1).astype(float),
        "huge": 1e100 * (blocks(n) - 0.5),
    }[kind]
    write_heatmap(checked(values, [str(k) for k in range(n)], "", kind), tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert min(image.size) > 500


def test_classes_that_are_alike_stand_together() -> None:
    from scipy.cluster.hierarchy import leaves_list

    values = blocks(40)
    order = leaves_list(cluster(checked(values, [str(i) for i in range(40)], "", "")))
    neighbours = values[order[:-1], order[1:]]
    assert (neighbours < 0.5).sum() == 2  # three blocks
