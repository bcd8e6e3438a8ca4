"""Where random sequences come from (``--baseline``), and a search that cannot learn (``--reward shuffled``), as real studies."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from protocols.cldyb.compared import Placed
from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import prepare
from protocols.evaluate.score.summary import ScoreSummary
from protocols.report.cldyb import notes as cldyb_notes
from protocols.report.cldyb.view import view
from protocols.report.score import notes as score_notes
from protocols.running.provenance import BASELINES, PLACEBO
from seqsearch.core.errors import UserError
from seqsearch.core.types import StateKey
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import DRAWN
from seqsearch.planners.step import NoValidTask
from seqsearch.stats.drop import drop
from seqsearch.stats.rank_test import rank_test
from tests.evaluators import Dies, Mortal, Shuffled, Stricken
from tests.studies import Finished, finished_run, run_small, small_settings, summary_of
from tests.unit.evaluate.commands import told
from tests.unit.report.cldyb.test_notes import summary

GREEDY: dict[str, Any] = {"baseline": "greedy", "methods": "ranpac:M=16", "lookahead": 0, "score_seeds": 1}


@pytest.fixture(scope="module")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_small(tmp_path_factory.mktemp("greedy"), **GREEDY)


def drawn(done: Finished) -> list[Any]:
    return list(done.plans.baseline[0].sequences)


def test_greedy_random_sequences_share_the_first_task_and_no_class(greedy: Finished) -> None:
    assert len(drawn(greedy)) == len(set(drawn(greedy))) == 5
    for tasks in drawn(greedy):
        classes = [c for t in tasks for c in t.classes]
        assert (len(tasks), tasks[0]) == (3, greedy.study.first)
        assert len(set(classes)) == len(classes) == 9


def test_their_tasks_are_candidates_that_a_search_judges_there(greedy: Finished, tmp_path: Path) -> None:
    """A search with the same random numbers evaluates the candidates of which the second task was drawn."""
    study = prepare(small_settings(**GREEDY), tmp_path / "states", "cpu")
    s = study.settings
    searches = [CldybPlanner(f"s{i}", study.methods, study.view, study.first, s, s.seed, DRAWN + i) for i in range(5)]
    Search(InlineEvaluator(study.world), Journal(tmp_path)).run(searches)
    places = []
    for search, tasks in zip(searches, drawn(greedy), strict=True):
        evaluated = [j.task for j in search.trace if j.step == 2]
        assert tasks[1] in evaluated
        places.append(evaluated.index(tasks[1]))
    assert len(set(places)) > 1
    edges = {e.key for e in greedy.search.edges.values()}
    assert not [k for k in edges if k.replicate >= DRAWN and len(k.prefix) == 3], (
        "the last task is not trained to be drawn"
    )


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_arrival_changes_no_greedy_random_sequence(greedy: Finished, tmp_path: Path, seed: int) -> None:
    again = run_small(tmp_path, partial(Shuffled, seed=seed), **GREEDY)
    assert drawn(again) == drawn(greedy)
    assert again.found == greedy.found


@pytest.mark.parametrize("lives", [20, 45])
def test_a_killed_run_resumes_to_the_same_greedy_random_sequences(greedy: Finished, tmp_path: Path, lives: int) -> None:
    with pytest.raises(Dies):
        run_small(tmp_path, partial(Mortal, lives=lives), **GREEDY)
    again = run_small(tmp_path, **GREEDY)
    assert drawn(again) == drawn(greedy)
    assert again.search.counts.trained == greedy.search.counts.trained, "nothing is trained twice"


@pytest.mark.long
def test_more_and_longer_greedy_sequences_begin_with_the_same(greedy: Finished, tmp_path: Path) -> None:
    more = run_small(tmp_path / "more", **{**GREEDY, "random_sequences": 7})
    assert drawn(more)[:5] == drawn(greedy)
    longer = run_small(tmp_path / "longer", **{**GREEDY, "tasks": 4})
    assert [tasks[:3] for tasks in drawn(longer)] == drawn(greedy)


def drawn_second(key: StateKey) -> bool:
    """A second task, with the seeds of drawn sequences."""
    return key.replicate >= DRAWN and len(key.prefix) == 2


def test_a_candidate_that_fails_is_passed_over(greedy: Finished, tmp_path: Path) -> None:
    failing = {tasks[1] for tasks in drawn(greedy)}
    some = partial(Stricken, stricken=lambda key: drawn_second(key) and key.prefix[-1] in failing)
    again = run_small(tmp_path / "some", some, **{**GREEDY, "candidates": 30})
    assert not failing & {tasks[1] for tasks in drawn(again)}
    with pytest.raises(NoValidTask, match=r"step 2: no candidate could be trained: .*NaN at step 2"):
        run_small(tmp_path / "all", partial(Stricken, stricken=drawn_second), **GREEDY)


@pytest.mark.parametrize("baseline", ["uniform", "within-group"])
def test_random_sequences_drawn_beforehand_need_no_training(tmp_path: Path, baseline: str) -> None:
    done = run_small(tmp_path, baseline=baseline, classes_per_task=2, score_seeds=1)
    assert not done.plans.draws
    groups = dict(zip(done.study.view.class_ids, done.study.view.groups, strict=True))
    whole = [len({groups[c] for c in t.classes}) == 1 for tasks in drawn(done) for t in tasks[1:]]
    assert all(whole) == (baseline == "within-group")
    assert {tasks[0] for tasks in drawn(done)} == {done.study.first}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sampler": "uniform"}, "--baseline greedy --sampler uniform: the candidates of this search are not greedy"),
        ({"methods": "simplecil,er", "separate": True}, "--baseline greedy --separate: each group of methods has"),
        ({"methods": "simplecil,er,slca", "leave_one_out": True}, "--baseline greedy --leave-one-out: each group"),
    ],
)
def test_a_greedy_baseline_is_that_of_one_greedy_search(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        CldybSettings(**{"methods": "simplecil", **change, "baseline": "greedy"}).check()
    CldybSettings(**{"methods": "simplecil", **change}).check()


def test_too_small_groups_are_refused_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--baseline within-group: for task 2 no group has 3 classes left"):
        prepare(small_settings(baseline="within-group"), tmp_path, "cpu")
    prepare(small_settings(baseline="within-group", random_sequences=0), tmp_path, "cpu")


# ------------------------------------------------------------------------------------------------ words


def compared(found: float, random: int) -> tuple[Any, Placed]:
    a, b = np.full((1, 1), found), np.linspace(0.7, 0.8, random)[:, None]
    return drop(a, b), Placed((found,), tuple(b[:, 0]), rank_test(a[:, 0], b[:, 0], "harder"))


@pytest.mark.parametrize(
    ("baseline", "found", "random", "code"),
    [
        ("uniform", 0.4, 19, "significant"),
        ("within-group", 0.4, 19, "significant_than"),
        ("greedy", 0.4, 19, "significant_than"),
        ("greedy", 0.76, 19, "undecided_than"),
        ("greedy", 0.4, 5, "too_few"),
        ("uniform", 0.4, 5, "too_few"),
    ],
)
def test_the_headline_names_its_baseline(baseline: str, found: float, random: int, code: str) -> None:
    of, placed = compared(found, random)
    s = summary(of, placed=placed, baseline=baseline)
    said = cldyb_notes.headline(s)
    assert said.code == f"cldyb.{code}"
    assert (f"(--baseline {baseline})" in said.text) == code.endswith("_than")
    assert len(said.text.split()) <= 16
    by_choosing = [n.values for n in cldyb_notes.notes(s) if n.code == "cldyb.by_choosing"]
    assert by_choosing == [{"end": "harder"}] * (baseline == "greedy" and code == "significant_than")
    scored = ScoreSummary("r", "s", (), of, None, {}, (), (), (), None, searched_placed=placed, baseline=baseline)
    assert score_notes.headline(scored).code == f"score.{code}"
    assert len(score_notes.headline(scored).text.split()) <= 16


@pytest.mark.long
def test_a_run_shows_its_baseline_and_what_is_scored_on_it_does_too(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", **{**GREEDY, "random_sequences": 19})
    shown = view(summary_of(run))
    assert (shown.to_json()["baseline"], shown.to_json()["placebo"]) == ("greedy", False)
    assert shown.headline.values["baseline"] == "greedy"
    assert {"what": BASELINES["greedy"]} in [n.values for n in shown.notes]
    told("score", tmp_path / "scored", run, "--methods", "simplecil")
    scored = summary_of(tmp_path / "scored")
    assert score_notes.headline(scored).values["baseline"] == "greedy"
    there = list(score_notes.notes(scored))
    assert "cldyb.by_choosing" not in {n.code for n in there}
    assert {"what": BASELINES["greedy"]} in [n.values for n in there]


def test_a_search_for_easy_sequences_is_tested_for_easier_ones_where_it_is_scored_too(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", temperature=math.inf, random_sequences=5, score_seeds=1)
    assert summary_of(run).placed.test.end == "easier"
    told("score", tmp_path / "scored", run, "--methods", "simplecil")
    assert summary_of(tmp_path / "scored").searched_placed.test.end == "easier"


# ------------------------------------------------------------------------------------------------ placebo


def test_a_placebo_judges_what_a_search_judges_and_shuffles_the_results(tmp_path: Path) -> None:
    moved = 0
    for seed in range(3):
        own: dict[str, Any] = {"lookahead": 0, "random_sequences": 0, "score_seeds": 1, "seed": seed}
        real, placebo = (
            [
                j
                for j in run_small(tmp_path / f"{seed}{kind}", reward=kind, **own).plans.searches[0].trace
                if j.step == 2
            ]
            for kind in ("paper", "shuffled")
        )
        assert {j.task for j in placebo} == {j.task for j in real}
        assert sorted((j.value, j.reward, j.noise) for j in placebo) == sorted(
            (j.value, j.reward, j.noise) for j in real
        )
        assert next(j.value for j in placebo if j.chosen) == max(j.value for j in placebo)
        moved += {j.task: j.value for j in placebo} != {j.task: j.value for j in real}
    assert moved


def test_a_placebo_says_so(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", reward="shuffled", score_seeds=1)
    shown = view(summary_of(run))
    assert shown.headline.code == "cldyb.placebo_undecided"
    assert {"what": PLACEBO} in [n.values for n in shown.notes]
    assert f"{shown.headline.text}</h1>" in (run / "report.html").read_text()
    assert shown.to_json()["placebo"] is True
    assert {r["status"] for r in pq.read_table(run / "trace.parquet").to_pylist()} == {"ok"}
    told("score", tmp_path / "scored", run, "--methods", "ranpac:M=16")
    assert {"what": PLACEBO} in [n.values for n in score_notes.notes(summary_of(tmp_path / "scored"))]
