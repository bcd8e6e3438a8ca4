"""The six-class study of the paper, with real training: every sequence beside what is estimated from a few."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from protocols.cli.main import main
from protocols.edge.trained import shared_trainings
from protocols.report.edge.figures import figures
from protocols.report.edge.notes import notes
from protocols.report.edge.view import view
from seqsearch.planners.replicates import of_given
from seqsearch.pools.open import build_pool
from tests.conformance.lab import TWO_BLOCKS
from tests.studies import summary_of
from tests.text_models import text_models

pytestmark = pytest.mark.long
POOL = "glyphs:classes=6,train=4,reward=3,test=10"
SCORING = 1000


def edge(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["edge", *map(str, arguments)])


def by_seed(run: Path, method: str) -> pd.Series[float]:
    """Final accuracy (Eq. 1) by sequence and training seed; straight from the files."""
    rows = pq.read_table(run / "results.parquet").to_pandas()
    rows = rows[(rows.method_id == method) & (rows.trained_step == rows.trained_step.max())]
    found: pd.Series[float] = rows.groupby(["sequence_id", "seed"]).accuracy.mean()
    return found


def accuracies(run: Path, method: str) -> pd.DataFrame:
    """Kind, S and final accuracy of each sequence with the only scoring seed."""
    of = pq.read_table(run / "sequences.parquet").to_pandas().groupby("sequence_id")[["kind", "value"]].first()
    return of.join(by_seed(run, method).xs(SCORING, level="seed"))


def of_random_orders(run: Path, method: str) -> np.ndarray:
    """Of random sequences with their own seeds, in the order drawn."""
    found = by_seed(run, method)
    own = {name: a for (name, seed), a in found.items() if name.startswith("random-") and seed != SCORING}
    return np.array([own[f"random-{i}"] for i in range(len(own))])


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """All 90 sequences of six classes in three tasks, with a method that depends on the path and an additive one."""
    words = {w.lower() for c in build_pool(POOL).classes for w in c.name.split()}
    encoders = text_models(tmp_path_factory.mktemp("models"), sorted(words))
    run = tmp_path_factory.mktemp("runs") / "every"
    said = edge(
        "--methods",
        "er:epochs=1,aper_adapter:epochs=1",
        "--pool",
        POOL,
        "--tasks",
        3,
        "--enumerate",
        "--score-seeds",
        1,
        "--random-sequences",
        30,
        "--similarity",
        "names",
        "--encoders",
        f"prototypes,confusion,{encoders}/sentences,{encoders}/clip",
        "--planner",
        "exact",
        "--workers",
        0,
        "--backbone",
        TWO_BLOCKS,
        "--out",
        run,
    )
    assert said.exit_code == 0, said.stderr
    return run, said.stdout


def test_195_trainings_and_fewer_for_an_additive_method(every: tuple[Path, str]) -> None:
    trainings = pq.read_table(every[0] / "trainings.parquet").to_pylist()
    assert len({t["state"] for t in trainings}) == len(trainings)
    trainings = [t for t in trainings if t["seed"] == SCORING]
    assert Counter(t["depth"] for t in trainings if t["method_id"] == "er:epochs=1") == {1: 15, 2: 90, 3: 90}
    additive = [t for t in trainings if t["method_id"] == "aper_adapter:epochs=1"]
    assert len(additive) == 15 + 90  # what it learns of a second task is added again wherever that task comes third
    assert shared_trainings((2, 2, 2)) == 195


def test_every_sequence_is_there_once(every: tuple[Path, str]) -> None:
    rows = pq.read_table(every[0] / "sequences.parquet").to_pandas()
    rows = rows[rows.kind == "enumerated"]
    made = rows.groupby("sequence_id").apply(
        lambda s: tuple(tuple(sorted(t.class_id)) for _, t in s.groupby("step")), include_groups=False
    )
    assert len(made) == len(set(made)) == 90
    assert rows.value.round(9).nunique() == 15


def test_exact_extremes_are_those_of_all_sequences(every: tuple[Path, str]) -> None:
    rows = accuracies(every[0], "er:epochs=1")
    values = rows[rows.kind == "enumerated"].value
    assert rows.value["hard-0"] == pytest.approx(values.min())
    assert rows.value["easy-0"] == pytest.approx(values.max())


def test_the_truth_and_table_1_can_be_recomputed(every: tuple[Path, str]) -> None:
    rows = accuracies(every[0], "er:epochs=1")
    truth = rows[rows.kind == "enumerated"].accuracy
    t = summary_of(every[0]).methods[0].truth
    assert t is not None
    assert (t.low, t.high, t.fit.mu) == pytest.approx((truth.min(), truth.max(), truth.mean()))
    rs = next(a for a in t.against if a.name == "RS (0, 42, 1993)")
    three = rows.accuracy[["rs-0", "rs-42", "rs-1993"]]
    assert (rs.low, rs.high) == pytest.approx((three.min(), three.max()))
    placed, own = summary_of(every[0]).methods[0].placed["rs"], by_seed(every[0], "er:epochs=1")
    assert [o.accuracy for o in placed.orders] == pytest.approx(
        [own[f"rs-{s}", of_given(i)] for i, s in enumerate((0, 42, 1993))]
    )
    assert rs.fit is not None
    assert (rs.fit.mu, rs.fit.sigma) == pytest.approx((three.mean(), three.std(ddof=0)))
    grid = rs.fit.mu + rs.fit.sigma * stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    assert rs.w1 == pytest.approx(stats.wasserstein_distance(truth, grid), rel=5e-3)
    published = next(a for a in t.against if a.name.startswith("EDGE, as published"))
    assert published.fit is not None
    assert published.fit.mu == pytest.approx(rows.accuracy[["hard-0", "random-0", "easy-0"]].mean())
    c = t.correlation
    assert c is not None
    shown = rows[rows.kind == "enumerated"].round(12)
    assert c.pearson.value.value == pytest.approx(stats.pearsonr(shown.value, shown.accuracy).statistic)
    assert c.spearman.value.value == pytest.approx(stats.spearmanr(shown.value, shown.accuracy).statistic)
    assert (c.n, c.clusters) == (90, 15)
    inside = c.pearson.value.low <= 0 <= c.pearson.value.high
    assert inside == (c.pearson.p >= 0.05)


def test_rs_orders_are_those_of_the_release(every: tuple[Path, str]) -> None:
    rows = pq.read_table(every[0] / "sequences.parquet").to_pandas()
    classes = sorted(rows.class_id.unique())
    for seed in (0, 42, 1993):
        order = np.random.default_rng(seed).permutation(6)
        mine = rows[rows.sequence_id == f"rs-{seed}"].groupby("step").class_id.apply(sorted).tolist()
        assert mine == [sorted(classes[c] for c in order[i : i + 2]) for i in (0, 2, 4)]
    drawn = [n.values for n in notes(summary_of(every[0])) if n.code == "edge.same_draw"]
    assert {"first": "rs-0", "second": "rs-42"} in drawn


def test_further_similarities_get_extremes_of_their_own(every: tuple[Path, str]) -> None:
    rows = accuracies(every[0], "er:epochs=1")
    assert {"hard-0@prototypes", "easy-0@prototypes", "hard-0@confusion", "easy-0@confusion"} <= set(rows.index)
    t = summary_of(every[0]).methods[0].truth
    assert t is not None
    assert [a.name for a in t.encoders] == ["the run's own", "prototypes", "confusion", "sentences", "clip"]
    assert len({p.digest for p in summary_of(every[0]).plans}) == 5
    triple = rows.accuracy[["hard-0@confusion", "random-0", "easy-0@confusion"]]
    assert t.encoders[2].fit is not None
    assert t.encoders[2].fit.mu == pytest.approx(triple.mean())
    drawn = {p.name: p for p in figures(summary_of(every[0]))}["encoders"]
    labels = [ax.get_legend_handles_labels()[1] for panel in drawn.panels for ax in panel.figure.axes]
    assert sorted(labels[0]) == sorted(["every sequence, the truth", *(a.name for a in t.encoders)])
    assert f"confusion: mean {100 * triple.mean():.1f} %" in drawn.panels[0].label


def test_all_tables_are_printed_and_shown_again(every: tuple[Path, str]) -> None:
    run, printed = every
    assert CliRunner().invoke(main, ["show", str(run)]).stdout == printed
    text = CliRunner().invoke(main, ["show", str(run), "--details"]).stdout
    assert printed.splitlines()[0] == text.splitlines()[0]
    for title in (
        "Table 1",
        "Table A3",
        "Fig. 2 c",
        "Table A4",
        "Where given orders lie among random ones",
        "Distribution over class sequences",
    ):
        assert title in text
    assert "truth (90 sequences)" in text
    assert "\nHyperparameters\ner:epochs=1: epochs=1" in text
    assert "aper_adapter:epochs=1: " in text
    report = (run / "report.html").read_text()
    for title in (
        "Table 1",
        "Table A3",
        "Table A4",
        "Estimated distribution",
        "Bounds",
        "Similarity of tasks",
        "The tasks found",
    ):
        assert title in report
    assert "<script" not in report


def test_figures_can_be_recomputed_from_the_files(every: tuple[Path, str]) -> None:
    """With numpy and scipy alone; what is in ``estimates.parquet`` is what is shown and printed."""
    run, printed = every
    rows = pq.read_table(run / "estimates.parquet").to_pandas().set_index(["method_id", "about", "figure"])
    assert rows.index.is_unique
    mine, random, of = rows.loc["er:epochs=1"], of_random_orders(run, "er:epochs=1"), accuracies(run, "er:epochs=1")
    L, mean, sd = len(random), random.mean(), random.std(ddof=1)
    assert (L, mine.value["random", "sequences"]) == (30, 30)
    assert mine.value["random", "mean"] == pytest.approx(mean)
    assert mine.value["random", "sd"] == pytest.approx(sd)
    t, g, error = stats.t.isf(0.025, L - 1), stats.skew(random, bias=False) / math.sqrt(L), sd / math.sqrt(L)
    low, high = (3 / g * (np.cbrt(1 + g * (side - g / 6)) - 1) for side in (t, -t))
    student = stats.t.isf(0.025, min((L - 1) / 2, 1 + (L - 1) / 4))
    bounds = mean - max(student, low) * error, mean - min(-student, high) * error
    assert (mine.low["random", "mean"], mine.high["random", "mean"]) == pytest.approx(bounds)
    assert mine.value["random", "lowest"] == pytest.approx(random.min())
    assert mine.value["random", "share_beyond"] == pytest.approx(1 - 0.05 ** (1 / L))
    ends = {side: of.accuracy[f"{side}-0"] for side in ("hard", "easy")}
    below = [int((random <= a + 1e-9).sum()) for a in ends.values()]
    above = [int((random >= a - 1e-9).sum()) for a in ends.values()]
    named = ("p_hard", "p_easy_below", "p_hard_above", "p_easy")
    assert [mine.value["extremes", n] for n in named] == pytest.approx([(1 + k) / (L + 1) for k in (*below, *above)])
    values = of.value[[f"random-{i}" for i in range(L)]].to_numpy()
    assert mine.value["random, S", "pearson"] == pytest.approx(stats.pearsonr(values, random).statistic)
    shown = json.loads(CliRunner().invoke(main, ["show", str(run), "--json"]).stdout)["estimates"]
    assert shown == pq.read_table(run / "estimates.parquet").select(list(shown[0])).to_pylist()
    line = f"{100 * mean:.1f} [{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]"
    assert line in printed
    assert line in (run / "report.html").read_text()
    of = {r["method"]: r for r in view(summary_of(run)).to_json()["tables"]["correlation"]}["er:epochs=1"]
    assert (of["of"], of["sequences"], of["groups"]) == ("every", 90, 15)


def test_a_finished_run_is_left_as_it_is(every: tuple[Path, str]) -> None:
    before = (every[0] / "report.html").stat().st_mtime_ns
    again = edge("--resume", every[0], "--workers", 0)
    assert again.exit_code == 0, again.stderr
    assert (every[0] / "report.html").stat().st_mtime_ns == before


def test_three_random_sequences_beside_three_on_average_are_rows_of_their_own(tmp_path: Path) -> None:
    said = edge(
        "--methods",
        "simplecil",
        "--pool",
        "glyphs:classes=4,train=4,reward=2,test=2",
        "--tasks",
        2,
        "--enumerate",
        "--score-seeds",
        1,
        "--random-sequences",
        3,
        "--workers",
        0,
        "--quiet",
        "--out",
        tmp_path / "run",
    )
    assert said.exit_code == 0, said.stderr
    truth = summary_of(tmp_path / "run").methods[0].truth
    assert truth is not None
    names = [a.name for a in truth.against]
    assert len(set(names)) == len(names)
