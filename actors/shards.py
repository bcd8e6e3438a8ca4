"""Frozen features ahead of trials on Ray: shards side by side, in processes that trials may go on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import ray

from actors.calls import results_of
from actors.options import EngineOptions
from actors.trial import evaluator_of
from actors.worker import Setup
from seqsearch.features.store import Shard

Job = tuple[str, int, Shard]
"""A backbone, the number of a pool, a shard."""


def extracted(setup: Setup, engine: EngineOptions, missing: Iterable[Job], at_once: int) -> Iterator[None]:
    """Compute shards, so many ``at_once``; yields once for each.

    Raises:
        UserError: an image cannot be read, or a shard killed every process that computed it.
        EngineDied: Ray has died.
    """
    task = ray.remote(num_cpus=1, num_gpus=engine.gpus, max_retries=0)(_extract)
    for _ in results_of(lambda job: task.remote(setup, job), missing, at_once, "a job that computes features"):
        yield


def _extract(setup: Setup, job: Job) -> None:
    """In a process of Ray's."""
    for _ in evaluator_of(setup).extract([job]):
        pass
