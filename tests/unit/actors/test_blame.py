"""Who is to blame for processes that died under a job, by the nodes that are alive."""

from __future__ import annotations

import pytest

from actors.faults import MAX_DEATHS, MAX_RETRIES, blamed
from actors.trial import Progress

MANY = MAX_RETRIES + 1


@pytest.mark.parametrize(
    ("deaths", "alive", "says"),
    [
        ([], {"here"}, False),
        (["here"] * MAX_RETRIES, {"here"}, False),
        (["here"] * MANY, {"here"}, True),
        (["here"] * MANY, {"here", "other"}, True),
        (["lost"] * MANY, {"here"}, False),
        (["lost"] * MANY + ["here"] * MAX_RETRIES, {"here"}, False),
        (["lost"] * MANY + ["here"] * MANY, {"here"}, None),
        (["other"] * MANY, {"here", "other"}, None),
        (["other", "here", "here"], {"here", "other"}, None),
        (["other", "here", "here"], {"here"}, False),
        (["lost"] * MAX_DEATHS, {"here"}, False),
        (["lost"] * (MAX_DEATHS + 1), {"here"}, True),
    ],
)
def test_deaths_of_nodes_do_not_count(deaths: list[str], alive: set[str], says: bool | None) -> None:
    assert blamed(deaths, alive, "here") is says


def test_a_trial_is_told_where_each_of_its_trainings_was_begun() -> None:
    progress = Progress()
    assert progress.starts("a", "one") == ([], False)
    assert progress.starts("a", "two") == (["one"], False)
    assert progress.starts("b", "two") == ([], False)
    progress.slow("a")
    assert progress.starts("a", "one") == (["one", "two"], True)
