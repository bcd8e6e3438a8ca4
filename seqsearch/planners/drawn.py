"""A random sequence of the tasks that a search would evaluate: of its candidates one is chosen at random, without evaluating
them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from seqsearch.core.types import Tasks
from seqsearch.planners.base import Ask, Need, PlannerProgress, PlanSteps
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.step import NoValidTask, problem_of


class DrawnPlanner(CldybPlanner):
    """At each step takes one of the candidates that a search at this prefix would evaluate; each is as likely.

    Candidates are those of `CldybPlanner`: proposed and clustered in the feature spaces that the methods have after the prefix,
    which is trained task by task. The last task is drawn and not trained. A candidate that fails is passed over, as in a search.
    The ``replicate`` is of this sequence alone, so that its random numbers and training noise are independent of all others.
    """

    def plan(self) -> PlanSteps:
        for t in range(2, self.settings.tasks + 1):
            if t == 2 and (problem := (yield from self._learn(tuple(self.sequence)))):
                raise NoValidTask(f"the first task cannot be evaluated: {problem}")
            prefix = tuple(self.sequence)
            proposals, _ = yield from self._proposals.propose(prefix, t, self._spaces)
            arms = yield from self._proposals.condense(prefix, proposals, t, self._spaces)
            arms = arms[: self.settings.simulations]  # a smaller budget evaluates the first ones
            for i in self._proposals.rng(t, "pick").permutation(len(arms)):
                task = arms[i].task
                problem = "" if t == self.settings.tasks else (yield from self._learn((*prefix, task)))
                if not problem:
                    break
            else:
                raise NoValidTask(f"step {t}: no candidate could be trained: {problem}")
            self.sequence.append(task)
            self._release(tuple(self.sequence))

    def progress(self) -> PlannerProgress:
        """It decides nothing."""
        return PlannerProgress()

    def _learn(self, tasks: Tasks) -> Generator[Ask | Need, Any, str]:
        """Train the methods on these; the trouble that one had, in words."""
        outcomes = yield from self._evaluate(self._rollouts(tasks))
        problem = problem_of(self.methods, outcomes)
        if not problem:
            self.outcomes, self._spaces = outcomes, tuple(o.feature_space for o in outcomes)
        return problem
