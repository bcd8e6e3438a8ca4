"""Random sequences whose tasks each lie within one data set or group of classes: CLDyB's degenerate case, as a baseline."""

from __future__ import annotations

import numpy as np

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.types import Task, Tasks
from seqsearch.planners.candidates import group_uniform
from seqsearch.planners.candidates.base import CandidateRequest
from seqsearch.planners.step import PoolView


def within_group_sequences(first: Task, pool: PoolView, n_tasks: int, k: int, count: int, seed: int) -> list[Tasks]:
    """``count`` sequences that share the first task, see `within_group_sequence`.

    Raises:
        UserError: the classes have one group, or at some step no group has ``k`` classes left.
    """
    return [within_group_sequence(first, pool, n_tasks, k, number, seed) for number in range(count)]


def within_group_sequence(first: Task, pool: PoolView, n_tasks: int, k: int, number: int, seed: int) -> Tasks:
    """The sequence of this ``number``: after the task ``first``, a group uniformly among those with ``k`` classes left, and
    ``k`` of its classes.

    A group is that of one pool: equal names in two pools are two groups. Task ``t`` has random numbers of its own, so that longer
    sequences begin like shorter ones. Whether there are enough classes does not depend on what was drawn: each task takes ``k``
    classes of one group.

    Raises:
        UserError: as `within_group_sequences`.
    """
    group_of = [(c.pool, g) for c, g in zip(pool.class_ids, pool.groups, strict=True)]
    number_of = {group: i for i, group in enumerate(dict.fromkeys(group_of))}
    if len(number_of) < 2:
        raise UserError(
            f"--baseline within-group: all classes in play are of one group ({group_of[0][1]!r}): use uniform, or a --pool with "
            "several data sets or groups"
        )
    tasks = [first]
    for t in range(2, n_tasks + 1):
        used = {c for task in tasks for c in task.classes}
        left = np.array([i for i in range(pool.known(t)) if pool.class_ids[i] not in used], dtype=np.int64)
        groups = np.array([number_of[group_of[i]] for i in left], dtype=np.int64)
        most = int(np.bincount(groups).max(initial=0))
        if most < k:
            raise UserError(
                f"--baseline within-group: for task {t} no group has {k} classes left, the largest has {most}: lower --tasks or "
                "--classes-per-task, or use a --pool with larger groups"
            )
        rng = seeded_numpy("random-sequence-within-group", seed, number, t)
        [drawn] = group_uniform.propose(CandidateRequest(left, k, 1, rng, groups=groups))
        tasks.append(pool.task(pool.class_ids[i] for i in drawn))
    return tuple(tasks)
