"""The first phase of one method: tries settings in rounds, and chooses one of them.

All decisions are made between rounds, from results in the order of the settings' numbers. So they do not depend on the
order in which results arrive, on workers, or on killed processes. Proposals of Optuna are written into the journal, and
read from it when a run is resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.searching import suggested
from protocols.gtep.scenario import Scenario, Side, sequence_id
from protocols.gtep.settings import AUTO, OPTUNA_DRAWS, TOGETHER, GtepSettings
from protocols.gtep.spaces import Setting, drawn, setting_of, space_of_study
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Value
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import MethodSpec, Rollout
from seqsearch.engine.trials import Trial
from seqsearch.methods.base import PASSES
from seqsearch.stats.choice import of_means, one_standard_error, shares_of_orders
from seqsearch.stats.trials import enough
from seqsearch.training.world import World

ASHA_FIRST, ASHA_KEEPS = 2, 3
"""The task after which settings are first left; one of so many goes on. The first task has one schedule for all settings."""
SUGGESTED = 5
"""Settings that Optuna proposes before it knows any of them."""


class Known(Protocol):
    """Where results are looked up, and decisions are kept."""

    def results(self, rollout: Rollout) -> list[EdgeResult]:
        """Return the known results of a rollout, task by task."""
        ...

    def learned(self, rollout: Rollout) -> list[EdgeResult]:
        """Return the known results that measure the cost of learning.

        For additive methods they are the results of the edges that learn the parts.
        """
        ...

    def decided(self, name: str, decide: Callable[[], Any]) -> Any:
        """Return the decision recorded under this name, in this or an earlier session.

        If there is none, call ``decide`` and record the decision.
        """
        ...


@dataclass(frozen=True)
class Tried:
    """A setting on orders of one pool, up to the task that it got to."""

    setting: Setting
    rollouts: tuple[Rollout, ...]
    orders: tuple[str, ...]
    """Names of the class orders."""

    @property
    def trial(self) -> Trial:
        return Trial(f"setting {self.setting.number} of {self.setting.method.label}", self.rollouts, self.orders)


Rounds = Generator[list[Tried], None, "Chosen"]
"""Yields what is to be done; when it goes on, all of it is known."""


@dataclass(frozen=True)
class Chosen:
    """Result of a sweep.

    Attributes:
        setting: the chosen one; None if every setting diverged.
        tried: all settings, up to the task that each reached.
    """

    setting: Setting | None
    tried: tuple[Tried, ...]


def curve(results: Sequence[EdgeResult], tasks: int) -> NDArray[np.float64]:
    """Acc_t ``[tasks]``: images right of all that are evaluated after task t, over the classes seen; NaN where it is not
    known."""
    found = np.full(tasks, np.nan)
    for t, r in enumerate(results[:tasks]):
        if r.status == "ok":
            found[t] = sum(r.correct) / sum(r.counts)
    return found


def curves(known: Known, rollouts: Sequence[Rollout]) -> NDArray[np.float64]:
    """Acc_t ``[orders, tasks]``."""
    return np.array([curve(known.results(r), len(r.key.prefix)) for r in rollouts])


def passes(known: Known, rollouts: Sequence[Rollout]) -> float:
    """Images that training was stepped on, over all orders: what a setting costs, the same on every machine."""
    return sum(dict(r.notes).get(PASSES, 0.0) for rollout in rollouts for r in known.learned(rollout))


def rungs(tasks: int) -> list[int]:
    """Tasks after which settings are left with ``--scheduler asha``."""
    return [r for k in range(tasks) if (r := ASHA_FIRST * ASHA_KEEPS**k) < tasks]


def _checked(decided: Any, count: int) -> list[dict[str, Value]]:
    """Check the proposals that the journal records, which is an untrusted file.

    Raises:
        UserError: it holds no settings, or more than were asked for.
    """
    if (
        isinstance(decided, list)
        and len(decided) <= count
        and all(isinstance(p, dict) and all(isinstance(v, str | int | float) for v in p.values()) for p in decided)
    ):
        return decided
    raise UserError(
        "the journal does not hold settings where it says what Optuna proposed: restore it, or begin a new run"
    )


class Sweep:
    """The first phase of ``method`` on orders of ``side``: pool ``number`` of those that evaluate; None: the one to tune on."""

    def __init__(
        self,
        settings: GtepSettings,
        world: World,
        scenario: Scenario,
        method: MethodSpec,
        side: Side,
        known: Known,
        number: int | None = None,
    ) -> None:
        self.s, self.world, self.scenario = settings, world, scenario
        self.method, self.side, self.known = method, side, known
        self.orders = tuple(sequence_id("tune", number, n) for n in range(settings.orders))
        self.tried: dict[int, Tried] = {}
        self.asked: list[Rollout] = []
        """All rollouts, also those of rungs."""

    def rounds(self) -> Rounds:
        """Yield rounds of settings to try, and return the chosen one at the end."""
        if self.s.searcher == "optuna" and self._space():
            yield from self._suggested()
        elif self.s.scheduler == "asha":
            yield from self._halved(self._drawn(self.s.most_trials))
        elif self.s.trials == AUTO:
            yield from self._until_enough(self._drawn(self.s.max_trials))
        else:
            yield self._on_all_tasks(self._drawn(self.s.most_trials))
        return Chosen(self._chosen(), tuple(self.tried.values()))

    def _drawn(self, count: int) -> list[Setting]:
        return drawn(self.world, self.method, count, self.s)

    def _on_all_tasks(self, settings: Sequence[Setting]) -> list[Tried]:
        return [self._on(setting, len(self.scenario.sizes)) for setting in settings]

    def _on(self, setting: Setting, tasks: int) -> Tried:
        """A setting up to a task; a state that it may go on from is kept."""
        whole = self.scenario.rollouts(self.world, self.side, "tune", setting.spec, self.s.orders, "reward")
        part = tuple(r if tasks == len(r.key.prefix) else replace(r, key=r.key.after(tasks), leaf=False) for r in whole)
        self.tried[setting.number] = Tried(setting, part, self.orders)
        self.asked += part
        return self.tried[setting.number]

    def _until_enough(self, settings: Sequence[Setting]) -> Generator[list[Tried], None, None]:
        """Stops when two looks in a row say so: one alone is too often taken in by luck (docs/selection.md)."""
        before = False
        for first in range(0, len(settings), TOGETHER):
            yield self._on_all_tasks(settings[first : first + TOGETHER])
            now = enough(np.array([shares_of_orders(*self._means(t)) for t in self.tried.values()])).stop
            if now and before:
                return
            before = now

    def _halved(self, settings: Sequence[Setting]) -> Generator[list[Tried], None, None]:
        """ASHA's rule with all of a rung known: the best third by AvgAcc so far goes on, ties and the last one, too."""
        left, n = list(settings), len(self.scenario.sizes)
        for rung in rungs(n):
            yield [self._on(setting, rung) for setting in left]
            scores = np.array([curves(self.known, self.tried[s.number].rollouts).mean() for s in left])
            if not np.isfinite(scores).any():
                return
            cut = float(np.nanquantile(scores, 1 - 1 / ASHA_KEEPS))
            left = [s for s, score in zip(left, scores, strict=True) if score >= cut]
        yield self._on_all_tasks(left)

    def _suggested(self) -> Generator[list[Tried], None, None]:
        """Optuna, with the results of each five in the order of their numbers."""
        while (n := len(self.tried)) < self.s.most_trials:
            known_scores = [(dict(t.setting.added), self.score(t)) for t in self.tried.values()]
            count = min(SUGGESTED, self.s.most_trials - n)
            decided = self.known.decided(
                f"optuna {self.method.label} {n} on {self.side.text}",
                partial(suggested, self.method, self._space(), known_scores, count, self.s.seed, OPTUNA_DRAWS),
            )
            params = _checked(decided, count)
            if not params:
                return
            yield self._on_all_tasks([setting_of(self.world, self.method, n + i, p) for i, p in enumerate(params)])

    def _space(self) -> Mapping[str, Any]:
        return space_of_study(self.method, self.s)

    def _means(self, tried: Tried) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Acc and AvgAcc ``[orders]`` of a setting that learned all tasks; NaN elsewhere."""
        found = curves(self.known, tried.rollouts)
        if found.shape[1] < len(self.scenario.sizes):
            return np.full(len(found), np.nan), np.full(len(found), np.nan)
        return found[:, -1], found.mean(axis=1)

    def score(self, tried: Tried) -> float:
        """H of the means; NaN if an order diverged, or it was left early."""
        return float(of_means(*self._means(tried)))

    def _chosen(self) -> Setting | None:
        tried = list(self.tried.values())
        scores = np.array([self.score(t) for t in tried])
        if not np.isfinite(scores).any():
            return None
        if self.s.select == "one-se":
            shares = np.array([shares_of_orders(*self._means(t)) for t in tried])
            return tried[one_standard_error(shares, [passes(self.known, t.rollouts) for t in tried]).chosen].setting
        return tried[int(np.nanargmax(scores))].setting
