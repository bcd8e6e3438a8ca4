"""Trials: rollouts of one setting of a method, one after the other in one process; and who runs many of them.

A trial is what a tuner places, kills and starts again. It leaves nothing but results: each is put down as it comes, so that a
trial that was killed goes on behind the last one that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from seqsearch.core.deadline import Deadline
from seqsearch.core.outcomes import EdgeResult, Outcome, Result
from seqsearch.core.text import shortened
from seqsearch.core.types import Edge, Request, Rollout
from seqsearch.engine.evaluator import Evaluator, Ledger
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.search import Counts, Search, result_of
from seqsearch.features.store import Shard
from seqsearch.planners.base import Ask, CoroutinePlanner, Need, PlanSteps

Observe = Callable[[Counts], None]
LONGEST_MESSAGE = 200
"""Characters of what an error says, where it is shown; the journal has all of it."""


@dataclass(frozen=True)
class Trial:
    """Rollouts to be done in this order, up to the first that does not end well: the setting is no good then.

    Attributes:
        name: of its own among trials that run together.
        orders: what the class order of each rollout is called; empty if they have no names.
    """

    name: str
    rollouts: tuple[Rollout, ...]
    orders: tuple[str, ...] = ()


class TrialRunner(Protocol):
    """Runs trials somewhere; in process and on Ray Tune it gives identical results."""

    workers: int

    def run(self, trials: Sequence[Trial], ledger: Ledger, observe: Observe, deadline: Deadline) -> None:
        """Until the ``ledger`` knows all that these trials ask for. They may run side by side, and share no training.

        Raises:
            TimeIsUp: the ``deadline`` passed; all that arrived is in the ledger.
            Stopped: a signal asked the process to stop.
            UserError: a trial cannot go on, as with a full disk.
        """
        ...

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterable[None]:
        """Compute shards of frozen features, each of a backbone and a pool, by number; yields once for each.

        Raises:
            UserError: an image cannot be read, or what computes it dies again and again.
        """
        ...

    def drop(self, states: Iterable[str]) -> None:
        """These states will not be extended any more."""
        ...

    def busy(self) -> int:
        """Trials that run now."""
        ...

    def busy_share(self) -> float | None:
        """Fraction of their time that the workers trained and evaluated; None if it is not measured."""
        ...


class InlineTrials:
    """Runs trials with the evaluator of this process, one after the other."""

    workers = 0

    def __init__(self, evaluator: InlineEvaluator) -> None:
        self._evaluator = evaluator

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterable[None]:
        return self._evaluator.extract(missing)

    def busy(self) -> int:
        return 1

    def busy_share(self) -> float | None:
        return None

    def run(self, trials: Sequence[Trial], ledger: Ledger, observe: Observe, deadline: Deadline) -> None:
        for trial in trials:
            learn(trial, self._evaluator, ledger, observe, deadline)

    def drop(self, states: Iterable[str]) -> None:
        self._evaluator.drop(states)


def learn(
    trial: Trial,
    evaluator: Evaluator,
    ledger: Ledger,
    observe: Observe = lambda _: None,
    deadline: Deadline | None = None,
) -> None:
    """Do what of a trial the ``ledger`` does not know. States of first tasks stay, for trials that begin alike."""
    planner = _TrialPlanner(trial)
    Search(evaluator, ledger, lambda counts: observe(replace(counts, troubles=planner.troubles))).run(
        [planner], more=True, deadline=deadline
    )


def next_edge(trial: Trial, ledger: Ledger) -> Edge | None:
    """Return the next edge of a trial that has no known result; None if the trial is over."""
    for rollout in trial.rollouts:
        for edge in rollout.edges():
            known = result_of(edge, ledger)
            if known is None:
                return edge
            if known.status != "ok":
                return None
    return None


def trouble(trial: Trial, number: int, task: int, status: str, message: str) -> str:
    """Describe a trial that did not end well, in a line. The line holds the trial's name, the order of its rollout
    ``number`` from 0, the task from 1, the status, and the shortened reason."""
    where = [trial.name, *(f"order {name}" for name in trial.orders[number : number + 1]), f"task {task}"]
    return f"{', '.join(where)}: {status}: {shortened(message, LONGEST_MESSAGE)}"


def place(trial: Trial, digest: str) -> tuple[int, int]:
    """Rollout (from 0) and task (from 1) of a trial's edge, or of one that learns a part of it; the first of several."""
    for number, rollout in enumerate(trial.rollouts):
        for task, edge in enumerate(rollout.edges(), 1):
            if digest in (edge.digest, edge.home.digest):
                return number, task
    raise KeyError(digest)


def results(rollout: Rollout, ledger: Ledger) -> list[EdgeResult]:
    """Return the known results of a rollout, task by task, up to the first that did not end well."""
    found: list[EdgeResult] = []
    for edge in rollout.edges():
        known = result_of(edge, ledger)
        if known is None:
            break
        found += known.each_step()
        if known.status != "ok":
            break
    return found


def passed(rollout: Rollout, *, whole: bool = False) -> set[str]:
    """States that nobody needs once a rollout is done: all but that of its first task, which others share, and the one it led to.

    With ``whole``, these as well.
    """
    edges = rollout.edges()
    inner = edges if whole else edges[1:-1]
    parts = {d for e in edges[0 if whole else 1 :] for d in (e.key.part, e.home.key.digest if e.home is not e else "")}
    return {e.key.digest for e in inner} | (parts - {""})


def known_before(trial: Trial, ledger: Ledger) -> list[EdgeResult]:
    """All that is known of a trial's edges, and of those that learn their parts."""
    edges = {e.digest: e for r in trial.rollouts for own in r.edges() for e in (own.home, own)}
    return [found for digest in edges if (found := ledger.edge(digest)) is not None]


class _TrialPlanner(CoroutinePlanner):
    """Asks for one rollout after the other."""

    frees_parents = True

    def __init__(self, trial: Trial) -> None:
        super().__init__()
        self.name, self._trial = trial.name, trial
        self.troubles: dict[str, str] = {}
        """Tasks that did not end well, in the words of `trouble`."""

    def tell(self, request: Request, result: Result) -> None:
        if isinstance(result, Outcome) and result.status != "ok":
            number = next(n for n, r in enumerate(self._trial.rollouts) if r.digest == request.digest)
            line = trouble(self._trial, number, len(result.edges), result.status, result.message)
            self.troubles.setdefault(line, result.edges[-1].traceback)
        super().tell(request, result)

    def plan(self) -> PlanSteps:
        for rollout in self._trial.rollouts:
            yield Ask((rollout,))
            [outcome] = yield Need((rollout,))
            if outcome.status != "ok":
                return
