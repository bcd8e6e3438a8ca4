"""Settings of EDGE: what is refused, in one line."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from protocols.cli.run_commands import run_command
from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.settings import EdgeSettings
from protocols.edge.sources import classes_in_play
from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool
from seqsearch.study.classes import world_of


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"methods": ""}, "--methods is missing"),
        ({"tasks": 0}, "--tasks 0: must be at least 1"),
        ({"score_seeds": 1}, "training noise cannot be estimated with --score-seeds 1"),
        ({"random_sequences": 2}, "--random-sequences 2: must be at least 3"),
        ({"moves": 10, "budget": 1.0}, "--moves and --budget both say"),
        ({"budget": float("inf")}, "--budget inf: must be at most 2592000"),
        ({"diversity": float("inf")}, "--diversity inf: must be at most 1000000"),
        ({"until": "mean:0.01", "enumerate": True}, "leave --until out"),
        ({"until": "mean"}, "--until mean: write mean:HALF-WIDTH"),
        ({"encoders": "names"}, "add --enumerate"),
        ({"until": "sd:0.01"}, "--until sd:0.01: write mean:HALF-WIDTH"),
        ({"until": "mean:0.01", "max_sequences": 5}, "--max-sequences 5 is less than --random-sequences 39"),
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
        ({"classes": "first:0"}, "--classes 'first:0': write a number of classes to draw, or first:N"),
        ({"classes": "last:3"}, "--classes 'last:3': write a number"),
        ({"classes": -1}, "--classes -1: must be at least 0"),
        ({"planner": "magic"}, "--planner 'magic': must be auto or anneal or paper or exact"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        EdgeSettings(**{"methods": "er", **wrong})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_classes_are_a_number_or_the_first_ones() -> None:
    assert [EdgeSettings(methods="er", classes=c).first_classes() for c in (0, 6, "first:6")] == [None, None, 6]


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


def test_the_first_classes_are_those_of_the_pool_that_are_not_left_out(tmp_path: Path) -> None:
    def in_play(**settings: Any) -> list[int]:
        s = EdgePlanSettings(pool="glyphs:classes=20", **settings)
        return classes_in_play(world_of(s, tmp_path, "cpu", tmp_path), s)

    assert in_play(classes="first:6") == in_play(classes="first:6", seed=5) == [0, 1, 2, 3, 4, 5]
    assert len(in_play(classes=6)) == 6
    assert in_play(classes=6) != in_play(classes=6, seed=5)
    groups = [c.group for c in build_pool("glyphs:classes=20").classes]
    rest = [i for i, g in enumerate(groups) if g != groups[0]]
    assert in_play(classes="first:3", exclude_groups=groups[0]) == rest[:3]
    with pytest.raises(UserError, match="--classes first:21: pool 'glyphs:classes=20' has 20 classes in play"):
        in_play(classes="first:21")


@pytest.mark.parametrize(("said", "kept"), [("6", 6), ("first:6", "first:6")])
def test_the_flag_takes_a_number_or_the_first_ones(said: str, kept: int | str) -> None:
    option = next(p for p in run_command("edge").params if p.name == "classes")
    assert option.type.convert(said, option, None) == kept
