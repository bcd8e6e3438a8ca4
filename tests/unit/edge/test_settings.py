"""Settings of EDGE: what is refused, in one line."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.settings import EdgeSettings
from seqsearch.core.errors import UserError


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"methods": ""}, "--methods is missing"),
        ({"tasks": 0}, "--tasks 0: must be at least 1"),
        ({"score_seeds": 1}, "--score-seeds 1 cannot tell what training noise is"),
        ({"random_sequences": 2}, "--random-sequences 2: must be at least 3"),
        ({"moves": 10, "budget": 1.0}, "--moves and --budget both say"),
        ({"budget": float("inf")}, "--budget inf: must be at most 2592000"),
        ({"diversity": float("inf")}, "--diversity inf: must be at most 1000000"),
        ({"until": "mean:0.01", "enumerate": True}, "leave --until out"),
        ({"until": "mean"}, "--until mean: write mean:HALF-WIDTH"),
        ({"encoders": "names"}, "add --enumerate"),
        ({"until": "sd:0.01"}, "--until sd:0.01: write mean:HALF-WIDTH"),
        ({"until": "mean:0.01", "max_sequences": 5}, "--max-sequences 5 is less than --random-sequences 30"),
        ({"crossed_orders": -1}, "--crossed-orders -1: must be at least 0"),
        ({"rs_draw": "mine"}, "--rs-draw 'mine': must be release or toolbox"),
        ({"hard_end": "both"}, "--hard-end 'both': must be auto or low or high"),
        ({"template": "a photo"}, "--template 'a photo': it must hold {}"),
        ({"rs_seeds": "0,x"}, "--rs-seeds 0,x: must be whole numbers"),
        ({"rs_seeds": "0,-1"}, "--rs-seeds 0,-1: must be different whole numbers from 0"),
        ({"rs_seeds": "7,7"}, "must be different"),
        ({"lags": "a"}, "--lags a: must be weights"),
        ({"lags": "0,0"}, "--lags 0,0: must be finite weights, not all 0"),
        ({"paper_granularities": "0"}, "must be numbers of clusters from 1"),
        ({"planner": "magic"}, "--planner 'magic': must be anneal or paper or exact"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        EdgeSettings(**{"methods": "er", **wrong})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_lists_are_read() -> None:
    s = EdgeSettings(methods="er", rs_seeds="3, 1993", lags="1,.5", paper_granularities="4, 8")
    assert (s.drawn_seeds(), s.lag_weights(), s.granularities()) == ((3, 1993), (1.0, 0.5), (4, 8))
    assert EdgeSettings(methods="er", rs_seeds="").drawn_seeds() == ()


@pytest.mark.parametrize(
    ("objective", "low"), [("adjacent", True), ("lags", True), ("within", False), ("typicality", True)]
)
def test_tasks_of_classes_that_look_alike_are_hard(objective: Any, low: bool) -> None:
    """By default; the user has the last word."""
    ends = {end: EdgePlanSettings(objective=objective, hard_end=end).hard_is() for end in ("auto", "low", "high")}
    assert ends == {"auto": "low" if low else "high", "low": "low", "high": "high"}


def test_similarity_is_of_images_where_there_are_any() -> None:
    assert EdgeSettings(methods="er").similarity == "prototypes"
    assert EdgePlanSettings().similarity == "names"


def test_plans_need_no_method_and_all_sequences_one_seed() -> None:
    assert EdgePlanSettings().tasks == 5
    assert not {"methods", "backbone", "score_seeds"} & {f.name for f in dataclasses.fields(EdgePlanSettings)}
    assert EdgeSettings(methods="er", enumerate=True, score_seeds=1).score_seeds == 1
    with pytest.raises(UserError, match="--methods is missing"):
        EdgeSettings()
