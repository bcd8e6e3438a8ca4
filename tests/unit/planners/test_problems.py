"""What went wrong with several methods in one line."""

from __future__ import annotations

import numpy as np
import pytest

from seqsearch.core.outcomes import Outcome, Status
from seqsearch.core.types import MethodSpec
from seqsearch.planners.step import NoValidTask, problem_of

METHODS = [MethodSpec(f"m{i}", f"m{i}", "glyph_vit", (), str(i)) for i in range(8)]


def outcome(status: Status, message: str = "") -> Outcome:
    return Outcome("d", status, np.zeros((1, 1)), np.zeros((1, 1)), message=message)


@pytest.mark.parametrize(
    ("statuses", "says"),
    [
        (["ok"] * 8, ""),
        (["ok", "diverged", *["ok"] * 6], "method 'm1' diverged: NaN 1"),
        (
            ["ok", "oom", "diverged", "ok", "failed", *["ok"] * 3],
            "method 'm1' oom: NaN 1; also 'm2' diverged, 'm4' failed",
        ),
        (
            ["diverged"] * 8,
            "method 'm0' diverged: NaN 0; also 'm1' diverged, 'm2' diverged, 'm3' diverged, 'm4' diverged, 'm5' diverged, 2 more",
        ),
    ],
)
def test_every_method_that_had_trouble_is_named_or_counted(statuses: list[Status], says: str) -> None:
    found = [outcome(status, f"NaN {i}") for i, status in enumerate(statuses)]
    assert problem_of(METHODS, found) == says
    joint = [outcome("failed", "joint") for _ in METHODS]  # a second rollout of each: the first trouble of each counts
    assert problem_of(METHODS, [*found, *joint]).startswith(says or "method 'm0' failed: joint; also 'm1' failed")
    assert NoValidTask(says).diverged == (" diverged: " in says)
