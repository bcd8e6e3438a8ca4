"""Who is to blame when a worker dies, and what becomes of its job."""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError as RayOutOfMemoryError
from ray.exceptions import RayError

from actors.cluster import alive_nodes
from actors.options import EngineOptions
from actors.queue import Ticket
from actors.worker import Call
from actors.worker_handle import WorkerHandle
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import Job, JobResult

MAX_RETRIES = 2
"""Times a job is tried again after the worker under it died. Deaths of whole nodes are nobody's fault and do not count."""
MAX_DEATHS = 10
"""Times in all, whoever's fault."""
SETTLE_SECONDS = 15.0
"""Ray says of a killed node that it is alive for so long."""


def is_poison(ticket: Ticket) -> bool:
    """It killed too many workers, not counting those whose whole node has gone."""
    if len(ticket.deaths) <= MAX_RETRIES:
        return False
    here, until = ray.get_runtime_context().get_node_id(), time.monotonic() + SETTLE_SECONDS
    while True:
        alive = alive_nodes()
        blamed = sum(node in alive for node in ticket.deaths)
        if blamed <= MAX_RETRIES:
            return len(ticket.deaths) > MAX_DEATHS
        if set(ticket.deaths) <= {here, ""} or time.monotonic() > until:
            return True
        time.sleep(0.5)


def given_up(job: Any, status: Any, engine: EngineOptions) -> tuple[Job, JobResult]:
    """The result of a job that hangs, or killed every worker it was given to.

    Raises:
        UserError: it was not a training, so that there is no result to say it in.
    """
    message = (
        f"killed its worker {MAX_RETRIES + 1} times (a crash in compiled code, or the system's out-of-memory killer)"
    )
    if status == "timeout":
        message = f"took longer than --rollout-timeout {engine.rollout_timeout:g} s"
    if isinstance(job, Call):
        raise UserError(f"{job.function.__name__} {message}; use fewer --workers, then resume")
    if not isinstance(job, Edge):
        raise UserError(f"a job that computes features {message}; use fewer --workers or --probe-images, then resume")
    return job, EdgeResult(job.digest, job.key.digest, status, message=message)


def why_gone(worker: WorkerHandle, error: RayError) -> str:
    """Why a worker is gone, in one line."""
    if worker.timed_out:
        return "timeout"
    if isinstance(error, RayOutOfMemoryError):
        return "killed because its node ran out of memory"
    return " ".join(str(error).split())[:200]
