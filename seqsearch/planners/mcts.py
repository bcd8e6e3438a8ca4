"""The CLDyB search: build a sequence step by step, each time the task that hurts most (Algorithms 1-3 of the paper).

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models". `CldybPlanner.plan` reads like Algorithm 3;
what the paper leaves open is decided in ``docs/cldyb.md``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.settings import CldybSettings
from seqsearch.core.types import ClassId, MethodSpec, Outcome, Prefix, Probe, Rollout, Task, state_digest
from seqsearch.metrics import accuracy
from seqsearch.planners.allocation import Wait, choose, contenders, next_arm
from seqsearch.planners.base import Ask, CoroutinePlanner, Need, PlanSteps
from seqsearch.planners.candidates import functional, greedy, group_uniform, uniform
from seqsearch.planners.candidates.base import CandidateRequest
from seqsearch.planners.step import Arm, Geometry, Judgement, NoValidTask, PoolView, first_problem, joints_by_step
from seqsearch.training.probes import BLOCK_CLASSES, BLOCK_TASKS

Steps = Generator[Ask | Need, Any, Any]


class CldybPlanner(CoroutinePlanner):
    """Searches one sequence for one or several methods jointly.

    Args:
        name: of this search, in files and messages.
        methods: judged jointly: a simulation is a rollout of each, its value their mean.
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
        settings: CldybSettings,
        seed: int,
        replicate: int,
    ) -> None:
        super().__init__()
        self.name, self.methods, self.pool, self.settings = name, tuple(methods), pool, settings
        self.seed, self.replicate = seed, replicate
        self.sequence: list[Task] = [first]
        self.trace: list[Judgement] = []
        self.judged = 0
        """Candidates judged so far, for progress."""
        self._spaces: tuple[str, ...] = ()
        self.outcomes: list[Outcome] = []
        """Of the sequence so far, one per method."""
        self._stored: set[Prefix] = set()
        self._position = {c: i for i, c in enumerate(pool.class_ids)}
        self._group_numbers = np.unique(pool.groups, return_inverse=True)[1].astype(np.int64)

    # -------------------------------------------------------------------------------------------- Algorithm 3

    def plan(self) -> PlanSteps:
        s = self.settings
        outcomes = yield from self._judge(self._rollouts((self.sequence[0],)))
        problem = first_problem(self.methods, outcomes)
        if problem:
            raise NoValidTask(f"the first task cannot be judged: {problem}")
        self.outcomes, self._spaces = outcomes, tuple(o.feature_space for o in outcomes)
        for t in range(2, s.tasks + 1):
            prefix = tuple(self.sequence)
            proposals, geometry = yield from self._propose(prefix, t)
            arms = yield from self._condense(prefix, proposals, t)
            if s.selector != "mcts":
                arms = [arms[self._pick(arms, geometry, t)]]
            yield from self._simulate(prefix, arms, geometry, t)
            yield from self._move(prefix, arms, t)

    def _move(self, prefix: Prefix, arms: list[Arm], t: int) -> Steps:
        """Choose a candidate (Eq. 7 or 8) and go to its state, which is trained already."""
        valid = [a for a in arms if not a.invalid and a.visits]
        if not valid:
            raise NoValidTask(
                f"step {t}: no candidate could be judged: {arms[0].invalid or 'no simulation was allowed'}"
            )
        if self.settings.temperature == 0:
            chance = contenders(self.settings.allocation, [a.visits for a in valid], [a.mean for a in valid])
            valid = [a for a, contends in zip(valid, chance, strict=True) if contends]
        chosen = valid[choose([a.mean for a in valid], self.settings.temperature, self._rng(t, "choose"))]
        for arm in arms:
            self.trace.append(
                Judgement(
                    t, arm.task, arm.mean if arm.visits else np.nan, float(np.mean(arm.rewards)) if arm.rewards else np.nan,
                    arm.visits, arm.nll, arm.train_seconds, arm.invalid or "ok", arm is chosen,
                )
            )  # fmt: skip
        self.sequence.append(chosen.task)
        outcomes = yield from self._judge(self._rollouts((*prefix, chosen.task)))
        self.outcomes, self._spaces = outcomes, tuple(o.feature_space for o in outcomes)
        self._release(tuple(self.sequence))

    def _release(self, decided: Prefix) -> None:
        """States that no longer lie on the way are not needed again."""
        gone = {p for p in self._stored if p[: len(decided)] != decided}
        self._stored -= gone
        self._obsolete += [state_digest(m, self.seed, self.replicate, p) for p in gone for m in self.methods]

    # -------------------------------------------------------------------------------------------- Algorithm 1

    def _propose(self, prefix: Prefix, t: int) -> Steps:
        """Candidate tasks, and the geometry that they come from (None if the settings ask for none)."""
        s, left = self.settings, self._left(prefix, t)
        geometry = None
        if "greedy" in (s.sampler, s.followups) or s.seed_class == "near-past" or s.selector == "similar-past":
            prototypes = yield from self._prototypes(prefix, t)
            geometry = Geometry.of(prototypes, left, self._positions(prefix))
        request = CandidateRequest(
            classes=left,
            k=s.classes_per_task,
            count=s.candidates,
            rng=self._rng(t, "candidates"),
            psi=None if geometry is None else geometry.psi,
            groups=self._group_numbers[left],
            first=greedy.near_past(geometry.to_past[left]) if geometry and s.seed_class == "near-past" else None,
        )
        sampler = {"greedy": greedy.propose, "group-uniform": group_uniform.propose, "uniform": uniform.propose}[
            s.sampler
        ]
        return [self._task(p) for p in sampler(request)], geometry

    def _prototypes(self, prefix: Prefix, t: int) -> Steps:
        """Prototypes ``[N, d]`` of the classes that are there at step ``t``, for each method in its present feature space."""
        options = (("images", self.settings.probe_images),)
        blocks: dict[tuple[str, int], list[ClassId]] = {}
        for c in self.pool.class_ids[: self.pool.known(t)]:
            blocks.setdefault((c.pool, c.index // BLOCK_CLASSES), []).append(c)
        probes = [
            Probe("prototypes", m, self.seed, self.replicate, prefix, space, classes=tuple(block), options=options)
            for m, space in zip(self.methods, self._spaces, strict=True)
            for block in blocks.values()
        ]
        yield Ask(tuple(probes))
        answers = yield Need(tuple(probes))
        self.forget(probes)
        n = len(blocks)
        return [np.concatenate([a.values for a in answers[i * n : (i + 1) * n]]) for i in range(len(self.methods))]

    # -------------------------------------------------------------------------------------------- Algorithm 2

    def _condense(self, prefix: Prefix, proposals: list[Task], t: int) -> Steps:
        """At most B- arms, spread over the functional clusters of the proposals."""
        s = self.settings
        rng = self._rng(t, "condense")
        if len(proposals) <= s.condensed:
            return [Arm(p) for p in proposals]
        if not s.clustering:
            drawn = rng.choice(len(proposals), s.condensed, replace=False)
            return [Arm(proposals[int(i)]) for i in drawn]
        options = (
            ("images", s.knn_images), ("k", s.knn_k), ("scope", s.knn_scope), ("temperature", s.knn_temperature)
        )  # fmt: skip
        shards = [tuple(proposals[i : i + BLOCK_TASKS]) for i in range(0, len(proposals), BLOCK_TASKS)]
        probes = [
            Probe("nll", m, self.seed, self.replicate, prefix, space, tasks=shard, options=options)
            for m, space in zip(self.methods, self._spaces, strict=True)
            for shard in shards
        ]
        yield Ask(tuple(probes))
        answers = yield Need(tuple(probes))
        self.forget(probes)
        nll = np.concatenate([a.values for a in answers]).reshape(len(self.methods), len(proposals)).T
        kept = functional.condense(nll, s.condensed, s.clusters, rng, standardise=not s.raw_features)
        return [Arm(proposals[i], tuple(float(v) for v in nll[i])) for i in kept]

    # -------------------------------------------------------------------------------------------- simulation

    def _simulate(self, prefix: Prefix, arms: list[Arm], geometry: Geometry | None, t: int) -> Steps:
        """Spend the budget on the arms, with a fixed number of simulations in flight, told in the order asked."""
        s = self.settings
        window: deque[tuple[Arm, list[Rollout], list[Rollout]]] = deque()
        ahead = s.lookahead_at(t) if len(arms) > 1 else 0  # nothing to compare: one visit, to move on
        most = None if ahead else 1  # without look-ahead a second visit would return the same number
        while True:
            while len(window) < s.in_flight:
                index = next_arm(
                    s.allocation,
                    visits=[a.visits for a in arms],
                    in_flight=[a.asked - a.visits for a in arms],
                    means=[a.mean for a in arms],
                    budget=s.simulations,
                    max_visits_per_arm=most,
                )
                if index is None or isinstance(index, Wait):
                    break
                arm = arms[index]
                tasks = (*prefix, arm.task, *self._followups(prefix, arm.task, arms, geometry, arm.asked, t, ahead))
                rollouts, joints = self._rollouts(tasks), self._joints(tasks, t)
                arm.asked += 1
                yield Ask((*rollouts, *joints))
                window.append((arm, rollouts, joints))
            if not window:
                break
            arm, rollouts, joints = window.popleft()
            answers = yield Need((*rollouts, *joints))
            self._tell(arm, t, answers[: len(rollouts)], answers[len(rollouts) :])

    def _tell(self, arm: Arm, t: int, outcomes: list[Outcome], joints: list[Outcome]) -> None:
        """Back up one simulation: J = R_t + sum_k alpha^k R_{t+k}, mean over methods (Eq. 7)."""
        problem = first_problem(self.methods, [*outcomes, *joints])
        arm.train_seconds += sum(o.train_seconds for o in outcomes)
        self.judged += arm.visits == 0
        if problem:
            arm.invalid = problem
            arm.values.append(-np.inf)
            return
        steps = range(t, len(outcomes[0].accuracy) + 1)
        joint = joints_by_step(joints, len(outcomes), len(steps))
        rewards = [self._reward(outcomes, joint[i], step) for i, step in enumerate(steps)]
        arm.rewards.append(rewards[0])
        arm.values.append(accuracy.discounted_return(rewards, self.settings.discount))

    def _reward(self, outcomes: Sequence[Outcome], joint: Sequence[float | None], t: int) -> float:
        kind = self.settings.reward
        return float(np.mean([accuracy.reward(o.accuracy, t, kind, j) for o, j in zip(outcomes, joint, strict=True)]))

    def _followups(
        self, prefix: Prefix, task: Task, arms: list[Arm], geometry: Geometry | None, draw: int, t: int, count: int
    ) -> list[Task]:
        """Look-ahead tasks. Draw ``n`` is the same for every sibling as far as their classes allow (common random numbers)."""
        s, found = self.settings, list[Task]()
        rng = self._rng(t, "followups", draw)
        class_order, arm_order = rng.permutation(self.pool.known(t)), rng.permutation(len(arms))
        for _ in range(count):
            known = (*prefix, task, *found)
            left = self._left(known, t)
            gone = {c for other in known for c in other.classes}
            whole = [arms[i].task for i in arm_order if gone.isdisjoint(arms[i].task.classes)]
            if s.followups == "condensed" and whole:
                found.append(whole[0])
            elif s.followups == "greedy" and geometry is not None:
                request = CandidateRequest(classes=left, k=s.classes_per_task, count=1, rng=rng, psi=geometry.psi)
                found.append(self._task(greedy.propose(request)[0]))
            else:
                free = class_order[np.isin(class_order, left)]
                found.append(self._task(free[: s.classes_per_task].tolist()))
        return found

    def _joints(self, tasks: Prefix, t: int) -> list[Rollout]:
        """For ``gap-to-joint``: each method trained on all classes at once, for every step that is rewarded."""
        s = self.settings
        if s.reward != "gap-to-joint":
            return []
        unions = [self.pool.task(c for task in tasks[:n] for c in task.classes) for n in range(t, len(tasks) + 1)]
        return [
            Rollout(m, self.seed, self.replicate, (u,), s.reward_split, leaf=True) for u in unions for m in self.methods
        ]

    # -------------------------------------------------------------------------------------------- ablations

    def _pick(self, arms: list[Arm], geometry: Geometry | None, t: int) -> int:
        """A candidate without training: at random, or the one most similar to what was learned (Bell and Lawrence 2022)."""
        if self.settings.selector == "random" or geometry is None:
            return int(self._rng(t, "pick").integers(len(arms)))
        return int(np.argmax([geometry.to_past[self._positions((a.task,))].mean() for a in arms]))

    # -------------------------------------------------------------------------------------------- helpers

    def _judge(self, rollouts: list[Rollout]) -> Steps:
        yield Ask(tuple(rollouts))
        return (yield Need(tuple(rollouts)))

    def _rollouts(self, tasks: Prefix) -> list[Rollout]:
        """One rollout per method. Its last state is kept unless it is a look-ahead that the search cannot come to."""
        s, n = self.settings, len(tasks)
        leaf = n == s.tasks or (n > len(self.sequence) + 1 and s.followups == "feasible")
        self._stored.update(tasks[:i] for i in range(1, n if leaf else n + 1))
        return [Rollout(m, self.seed, self.replicate, tasks, s.reward_split, leaf) for m in self.methods]

    def _task(self, positions: Sequence[int]) -> Task:
        return self.pool.task(self.pool.class_ids[p] for p in positions)

    def _positions(self, tasks: Sequence[Task]) -> NDArray[np.int64]:
        return np.array([self._position[c] for t in tasks for c in t.classes], dtype=np.int64)

    def _left(self, prefix: Prefix, t: int) -> NDArray[np.int64]:
        """Classes that are there at step ``t`` and not in ``prefix``; the search does not know what will come later."""
        return np.setdiff1d(np.arange(self.pool.known(t)), self._positions(prefix))

    def _rng(self, *phase: Any) -> np.random.Generator:
        return seeded_numpy("search", self.seed, self.replicate, *phase)
