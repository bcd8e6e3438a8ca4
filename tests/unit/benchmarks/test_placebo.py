"""`benchmarks.coverage.placebo`: what it counts, and which folder stands for which run."""

from pathlib import Path

import pytest

from benchmarks.coverage.placebo import counted, folder_of


def test_verdicts_are_counted_by_reward_and_baseline():
    rows = [
        {"reward": "shuffled", "baseline": b, "harder": h} for b, h in [("greedy", False)] * 38 + [("greedy", True)] * 2
    ]
    rows += [{"reward": "shuffled", "baseline": "uniform", "harder": True}] * 10
    greedy, uniform = counted(rows)
    assert (greedy["runs"], greedy["harder"], greedy["share"]) == (40, 2, 0.05)
    assert greedy["p"] == pytest.approx(0.6009, abs=1e-4)  # 1 - .95^40 - 40 * .05 * .95^39
    assert greedy["low"] < 0.05 < greedy["high"]
    assert (uniform["harder"], uniform["high"]) == (10, 1.0)
    assert uniform["p"] == pytest.approx(0.05**10)


def test_every_run_has_a_folder_of_its_own():
    cases = [(r, b, s) for r in ("paper", "shuffled") for b in ("uniform", "greedy") for s in range(3)]
    assert len({folder_of(Path("runs"), c) for c in cases}) == 12
