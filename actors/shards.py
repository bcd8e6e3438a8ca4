"""Frozen features ahead of trials on Ray: shards side by side, in processes that trials may go on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from actors import health
from actors.faults import MAX_RETRIES, given_up
from actors.options import EngineOptions
from actors.trial import evaluator_of
from actors.worker import Setup
from actors.worker_set import cause_of
from seqsearch.core import stop
from seqsearch.features.store import Shard

Job = tuple[str, int, Shard]
"""A backbone, the number of a pool, a shard."""


def extracted(setup: Setup, engine: EngineOptions, missing: Iterable[Job], at_once: int) -> Iterator[None]:
    """Compute shards, so many ``at_once``; yields once for each. Ray tries those again whose process dies.

    Raises:
        UserError: an image cannot be read, or a shard killed every process that computed it.
        EngineDied: Ray has died.
    """
    options = {"num_cpus": 1, "num_gpus": engine.gpus, "max_retries": MAX_RETRIES}
    task, jobs, running = ray.remote(**options)(_extract), iter(missing), dict[Any, Job]()
    try:
        while True:
            running |= {task.remote(setup, job): job for job in islice(jobs, at_once - len(running))}
            if not running:
                return
            stop.check()
            health.check()
            for done in ray.wait(list(running), num_returns=1, timeout=1.0)[0]:
                _check(done, running.pop(done), engine)
                yield
    finally:
        if not health.died():
            for left in running:
                ray.cancel(left, force=True)


def _extract(setup: Setup, job: Job) -> None:
    """In a process of Ray's."""
    for _ in evaluator_of(setup).extract([job]):
        pass


def _check(done: Any, job: Job, engine: EngineOptions) -> None:
    try:
        ray.get(done)
    except RayTaskError as error:
        raise cause_of(error) from None
    except RayError:
        given_up(job, "failed", engine)
