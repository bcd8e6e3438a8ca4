"""``--fit``: gates, the sequences that are chosen, its file, its comparison, and a run with real training."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from actors.options import EngineOptions
from protocols.cli.main import main
from protocols.edge.fit import Fit, fit_digest, fitted, read_fits, write_fits
from protocols.edge.fitted import MethodFit, method_fit
from protocols.edge.groups import Group, LeftOut
from protocols.edge.plan import random_tasks
from protocols.edge.settings import EdgeSettings
from protocols.report.edge import notes as edge_notes
from protocols.report.notes import Note
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.extremes.features import features
from seqsearch.extremes.objective import labels_of
from seqsearch.planners.replicates import fresh, of_order
from seqsearch.results.run import RunResults, read_results
from seqsearch.results.schema import FITS
from seqsearch.similarity.matrix import Similarity, checked
from seqsearch.stats import difference, regression
from tests.studies import execute, summary_of
from tests.unit.edge.test_edge import edge
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run
from tests.unit.running.test_time_budget import results_in

SIZES = (2, 2, 2, 2)
SETTINGS = EdgeSettings(methods="er", fit=True, fit_extremes=2, random_sequences=30, tasks=4)
RANDOM = [random_tasks(SIZES, 0, i) for i in range(30)]


def similarity() -> Similarity:
    x = np.random.default_rng(0).normal(size=(8, 4))
    return checked(x @ x.T, [f"c{i}" for i in range(8)], "x", "made up")


def planted(effect: float, seed: int = 0) -> list[float | None]:
    """Accuracies that fall with the similarity of neighbours, and noise."""
    s = features(similarity().values, SIZES).of([labels_of(t) for t in RANDOM])[:, 0]
    noise = np.random.default_rng(seed).normal(size=30)
    return [float(a) for a in 0.7 - effect * (s - s.mean()) / s.std() + 0.02 * noise]


def fits(**known: list[float | None]) -> list[Fit]:
    return fitted(similarity(), SIZES, RANDOM, known, SETTINGS)


def said_of(fit: Fit, of: MethodFit | None = None) -> dict[str, Note]:
    """Notes on a fit, by code."""
    return {n.code: n for n in edge_notes.of_fit(of or MethodFit(fit, (), {}, 0))}


def test_the_fit_of_a_planted_effect_points_where_it_should() -> None:
    known = planted(0.05)
    [f] = fits(er=known)
    assert f.trained
    assert f.r2 is not None
    assert f.r2 > 0.7
    assert next(x.effect for x in f.features if x.name == "adjacent") == pytest.approx(-0.05, abs=0.01)
    assert [known[i] for i in f.worst] == sorted(a for a in known if a is not None)[:2]
    assert [known[i] for i in f.best] == sorted((a for a in known if a is not None), reverse=True)[:2]
    of = features(similarity().values, SIZES).of
    hard, easy = (of([labels_of(e.tasks) for e in side])[:, 0] for side in (f.hard, f.easy))
    seen = of([labels_of(t) for t in RANDOM])[:, 0]
    assert hard.min() > easy.max()
    assert seen.min() <= easy.min() <= hard.max() <= seen.max()  # nothing is predicted beyond what was seen
    assert [e.predicted for e in f.hard] == sorted(e.predicted for e in f.hard)
    assert f.easy[0].predicted > f.hard[0].predicted


def test_a_shut_gate_trains_nothing_and_says_why() -> None:
    few: list[float | None] = [0.5, 0.6, 0.7] * 3 + [None] * 21
    shut, alike, too_few = fits(a=planted(0.0), b=[0.5] * 30, c=few)
    for f in (shut, alike, too_few):
        assert not f.trained
        assert not (f.hard)
        assert not (f.easy)
        assert not (f.worst)
        assert not (f.best)
    assert shut.p is not None
    assert shut.p > 0.05
    said = said_of(shut)
    assert list(said) == ["edge.fit_shut", "edge.fit_gate"]
    assert said["edge.fit_shut"].values == {"method": "a", "r2": shut.r2, "p": shut.p}
    assert said["edge.fit_gate"].values["sequences"] == 30
    assert said_of(alike)["edge.fit_none"].values["why"] == "all random sequences have the same accuracies"
    assert said_of(too_few)["edge.fit_none"].text.endswith("10 random sequences or more are needed, 9 were evaluated.")


def test_several_gates_are_read_together() -> None:
    weak = planted(0.01, seed=30)
    [alone] = fits(er=weak)
    together = fits(er=weak, other=planted(0.0))
    assert alone.trained
    assert not together[0].trained
    assert together[0].p == alone.p
    assert together[0].p_together == pytest.approx(2 * (alone.p or 0))
    assert said_of(together[0])["edge.fit_together"].values == {"method": "er", "p": together[0].p_together}
    assert "edge.fit_together" not in said_of(alone)
    assert said_of(alone)["edge.fit_open"].values == {"method": "er", "r2": alone.r2, "p": alone.p}


def test_the_file_is_read_as_it_was_written_or_not_at_all(tmp_path: Path) -> None:
    known = {"er": planted(0.05)}
    made = tuple(fits(**known))
    digest = fit_digest(similarity(), SIZES, known, SETTINGS)
    assert read_fits(tmp_path) == ("", ())
    write_fits(tmp_path / FITS, digest, made)
    assert read_fits(tmp_path) == (digest, made)
    said = json.loads((tmp_path / FITS).read_text())
    assert "lacking" in said["fits"][0], "files of earlier versions have this name"
    said["fits"][0]["hard"][0]["tasks"].reverse()
    (tmp_path / FITS).write_text(json.dumps(said))
    with pytest.raises(UserError, match="remove it to have it fitted again"):
        read_fits(tmp_path)
    others = (replace(SETTINGS, seed=1), replace(SETTINGS, fit_extremes=1))
    assert len({digest, *(fit_digest(similarity(), SIZES, known, s) for s in others)}) == 3
    assert fit_digest(similarity(), SIZES, {"er": planted(0.06)}, SETTINGS) != digest, "of other accuracies"


# ------------------------------------------------------------------------------------------------ comparison


def evaluated(tmp_path: Path, f: Fit, table: dict[str, list[float]]) -> RunResults:
    """A run in which each of these was trained with fresh seeds."""
    pool, tasks = glyphs(), [[0, 1], [2, 3]]
    kinds = {name: "fitted" if name.startswith("fitted") else "retrained" for name in table}
    made = [sequence(pool, name, kinds[name], [f.method], tasks) for name in table]
    rows = [
        rescored(s, f.method, r, outcome([[0.9], [a, a]]))
        for s in made
        for r, a in zip(fresh(9), table[s.sequence_id], strict=False)
    ]
    return read_results(write_run(tmp_path / "run", pool, made, rows, [f.method]))


def random_group() -> Group:
    known = np.array(planted(0.05), dtype=np.float64)
    return Group(tuple(f"random-{i}" for i in range(30)), (0.0,) * 30, known[:, None])


def test_fitted_sequences_are_compared_by_fresh_seeds_alone(tmp_path: Path) -> None:
    [f] = fits(er=planted(0.05))
    steps = [0.00, 0.01, 0.02, 0.01, 0.00]
    table = {"fitted-hard-0": 0.50, "fitted-hard-1": 0.52, "worst-0": 0.60, "worst-1": 0.60, "fitted-easy-0": 0.80}
    table |= {"fitted-easy-1": 0.80, "best-0": 0.80, "best-1": 0.80, "retrained-hard-0": 0.7, "retrained-easy-0": 0.9}
    turns = {n: np.roll(steps, i).tolist() for i, n in enumerate(table)}
    data = evaluated(tmp_path, f, {n: [a + t for t in turns[n]] for n, a in table.items()})
    troubles: list[LeftOut] = []
    m = method_fit(data, f, random_group(), troubles)
    assert not troubles
    hard, easy = m.sides
    assert (hard.found, easy.found, m.seeds) == ("more", "open", 5)
    assert hard.minus_random is not None
    assert hard.minus_random.value == pytest.approx(-0.09)
    assert hard.minus_objective is not None
    assert hard.minus_objective.value == pytest.approx(-0.19)
    assert hard.chosen_at == pytest.approx(np.sort(random_group().first)[:2].mean())
    assert len(m.points["random"]) == 30
    said = said_of(f, m)
    numbers = {"method": "er", "fitted": 2, "again": 2}
    assert said["edge.fit_side"].values == numbers | {
        "side": "hard",
        "random": "worst",
        "direction": "harder",
        "difference": hard.minus_random,
    }
    assert said["edge.fit_undecided"].values == numbers | {
        "side": "easy",
        "random": "best",
        "difference": easy.minus_random,
    }
    worse = evaluated(tmp_path / "other", f, {"fitted-hard-0": [0.6, 0.61, 0.6, 0.62, 0.6], "worst-0": [0.5] * 5})
    turned = method_fit(worse, f, random_group(), troubles)
    [less] = turned.sides
    assert less.found == "less"
    values = said_of(f, turned)["edge.fit_side"].values
    assert (values["direction"], values["fitted"], values["again"]) == ("easier", 1, 1)
    same = method_fit(
        evaluated(tmp_path / "same", f, {"fitted-hard-0": [0.6] * 5, "worst-0": [0.5] * 5}), f, random_group(), []
    )
    assert said_of(f, same)["edge.fit_no_noise"].values["difference"].value == pytest.approx(0.1)


def test_sequences_that_failed_are_left_out_and_told(tmp_path: Path) -> None:
    [f] = fits(er=planted(0.05))
    whole = [0.5, 0.51, 0.5, 0.52, 0.5]
    data = evaluated(tmp_path, f, {"fitted-hard-0": whole, "fitted-hard-1": whole[:3], "fitted-easy-0": whole})
    troubles: list[LeftOut] = []
    m = method_fit(data, f, random_group(), troubles)
    assert troubles == [LeftOut("er", 1, 0, "fit")]
    assert [len(s.fitted) for s in m.sides] == [1, 1]
    assert m.sides[0].found == "open"
    values = {n.values["side"]: n.values for n in edge_notes.of_fit(m) if n.code == "edge.fit_uncompared"}
    assert values["hard"] == {"method": "er", "side": "hard", "random": "worst", "fitted": 1}


# ------------------------------------------------------------------------------------------------ settings and runs


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"enumerate": True}, "--enumerate trains every sequence, and nothing is left to predict: leave --fit out"),
        ({"random_sequences": 9, "fit_extremes": 1}, "--random-sequences 9: --fit takes 10 or more"),
        ({"random_sequences": 10, "fit_extremes": 6}, "twice --fit-extremes (6)"),
        ({"fit_seeds": 4}, "--fit-seeds 4: must be at least 5"),
    ],
)
def test_what_cannot_be_fitted_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        EdgeSettings(**{"methods": "er", "fit": True, **wrong})
    assert said in str(error.value)


def test_bounds_of_settings_are_those_of_the_statistics() -> None:
    from protocols.edge.settings import FEWEST_FITTED, FEWEST_SEEDS

    assert (FEWEST_FITTED, FEWEST_SEEDS) == (regression.FEWEST_ORDERS, difference.FEWEST_SEEDS)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--fit-seeds", "7"), "--fit-seeds is for --fit: leave it out"),
        (("--fit-extremes", "2"), "--fit-extremes is for --fit: leave it out"),
        (
            ("--plan-only", "--fit"),
            "--plan-only trains nothing: leave --enumerate, --until, --orders, --fit, --heuristics and --partition out",
        ),
    ],
)
def test_flags_without_effect_are_refused(flags: tuple[str, ...], said: str) -> None:
    result = edge("--methods", "er", "--pool", "glyphs:classes=6", "--tasks", 3, *flags)
    assert result.exit_code == 2
    assert said in result.stderr


CONFUSED = f"{Path(__file__).parent / 'confused.py'}:Confused"
RUN: dict[str, Any] = {
    "methods": CONFUSED, "pool": "glyphs:classes=8,train=4,reward=2,test=10", "tasks": 4, "score_seeds": 2,
    "crossed_orders": 0, "rs_seeds": "", "random_sequences": 14, "moves": 500, "bound": False, "fit": True,
    "fit_extremes": 1, "fit_seeds": 5,
}  # fmt: skip


def run(path: Path, after: int | None = None, workers: int = 0) -> bool:
    """Whether it is finished; ``after``: its time is up when so many lines are journalled."""
    settings = EdgeSettings(**RUN)
    folder = RunFolder.create(path, settings)
    deadline = Deadline(after, results_in(path)) if after else Deadline()
    finished = execute(folder, settings, Runtime(EngineOptions(workers=workers), quiet=True, deadline=deadline))
    folder.close()
    return finished


def exported(path: Path) -> dict[str, Any]:
    tables = {n: pq.read_table(path / f"{n}.parquet") for n in ("sequences", "results", "estimates")}
    drop = ("run_id", "train_seconds")
    found: dict[str, Any] = {
        n: t.drop_columns([c for c in drop if c in t.column_names]).to_pylist() for n, t in tables.items()
    }
    return {**found, "fit": json.loads((path / FITS).read_text())}


def test_a_run_fits_and_trains_with_fresh_seeds(tmp_path: Path) -> None:
    assert run(tmp_path / "whole")
    rows = pq.read_table(tmp_path / "whole" / "results.parquet").to_pandas()
    seeds = rows.groupby("sequence_id").seed.unique()
    chosen = {"fitted-hard-0", "fitted-easy-0", "worst-0", "best-0", "retrained-hard-0", "retrained-easy-0"}
    assert {name for name, own in seeds.items() if set(own) & set(fresh(1000))} == chosen
    assert all(list(seeds[name]) == list(fresh(5)) for name in chosen)
    assert list(seeds["random-3"]) == [of_order(3)]
    [m] = summary_of(tmp_path / "whole").methods
    assert m.fit.fit.trained
    assert m.fit.sides[0].minus_random is not None
    assert len(m.groups["random"]) == 14  # what --fit adds is no random sequence
    shown = " ".join(CliRunner().invoke(main, ["show", str(tmp_path / "whole")]).stdout.split())
    assert "similarities predict accuracy (R2 = " in shown
    as_json = json.loads(CliRunner().invoke(main, ["show", str(tmp_path / "whole"), "--json"]).stdout)
    coded = {n["code"]: n for n in as_json["coded"]["notes"]}
    assert coded["edge.fit_seeds"]["values"] == {"seeds": 5}
    assert {"edge.fit_conditional", "edge.fit_equal", "edge.fit_fresh", "edge.fit_effects"} <= set(coded)
    report = (tmp_path / "whole" / "report.html").read_text()
    assert "Predicted against measured accuracy" in report
    assert as_json["fits"][0]["trained"] is True
    assert {"minus_worst", "predicted", "p_hard"} <= {e["figure"] for e in as_json["estimates"]}


@pytest.mark.long
def test_a_run_that_was_stopped_resumes_to_the_same(tmp_path: Path) -> None:
    assert run(tmp_path / "whole")
    total = len((tmp_path / "whole" / "journal.jsonl").read_text().splitlines())
    assert not run(tmp_path / "cut", after=total - 20)  # among the sequences of the fit
    names = {r["sequence_id"] for r in pq.read_table(tmp_path / "cut" / "sequences.parquet").to_pylist()}
    assert "fitted-hard-0" in names
    resumed = edge("--resume", tmp_path / "cut", "--workers", 0)
    assert resumed.exit_code == 0, resumed.stderr
    assert exported(tmp_path / "cut") == exported(tmp_path / "whole")


@pytest.mark.long
def test_workers_change_nothing(tmp_path: Path) -> None:
    assert run(tmp_path / "here")
    assert run(tmp_path / "there", workers=2)
    assert exported(tmp_path / "here") == exported(tmp_path / "there")
