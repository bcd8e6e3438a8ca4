"""Execution options: device, workers and cluster.

None of them is a setting of the study itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

from seqsearch.core.errors import UserError
from seqsearch.core.limits import bounded
from seqsearch.core.settings import check_fields, setting
from seqsearch.core.units import LARGEST, LONGEST

PER_CPU = 32
"""Workers for each CPU of this machine, at most; each is a process of some 400 MB."""
SMALLEST_WORKER = 1 << 30
"""Bytes of ``worker_memory`` below which a worker cannot be sure to start."""
DeviceName = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class EngineOptions:
    """Checked when it is made. Each field has the help of its flag; sizes are in bytes, durations in seconds.

    Attributes:
        start_timeout: seconds without a single worker after which the run stops.
        session: see `seqsearch.states.access.StateAccess`.

    Raises:
        UserError: a value is out of bounds, or values contradict each other.
    """

    workers: int | None = setting(
        None,
        "Ray workers; 0: in this process.  [default: one per CPU or GPU share, also of nodes that join; of a run that is "
        "resumed as many as last]",
        group="first",
        minimum=0,
        maximum=100_000,
    )
    device: Literal["auto", "cpu", "cuda"] = setting(
        "auto",
        "Where methods compute: auto is a GPU if there is one. A run that is resumed, or that takes over results of another, "
        "keeps its device.",
        group="where",
    )
    gpus_per_worker: float | None = setting(
        None,
        "GPUs of a worker, e.g. 0.5 (two share one); its share of the memory, too; 0: the CPU.  [default: 1 on a GPU, or less "
        "where --workers are more than GPUs]",
        group="where",
        minimum=0,
        maximum=1024,
    )
    address: str | None = setting(
        None, "Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT.  [default: start Ray here]", group="where"
    )
    allow_unauthenticated: bool = setting(
        False,
        "Join a cluster on other machines even if it asks for no token. Whoever reaches its ports can then run code there as "
        "you do, read your data and change what this run finds.",
        group="where",
    )
    rollout_timeout: float | None = setting(
        None,
        "Give up a training, or an evaluation, that takes longer, e.g. 30m; at most 520w.  [default: never]",
        group="where",
        minimum=0,
        maximum=LONGEST,
    )
    worker_memory: int | None = setting(
        None,
        "Memory of a worker on a CPU, e.g. 8GB: a training that needs more is given up, a worker that leaks replaced.",
        group="where",
        minimum=0,
        maximum=LARGEST,
    )
    state_store: str = setting(
        "",
        "Model states on storage that nodes, and other runs, share: a folder, s3://..., gs://...  [default: RUN/states]",
        group="where",
    )
    state_cache: int = setting(
        8 << 30,
        "Bytes kept there: of more, those used least recently go, but none that the search still needs. At most 1048576TB.",
        group="where",
        minimum=1,
        maximum=LARGEST,
    )
    export: str = setting("", "Copy the finished run's files there.", group="output")
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


DEVICES: tuple[str, ...] = get_args(get_type_hints(EngineOptions)["device"])
"""``auto``: a GPU if there is one."""
