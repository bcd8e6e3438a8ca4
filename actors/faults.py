"""Failure handling: finds the cause of a worker's death, and decides whether its job is tried again."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError as RayOutOfMemoryError
from ray.exceptions import RayError, RayTaskError

from actors.cluster import LOOK, alive_nodes
from actors.options import EngineOptions
from actors.worker import Call
from actors.worker_handle import WorkerHandle
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import Job, JobResult

MAX_RETRIES = 2
"""Times a job is tried again after the worker under it died. Deaths of whole nodes are nobody's fault and do not count."""
KILLED = f"killed its worker {MAX_RETRIES + 1} times (a crash in compiled code, or the system's out-of-memory killer)"
"""Said of a job that is not tried again."""
MAX_DEATHS = 10
"""Times in all, whoever's fault."""
SETTLE_SECONDS = 15.0
"""Ray says of a killed node that it is alive for so long."""
FAILED_STARTS = 2
"""Times in a row, for each worker and twice more, that one may die while it starts."""


class Starts:
    """Workers that die before they have begun anything: so many in a row are no accident."""

    def __init__(self, engine: EngineOptions) -> None:
        self._engine, self._failed = engine, 0

    def succeeded(self) -> None:
        """One has begun."""
        self._failed = 0

    def failed(self, workers: int, error: object) -> None:
        """One of ``workers`` has died before that, of ``error``.

        Raises:
            UserError: so have too many before it.
        """
        self._failed += 1
        if self._failed > FAILED_STARTS * (workers + 1):
            raise UserError(f"workers die while they start: {_why(error)}{without_ray(self._engine)}") from None


def _why(error: object) -> str:
    """In one line: what a worker raised while it was made, without its traceback, or what Ray says."""
    lines = str(error).strip().splitlines()
    said = lines[-1:] if getattr(error, "actor_init_failed", False) else lines
    return " ".join(" ".join(said).split())[:300].rstrip(".")


def without_ray(engine: EngineOptions) -> str:
    """Return the advice to run without Ray, if Ray was started here; empty if the run joined a cluster."""
    return "" if engine.address else f"; {LOOK}, or run without Ray: --workers 0"


def is_poison(deaths: Sequence[str]) -> bool:
    """A job killed too many processes, not counting those whose whole node has gone. It may wait for Ray to say that one has.

    Args:
        deaths: the node of each process that died under it; empty where that is not known.
    """
    here, until = ray.get_runtime_context().get_node_id(), time.monotonic() + SETTLE_SECONDS
    while (found := blamed(deaths, alive_nodes() if len(deaths) > MAX_RETRIES else set(), here)) is None:
        if time.monotonic() > until:
            return True
        time.sleep(0.5)
    return found


def blamed(deaths: Sequence[str], alive: Collection[str], here: str) -> bool | None:
    """Whether a job is to blame for these deaths, by the nodes that Ray holds for ``alive``.

    None if that is to be asked again: all but ``here`` may have died without Ray's knowing yet.
    """
    if len(deaths) <= MAX_RETRIES:
        return False
    if sum(node in alive for node in deaths) <= MAX_RETRIES:
        return len(deaths) > MAX_DEATHS
    return True if set(deaths) <= {here, ""} else None


def given_up(job: Any, status: Any, engine: EngineOptions) -> tuple[Job, JobResult]:
    """The result of a job that hangs, or killed every worker it was given to.

    Raises:
        UserError: it was not a training, so that there is no result to say it in.
    """
    message = KILLED
    if status == "timeout":
        message = f"took longer than --rollout-timeout {engine.rollout_timeout:g} s"
    if isinstance(job, Call):
        raise UserError(f"{job.function.__name__} {message}; use fewer --workers, then resume")
    if not isinstance(job, Edge):
        raise UserError(f"a job that computes features {message}; use fewer --workers or --probe-images, then resume")
    return job, EdgeResult(job.digest, job.key.digest, status, message=message)


def cause_of(error: RayTaskError) -> Exception:
    """The exception that a worker raised."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else error


def why_gone(worker: WorkerHandle, error: RayError) -> str:
    """Why a worker is gone, in one line."""
    if worker.timed_out:
        return "timeout"
    if isinstance(error, RayOutOfMemoryError):
        return "killed because its node ran out of memory"
    return " ".join(str(error).split())[:200]
