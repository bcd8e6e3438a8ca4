"""A trial of a tuner: it reports every edge, the driver alone writes, and a second attempt trains nothing again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult, ProbeResult
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.reporting import ReportedResults
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, with_replicates
from seqsearch.training.world import World
from tests.conformance.lab import TWO_BLOCKS
from tests.studies import right_by_edge


class Killed(Exception):
    """The trial's machine went."""


def world(folder: Path) -> World:
    return World("glyphs:classes=8,train=6,reward=3,test=3", 0, str(folder / "cache"), str(folder / "states"))


def attempt(folder: Path, ledger: ReportedResults | Journal) -> Search:
    """ER on one sequence with two training seeds; its states lie in the folder that all attempts share."""
    where = world(folder)
    search = Search(InlineEvaluator(where), ledger)
    given = with_replicates([[where.task(pair) for pair in ((0, 1), (2, 3), (4, 5))]], (1, 2))
    search.run([FixedPlanner("trial", lambda: given, [where.spec(parse_item("er:epochs=1", "method"), TWO_BLOCKS)], 0)])
    return search


@pytest.mark.parametrize("reports", [1, 2, 4, 5])
def test_a_second_attempt_trains_nothing_again_and_finds_the_same(tmp_path: Path, reports: int) -> None:
    driver = Journal(tmp_path / "run")

    def report(result: EdgeResult | ProbeResult) -> None:
        driver.add(result)
        if len(driver.entries) == reports:
            raise Killed

    with pytest.raises(Killed):
        attempt(tmp_path, ReportedResults(report))
    before = list(driver._edges.values())
    assert len(before) == reports, "each result was reported when it was there"
    assert os.listdir(tmp_path / "run") == ["journal.jsonl"], "the trial itself writes nothing there"

    again: list[EdgeResult | ProbeResult] = []
    attempt(tmp_path, ReportedResults(again.append, before))
    driver.add(*again)
    assert not {r.digest for r in before} & {r.digest for r in again}
    trained = [state for r in driver._edges.values() for state in r.trained]
    assert len(trained) == len(set(trained)) == len(driver._edges) == 6

    undisturbed = Journal(tmp_path / "other" / "run")
    attempt(tmp_path / "other", undisturbed)
    assert right_by_edge(Journal(tmp_path / "run")) == right_by_edge(undisturbed)


def test_results_of_failed_trainings_are_tried_again() -> None:
    failed = EdgeResult("edge", "state", "failed", message="no room", trained=("state",))
    assert ReportedResults(lambda _: None, [failed]).edge("edge") is None
