"""Planners: who asks what to train next. They know neither Ray nor torch, and are replayable: same answers, same questions.

A planner is written as a coroutine that reads like the algorithm in the paper: ``yield Ask(...)`` puts requests in flight and
``results = yield Need(requests)`` waits for some of them. Because it waits for named requests and not for whatever arrives,
what it asks does not depend on the order of arrival.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from seqsearch.core.outcomes import Outcome, ProbeResult, Result
from seqsearch.core.types import Request, Task

BLOCK_CLASSES = 128
"""Classes in one prototype probe."""
BLOCK_TASKS = 8
"""Tasks in one kNN probe."""


@dataclass(frozen=True)
class Ask:
    """Put these in flight."""

    requests: tuple[Request, ...]


@dataclass(frozen=True)
class Need:
    """Wait until all of these are answered; the answers come back in the same order."""

    requests: tuple[Request, ...]


PlanSteps = Generator[Ask | Need, Any, None]


@dataclass(frozen=True)
class Decision:
    """A task that a planner went on with: value, simulations spent on it, and candidates it was chosen from."""

    step: int
    task: Task
    value: float
    visits: int
    candidates: int


@dataclass(frozen=True)
class PlannerProgress:
    """How far a planner is, for those who watch.

    Attributes:
        step: the step of its sequence that it is at, from 1; 0 for planners that decide nothing.
        evaluated: candidates evaluated so far.
        decisions: tasks chosen so far, in order.
    """

    step: int = 0
    evaluated: int = 0
    decisions: tuple[Decision, ...] = ()


class Planner(Protocol):
    """``ask`` what to do next, ``tell`` what came of it, until ``done``."""

    name: str

    frees_parents: bool
    """Whether its rollouts need a state only until the next task is learned, so that the search may then drop the parent state.
    If False, the planner itself lists the states that are `obsolete`."""

    @property
    def done(self) -> bool: ...

    def ask(self) -> list[Request]:
        """New requests; empty if the planner waits for answers (a barrier) or is done."""
        ...

    def tell(self, request: Request, result: Result) -> None:
        """The answer to a request that was asked."""
        ...

    def obsolete(self) -> list[str]:
        """Digests of states that it will not extend any more, since the last call."""
        ...

    def progress(self) -> PlannerProgress:
        """How far it is."""
        ...


class CoroutinePlanner(ABC):
    """Runs a plan. Subclasses implement `plan`."""

    name = "planner"
    frees_parents = False

    def __init__(self) -> None:
        self.done = False
        self._plan: PlanSteps | None = None
        self._answers: dict[str, Result] = {}
        self._need: tuple[Request, ...] | None = None
        self._obsolete: list[str] = []

    @abstractmethod
    def plan(self) -> PlanSteps:
        """The algorithm."""

    def ask(self) -> list[Request]:
        asked: list[Request] = []
        while not self.done:
            if self._need is None:
                self._advance(None, asked)
            elif all(r.digest in self._answers for r in self._need):
                answers = [self._answers[r.digest] for r in self._need]
                self._need = None
                self._advance(answers, asked)
            else:
                break
        return asked

    def tell(self, request: Request, result: Result) -> None:
        self._answers[request.digest] = result

    def obsolete(self) -> list[str]:
        dropped, self._obsolete = self._obsolete, []
        return dropped

    def progress(self) -> PlannerProgress:
        return PlannerProgress()

    def forget(self, requests: Iterable[Request]) -> None:
        """Answers that the plan will not need again (keeps a long run's memory flat)."""
        for request in requests:
            self._answers.pop(request.digest, None)

    def _advance(self, value: list[Outcome | ProbeResult] | None, asked: list[Request]) -> None:
        if self._plan is None:
            self._plan = self.plan()
        try:
            step = self._plan.send(value)
        except StopIteration:
            self.done = True
            return
        if isinstance(step, Ask):
            asked.extend(r for r in step.requests if r.digest not in self._answers)
        else:
            self._need = step.requests
