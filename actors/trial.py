"""The process of a trial on Ray Tune.

It asks for known results, trains the rest, and reports every edge.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray import tune

from actors.faults import given_up, is_poison
from actors.node import node_folder
from actors.options import EngineOptions
from actors.worker import Setup, trainer_of
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult, ProbeResult
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.reporting import ReportedResults
from seqsearch.engine.trials import Trial, learn

RESULT, REFUSED = "result", "refused"
"""Keys of a trial's report: an `EdgeResult`, or the message of a `UserError`."""
WATCH_SECONDS = 1.0
"""Between looks at how long the training under way has taken."""


class Progress:
    """Known results of running trials, in an actor beside the driver.

    A trial that was killed asks it where to continue.
    """

    def __init__(self) -> None:
        self._known: dict[str, list[EdgeResult | ProbeResult]] = {}
        self._starts: dict[str, list[str]] = {}
        self._slow: set[str] = set()
        self._begun = 0

    def add(self, trial: str, *results: EdgeResult | ProbeResult) -> None:
        """Results that the driver has put down."""
        self._known.setdefault(trial, []).extend(results)

    def begin(self, trial: str) -> list[EdgeResult | ProbeResult]:
        """A trial starts, perhaps again; what is known of it."""
        return self._known.get(trial, [])

    def starts(self, edge: str, node: str) -> tuple[list[str], bool]:
        """An edge is about to be done on a node: those where it was begun before, and whether it took too long then."""
        self._begun += 1
        before = self._starts.setdefault(edge, [])
        before.append(node)
        return before[:-1], edge in self._slow

    def begun(self) -> int:
        """How often an edge was about to be done."""
        return self._begun

    def slow(self, edge: str) -> None:
        """It takes longer than is allowed: its process ends itself."""
        self._slow.add(edge)


@dataclass(frozen=True)
class Work:
    """Inputs of a trial's process; the trials themselves are put into Ray's memory once."""

    setup: Setup
    engine: EngineOptions
    progress: Any
    trials: tuple[Trial, ...]


_evaluators: dict[str, InlineEvaluator] = {}
"""Of this process, by run: Tune gives a process one trial after the other."""


def run_trial(config: dict[str, Any], work: Work) -> None:
    """One trial, or what is left of it."""
    trial = work.trials[config["number"]]
    known = ray.get(work.progress.begin.remote(trial.name))
    ledger = ReportedResults(lambda result: tune.report({RESULT: result}), known)
    try:
        with _killed_if_slow(work, evaluator := evaluator_of(work.setup)):
            learn(trial, _Counted(evaluator, work), ledger)
    except UserError as error:
        tune.report({REFUSED: str(error)})


class _Counted:
    """An evaluator that does not do again what has killed its process too often."""

    def __init__(self, evaluator: InlineEvaluator, work: Work) -> None:
        self._evaluator, self._work = evaluator, work
        self._refused: list[Any] = []

    def submit(self, job: Any, priority: Any) -> None:
        here = ray.get_runtime_context().get_node_id()
        before, slow = ray.get(self._work.progress.starts.remote(job.digest, here))
        if slow or is_poison(before):
            self._refused.append(given_up(job, "timeout" if slow else "failed", self._work.engine))
        else:
            _current[0] = job.digest
            self._evaluator.submit(job, priority)

    def wait(self, timeout: float | None = None) -> list[Any]:
        if self._refused:
            return [self._refused.pop()]
        return self._evaluator.wait(timeout)

    def drop(self, states: Iterable[str]) -> None:
        self._evaluator.drop(states)

    def map(self, function: Any, arguments: Any) -> list[Any]:
        return self._evaluator.map(function, arguments)


_current = [""]
"""The edge under way in this process."""


def evaluator_of(setup: Setup) -> InlineEvaluator:
    """Of this process; it is made once for a run."""
    token = setup.token
    if token not in _evaluators:
        states = Path(setup.world.states)
        folder = node_folder(states.resolve() if setup.keeps else states, token)
        name = f"trial-{os.getpid()}"
        logging.getLogger("ray").setLevel(logging.ERROR)
        _evaluators[token] = InlineEvaluator(setup.world, trainer_of(setup, name, folder))
    return _evaluators[token]


@contextlib.contextmanager
def _killed_if_slow(work: Work, evaluator: InlineEvaluator) -> Iterator[None]:
    """End this process when a training takes longer than ``--rollout-timeout``; Tune starts the trial again."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(WATCH_SECONDS):
            since = evaluator.trainer.since
            if since is not None and time.monotonic() - since > (work.engine.rollout_timeout or float("inf")):
                ray.get(work.progress.slow.remote(_current[0]))
                os._exit(1)

    if work.engine.rollout_timeout is not None:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()
