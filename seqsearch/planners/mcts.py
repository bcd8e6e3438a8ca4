"""The CLDyB search: build a sequence step by step, each time the task that hurts most (Algorithms 1-3 of the paper).

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models". `CldybPlanner.plan` reads like Algorithm 3;
what the paper leaves open is decided in ``docs/cldyb_choices.md``.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import MethodSpec, Rollout, Task, Tasks
from seqsearch.planners.allocation import Wait, choose, contenders, next_arm
from seqsearch.planners.base import (
    Ask,
    CoroutinePlanner,
    Decision,
    Need,
    PlannerProgress,
    PlanSteps,
)
from seqsearch.planners.placebo import shuffle
from seqsearch.planners.proposals import Proposals
from seqsearch.planners.rewards import combined, image_variance, joints_by_step
from seqsearch.planners.screening import Screening
from seqsearch.planners.settings import SearchSettings
from seqsearch.planners.step import Arm, CandidateResult, Geometry, NoValidTask, PoolView, problem_of
from seqsearch.stats import accuracy

Steps = Generator[Ask | Need, Any, Any]


class CldybPlanner(CoroutinePlanner):
    """Searches one sequence for one or several methods jointly.

    Args:
        name: of this search, in files and messages.
        methods: evaluated jointly: a simulation is a rollout of each, its value their mean, or, with ``weights``, a weighted sum:
            1 and -1 search where the first method does worst beside the second.
        pool: classes in play.
        first: the first task, given from outside, since methods and random baselines share it.
        seed: study seed.
        replicate: number of this search; it seeds training, so that searches are independent.
    """

    def __init__(
        self,
        name: str,
        methods: Sequence[MethodSpec],
        pool: PoolView,
        first: Task,
        settings: SearchSettings,
        seed: int,
        replicate: int,
        weights: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.name, self.methods, self.pool, self.settings = name, tuple(methods), pool, settings
        self.weights = weights
        self.seed, self.replicate = seed, replicate
        self.sequence: list[Task] = [first]
        self.trace: list[CandidateResult] = []
        self.evaluated = 0
        """Candidates evaluated so far, for progress."""
        self._spaces: tuple[str, ...] = ()
        self.outcomes: list[Outcome] = []
        """Of the sequence so far, one per method."""
        self._stored: set[Tasks] = set()
        self._proposals = Proposals(self.methods, pool, settings, seed, replicate, self.forget)
        self._screening = Screening(settings.screen_to, self._proposals.positions)

    # -------------------------------------------------------------------------------------------- Algorithm 3

    def plan(self) -> PlanSteps:
        s = self.settings
        outcomes = yield from self._evaluate(self._rollouts((self.sequence[0],)))
        problem = problem_of(self.methods, outcomes)
        if problem:
            raise NoValidTask(f"the first task cannot be evaluated: {problem}")
        self.outcomes, self._spaces = outcomes, tuple(o.feature_space for o in outcomes)
        for t in range(2, s.tasks + 1):
            prefix = tuple(self.sequence)
            proposals, geometry = yield from self._proposals.propose(prefix, t, self._spaces)
            arms = yield from self._proposals.condense(prefix, proposals, t, self._spaces)
            if s.selector != "mcts":
                arms = [arms[self._pick(arms, geometry, t)]]
            evaluated = self._screening.to_evaluate(arms, geometry)
            yield from self._simulate(prefix, evaluated, geometry, t, self._budget(evaluated, arms))
            spared = [a for a in arms if a.spared]
            if spared and not any(a.visits and not a.invalid for a in evaluated):
                for arm in spared:
                    arm.spared = False
                yield from self._simulate(prefix, spared, geometry, t, self._budget(spared, arms))
                evaluated = arms
            if s.reward == "shuffled":
                shuffle(arms, self._proposals.rng(t, "shuffle"))
            self._screening.learn(evaluated)
            yield from self._move(prefix, arms, t)

    def _budget(self, some: list[Arm], arms: list[Arm]) -> int:
        """Simulations for some of a step's candidates: their share of all."""
        return math.ceil(self.settings.simulations * len(some) / len(arms))

    def _move(self, prefix: Tasks, arms: list[Arm], t: int) -> Steps:
        """Choose a candidate (Eq. 7 or 8) and go to its state, which is trained already."""
        valid = [a for a in arms if not a.invalid and a.visits]
        if not valid:
            problem = next((a.invalid for a in arms if a.invalid), "no simulation was allowed")
            raise NoValidTask(f"step {t}: no candidate could be evaluated: {problem}")
        if self.settings.temperature == 0:
            chance = contenders(self.settings.allocation, [a.visits for a in valid], [a.mean for a in valid])
            valid = [a for a, contends in zip(valid, chance, strict=True) if contends]
        chosen = valid[choose([a.mean for a in valid], self.settings.temperature, self._proposals.rng(t, "choose"))]
        ahead = self._ahead([a for a in arms if not a.spared], t)
        for arm in arms:
            self.trace.append(
                CandidateResult(
                    t,
                    arm.task,
                    arm.mean if arm.visits else np.nan,
                    float(np.mean(arm.rewards)) if arm.rewards else np.nan,
                    arm.noise(ahead > 0),
                    arm.visits,
                    arm.nll,
                    arm.train_seconds,
                    arm.invalid or "ok",
                    arm is chosen,
                    arm.predicted,
                    arm.spared,
                )
            )
        self.sequence.append(chosen.task)
        outcomes = yield from self._evaluate(self._rollouts((*prefix, chosen.task)))
        self.outcomes, self._spaces = outcomes, tuple(o.feature_space for o in outcomes)
        self._release(tuple(self.sequence))

    def _release(self, decided: Tasks) -> None:
        """States that no longer lie on the way are not needed again."""
        gone = {p for p in self._stored if p[: len(decided)] != decided}
        self._stored -= gone
        self._obsolete += [self._proposals.key(m, p).digest for p in gone for m in self.methods]

    # -------------------------------------------------------------------------------------------- simulation

    def _simulate(self, prefix: Tasks, arms: list[Arm], geometry: Geometry | None, t: int, budget: int) -> Steps:
        """Spend the budget on the arms, with a fixed number of simulations in flight; results come in the order asked."""
        s = self.settings
        window: deque[tuple[Arm, Tasks, list[Rollout], list[Rollout]]] = deque()
        ahead = self._ahead(arms, t)
        most = None if ahead else 1  # without look-ahead a second visit would return the same number
        while True:
            while len(window) < s.in_flight:
                index = next_arm(
                    s.allocation,
                    visits=[a.visits for a in arms],
                    in_flight=[a.asked - a.visits for a in arms],
                    means=[a.mean for a in arms],
                    budget=budget,
                    max_visits_per_arm=most,
                )
                if index is None or isinstance(index, Wait):
                    break
                arm = arms[index]
                tasks = (
                    *prefix,
                    arm.task,
                    *self._proposals.followups(prefix, arm.task, arms, geometry, arm.asked, t, ahead),
                )
                rollouts, joints = self._rollouts(tasks), self._joints(tasks, t)
                arm.asked += 1
                yield Ask((*rollouts, *joints))
                window.append((arm, tasks, rollouts, joints))
            if not window:
                break
            arm, tasks, rollouts, joints = window.popleft()
            answers = yield Need((*rollouts, *joints))
            self._tell(arm, t, tasks, answers[: len(rollouts)], answers[len(rollouts) :])

    def _ahead(self, arms: list[Arm], t: int) -> int:
        """Follow-up tasks behind each candidate: none where there is nothing to compare, and one visit is to move on."""
        return self.settings.lookahead_at(t) if len(arms) > 1 else 0

    def _tell(self, arm: Arm, t: int, tasks: Tasks, outcomes: list[Outcome], joints: list[Outcome]) -> None:
        """Back up one simulation: J = R_t + sum_k alpha^k R_{t+k}, mean (or weighted sum) over methods (Eq. 7)."""
        problem = problem_of(self.methods, [*outcomes, *joints])
        arm.train_seconds += sum(o.train_seconds for o in outcomes)
        self.evaluated += arm.visits == 0
        if problem:
            arm.invalid = problem
            arm.values.append(-np.inf)
            return
        steps, m, kind = range(t, len(tasks) + 1), len(outcomes), self.settings.reward_kind
        joint = joints_by_step(joints, tasks, m)
        rewards = [self._reward(outcomes, joint[i], step) for i, step in enumerate(steps)]
        if not arm.rewards:  # its own reward is the same in all simulations
            arm.image_variance = image_variance(outcomes, joints[:m], tasks[:t], kind, self.weights)
        arm.rewards.append(rewards[0])
        arm.values.append(accuracy.discounted_return(rewards, self.settings.discount))

    def _reward(self, outcomes: Sequence[Outcome], joint: Sequence[float | None], t: int) -> float:
        kind = self.settings.reward_kind
        each = [accuracy.reward(o.accuracy, t, kind, j) for o, j in zip(outcomes, joint, strict=True)]
        return combined(each, self.weights)

    def _joints(self, tasks: Tasks, t: int) -> list[Rollout]:
        """For ``gap-to-joint``: each method trained on all classes at once, for every step that is rewarded."""
        s = self.settings
        if s.reward != "gap-to-joint":
            return []
        unions = [self.pool.task(c for task in tasks[:n] for c in task.classes) for n in range(t, len(tasks) + 1)]
        return [Rollout(self._proposals.key(m, (u,)), s.reward_split, leaf=True) for u in unions for m in self.methods]

    # -------------------------------------------------------------------------------------------- ablations

    def _pick(self, arms: list[Arm], geometry: Geometry | None, t: int) -> int:
        """A candidate without training: at random, or the one most similar to what was learned (Bell and Lawrence 2022)."""
        if self.settings.selector == "random" or geometry is None:
            return int(self._proposals.rng(t, "pick").integers(len(arms)))
        return int(np.argmax([geometry.to_past[self._proposals.positions((a.task,))].mean() for a in arms]))

    # -------------------------------------------------------------------------------------------- helpers

    def progress(self) -> PlannerProgress:
        evaluated_at = Counter(j.step for j in self.trace if not j.spared)
        chosen = [j for j in self.trace if j.chosen]
        decisions = tuple(Decision(j.step, j.task, j.value, j.visits, evaluated_at[j.step]) for j in chosen)
        # the first task is drawn, and learned first
        step = len(self.sequence) + (not self.done) if self.outcomes else 1
        return PlannerProgress(step, self.evaluated, decisions)

    def _evaluate(self, rollouts: list[Rollout]) -> Steps:
        yield Ask(tuple(rollouts))
        return (yield Need(tuple(rollouts)))

    def _rollouts(self, tasks: Tasks) -> list[Rollout]:
        """One rollout per method. Its last state is kept unless it is a look-ahead that the search cannot come to."""
        s, n = self.settings, len(tasks)
        leaf = n == s.tasks or (n > len(self.sequence) + 1 and s.followups == "feasible")
        self._stored.update(tasks[:i] for i in range(1, n if leaf else n + 1))
        return [Rollout(self._proposals.key(m, tasks), s.reward_split, leaf) for m in self.methods]
