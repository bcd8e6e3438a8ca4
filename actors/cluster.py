"""Starting Ray on this machine, or joining a cluster that may be joined."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from actors import health
from actors.authentication import JoinableCluster, check_joinable, refuse_open
from actors.local import LocalFolder, on_loopback
from actors.options import EngineOptions
from actors.token import keep_private
from seqsearch.core import stop
from seqsearch.core.errors import UserError

LOOK = "try again when this machine is less busy (see uptime, free -h, and df -h of its temporary folder)"
"""Advice for processes that start slowly or die during their start."""


NO_WAIT = {"prestart_worker_first_driver": False}
"""Or else the first driver of a Ray is let in once the first workers are up: it waits in compiled code, where neither a signal
nor a thread of Python reaches it, and for ever if one of them hangs. `actors.worker_set` waits for them, up to
``start_timeout``."""


def connect(address: str | None, workers: int, allow_unauthenticated: bool = False) -> bool:
    """Start Ray locally, or join the cluster at ``address`` (``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``).

    A cluster on other machines must ask for a token, unless ``allow_unauthenticated``.

    Returns:
        Whether this call has connected; a process that is connected already stays connected to its own Ray.

    Raises:
        UserError: there is no cluster at that address, or it must not or cannot be joined (see `check_joinable`), Ray does not
            start here, or this process is connected to another Ray.
    """
    import ray

    if ray.is_initialized():
        _check_same(address)
        return False
    with _own_sigterm(), stop.interruptible():
        _connect(address, workers, allow_unauthenticated)
    stop.check()
    health.mark_reachable()
    return True


def _check_same(address: str | None) -> None:
    """Raises UserError: this process is connected to another Ray than the one at the address."""
    import ray

    joined = ray.get_runtime_context().gcs_address
    if address not in (None, "auto", joined):
        raise UserError(
            f"this process is connected to the Ray at {joined}, not to {address}: leave --address out, or disconnect first "
            "(ray.shutdown())"
        )


def _connect(address: str | None, workers: int, allow_unauthenticated: bool) -> None:
    import ray
    from ray.exceptions import RayError

    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        try:
            keep_private(create=True)
            _start(workers, quiet)
        except UserError:
            raise
        except OSError as error:  # a token is written into the home folder
            raise UserError(
                f"Ray cannot start on this machine: {_line(error)}; or run without Ray: --workers 0"
            ) from None
        except Exception as error:  # it raises all kinds when a part of it dies, or is slow
            raise UserError(
                f"Ray could not start on this machine ({_line(error)}): {LOOK}, or run without Ray: --workers 0"
            ) from None
        return
    try:
        keep_private(create=False)
    except OSError as error:
        raise UserError(f"the token of Ray clusters cannot be made private: {_line(error)}") from None
    door = check_joinable(address, allow_unauthenticated)
    try:
        ray.init(address=address, **({} if address.startswith("ray://") else {"job_config": _job_config()}), **quiet)
    except (ConnectionError, ValueError, RuntimeError, RayError) as error:
        raise UserError(
            f"cannot join the Ray cluster at {door.where}: {_line(error)}; run on one of its nodes (docs/cluster.md), or without "
            "Ray: --workers 0 without --address"
        ) from None
    try:
        _check_joined(door, allow_unauthenticated)
    except UserError:
        ray.shutdown()
        raise


_started: list[LocalFolder] = []
"""The folder of the Ray that was started here."""


def _start(workers: int, quiet: dict[str, Any]) -> None:
    import ray

    folder = LocalFolder()
    try:
        with on_loopback(), folder.temporary_files():
            ray.init(
                "local",
                num_cpus=max(workers, os.cpu_count() or 1),
                include_dashboard=False,
                _temp_dir=folder.ray,
                _system_config=NO_WAIT,
                job_config=_job_config(),
                **quiet,
            )
    except BaseException:
        folder.close()
        raise
    _started.append(folder)


def _job_config() -> Any:
    """Workers look for modules where this process does: in the working directory only if it does, too.

    Ray would put it first in every worker, where a folder ``actors`` in it would be taken for ours. It does not for a job that
    brings its files along.
    """
    from ray.job_config import JobConfig

    script = os.path.dirname(os.path.realpath(sys.argv[0]))
    searched = {os.path.abspath(p) for p in sys.path}
    made = JobConfig(_py_driver_sys_path=[p for p in (script, os.getcwd()) if p in searched])
    made._runtime_env_has_working_dir = lambda: True
    return made


@contextmanager
def _own_sigterm() -> Iterator[Callable[[], object]]:
    """Ray takes over SIGTERM when it is started, and exits without a word: keep it from that.

    Its compiled part takes it over as well, to print a stack trace and abort, and leaves it to the system when Ray is shut down:
    it is taken back after the block, and where it is asked for in it.
    """
    from ray._private import utils

    here, handler = threading.current_thread() is threading.main_thread(), signal.getsignal(signal.SIGTERM)
    theirs, utils.set_sigterm_handler = utils.set_sigterm_handler, lambda _: None

    def take_back() -> None:
        if here and handler is not None:
            signal.signal(signal.SIGTERM, handler)

    try:
        yield take_back
    finally:
        utils.set_sigterm_handler = theirs
        take_back()


def _check_joined(door: JoinableCluster, allow_unauthenticated: bool) -> None:
    """Make sure that what was joined is what was admitted.

    Raises:
        UserError: it is another one of this machine, or the far end of a tunnel that begins on this machine.
    """
    import ray

    joined = ray.get_runtime_context().gcs_address
    if not door.where.startswith("ray://"):
        if joined != door.where:
            raise UserError(f"several Ray clusters run on this machine: name one of them, e.g. --address {door.where}")
    elif door.open:
        refuse_open(joined, allow_unauthenticated)


def _line(error: Exception) -> str:
    """A line of it; of a traceback that came from elsewhere, the last."""
    text = str(error).strip()
    return " ".join((text.splitlines()[-1] if "Traceback" in text else text).split())[:200].rstrip(".")


def disconnect() -> None:
    """Leave the cluster; a Ray that was started here stops. One that has died is not asked."""
    import ray

    try:
        if health.cause_of_death():
            health.abandon()
            return
        node = health.ray_node()
        with _own_sigterm() as take_back:
            if node is not None:  # it waits a second for its processes
                node.kill_all_processes = lambda end=node.kill_all_processes, **how: (take_back(), end(**how))
            ray.shutdown()
    finally:
        while _started:
            _started.pop().close()


def leave_dead(what: str, go_on: str = "") -> NoReturn:
    """End this process, which waits for a Ray that has died, with one line and exit code 2; ``go_on`` says what to do then."""
    health.abandon()
    while _started:
        _started.pop().close()
    os.write(2, f"\nseqsearch: {'; '.join(filter(None, (what, go_on)))}\n".encode())
    os._exit(2)


def fitting_workers(gpus_per_worker: float) -> int:
    """One worker for each CPU of the cluster; with GPUs, as many as its GPUs hold."""
    import ray

    return fitting(ray.cluster_resources(), gpus_per_worker)


def workers_here(workers: int | None, gpus_per_worker: float) -> int:
    """Called in a worker: of ``workers`` (None: as many as fit) at most so many share its node."""
    import ray

    here = ray.get_runtime_context().get_node_id()
    fit = next((fitting(n["Resources"], gpus_per_worker) for n in ray.nodes() if n["NodeID"] == here), 1)
    return min(fit, workers or fit)


def fitting(resources: Mapping[str, float], gpus_per_worker: float) -> int:
    """One worker for each CPU of these resources; with GPUs, as many as the GPUs hold; at least 1."""
    cpus = int(resources.get("CPU", 1))
    if gpus_per_worker > 0:
        cpus = min(cpus, int(resources.get("GPU", 0) / gpus_per_worker))
    return max(1, cpus)


def check_gpus(engine: EngineOptions) -> None:
    """
    Raises:
        UserError: workers want a GPU and this machine has too few; a cluster may still get nodes that have some.
    """
    import ray

    have = ray.cluster_resources().get("GPU", 0)
    if engine.address is None and engine.gpus > have:
        raise UserError(
            f"a worker wants {engine.gpus:g} of the GPUs and Ray sees {have:g} on this machine: lower --gpus-per-worker, or run "
            "on the CPU (--device cpu)"
        )


def alive_nodes() -> set[str]:
    """Ids of the nodes that Ray holds for alive; it takes some 15 s to notice that one was killed."""
    import ray

    return {n["NodeID"] for n in ray.nodes() if n["Alive"]}
