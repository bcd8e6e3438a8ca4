"""Which tasks are evaluated at a step, and what follows them: Algorithms 1 and 2 of CLDyB, and the look-ahead."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.types import ClassId, MethodSpec, Probe, Request, StateKey, Task, Tasks
from seqsearch.planners.base import BLOCK_CLASSES, BLOCK_TASKS, Ask, Need
from seqsearch.planners.candidates import functional, greedy, group_uniform, uniform
from seqsearch.planners.candidates.base import CandidateRequest
from seqsearch.planners.settings import SearchSettings
from seqsearch.planners.step import Arm, Geometry, PoolView

Steps = Generator[Ask | Need, Any, Any]


class Proposals:
    """Candidates of one search, as coroutines of its planner.

    Args:
        methods: whose states are asked for prototypes and neighbours.
        pool: classes in play.
        seed: study seed.
        replicate: number of the search.
        forget: called with probes whose answers are not needed again.
    """

    def __init__(
        self,
        methods: Sequence[MethodSpec],
        pool: PoolView,
        settings: SearchSettings,
        seed: int,
        replicate: int,
        forget: Callable[[Iterable[Request]], None],
    ) -> None:
        self.methods, self.pool, self.settings = tuple(methods), pool, settings
        self.seed, self.replicate, self._forget = seed, replicate, forget
        self._position = {c: i for i, c in enumerate(pool.class_ids)}
        self._group_numbers = np.unique(pool.groups, return_inverse=True)[1].astype(np.int64)

    # -------------------------------------------------------------------------------------------- Algorithm 1

    def propose(self, prefix: Tasks, t: int, spaces: Sequence[str]) -> Steps:
        """Candidate tasks, and the geometry that they come from (None if the settings ask for none)."""
        s, left = self.settings, self._left(prefix, t)
        geometry = None
        looked_at = s.selector == "similar-past" or s.screen_to < 1
        if "greedy" in (s.sampler, s.followups) or s.seed_class == "near-past" or looked_at:
            prototypes = yield from self._prototypes(prefix, t, spaces)
            geometry = Geometry.of(prototypes, left, self.positions(prefix))
        request = CandidateRequest(
            classes=left,
            k=s.classes_per_task,
            count=s.candidates,
            rng=self.rng(t, "candidates"),
            psi=None if geometry is None else geometry.psi,
            groups=self._group_numbers[left],
            first=greedy.near_past(geometry.to_past[left]) if geometry and s.seed_class == "near-past" else None,
        )
        sampler = {"greedy": greedy.propose, "group-uniform": group_uniform.propose, "uniform": uniform.propose}[
            s.sampler
        ]
        return [self._task(p) for p in sampler(request)], geometry

    def _prototypes(self, prefix: Tasks, t: int, spaces: Sequence[str]) -> Steps:
        """Prototypes ``[N, d]`` of the classes that are there at step ``t``, for each method in its present feature space."""
        options = (("images", self.settings.probe_images),)
        blocks: dict[tuple[str, int], list[ClassId]] = {}
        for c in self.pool.class_ids[: self.pool.known(t)]:
            blocks.setdefault((c.pool, c.index // BLOCK_CLASSES), []).append(c)
        probes = [
            Probe("prototypes", self.key(m, prefix), space, classes=tuple(block), options=options)
            for m, space in self._asked(spaces)
            for block in blocks.values()
        ]
        yield Ask(tuple(probes))
        answers = yield Need(tuple(probes))
        self._forget(probes)
        n = len(blocks)
        return [np.concatenate([a.values for a in answers[i : i + n]]) for i in range(0, len(answers), n)]

    # -------------------------------------------------------------------------------------------- Algorithm 2

    def condense(self, prefix: Tasks, proposals: list[Task], t: int, spaces: Sequence[str]) -> Steps:
        """At most B- arms, spread over the functional clusters of the proposals."""
        s = self.settings
        rng = self.rng(t, "condense")
        if s.clustering and len(proposals) > s.condensed:
            nll = yield from self._nll(prefix, proposals, spaces)
            kept = functional.condense(nll, s.condensed, s.clusters, rng, standardise=not s.raw_features)
            return [Arm(proposals[i], tuple(float(v) for v in nll[i])) for i in kept]
        if len(proposals) > s.condensed:
            proposals = [proposals[int(i)] for i in rng.choice(len(proposals), s.condensed, replace=False)]
        if s.screen_to == 1:
            return [Arm(p) for p in proposals]
        nll = yield from self._nll(prefix, proposals, spaces)
        return [Arm(p, tuple(float(v) for v in own)) for p, own in zip(proposals, nll, strict=True)]

    def _nll(self, prefix: Tasks, proposals: list[Task], spaces: Sequence[str]) -> Steps:
        """kNN negative log-likelihoods ``[proposals, methods]``, in nats."""
        s = self.settings
        options = (
            ("images", s.knn_images), ("k", s.knn_k), ("scope", s.knn_scope), ("temperature", s.knn_temperature)
        )  # fmt: skip
        shards = [tuple(proposals[i : i + BLOCK_TASKS]) for i in range(0, len(proposals), BLOCK_TASKS)]
        probes = [
            Probe("nll", self.key(m, prefix), space, tasks=shard, options=options)
            for m, space in self._asked(spaces)
            for shard in shards
        ]
        yield Ask(tuple(probes))
        answers = yield Need(tuple(probes))
        self._forget(probes)
        found = np.concatenate([a.values for a in answers]).reshape(-1, len(proposals)).T
        return np.broadcast_to(found, (len(proposals), len(self.methods)))  # of an encoder: the same for all methods

    def _asked(self, spaces: Sequence[str]) -> list[tuple[MethodSpec, str]]:
        """Whose features are asked for, and what space they are in: the encoder's, if there is one, else each method's."""
        encoder = self.pool.encoder
        return [(encoder.method, encoder.space)] if encoder else list(zip(self.methods, spaces, strict=True))

    # -------------------------------------------------------------------------------------------- look-ahead

    def followups(
        self, prefix: Tasks, task: Task, arms: list[Arm], geometry: Geometry | None, draw: int, t: int, count: int
    ) -> list[Task]:
        """Look-ahead tasks. Draw ``n`` is the same for all candidates of one step as far as their classes allow (common random
        numbers)."""
        s, found = self.settings, list[Task]()
        rng = self.rng(t, "followups", draw)
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

    # -------------------------------------------------------------------------------------------- helpers

    def key(self, method: MethodSpec, tasks: Tasks) -> StateKey:
        """A state of the search."""
        return StateKey(method, self.seed, self.replicate, tasks)

    def rng(self, *phase: Any) -> np.random.Generator:
        """Random numbers of one phase of the search."""
        return seeded_numpy("search", self.seed, self.replicate, *phase)

    def _task(self, positions: Sequence[int]) -> Task:
        return self.pool.task(self.pool.class_ids[p] for p in positions)

    def positions(self, tasks: Sequence[Task]) -> NDArray[np.int64]:
        """Places of the tasks' classes among those in play."""
        return np.array([self._position[c] for t in tasks for c in t.classes], dtype=np.int64)

    def _left(self, prefix: Tasks, t: int) -> NDArray[np.int64]:
        """Classes that are there at step ``t`` and not in ``prefix``; the search does not know what will come later."""
        return np.setdiff1d(np.arange(self.pool.known(t)), self.positions(prefix))
