"""Screening: what is predicted of candidates, who is spared, and that a fit that says nothing spares nobody."""

import math

import numpy as np
import pytest

from seqsearch.core.types import ClassId, Task
from seqsearch.planners.screening import FEWEST, PENALTIES, Screening, Step, known_before, predict
from seqsearch.planners.step import Arm, Geometry

WEIGHTS = np.array([1.0, -0.5, 0.0])


def steps(seed=0, number=4, arms=8, noise=0.1, signal=1.0):
    """Steps in which the reward is linear in what is known, at another level and scale in each."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(number):
        known = rng.normal(size=(arms, 3)) + 10 * t
        reward = signal * (known @ WEIGHTS) + noise * rng.normal(size=arms)
        found.append(Step(known, reward / (t + 1) - 5 * t))
    return found


def test_a_linear_reward_is_predicted_in_order_whatever_the_level_and_scale_of_a_step():
    *past, now = steps()
    found = predict(past, now.known)
    assert found.agreement > 0.9
    assert np.argsort(found.values).tolist() == np.argsort(now.reward).tolist()


def test_the_gate_lets_half_of_noise_pass_and_all_of_a_rule():
    def passed(signal):
        return np.mean(
            [predict(steps(seed, 2, signal=signal, noise=1.0), np.eye(3)).agreement > 0 for seed in range(100)]
        )

    assert passed(0.0) < 0.65
    assert passed(2.0) == 1


def test_the_agreement_is_that_of_fits_without_each_candidate():
    past = steps(number=2, noise=1.0)
    x = np.concatenate([s.known - s.known.mean(0) for s in past])
    y = np.concatenate([(s.reward - s.reward.mean()) / s.reward.std() for s in past])
    x = x / x.std(0)
    tried = []
    for penalty in PENALTIES:
        left_out = []
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            solved = np.linalg.solve(x[others].T @ x[others] + len(y) * penalty * np.eye(3), x[others].T @ y[others])
            left_out.append(float(x[i] @ solved))
        tried.append((float(((y - left_out) ** 2).sum()), float(np.corrcoef(left_out, y)[0, 1])))
    assert predict(past, np.eye(3)).agreement == pytest.approx(min(tried)[1])


def test_nothing_is_predicted_of_too_little_or_of_what_does_not_differ():
    assert predict([], np.eye(3)) is None
    assert predict(steps(number=1, arms=FEWEST - 1), np.eye(3)) is None
    assert predict(steps(number=1, arms=FEWEST), np.eye(3)) is not None
    flat = [Step(s.known, np.full(8, 0.3)) for s in steps()]
    assert predict(flat, np.eye(3)) is None, "equal rewards say nothing"
    same = [Step(np.ones((8, 3)), s.reward) for s in steps()]
    assert predict(same, np.eye(3)) is None, "nor do candidates of which the same is known"


def test_what_is_known_of_a_candidate():
    psi = np.zeros((4, 4))
    psi[1, 2], psi[2, 1] = 0.4, 0.4
    geometry = Geometry(psi, np.array([[9, 9], [0.1, 0.3], [0.5, 0.2], [9, 9]]))
    assert known_before((2.0, 3.0), np.array([1, 2]), geometry) == pytest.approx([2, 3, 0.275, 0.5, 0.4])


# ------------------------------------------------------------------------------------------------ one search


def arm(number, nll):
    return Arm(Task((ClassId("p", 2 * number), ClassId("p", 2 * number + 1)), ""), (nll,))


GEOMETRY = Geometry(np.full((40, 40), 0.5), np.full((40, 1), 0.5))


def searched(share, rule, first=8):
    """A first step of ``first`` candidates whose reward is ``rule(nll)``, and the second step's arms and those to be
    evaluated."""
    screening = Screening(share, lambda tasks: np.array([c.index for t in tasks for c in t.classes]))
    before = [arm(i, float(i)) for i in range(first)]
    assert screening.to_evaluate(before, GEOMETRY) == before
    for a in before:
        a.values, a.rewards = [0.0], [rule(a.nll[0])]
    screening.learn(before)
    now = [arm(i, float(nll)) for i, nll in enumerate((3, 0, 7, 5))]
    return now, screening.to_evaluate(now, GEOMETRY)


def test_the_most_promising_are_judged_first_and_the_others_spared():
    now, evaluated = searched(0.5, lambda nll: 2 * nll)
    assert [a.nll for a in evaluated] == [(7.0,), (5.0,)]
    assert [a.spared for a in now] == [True, True, False, False]
    assert all(math.isfinite(a.predicted) for a in now)


@pytest.mark.parametrize(("share", "left"), [(0.01, 1), (0.25, 1), (0.26, 2), (0.75, 3), (0.99, 4)])
def test_a_share_is_rounded_up(share, left):
    assert len(searched(share, lambda nll: nll)[1]) == left


def test_all_are_judged_without_screening_without_past_and_without_agreement():
    now, evaluated = searched(1.0, lambda nll: nll)
    assert evaluated == now
    assert all(math.isnan(a.predicted) for a in now)
    now, evaluated = searched(0.5, lambda nll: nll, first=FEWEST - 1)
    assert evaluated == now
    now, evaluated = searched(0.5, lambda nll: (nll % 2) * 1.0)
    assert evaluated == now, "as they were: the fit agrees with nothing seen"
    assert not any(a.spared for a in now)
    assert all(math.isfinite(a.predicted) for a in now), "what was predicted is noted all the same"


def test_candidates_that_failed_teach_nothing():
    screening = Screening(0.5, lambda tasks: np.array([c.index for t in tasks for c in t.classes]))
    before = [arm(i, float(i)) for i in range(8)]
    screening.to_evaluate(before, GEOMETRY)
    for a in before:
        a.values, a.rewards, a.invalid = [-math.inf], [1.0], "diverged"
    screening.learn(before)
    now = [arm(i, float(i)) for i in range(4)]
    assert screening.to_evaluate(now, GEOMETRY) == now
