"""Intervals over seeds and searches have the narrower conditional one beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from protocols.evaluate.compare.comparison import compare
from protocols.report.compare.tables import changes
from protocols.report.explain.notes import conditions as condition_notes
from seqsearch.stats.difference import mean_difference
from seqsearch.stats.effects import Condition, ConditionName, effects
from tests.unit.evaluate.test_compare_runs import make


def explained(searches: int, seeds: int) -> set[str]:
    rng = np.random.default_rng(searches)

    def draw(n: int, mean: float, parts: int) -> Condition:
        return Condition(tuple(mean + 0.02 * rng.normal(size=(n, seeds)) for _ in range(parts)))

    regrouped = draw(4, 0.6, searches)
    conditions: dict[ConditionName, Condition] = {
        "random": draw(5, 0.7, 1),
        "regrouped": regrouped,
        "reordered": regrouped,
        "found": draw(1, 0.5, searches),
    }
    return {n.code for n in condition_notes(effects(conditions))}


def test_explain_has_the_conditional_intervals_where_others_are_over_more() -> None:
    also = "explain.conditional"
    assert also not in explained(2, 2)
    assert also in explained(2, 3)
    assert also in explained(3, 2)


def test_compare_has_a_column_of_conditional_differences_where_others_are_over_more(tmp_path: Path) -> None:
    c = compare([make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", [[4, 5]])])
    assert "Acc, these sequences" not in changes(c).headings
    rng = np.random.default_rng(1)
    over = mean_difference(rng.normal(0.5, 0.05, (3, 3)), rng.normal(0.6, 0.05, (19, 3)))
    object.__setattr__(c.differences[0], "estimate", over)
    table = changes(c)
    at = table.headings.index("Acc, these sequences")
    (row, *_) = table.texts
    assert row[at] != row[1]
    assert "[" in row[1]
