"""The allocation benchmark: what is planted is there, and replays do what the planner does."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.common.planted import SPREAD, Planted, expected, run, search, weights
from benchmarks.search import allocation, allocation_plot
from benchmarks.search.siblings import Watched, components, replay, resampled
from protocols.cldyb.settings import CldybSettings

KINDS = allocation.KINDS


def table(world: Planted, draws: int, step: int = 2) -> np.ndarray:
    planner, _ = run(world, "uniform", world.arms * draws, planner=Watched)
    assert isinstance(planner, Watched)
    return planner.tables(step)[0]


@pytest.mark.parametrize("seed", range(5))
def test_no_sequence_is_harder_than_the_planted_one(seed: int) -> None:
    world = Planted(seed, arms=3, tasks=4)
    possible = [
        (0, *rest)
        for rest in itertools.permutations(range(1, 6), 3)
        if all(world.arrivals[g] <= t for t, g in enumerate(rest, 2))
    ]
    assert len(possible) == 3**3
    regrets = {groups: world.regret(tuple(world.task(g) for g in groups)) for groups in possible}
    assert min(regrets.values()) == pytest.approx(0)
    assert regrets[world.hardest] == pytest.approx(0)
    assert max(regrets.values()) > SPREAD / 10


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_planted_sequence_is_found(kind: str) -> None:
    for seed in range(3):
        found = search(Planted(seed, noise=0), kind, 16)
        assert found.sequence == pytest.approx(0)
        assert found.steps == pytest.approx(0)
        assert found.known == pytest.approx(0)
        assert found.missed == pytest.approx(0)


def test_what_is_expected_of_a_candidate_is_its_mean_over_many_look_aheads() -> None:
    """Eq. 7 by hand against the search's own evaluation; at the last step nothing is ahead, and both are exact."""
    for seed in range(2):
        world = Planted(seed, arms=4, noise=1.0, shared=0.0, tasks=3)
        planner, evaluator = run(world, "uniform", 400)
        errors = {edge.key.prefix: world.error(edge) for edge in evaluator.trained.values()}
        for t, tolerance in ((2, 0.04), (3, 1e-5)):
            rows = [row for row in planner.trace if row.step == t]
            own = [errors[(*planner.sequence[: t - 1], row.task)] for row in rows]
            of_task, of_error = weights(t, t < 3)
            rest = [row.value - of_task * expected(world, planner, row, errors) for row in rows]
            assert np.ptp(rest) < tolerance < of_error * np.ptp(own)


@pytest.mark.long
def test_more_look_aheads_leave_a_candidates_own_error() -> None:
    found = [search(Planted(seed, arms=4, noise=1.0, shared=0.0, tasks=3), "uniform", 240) for seed in range(4)]
    assert [f.missed[0] for f in found] == [0] * 4
    assert [f.steps[0] for f in found] == [f.known[0] for f in found]
    assert max(f.known[0] for f in found) > 0


def test_every_step_offers_all_arms_and_budgets_are_spent() -> None:
    for kind in KINDS:
        planner, evaluator = run(Planted(0, arms=6), kind, 13)
        visits = [[row.visits for row in planner.trace if row.step == t] for t in range(2, 6)]
        assert [len(v) for v in visits] == [6, 6, 6, 6]
        assert [sum(v) for v in visits] == [13, 13, 13, 6]
        assert len(evaluator.trained) == 1 + 3 * (6 + 13) + 6


@pytest.mark.parametrize(("noise", "shared"), [(0.2, 0.0), (0.5, 0.65)])
def test_noise_and_correlation_are_what_was_asked_for(noise: float, shared: float) -> None:
    measured = [components(table(Planted(seed, noise=noise, shared=shared, tasks=3), 10)) for seed in range(8)]
    own = np.mean([m["noise"] * m["spread"] for m in measured]) / np.mean([m["spread"] for m in measured])
    assert own == pytest.approx(noise, rel=0.2)
    assert np.mean([m["correlation"] for m in measured]) == pytest.approx(shared, abs=0.15)


def test_a_training_has_the_same_result_whoever_asks_and_when() -> None:
    world = Planted(3, noise=0.5)
    first, second = (run(world, kind, 24, window)[1] for kind, window in (("uniform", 8), ("uct", 1)))
    both = set(first.trained) & set(second.trained)
    assert len(both) > 20
    for state in both:
        assert world.error(first.trained[state]) == world.error(second.trained[state])
        np.testing.assert_array_equal(world.row(first.trained[state]), world.row(second.trained[state]))
    errors = [world.error(edge) for edge in first.trained.values()]
    assert len(set(errors)) == len(errors)


@pytest.mark.parametrize("kind", KINDS)
def test_a_replay_chooses_what_the_planner_chooses(kind: str) -> None:
    chosen = []
    for seed, window in itertools.product((0, 2), (1, 8)):  # with 2 an eliminated arm keeps the best mean
        world = Planted(seed, arms=5, noise=2.0, tasks=3)
        values = table(world, 20)
        for budget in (3, 10, 20):
            planner, _ = run(world, kind, budget, window)
            rows = [row for row in planner.trace if row.step == 2]
            chosen.append([row.chosen for row in rows].index(True))
            assert replay(values, kind, budget, window) == chosen[-1]
    assert len(set(chosen)) > 1


def test_components_are_those_of_a_table_made_of_them() -> None:
    rng = np.random.default_rng(0)
    arms, common, own = 3.0 * rng.normal(size=(400, 1)), rng.normal(size=(1, 500)), rng.normal(size=(400, 500))
    found = components(arms + 2 * common + own)
    assert found["spread"] == pytest.approx(3.0, rel=0.1)
    assert found["noise"] == pytest.approx(np.sqrt(5) / 3, rel=0.1)
    assert found["correlation"] == pytest.approx(0.8, abs=0.05)


def test_resampling_keeps_arms_with_their_means_and_siblings_with_their_draws() -> None:
    rng = np.random.default_rng(0)
    original = 10.0 * np.arange(6)[:, None] + rng.normal(size=24) + 0.01 * rng.normal(size=(6, 24))
    together, true = resampled(original, 300, rng)
    apart, true_apart = resampled(original, 300, rng, common=False)
    assert together.shape == apart.shape == (6, 300)
    np.testing.assert_allclose(together.mean(axis=1), true, atol=0.5)
    np.testing.assert_allclose(apart.mean(axis=1), true_apart, atol=0.5)
    assert true.tolist() != sorted(true)
    assert components(together)["correlation"] > 0.99
    assert abs(components(apart)["correlation"]) < 0.1


def test_differences_are_paired() -> None:
    easy_and_hard = np.array([0.0, 1.0, 2.0, 3.0])
    values = {"uniform": easy_and_hard + np.array([0.1, 0.1, 0.1, 0.2]), "halving": easy_and_hard}
    row = allocation.against("regret", values, "uniform")
    assert row["regret_minus_halving"] == pytest.approx(0.125)
    assert row["regret_minus_halving_ci"] == pytest.approx(3.182 * 0.05 / 2, rel=1e-3)
    assert row["regret_ci"] > 1


def stored() -> dict:
    return json.loads((allocation.RESULTS / "allocation.json").read_text())


def test_budgets_are_equal_in_trainings() -> None:
    rows = stored()["planted"]["rows"]
    for first in range(0, len(rows), len(KINDS)):
        three = rows[first : first + len(KINDS)]
        assert tuple(row["allocation"] for row in three) == KINDS
        assert len({row["trainings"] for row in three}) == 1, three


def test_the_default_allocation_wins_at_the_default_settings() -> None:
    s = CldybSettings(methods="er")
    assert s.allocation == "halving"  # what differences are taken to
    at_defaults = [
        row
        for part in ("planted", "glyphs")
        for row in stored()[part]["rows"]
        if (row["arms"], row["simulations"], row["in_flight"]) == (s.condensed, s.simulations, s.in_flight)
    ]
    assert len(at_defaults) >= 3 * len(KINDS)
    others = [r for r in at_defaults if r["allocation"] != s.allocation]
    assert all(r["regret_minus_halving"] > 0 for r in others)
    clear = [r for r in others if r["regret_minus_halving"] > r["regret_minus_halving_ci"]]
    assert {r["allocation"] for r in clear} == {"uniform", "uct"}


def test_nowhere_is_another_allocation_measurably_better() -> None:
    for row in stored()["planted"]["rows"] + stored()["glyphs"]["rows"]:
        assert row["regret_minus_halving"] + row["regret_minus_halving_ci"] >= 0, row


def test_the_plot_is_reproducible_and_small(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        allocation_plot.draw(stored(), tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    assert len(text) < 60_000
    assert all(f">{kind}</text>" in text for kind in KINDS)
    assert allocation.PLOT.stat().st_size < 60_000
