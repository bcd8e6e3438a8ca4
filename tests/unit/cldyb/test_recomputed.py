"""The figures of a run, computed again from its Parquet files by numpy alone: what is printed is what the files hold."""

import base64
import io
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from scipy import stats

from protocols.cldyb.protocol import CLDYB
from protocols.report.cldyb.view import view
from protocols.report.terminal import render
from seqsearch.core.errors import UserError
from tests.studies import finished_run


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return finished_run(
        tmp_path_factory.mktemp("runs") / "r",
        methods="simplecil,ranpac:M=32",
        pool="glyphs:classes=24,train=4,reward=3,test=3",
        searches=3,
        tasks=2,
        score_seeds=3,
    )


@pytest.fixture(scope="module")
def images(run):
    """Of each side what every test image adds to the mean accuracy of the methods: ``[sequence][seed][(class, image)]``."""
    sequences, results = (pq.read_table(run / f"{name}.parquet").to_pylist() for name in ("sequences", "results"))
    results = [r for r in results if (r["role"], r["split"]) == ("rescore", "test")]
    last = max(r["trained_step"] for r in results)
    methods = {r["method_id"] for r in results}
    classes: dict = {}
    for row in sorted(sequences, key=lambda r: r["position"]):
        classes.setdefault((row["sequence_id"], row["step"]), []).append(row["class_id"])
    sides: dict = {"searched": {}, "random": {}}
    for r in results:
        if r["trained_step"] != last:
            continue
        right = np.unpackbits(np.frombuffer(base64.b64decode(r["right"]), np.uint8))[: r["n"]]
        assert right.sum() == r["correct"]
        bits = iter(right)
        cell = sides[r["kind"]].setdefault(r["sequence_id"], {}).setdefault(r["seed"], {})
        for c, n in zip(classes[r["sequence_id"], r["evaluated_step"]], r["class_n"], strict=True):
            for i in range(n):
                cell[c, i] = cell.get((c, i), 0.0) + next(bits) / (last * r["n"] * len(methods))
    return {side: [[cell for _, cell in sorted(s.items())] for s in of.values()] for side, of in sides.items()}


def covariance(a, b):
    """Of two accuracies by the images of each class that both hold, unbiased."""
    total = 0.0
    for c in {c for c, _ in a} & {c for c, _ in b}:
        x, y = (np.array([v[key] for key in sorted(v) if key[0] == c]) for v in (a, b))
        total += len(x) * np.cov(x, y)[0, 1]
    return total


def mean_covariance(side, other=None):
    """Over all pairs of sequences (different ones of one side), and over pairs of different seeds where a side has several."""
    of_two, other = other is not None, side if other is None else other
    found = [
        covariance(side[s][r], other[t][q])
        for s, t in itertools.product(range(len(side)), range(len(other)))
        if of_two or s != t
        for r, q in itertools.product(range(len(side[s])), range(len(other[t])))
        if r != q or len(side[s]) == len(other[t]) == 1
    ]
    return float(np.mean(found))


def test_the_drop_and_its_interval(run, images):
    found, random = (np.array([[sum(c.values()) for c in s] for s in images[k]]) for k in ("searched", "random"))
    a, b = found.mean() / random.mean() ** 2, 1 / random.mean()
    (F, R), (L, Q) = found.shape, random.shape
    assert (F, R, Q) == (3, 3, 1)
    seeds = b**2 * np.var(found.mean(0), ddof=1) * (1 - 1 / R)
    image = a**2 * mean_covariance(images["random"]) + b**2 * mean_covariance(images["searched"])
    image -= 2 * a * b * mean_covariance(images["searched"], images["random"])
    held = {key for side in images.values() for s in side for cell in s for key in cell}
    parts = [
        (b**2 * np.var(found.mean(1), ddof=1) / F, F - 1), (a**2 * np.var(random, ddof=1) / L, min((L - 1) / 2, 1 + (L - 1) / 4)),
        (seeds, R - 1), (max(0.0, image), len(held) - len({c for c, _ in held})),
    ]  # fmt: skip
    reach = math.sqrt(sum(v * stats.t.ppf(0.975, d) ** 2 for v, d in parts))
    said = json.loads(json.dumps(view(CLDYB.read(run).summary).to_json()))["mean"]["drop"]
    relative = 1 - found.mean() / random.mean()
    assert said["relative"]["value"] == pytest.approx(relative, abs=1e-9)
    assert (said["relative"]["low"], said["relative"]["high"]) == pytest.approx(
        (relative - reach, relative + reach), abs=1e-6
    )
    console = Console(file=io.StringIO(), width=200)
    console.print(render(view(CLDYB.read(run).summary)))
    bounds = f"[{100 * (relative - reach):.1f}, {100 * (relative + reach):.1f}]"
    assert f"{100 * relative:.1f} {bounds}".replace("-0.0", "0.0") in console.file.getvalue()
    assert f"{100 * (relative + reach):.1f}" in (run / "report.html").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"n": 0, "correct": 0, "class_n": [0], "right": ""}, {"class_n": [-1, 10]}, {"class_n": None}, {"right": "AAAA"},
        {"right": "no base64"}, {"correct": 0}, {"accuracy": 0.123}, {"accuracy": None}, {"n": None},
    ],
    ids=str,
)  # fmt: skip
def test_images_that_do_not_fit_the_counts_are_refused(run, tmp_path, change):
    for name in ("config.json", "stats.json", "sequences.parquet", "trace.parquet"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    table = pq.read_table(run / "results.parquet")
    rows = table.to_pylist()
    next(r for r in rows if r["right"] and r["role"] == "rescore" and r["correct"]).update(change)
    pq.write_table(table.from_pylist(rows, schema=table.schema), tmp_path / "results.parquet")
    with pytest.raises(UserError, match="that were right are not those counted: restore the file"):
        CLDYB.read(tmp_path)
