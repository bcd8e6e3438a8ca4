"""Candidates x follow-up draws, trained in full, and any allocation replayed on them.

A table is one step of a search in which every candidate is visited equally often: the real planner and engine with ``uniform``
allocation and a budget of arms x draws. The n-th visit to every sibling has follow-up draw n (common random numbers).
"""

from __future__ import annotations

import contextlib
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import prepare
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import Tasks
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.allocation import Allocation, Wait, choose, contenders, next_arm
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.step import Arm
from seqsearch.stats import accuracy

Table = NDArray[np.float64]
"""``[arms, draws]``: J (Eq. 7)."""

SETTINGS: dict[str, Any] = {
    "methods": "simplecil,er:epochs=1",
    "pool": "glyphs:classes=400,train=12,reward=10,test=4",
    "tasks": 4,
    "allocation": "uniform",
}
ARMS, DRAWS = 8, 24


class Watched(CldybPlanner):
    """Notes J of every method in every simulation: ``values[step][arm][draw][method]``, arms in order of first visit."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.values: dict[int, dict[int, list[list[float]]]] = {}

    def _tell(self, arm: Arm, t: int, tasks: Tasks, outcomes: list[Outcome], joints: list[Outcome]) -> None:
        super()._tell(arm, t, tasks, outcomes, joints)
        steps = range(t, len(tasks) + 1)
        each = [float(sum(accuracy.reward(o.accuracy, step) for step in steps)) for o in outcomes]
        self.values.setdefault(t, {}).setdefault(id(arm), []).append(each)

    def tables(self, t: int) -> NDArray[np.float64]:
        """``[methods, arms, draws]`` of step ``t``."""
        return np.array(list(self.values[t].values())).transpose(2, 0, 1)


def train_tables(
    folder: Path, seed: int, arms: int = ARMS, draws: int = DRAWS, **changes: Any
) -> dict[int, dict[str, Table]]:
    """Tables by step and method, and of their mean (``joint``), for the steps of one search that look ahead.

    Everything trained is journalled in ``folder``; called again, it goes on where it was.
    """
    own = {"condensed": arms, "simulations": arms * draws, "seed": seed}
    settings = CldybSettings(**{**SETTINGS, **own, **changes})
    study = prepare(settings, folder / "states", "cpu")
    planner = Watched("table", study.methods, study.view, study.first, settings, seed, 0)
    with contextlib.closing(Journal(folder)) as journal:
        Search(InlineEvaluator(study.world), journal).run([planner])
    found = {}
    for t in range(2, settings.tasks):
        of_methods = dict(zip((m.label for m in study.methods), planner.tables(t), strict=True))
        found[t] = {**of_methods, "joint": planner.tables(t).mean(axis=0)}
    return found


def components(table: Table) -> dict[str, float]:
    """Return the quantities that determine the difficulty of the choice.

    ``spread``: standard deviation of the arms' means. ``noise``: standard deviation of an arm over draws, in units of
    ``spread``. ``correlation``: of two siblings over draws, mean of all pairs, which common random numbers cancel.
    """
    pairs = np.triu_indices(len(table), 1)
    spread = float(table.mean(axis=1).std(ddof=1))
    return {
        "spread": spread,
        "noise": float(np.sqrt(table.var(axis=1, ddof=1).mean())) / spread,
        "correlation": float(np.corrcoef(table)[pairs].mean()),
    }


def replay(table: Table, allocation: Allocation, simulations: int, in_flight: int = 8) -> int:
    """The arm that the planner would choose if its n-th visit to arm a brought ``table[a, n]`` (see `CldybPlanner._simulate`)."""
    told: list[list[float]] = [[] for _ in table]
    asked, window = np.zeros(len(table), dtype=np.int64), deque[int]()
    while True:
        while len(window) < in_flight:
            visits = np.array([len(values) for values in told])
            arm = next_arm(allocation, visits, asked - visits, _means(told), simulations)
            if arm is None or isinstance(arm, Wait):
                break
            asked[arm] += 1
            window.append(arm)
        if not window:
            break
        arm = window.popleft()
        told[arm].append(float(table[arm, len(told[arm])]))
    means = _means(told)
    chance = contenders(allocation, [len(values) for values in told], means)
    return choose(np.where(chance, means, -np.inf), 0, np.random.default_rng())


def _means(told: list[list[float]]) -> NDArray[np.float64]:
    return np.array([np.mean(values) if values else -np.inf for values in told])


def resampled(
    table: Table, draws: int, rng: np.random.Generator, *, common: bool = True
) -> tuple[Table, NDArray[np.float64]]:
    """A table ``[arms, draws]`` drawn from the columns of another, arms shuffled, and the true means ``[arms]`` of its arms.

    With ``common`` random numbers the n-th draw is the same for all arms; without, every arm draws for itself.
    """
    arms, columns = table.shape
    order = rng.permutation(arms)
    drawn = rng.integers(columns, size=(1 if common else arms, draws))
    return table[order[:, None], np.broadcast_to(drawn, (arms, draws))], table.mean(axis=1)[order]
