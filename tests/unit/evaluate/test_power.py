"""`seqsearch power` on runs of every protocol that it reads, from the archive of an earlier version."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main

ARCHIVE = Path(__file__).parents[2] / "golden/runs-0.1.0.tar.xz"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(root, filter="data")
    return root


def power(*words: object) -> Result:
    return CliRunner().invoke(main, ["power", *map(str, words)])


def values(run: Path, *words: object) -> dict[str, Any]:
    ran = power(run, "--json", *words)
    assert ran.exit_code == 0, ran.output
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_found_sequences_need_so_many_searches_and_random_sequences(runs: Path) -> None:
    [found] = values(runs / "cldyb-finished", "--difference", 0.1, "--difference", 0.5)["power"]
    assert found["spread"]["random"] == 5
    assert [s["of"]["random sequences"] for s in found["sizes"][:3]] == [19, 39, 59]
    assert all(s["power"][0] <= s["power"][1] for s in found["sizes"])
    assert found["sizes"][-1]["power"][1] == 1.0
    trainings = {(s["of"]["searches"], s["of"]["random sequences"]): s["trainings"] for s in found["sizes"]}
    twenty = 2 * 20 * 2  # methods, sequences, tasks after the first
    assert trainings[1, 59] - trainings[1, 39] == trainings[1, 39] - trainings[1, 19] == twenty
    assert [s["of"]["training seeds"] for s in found["seeds"]] == [1, 3, 5, 10]


@pytest.mark.long
def test_the_standard_deviation_is_that_of_the_pair_that_varies_most(runs: Path) -> None:
    [found] = values(runs / "mcil-finished")["power"]
    spread, by = found["spread"], {}
    for row in pq.read_table(runs / "mcil-finished/run_figures.parquet").to_pylist():
        if row["classifier"] == "head":
            by.setdefault(row["method_id"], {})[row["order"], row["seed"]] = row["average"]
    a, b = (by[spread[side]] for side in ("first", "second"))
    differences = np.array([a[k] - b[k] for k in sorted(a)])
    assert spread["sd"] == pytest.approx(differences.std(ddof=1))
    assert spread["value"] == pytest.approx(differences.mean())
    assert spread["draws"] == len(differences)


@pytest.mark.parametrize(
    "protocol", ["cldyb", *(pytest.param(p, marks=pytest.mark.long) for p in ("edge", "gtep", "mcil", "duel"))]
)
def test_it_is_printed_with_one_sentence_for_each_difference(runs: Path, protocol: str) -> None:
    ran = power(runs / f"{protocol}-finished", "--difference", 0.03)
    assert ran.exit_code == 0, ran.output
    assert "Standard deviation" in ran.output
    assert "A difference of 3 pp " in ran.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("score-finished",), "is of 'score': power reads runs of cldyb, edge, gtep, mcil, duel"),
        (("cldyb-stopped",), "not finished"),
        (("cldyb-finished", "--difference", 5), "--difference 5"),
        (("nothing",), "nothing"),
    ],
)
def test_bad_input_is_one_line(runs: Path, words: tuple[object, ...], says: str) -> None:
    ran = power(runs / str(words[0]), *words[1:])
    assert ran.exit_code == 2
    assert len(ran.stderr.strip().splitlines()) == 1
    assert says in ran.stderr
