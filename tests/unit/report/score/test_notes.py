"""The notes of a score summary, each where it holds and not where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from protocols.cldyb.joint import Gap
from protocols.evaluate.score.agreement import Agreement
from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.score.notes import headline, notes, tiles
from protocols.report.score.view import figures, view
from seqsearch.stats.drop import drop, gap_difference
from seqsearch.stats.ranks import RankCorrelations, rank_correlations
from tests.unit.report.cldyb.test_notes import FEW, HIGH, LOW, RANDOM, placed

LOWER, ALIKE = drop(LOW, RANDOM), drop(np.full((1, 2), 0.8), np.full((5, 1), 0.8))
EMPTY = ScoreSummary("r", "runs/s", (), None, None, {}, (), (), (), None)


def scored(found: Any = LOW, random: Any = RANDOM, **more: Any) -> ScoreSummary:
    """For methods that were searched with."""
    of = replace(EMPTY, searched_drop=drop(found, random), searched_placed=placed(found, random), searched_groups=1)
    return replace(of, **more)


def codes(s: ScoreSummary) -> set[str]:
    return {n.code for n in notes(s)}


@pytest.mark.parametrize(
    ("s", "code"),
    [
        (EMPTY, "score.none"),
        (replace(EMPTY, reached="scoring"), "run.unfinished"),
        (scored(), "score.significant"),
        (scored(HIGH), "score.undecided"),
        (scored(random=FEW), "score.too_few"),
        (scored(baseline="greedy"), "score.significant_than"),
        (scored(HIGH, baseline="greedy"), "score.undecided_than"),
        (scored(searched_placed=None), "score.no_comparison"),
        (scored(searched_drop=ALIKE), "score.equal"),
        (scored(0.97210 + 0 * LOW, 0.97220 + 1e-6 * RANDOM), "score.same_digits"),
    ],
)
def test_the_headline(s: ScoreSummary, code: str) -> None:
    said = headline(s)
    assert said.code == code
    assert len(said.text.split()) <= 16
    held_out = replace(s, unseen_drop=s.searched_drop, unseen_placed=s.searched_placed)
    if "whom" in said.values:
        assert [headline(of).values["whom"] for of in (s, held_out)] == ["searched", "held-out"]
        assert len(headline(held_out).text.split()) <= 16
        assert len(list(tiles(s))) == {"score.equal": 2, "score.no_comparison": 3}.get(code, 4)


def test_of_both_kinds_of_methods_the_searched_ones_have_notes() -> None:
    both = scored(unseen_drop=drop(HIGH, RANDOM), unseen_placed=placed(HIGH, RANDOM))
    there = {n.code: n.values for n in notes(both)}
    assert there["score.searched"]["drop"] == LOWER.relative
    assert (there["score.searched_rank"]["p"], there["score.searched_rank"]["as_extreme"]) == (0.05, 0)
    assert "score.held_out" in there
    of_one = codes(replace(both, searched_drop=ALIKE))
    assert "score.searched_equal" in of_one
    assert "score.searched" not in of_one
    assert not {"score.held_out", "score.searched", "score.searched_rank"} & codes(scored())
    assert not {"score.held_out", "score.searched"} & codes(replace(both, unseen_drop=ALIKE, searched_drop=ALIKE))


def test_what_holds_of_these_methods_and_of_what_was_taken_over() -> None:
    assert "score.these_methods" in codes(scored())
    assert "score.these_methods" not in codes(EMPTY)
    there = list(notes(replace(EMPTY, known={"er": 3, "slca": 1})))
    assert [n.values for n in there if n.code == "score.taken_over"] == [
        {"method": "er", "rollouts": 3, "source": "runs/s"},
        {"method": "slca", "rollouts": 1, "source": "runs/s"},
    ]
    bounded = MethodScore("er", False, None, None, None, None, {}, {"random": 0.9}, {})
    assert {"score.bound", "score.over_ncm"} <= codes(replace(EMPTY, methods=(bounded,)))
    assert not {"score.bound", "score.over_ncm", "score.taken_over"} & codes(EMPTY)


def test_transfer_is_drawn_first_and_said_where_there_are_groups() -> None:
    s = replace(EMPTY, transfer={(g, m): LOWER if g != m else None for g in "ab" for m in "ab"})
    assert "score.transfer" in codes(s)
    assert "score.transfer" not in codes(EMPTY)
    assert [f.name for f in figures(s)] == ["transfer"]
    assert figures(EMPTY) == []
    assert view(s).to_json()["transfer"][1]["drop"]["found"] == LOWER.found


def test_ranks_against_the_held_out_pool() -> None:
    few = rank_correlations([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    many = (
        RankCorrelations(**{**few.__dict__, "exact": False}) if hasattr(few, "__dict__") else few._replace(exact=False)
    )
    flat = rank_correlations([0.1, 0.1, 0.1], [0.1, 0.2, 0.3])
    for ranks, code in ((few, "score.exact_ranks"), (many, "score.ranks"), (flat, "score.no_ranks")):
        [said] = [
            n for n in notes(replace(EMPTY, agreement=(Agreement("found", "heldout", (), ranks),))) if "rank" in n.code
        ]
        assert said.code == code
        assert said.text.startswith("Ranks of 3 methods on found sequences")


def test_json_says_for_whom() -> None:
    found, random = np.full((1, 1), 0.5), RANDOM
    gap = Gap(("er",), gap_difference((found + 0.3, found), (random + 0.1 + RANDOM * 0.01, random)))
    s = scored(found, random, searched_gap=gap)
    assert view(s).to_json()["for_whom"].startswith("For er, the gap to joint training")
    assert view(scored()).to_json()["for_whom"] == ""
