"""Rows of a table without an interval are named, with the reason."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from protocols.cldyb.summary import MethodSummary
from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.cldyb.view import view
from protocols.report.common_notes import OF_ZERO, SAME_SCORES, without_interval
from protocols.report.plain import plain
from protocols.report.score import notes as score_notes
from protocols.report.terminal import render
from seqsearch.stats.difference import mean_difference
from seqsearch.stats.drop import Drop, drop
from seqsearch.study.near_duplicates import Pair
from tests.unit.report.cldyb.test_notes import summary

NOISE = np.random.default_rng(0).normal(0, 0.01, (6, 3))
KNOWN = drop(0.4 + NOISE[:1], 0.8 + NOISE[1:])
FULL = drop(np.ones((1, 3)), 0.8 + NOISE[1:])
SAME = drop(np.full((1, 3), 0.8), np.full((5, 3), 0.8))
KEPT = np.full((2, 3), 0.5)
OF_NOTHING = drop(0.4 + NOISE[:1], np.zeros((5, 3)))


def of(**drops: Drop) -> list[MethodSummary]:
    return [MethodSummary(name, None, None, d, None) for name, d in drops.items()]


def test_each_method_without_an_interval_is_named_with_its_reason() -> None:
    assert FULL.unavailable_because
    said = [n.values for n in without_interval([("er", FULL), ("slca", KNOWN), ("ranpac", SAME), ("icarl", FULL)])]
    assert said == [
        {"methods": ["er", "icarl"], "why": FULL.unavailable_because},
        {"methods": ["ranpac"], "why": SAME_SCORES},
    ]
    assert not list(without_interval([("slca", KNOWN)]))
    assert not list(without_interval([("er", SAME), ("slca", SAME)]))
    assert OF_NOTHING.unavailable_because or [n.values for n in without_interval([("er", OF_NOTHING)])] == [
        {"methods": ["er"], "why": OF_ZERO}
    ]


def test_the_notes_of_a_table_explain_a_row_without_an_interval() -> None:
    [mean] = of(mean=KNOWN)
    s = summary(methods=tuple(of(er=FULL, slca=KNOWN)), mean=mean)
    printed = io.StringIO()
    Console(file=printed, width=200).print(render(view(s)))
    assert f"The drop of er has no interval: {FULL.unavailable_because}." in printed.getvalue()


def test_the_notes_of_score_name_method_and_column() -> None:
    rows = [MethodScore(m, False, None, None, d, None, {}, {}, {}) for m, d in (("er", FULL), ("slca", KNOWN))]
    s = ScoreSummary("r", "s", tuple(rows), KNOWN, None, {}, (), (), (), None)
    [said] = [n for n in score_notes.notes(s) if n.code == "drop.without_interval"]
    assert said.values == {"methods": ["er (searched)"], "why": FULL.unavailable_because}


def test_json_keeps_the_keys_that_scripts_read() -> None:
    """The fields of the code have other names than earlier versions."""
    assert plain(FULL)["lacking"] == FULL.unavailable_because
    assert plain({"of": mean_difference(KEPT, KEPT)})["of"]["lacking"]
    assert plain(Pair("a", 1, "b", 2, 0.5, 0.1)).keys() == {
        "tuned",
        "tuned_row",
        "judged",
        "judged_row",
        "distance",
        "own",
    }
