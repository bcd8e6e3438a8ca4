"""Execution options: device, workers and cluster.

None of them is a setting of the study itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

from seqsearch.core.errors import UserError
from seqsearch.core.limits import bounded
from seqsearch.core.settings import check_fields
from seqsearch.core.units import LARGEST, LONGEST

PER_CPU = 32
"""Workers for each CPU of this machine, at most; each is a process of some 400 MB."""
SMALLEST_WORKER = 1 << 30
"""Bytes of ``worker_memory`` below which a worker cannot be sure to start."""
DeviceName = Literal["cpu", "cuda"]
DeviceAsked = Literal["auto", "cpu", "cuda"]
"""``auto``: a GPU if there is one."""
DEVICES: tuple[DeviceAsked, ...] = get_args(DeviceAsked)


@dataclass(frozen=True)
class EngineOptions:
    """Checked when it is made.

    Attributes:
        workers: Ray workers; 0: in this process; None: one for each CPU of the cluster (or for each share of a GPU), also of
            nodes that join later.
        device: where methods compute; `actors.devices` decides what ``auto`` is before anything is computed.
        gpus_per_worker: share of a GPU, its memory included; 0: the CPU; None: 1 on a GPU.
        address: of the Ray cluster; None: Ray is started here.
        allow_unauthenticated: join a remote cluster that lets everybody in.
        rollout_timeout: seconds that one training, evaluation or probe may take; None: for ever.
        worker_memory: bytes that a worker on a CPU may allocate; None: no limit.
        state_store: folder or URL of states that all nodes, and other runs, share; empty: the run folder.
        state_cache: bytes of states in ``state_store`` beyond which those that were used least recently are removed.
        export: folder or URL that the finished run's files are copied to; empty: nowhere.
        start_timeout: seconds without a single worker after which the run stops.
        session: see `seqsearch.states.access.StateAccess`.

    Raises:
        UserError: a value is out of bounds, or values contradict each other.
    """

    workers: int | None = bounded(None, 0, 100_000)
    device: DeviceAsked = "auto"
    gpus_per_worker: float | None = bounded(None, 0, 1024)
    address: str | None = None
    allow_unauthenticated: bool = False
    rollout_timeout: float | None = bounded(None, 0, LONGEST)
    worker_memory: int | None = bounded(None, 0, LARGEST)
    state_store: str = ""
    state_cache: int = bounded(8 << 30, 1, LARGEST)
    export: str = ""
    start_timeout: float = bounded(120.0, 0, LONGEST)
    session: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        most = PER_CPU * (os.cpu_count() or 1)
        if self.address is None and (self.workers or 0) > most:
            raise UserError(
                f"--workers {self.workers}: at most {most} start on this machine ({PER_CPU} per CPU); on a cluster, name its "
                "--address"
            )
        if (share := self.gpus_per_worker or 0.0) > 1 and share != int(share):
            raise UserError(f"--gpus-per-worker {share:g}: above 1 it must be a whole number")
        if self.gpus_per_worker is not None and self.device == ("cuda" if share == 0 else "cpu"):
            raise UserError(
                f"--device {self.device} and --gpus-per-worker {share:g} contradict each other: leave one of them out"
            )
        if self.workers == 0 and self.address:
            raise UserError("--workers 0 runs in this process and --address on a cluster: give one of them")
        if self.workers == 0 and self.rollout_timeout is not None:
            raise UserError("--rollout-timeout needs a worker that can be stopped: leave --workers 0 out")
        if self.workers == 0 and self.worker_memory is not None:
            raise UserError("--worker-memory needs a worker that can be replaced: leave --workers 0 out")
        if self.worker_memory is not None and self.worker_memory < SMALLEST_WORKER:
            raise UserError(
                f"--worker-memory {self.worker_memory / 1e6:.0f}MB: less than a worker needs to begin with; give it "
                f"{SMALLEST_WORKER / 1e6:.0f}MB or more"
            )
        if self.asked == "cuda" and self.worker_memory is not None:
            raise UserError(
                "--worker-memory is for workers on CPUs; on a GPU, --gpus-per-worker bounds a worker's share: leave it out, or "
                "add --device cpu"
            )

    @property
    def asked(self) -> DeviceName | None:
        """The device that is named, or that a share of a GPU stands for; None: it is to be found."""
        if self.device != "auto":
            return self.device
        if self.gpus_per_worker is None:
            return None
        return "cuda" if self.gpus_per_worker > 0 else "cpu"

    @property
    def gpus(self) -> float:
        """The share of a GPU that a worker gets; 0 on the CPU."""
        if self.asked != "cuda":
            return 0.0
        return 1.0 if self.gpus_per_worker is None else self.gpus_per_worker

    @property
    def remote_store(self) -> bool:
        """The store is no folder that this machine sees."""
        return "://" in self.state_store
