"""Benchmarks that put something else in the place of a trainer still fit the fleet."""

from __future__ import annotations

import pytest

from benchmarks.speed.orchestration import busy_share


@pytest.mark.long
def test_simulated_trainings_on_two_nodes() -> None:
    found = busy_share(2, 0.3, raylets=2)
    assert found["jobs"] == 3 * 2 * 20
    assert found["busy_share"] > 0.3
    assert 0 < found["driver_ms"] < 1e3 * found["seconds"]
