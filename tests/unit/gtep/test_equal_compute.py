"""Methods at equal compute, from rows: the budget, what fits, what it gives, and when there is no comparison."""

from __future__ import annotations

from typing import Any

import pytest

from protocols.gtep.equal_compute import EqualCompute, equal_compute, ranks
from protocols.gtep.reading import GtepResults
from protocols.gtep.summary import summarise
from protocols.report import gtep, gtep_beside
from seqsearch.selection.at_budget import at_budget
from tests.unit.report.gtep_rows import POOL, Made

LEVELS = {"dear": [0.50, 0.60, 0.70, 0.80], "cheap": [0.62, 0.64, 0.66, 0.68]}
WORK = {"dear": 400.0, "cheap": 100.0}


def made(conventional: bool = False, **settings: Any) -> Made:
    """`dear` has the best setting; each of its settings costs as much as all four of `cheap`."""
    found = Made(("dear", "cheap"), orders=2, settings=settings)
    for method, levels in LEVELS.items():
        found.tried(method, [[x, x] for x in levels], passes=WORK[method], train_seconds=9.0)
        if conventional:
            other = [[x - 0.3, x - 0.3] for x in reversed(levels)]
            found.tried(method, other, "tune-on-0", POOL, passes=3.0, train_seconds=1.0)
        found.judged(method, [levels[-1]] * 2)
    return found


def compared(results: GtepResults) -> EqualCompute:
    found = equal_compute(results)
    assert found is not None
    return found


def test_what_is_dear_falls_behind_at_equal_compute() -> None:
    found = compared(made().results())
    dear, cheap = found.methods
    assert (found.budget, found.number) == (400.0, 4)
    assert (dear.at_budget.trials, cheap.at_budget.trials) == (1.0, 4.0)
    scores = [r["harmonic_mean"] for r in made().trials]
    assert dear.at_budget.expected == pytest.approx(sum(scores[:4]) / 4)
    assert (dear.at_equal_number, cheap.at_equal_number) == pytest.approx((scores[3], scores[7]))
    assert dear.at_budget == at_budget(scores[:4], [400.0] * 4, 400.0)
    assert (dear.work, dear.seconds, dear.elsewhere) == (400.0, 36.0, {})
    s = summarise(made().results())
    assert "the ranking changes: cheap > dear in place of dear > cheap" in gtep_beside.compute_verdict(s)
    table = gtep_beside.equal_compute(s)
    assert [row[7:] for row in table.rows] == [("68.2", "2", "83.2", "1"), ("71.2", "1", "71.2", "2")]
    assert gtep.to_json(s)["equal_compute"]["methods"][0]["at_budget"]["trials"] == 1.0


def test_elsewhere_are_the_same_choices_on_the_other_pool() -> None:
    """There the order of settings is turned round: what was chosen by is not what counts."""
    found = compared(made(conventional=True).results())
    rows = made(conventional=True).trials
    there = [r["harmonic_mean"] for r in rows if (r["pool"], r["method_id"]) == (POOL, "dear")]
    at, of = found.methods[0].elsewhere[POOL]
    assert of == pytest.approx(there[3])
    assert at == pytest.approx(sum(there) / 4)
    assert there[3] == min(there)
    s = summarise(made(conventional=True).results())
    rows_ = gtep_beside.equal_compute(s).rows
    assert [row[:2] for row in rows_] == [(p, m) for p in ("birds", "cars") for m in ("dear", "cheap")]
    assert rows_[2][7:] == ("38.0", "1", "22.9", "2")
    assert "on cars the ranking changes: dear > cheap in place of cheap > dear" in gtep_beside.compute_verdict(s)


def test_equal_number_is_that_of_the_method_with_the_fewest() -> None:
    some = made()
    some.trials = [r for r in some.trials if r["method_id"] == "cheap" or r["trial"] < 2]
    found = compared(some.results())
    assert found.number == 2
    scores = [r["harmonic_mean"] for r in some.trials]
    assert found.methods[0].at_equal_number == pytest.approx(max(scores[:2]))


def test_orders_in_which_nothing_fits_are_told() -> None:
    """Of the four settings of `dear` one is too dear alone: in a quarter of orders, where it comes first, none is chosen."""
    some = made()
    some.trials[0]["passes"] = 401.0
    s = summarise(some.results())
    assert "orders in which none is chosen, which are left out: dear 25.0 %" in gtep_beside.compute_verdict(s)
    assert gtep_beside.equal_compute(s).rows[0][6] == "25.0"
    assert "left out" not in gtep_beside.compute_verdict(summarise(made().results()))


def test_a_ranking_that_stays_is_said_to() -> None:
    some = made()
    for row in some.trials:
        row["passes"] = 100.0
    assert "on birds the ranking stays the same" in gtep_beside.compute_verdict(summarise(some.results()))


def test_a_method_without_steps_has_all_its_settings() -> None:
    some = made()
    for row in some.trials:
        row["passes"] = 0.0 if row["method_id"] == "cheap" else 400.0
    found = compared(some.results())
    assert found.budget == 1600.0
    assert [m.at_budget.trials for m in found.methods] == [4.0, 4.0]
    assert gtep_beside.equal_compute(summarise(some.results())).rows[1][3] == "no steps"


@pytest.mark.parametrize("value", [None, -1.0, float("nan"), float("inf")])
def test_costs_that_are_not_known_give_no_comparison(value: float | None) -> None:
    some = made()
    some.trials[1]["passes"] = value
    s = summarise(some.results())
    assert gtep_beside.equal_compute(s).rows == ()
    assert (
        "not known, trials.parquet does not say how many images were stepped on for dear"
        in gtep_beside.compute_verdict(s)
    )


def test_no_comparison_where_there_is_nothing_to_compare() -> None:
    assert equal_compute(Made(("a",), orders=2).results()) is None
    unfinished = made()
    unfinished.complete = False
    assert equal_compute(unfinished.results()) is None
    optuna = compared(made(searcher="optuna").results())
    assert "no independent draws" in optuna.lacking
    still = made()
    for row in still.trials:
        row["passes"] = 0.0
    assert compared(still.results()).lacking == "no method steps on images by gradients"


def test_a_method_of_which_all_diverged_has_no_rank() -> None:
    some = made()
    for row in some.trials[:4]:
        row.update(harmonic_mean=None, status="diverged", chosen=False)
    s = summarise(some.results())
    assert gtep_beside.equal_compute(s).rows[0][5:] == ("1.0", "100.0", "-", "-", "-", "-")
    assert "fewer than two methods have figures" in gtep_beside.compute_verdict(s)


def test_ranks() -> None:
    assert ranks([0.5, float("nan"), 0.7, 0.5]) == [2, None, 1, 2]
