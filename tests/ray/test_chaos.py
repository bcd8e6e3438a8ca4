"""A few random faults of `benchmarks.faults.chaos`, which draws hundreds."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults.chaos import bad, storm


@pytest.mark.long
def test_what_meets_random_faults_comes_to_the_same_result_and_leaves_nothing(tmp_path: Path) -> None:
    result = storm(seed=15, faults=6, scratch=tmp_path, commands=["cldyb", "gtep"])
    assert result["faults"] >= 6
    assert not bad(result), {k: result[k] for k in bad(result)}
