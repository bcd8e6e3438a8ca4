"""Small cases are looked at as a whole, a similarity that tells nothing apart is told, and words and legends of the truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.edge.plan import finder, plan, plan_digest
from protocols.edge.plan_only import PlanSummary
from protocols.edge.plan_settings import EdgePlanSettings, ExtremesSettings
from protocols.edge.run import EdgeRun
from protocols.report.edge.notes import notes
from protocols.report.edge.plan import WAY, view, way
from protocols.report.page import laid_out
from seqsearch.core.errors import UserError
from seqsearch.extremes.exact import AT_ONCE, exact_extremes, is_small
from seqsearch.extremes.objective import Problem
from seqsearch.pools.open import build_pool
from seqsearch.pools.union import class_names
from seqsearch.similarity.files import write
from seqsearch.similarity.matrix import Similarity, checked
from tests.studies import summary_of
from tests.unit.report.edge.summaries import HIGH, LOW, spread, summary

POOL = "glyphs:classes=4,train=2,reward=1,test=2"


def edge(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["edge", *map(str, arguments)])


def similarity(values: np.ndarray) -> Similarity:
    return checked(values, [f"class {i}" for i in range(len(values))], "made up", "made up")


def some(n: int) -> Similarity:
    x = np.random.default_rng(0).normal(size=(n, 6))
    return similarity(x @ x.T)


def test_small_cases_are_looked_at_as_a_whole_and_others_annealed() -> None:
    auto = EdgePlanSettings()
    assert auto.planner == "auto"
    assert finder((3, 3, 3, 3), auto) == "exact"
    assert finder((10,) * 10, auto) == finder((1,) * 100_000, auto) == "anneal"
    asked = (EdgePlanSettings(moves=10), EdgePlanSettings(budget=1.0), EdgePlanSettings(extremes=3))
    assert [finder((3, 3, 3, 3), s) for s in asked] == ["anneal", "anneal", "anneal"]
    assert is_small((3, 3, 3, 3)), "369,600 sequences"
    assert not is_small((3, 3, 3, 3), times=3)
    assert not is_small((1,) * 10), f"{10 * 9 * 8 * 7 * 720:,} sequences, more than {AT_ONCE:,}"


@pytest.mark.parametrize("named", ["anneal", "paper", "exact"])
def test_a_planner_that_is_named_stays(named: str) -> None:
    assert finder((2, 2, 2), EdgePlanSettings(planner=named)) == named
    assert finder((10,) * 10, EdgePlanSettings(planner=named)) == named


def test_what_auto_found_is_what_the_planner_finds_that_it_took() -> None:
    known = some(9)
    auto, exact = EdgePlanSettings(), EdgePlanSettings(planner="exact")
    assert plan_digest(known, (3, 3, 3), auto) == plan_digest(known, (3, 3, 3), exact)
    found = plan("s", known, (3, 3, 3), auto)
    named = plan("s", known, (3, 3, 3), exact)
    assert [e.tasks for e in found.hard + found.easy] == [e.tasks for e in named.hard + named.easy]
    problem = Problem(known.values, (3, 3, 3))
    low, high = (problem.score(x) for x in exact_extremes(problem))
    assert (found.hard[0].value, found.easy[0].value) == (low, high)
    assert way(found, found.hard[0]) == way(found, found.easy[0]) == "proven optimum"


def test_only_the_first_of_several_is_an_optimum() -> None:
    p = plan("s", some(8), (2, 2, 2, 2), EdgePlanSettings(planner="exact", extremes=2))
    assert way(p, p.easy[0]) == "proven optimum"
    assert re.fullmatch(r"\d+ %", WAY.text(way(p, p.easy[1])))


@pytest.mark.parametrize("constant", [0.0, 0.7, 0.1 + 0.2])
@pytest.mark.parametrize(
    "s",
    [EdgePlanSettings(objective="adjacent"), EdgePlanSettings(objective="lags"), EdgePlanSettings(objective="within")],
    ids=lambda s: s.objective,
)
def test_a_similarity_that_is_the_same_everywhere_does_not_discriminate(constant: float, s: EdgePlanSettings) -> None:
    p = plan("s", similarity(np.full((9, 9), constant)), (3, 3, 3), s)
    assert "does not discriminate" in p.says_nothing
    assert "made up" in p.says_nothing
    assert not plan("s", some(9), (3, 3, 3), s).says_nothing


def test_one_task_has_no_score_and_nothing_is_said_of_it() -> None:
    assert not plan("s", some(5), (5,), EdgePlanSettings(tasks=1)).says_nothing


def test_the_headline_of_a_plan_says_whether_its_ends_mean_anything() -> None:
    exact = EdgePlanSettings(planner="exact")
    found = {
        "edge.planned": PlanSummary(plan("s", some(6), (2, 2, 2), exact), (0.1,)),
        "edge.plan_flat": PlanSummary(plan("s", similarity(np.full((6, 6), 0.5)), (2, 2, 2), exact), (0.5,)),
        "edge.plan_undefined": PlanSummary(plan("s", some(5), (5,), EdgePlanSettings(tasks=1)), (None,)),
        "run.unfinished": None,
    }
    for code, of in found.items():
        shown = view(of)
        assert shown.headline.code == code
        assert len(shown.headline.text.split()) <= 16
        assert bool(shown.tiles) == (code in ("edge.planned", "edge.plan_flat"))
        assert ("edge.flat" in [n.code for n in shown.notes]) == (code == "edge.plan_flat")
        assert bool(list(shown.all_tables())) == (of is not None)


def flat_file(folder: Path, n: int) -> Path:
    write(folder / "flat.csv", similarity(np.zeros((n, n))))
    return folder / "flat.csv"


def test_a_plan_says_that_the_similarity_does_not_discriminate(tmp_path: Path) -> None:
    flags = ("--similarity", flat_file(tmp_path, 6), "--tasks", 3, "--plan-only", "--out", tmp_path / "run")
    said = edge(*flags)
    assert said.exit_code == 0, said.stderr
    assert "does not discriminate" in " ".join(said.stdout.split())


def test_planner_of_older_runs_is_read_as_it_was_named() -> None:
    assert ExtremesSettings(planner="anneal").planner == "anneal"
    assert finder((2, 2, 2), ExtremesSettings(planner="anneal")) == "anneal"


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """All six sequences of four classes, on a similarity that is zero everywhere."""
    folder = tmp_path_factory.mktemp("every")
    names = class_names(build_pool(POOL))
    write(folder / "flat.csv", checked(np.zeros((4, 4)), names, "made up", "made up"))
    said = edge(
        "--methods",
        "simplecil",
        "--pool",
        POOL,
        "--tasks",
        2,
        "--similarity",
        folder / "flat.csv",
        "--enumerate",
        "--random-sequences",
        3,
        "--score-seeds",
        1,
        "--workers",
        0,
        "--out",
        folder / "run",
    )
    assert said.exit_code == 0, said.stderr
    return folder / "run", said


def test_that_similarity_says_nothing_is_said_with_the_figures_and_on_the_way(every: tuple[Path, Result]) -> None:
    assert "does not discriminate" in " ".join(every[1].stderr.split())
    assert "does not discriminate" in " ".join(every[1].stdout.split())
    assert '"flat similarity"' in (every[0] / "log.jsonl").read_text()


def test_it_is_said_before_anything_is_trained(every: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends where it would begin to train has said it."""

    def stop(self: EdgeRun) -> None:
        raise UserError("here training begins")

    monkeypatch.setattr(EdgeRun, "_planners", stop)
    out = every[0].with_name("stopped")
    said = edge(
        "--methods",
        "simplecil",
        "--pool",
        POOL,
        "--tasks",
        2,
        "--similarity",
        every[0].with_name("flat.csv"),
        "--random-sequences",
        3,
        "--workers",
        0,
        "--out",
        out,
    )
    assert said.exit_code == 2
    assert "here training begins" in said.stderr
    assert '"flat similarity"' in (out / "log.jsonl").read_text()


def test_with_every_sequence_trained_nothing_is_beyond(every: tuple[Path, Result]) -> None:
    words = " ".join(CliRunner().invoke(main, ["show", str(every[0]), "--details"]).stdout.split())
    assert "Every sequence was trained, so nothing is beyond what was seen" in words
    assert "EDGE, 3 random sequences" not in words
    assert "seqsearch, 3 random sequences" in words


def test_it_is_said_what_random_sequences_are_for_beside_every_one(every: tuple[Path, Result]) -> None:
    said = (
        "--enumerate: each of the 6 sequences is trained with one training seed, which is the truth. The 3 random ones are "
        "drawn of these with replacement and trained with a seed of their own each"
    )
    assert said in " ".join(every[1].stderr.split()), "before anything is trained"
    coded = {n.code: n for n in notes(summary_of(every[0]))}
    assert coded["edge.every"].values == {"possible": 6, "seeds": 1}
    assert coded["edge.drawn"].values == {"drawn": 3}
    assert {"edge.nothing_beyond", "edge.truth_sd", "edge.ks", "edge.flat"} <= set(coded)
    report = (every[0] / "report.html").read_text()
    assert coded["edge.every"].text in " ".join(every[1].stdout.split())
    assert all(str(laid_out(coded[code].text)) in report for code in ("edge.every", "edge.drawn"))


def test_legends_name_every_kind_of_sequence(every: tuple[Path, Result]) -> None:
    keys = set(re.findall(r'class="key [^"]*">([^<]*)<', (every[0] / "report.html").read_text()))
    assert {"every sequence", "random", "hard", "easy"} <= keys


def test_where_similarity_tells_classes_apart_nothing_of_this_is_said(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(20))
    assert not {"edge.flat", "edge.nothing_beyond", "edge.every", "edge.drawn"} & {n.code for n in notes(s)}
