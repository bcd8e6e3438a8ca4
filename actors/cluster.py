"""Starting Ray on this machine, or joining a cluster."""

from __future__ import annotations

import logging
import os
from typing import Any

from seqsearch.errors import UserError


def connect(address: str | None, workers: int) -> None:
    """Start Ray locally, or join the cluster at ``address`` (``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``).

    Raises:
        UserError: there is no cluster at that address.
    """
    import ray

    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        ray.init("local", num_cpus=max(workers, os.cpu_count() or 1), include_dashboard=False, **quiet)
        return
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        line = " ".join(str(error).split())[:200]
        raise UserError(
            f"no Ray cluster at {address!r}: {line}; leave --address out to start Ray on this machine"
        ) from None


def disconnect() -> None:
    """Leave the cluster; a Ray that was started here stops."""
    import ray

    ray.shutdown()


def fitting_workers(gpus_per_worker: float) -> int:
    """One worker for each CPU of the cluster; with GPUs, as many as its GPUs hold."""
    import ray

    have = ray.cluster_resources()
    cpus = int(have.get("CPU", 1))
    if gpus_per_worker > 0:
        cpus = min(cpus, int(have.get("GPU", 0) / gpus_per_worker))
    return max(1, cpus)


def alive_nodes() -> set[str]:
    """Ids of the nodes that Ray holds for alive; it takes some 15 s to notice that one was killed."""
    import ray

    return {n["NodeID"] for n in ray.nodes() if n["Alive"]}
