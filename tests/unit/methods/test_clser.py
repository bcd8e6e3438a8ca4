"""CLS-ER's averages, against runs of one, two and three steps, and its choice of targets."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.methods.base import Method
from seqsearch.methods.clser import better_of
from seqsearch.methods.parts.ema import move_average, warmed
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab

STEPWISE = {"batch_size": 1000, "scheduler": "constant", "lr": 0.5, "backbone_lr": 0.05}
"""One step per epoch, so that after ``epochs`` steps a run has what a longer one had on the way."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


def after(lab: Lab, steps: int, **params: float) -> Method:
    method = lab.fresh(Case("clser", "clser", {**STEPWISE, "epochs": steps, **params}))
    lab.fit(method, TASKS[0])
    return method


def flat(model: object) -> np.ndarray:
    return torch.cat([p.detach().flatten() for p in model.parameters()]).double().numpy()


def test_averages_follow_their_recursion(lab: Lab) -> None:
    never = after(lab, 1, plastic_freq=0.0, stable_freq=0.0)
    start, working = flat(never.stable), [flat(after(lab, s).working) for s in (1, 2, 3)]
    assert np.array_equal(flat(never.plastic), start)
    method = after(lab, 3, stable_freq=1.0, stable_decay=1.0, plastic_freq=1.0, plastic_decay=0.6)
    # While 1 - 1/(s+1) is below the decay, all so far count the same.
    np.testing.assert_allclose(flat(method.stable), np.mean([start, *working], axis=0), rtol=1e-5, atol=1e-7)
    expected = start
    for decay, weights in zip((0.5, 0.6, 0.6), working, strict=True):
        expected = decay * expected + (1 - decay) * weights
    np.testing.assert_allclose(flat(method.plastic), expected, rtol=1e-5, atol=1e-7)
    assert method.steps == 3
    assert np.abs(working[2] - start).max() > 0.01


def test_steps_are_counted_over_tasks_and_heads_grow_alike(lab: Lab) -> None:
    method = after(lab, 3)
    lab.fit(method, TASKS[1])
    assert method.steps == 6
    assert {len(m.head) for m in (method.working, method.plastic, method.stable)} == {7}


def test_averages_move_as_often_as_asked(lab: Lab) -> None:
    """With a decay of 0 an average that moved IS the working network."""
    case = {"stable_decay": 0.0, "plastic_decay": 0.0, "stable_freq": 0.5}
    method = lab.fresh(Case("clser", "clser", {**STEPWISE, "epochs": 1, "buffer_size": 5, **case}))
    moves = []
    for c in range(16):
        lab.fit(method, (c,))
        moves.append(np.array_equal(flat(method.stable), flat(method.working)))
    assert 3 <= sum(moves) <= 13  # of 16 at one half: outside with probability 0.4%


def test_targets_come_row_by_row_from_whoever_believes_more_in_the_truth() -> None:
    rng = np.random.default_rng(0)
    stable, plastic, y = rng.normal(size=(30, 4)) * 3, rng.normal(size=(30, 4)) * 3, rng.integers(0, 4, 30)

    def belief(z: np.ndarray, label: int) -> float:
        return float(np.exp(z[label]) / np.exp(z).sum())

    expected = [s if belief(s, c) > belief(p, c) else p for s, p, c in zip(stable, plastic, y, strict=True)]
    found = better_of(torch.from_numpy(stable), torch.from_numpy(plastic), torch.from_numpy(y))
    np.testing.assert_array_equal(found.numpy(), np.stack(expected))


@pytest.mark.parametrize(
    ("decay", "step", "expected"), [(0.999, 1, 0.5), (0.999, 9, 0.9), (0.5, 9, 0.5), (0.0, 1, 0.0)]
)
def test_warm_up(decay: float, step: int, expected: float) -> None:
    assert warmed(decay, step) == pytest.approx(expected)


def test_an_average_is_changed_in_place() -> None:
    mean, value = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 6.0])
    move_average([mean], [value], 0.75)
    assert mean.tolist() == [1.5, 3.0]
