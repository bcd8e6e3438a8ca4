from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.planners import allocation
from seqsearch.planners.allocation import WAIT, choose, contenders, next_arm

KINDS = ["uniform", "halving", "uct"]


class Root:
    """A planner in little: a window of simulations in flight; results come in the order asked or in any order."""

    def __init__(self, kind, results, budget, window, rng=None, **options):
        self.kind, self.results, self.budget, self.options = kind, results, budget, options
        self.told = [[] for _ in results]
        self.flying, self.asked = deque(), []
        while True:
            arm = self.next() if len(self.flying) < window else WAIT
            if arm is None and not self.flying:
                break
            if arm is None or arm is WAIT:
                assert self.flying, "told to wait for nothing"
                if rng is not None:
                    self.flying.rotate(int(rng.integers(len(self.flying))))
                self.tell(self.flying.popleft())
            else:
                self.asked.append(arm)
                self.flying.append(arm)

    def next(self):
        in_flight = np.bincount(list(self.flying), minlength=len(self.results)) if self.flying else self.visits * 0
        return next_arm(self.kind, self.visits, in_flight, self.means, self.budget, **self.options)

    def tell(self, arm):
        self.told[arm].append(self.results[arm][len(self.told[arm])])

    @property
    def visits(self):
        return np.array([len(t) for t in self.told])

    @property
    def means(self):
        return np.array([np.mean(t) if t else np.nan for t in self.told])

    def choice(self):
        open_to_choice = contenders(self.kind, self.visits, self.means)
        return choose(np.where(open_to_choice, self.means, np.nan), 0, np.random.default_rng(0))


def noisy(rng, arms, length, noise=1.0):
    """Results ``[arms, length]`` and true values."""
    true = rng.normal(size=arms)
    return true[:, None] + noise * rng.normal(size=(arms, length)), true


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_every_kind_ends_within_its_budget_whatever_the_window_and_the_arrivals(data):
    kind = data.draw(st.sampled_from(KINDS))
    arms, budget = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 70))
    limit = data.draw(st.sampled_from([None, 1, 2, 5]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    results, _ = noisy(rng, arms, budget)
    results[rng.random(arms) < data.draw(st.sampled_from([0, 0, 0.3, 1]))] = np.nan  # methods diverge on these arms
    root = Root(kind, results, budget, data.draw(st.integers(1, 8)), rng, max_visits_per_arm=limit)
    assert len(root.asked) <= budget
    assert root.asked[: min(arms, budget)] == list(range(min(arms, budget)))
    if limit is not None:
        assert root.visits.max() <= limit
    if np.isfinite(results).all():
        cap = budget if limit is None else min(budget, limit * arms)
        assert len(root.asked) == cap or (kind == "halving" and limit not in (None, 1))
    for arm in np.flatnonzero(np.isnan(results[:, 0])):
        assert root.visits[arm] <= 8  # only what was in flight before the first result came


@pytest.mark.parametrize("kind", KINDS)
def test_without_look_ahead_every_arm_is_visited_once(kind):
    results, _ = noisy(np.random.default_rng(0), 5, 9)
    assert Root(kind, results, 9, 3, max_visits_per_arm=1).asked == [0, 1, 2, 3, 4]
    assert Root(kind, results, 3, 3, max_visits_per_arm=1).asked == [0, 1, 2]


def test_uniform_is_round_robin():
    results, _ = noisy(np.random.default_rng(0), 3, 9)
    assert Root("uniform", results, 8, 4).asked == [0, 1, 2, 0, 1, 2, 0, 1]


def test_halving_spends_equal_shares_on_ever_fewer_contenders():
    results = np.tile(np.arange(16.0)[:, None], (1, 64))  # noiseless: the last arms are the best
    root = Root("halving", results, 64, 8)
    assert root.visits.tolist() == [1] * 8 + [3] * 4 + [7] * 2 + [15] * 2
    assert contenders("halving", root.visits, root.means).tolist() == [False] * 14 + [True] * 2
    assert root.choice() == 15
    odd = Root("halving", results[:5], 60, 8)  # rounds of 5, 3 and 2 arms: 20 = 5 * 4, 18 = 3 * 6, the rest
    assert odd.visits.tolist() == [4, 4, 10, 21, 21]


def test_halving_spends_what_division_leaves_over_on_the_finalists():
    results = np.tile(np.arange(5.0)[:, None], (1, 64))
    root = Root("halving", results, 23, 4)
    assert root.visits.sum() == 23
    assert root.visits.tolist() == sorted(root.visits.tolist())
    assert root.visits[-1] - root.visits[-2] <= 1


def test_halving_eliminates_only_when_all_results_of_the_round_are_in():
    means = [0.1, 0.2, 0.3, np.nan]
    assert next_arm("halving", [1, 1, 1, 0], [0, 0, 0, 1], means, 16) == 0  # second visit of round one: for everybody
    assert next_arm("halving", [2, 2, 2, 1], [0, 0, 0, 1], [0.1, 0.2, 0.3, 0.9], 16) is WAIT
    assert next_arm("halving", [2, 2, 2, 2], [0, 0, 0, 0], [0.1, 0.2, 0.3, 0.9], 16) == 3
    assert next_arm("halving", [2, 2, 2, 2], [0, 0, 0, 1], [0.1, 0.2, 0.3, 0.9], 16) == 2


def test_results_of_a_later_round_do_not_revise_an_elimination():
    """Arm 0 was eliminated at .5; the survivors turn out worse, and still share the rest among themselves."""
    results = [[0.5] * 16, [0.4] * 16, [0.9, 0.9] + [-5.0] * 14, [0.8, 0.8] + [-5.0] * 14]
    for window in (1, 2, 3, 8):
        root = Root("halving", results, 16, window)
        assert root.visits.tolist() == [2, 2, 6, 6]
        assert root.choice() == 2


@pytest.mark.parametrize("window", [1, 3, 8])
def test_halving_asks_the_same_of_every_arm_whatever_the_window_and_the_arrivals(window):
    rng = np.random.default_rng(0)
    for _ in range(20):
        results, _ = noisy(rng, 11, 50)
        alone = Root("halving", results, 50, 1)
        crowd = Root("halving", results, 50, window, rng)
        assert crowd.visits.tolist() == alone.visits.tolist()
        assert crowd.choice() == alone.choice()


def test_uct_prefers_the_best_and_still_visits_all():
    results, true = noisy(np.random.default_rng(1), 6, 200, noise=0.3)
    visits = Root("uct", results, 200, 4).visits
    assert visits.argmax() == true.argmax()
    assert np.sort(visits)[1] >= 5
    assert visits.max() > 100


def test_uct_is_blind_to_the_unit_of_the_reward():
    results, _ = noisy(np.random.default_rng(2), 7, 80)
    assert Root("uct", results, 80, 3).asked == Root("uct", 1e-3 * results - 5, 80, 3).asked


def test_uct_counts_visits_in_flight_for_exploration_and_not_for_value():
    """Equal means: the arm with a visit in flight is explored less, though its mean is what it was."""
    assert next_arm("uct", [3, 3], [1, 0], [0.5, 0.5], 99) == 1
    assert next_arm("uct", [3, 3], [0, 1], [0.5, 0.5], 99) == 0
    assert next_arm("uct", [3, 3], [1, 0], [0.9, 0.5], 99, exploration=0.1) == 0


def test_uct_asks_on_while_nothing_is_known():
    assert next_arm("uct", [0, 0], [1, 1], [np.nan, np.nan], 9) == 0
    assert next_arm("uct", [0, 0], [2, 1], [np.nan, np.nan], 9) == 1


@pytest.mark.long
def test_halving_beats_uniform_on_noisy_arms():
    rng = np.random.default_rng(0)
    regret = {kind: [] for kind in ("uniform", "halving")}
    for _ in range(200):
        results, true = noisy(rng, 16, 64)
        for kind, regrets in regret.items():
            regrets.append(true.max() - true[Root(kind, results, 64, 4).choice()])
    difference = np.array(regret["uniform"]) - np.array(regret["halving"])
    assert difference.mean() > 2 * difference.std() / np.sqrt(len(difference))


@pytest.mark.parametrize("kind", KINDS)
def test_invalid_arms_are_left_alone(kind):
    results = np.array([[0.1] * 40, [np.nan] * 40, [0.3] * 40, [0.2] * 40])
    root = Root(kind, results, 40, 1)
    assert root.visits[1] == 1
    assert root.choice() == 2
    assert next_arm(kind, [1, 1], [0, 0], [np.nan, np.nan], 9) is None


def test_unknown_kinds_are_named():
    with pytest.raises(UserError, match="uniform, halving or uct"):
        next_arm("ucb", [0], [0], [np.nan], 1)


def test_choose_hard_is_the_first_best():
    rng = np.random.default_rng(0)
    assert choose([0.1, 0.7, 0.7, np.nan, np.inf], allocation.DIFFICULTY["hard"], rng) == 1
    assert choose([-5e300, 3e300, 0], 1e-300, rng) == 1


def test_choose_follows_equation_8_in_units_of_the_spread():
    means = np.array([0.0, 1.0, 2.0, np.nan])
    expected = np.exp(means[:3] / means[:3].std())
    expected /= expected.sum()
    for scale in (1.0, 1e-4):
        rng = np.random.default_rng(0)
        drawn = [choose(scale * means + 7, allocation.DIFFICULTY["medium"], rng) for _ in range(3000)]
        assert np.bincount(drawn, minlength=4)[:3] / 3000 == pytest.approx(expected, abs=0.03)
        assert 3 not in drawn


@pytest.mark.parametrize(("means", "temperature"), [([3, 9, -4.0], np.inf), ([0.1, 0.1, 0.1], 1.0)])
def test_choose_is_uniform_when_easy_or_when_all_are_equal(means, temperature):
    rng = np.random.default_rng(0)
    drawn = np.bincount([choose(means, temperature, rng) for _ in range(3000)], minlength=3) / 3000
    assert drawn == pytest.approx(1 / 3, abs=0.04)
    assert allocation.DIFFICULTY["easy"] == np.inf


def test_choose_refuses_nothing_and_cold_nonsense():
    with pytest.raises(ValueError, match="no candidate"):
        choose([np.nan], 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="at least 0"):
        choose([1.0], -1, np.random.default_rng(0))


ROUNDING = np.array([3e-17, -2e-16, 0.0, 9e-10])
"""J of candidates that do not differ: the last is the largest by rounding."""


@pytest.mark.parametrize("offset", [0.0, -0.7])
def test_rounding_decides_nothing(offset):
    means = ROUNDING + offset
    assert choose(means, 0, np.random.default_rng(0)) == 0
    assert choose([-1.0, *means], 0, np.random.default_rng(0)) == 1
    drawn = [choose(means, temperature, np.random.default_rng(s)) for s in range(600) for temperature in (1.0, 1e-12)]
    assert np.bincount(drawn, minlength=4) / len(drawn) == pytest.approx(0.25, abs=0.06)
    for kind in ("halving", "uct"):  # two visits each, the budget for a third pass: the first in line goes on
        assert next_arm(kind, [2, 2, 2, 2], [0, 0, 0, 0], means, 16) == 0
    differing = offset + np.array([0.0, 2e-9])
    assert choose(differing, 0, np.random.default_rng(0)) == 1
