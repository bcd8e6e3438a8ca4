"""The Ray actor that holds live states: a trainer behind a remote handle."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import ray

from actors.node import NodeFolder, node_folder, part_of_memory
from actors.options import EngineOptions
from seqsearch.core.installation import check_together
from seqsearch.core.memory import limit_memory, resident_memory
from seqsearch.core.types import Edge, Probe
from seqsearch.states.packs import Files
from seqsearch.states.transfer import Offer, StateSource
from seqsearch.training.world import World

if TYPE_CHECKING:
    from seqsearch.features.store import Shard

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Setup:
    """Parameters of a worker.

    Attributes:
        token: name of the run's folder of states on nodes that do not see the driver's folder.
        keeps: states stay on the disk for other runs when nothing extends them.
        store: URL of states that all nodes share, or empty.
        gpus: share of a GPU whose memory the worker may use; 0: it runs on the CPU.
        memory: bytes it may allocate on the CPU; None: no limit.
        workers: number of workers; None: as many as fit the nodes.
        trainer: function that makes the trainer; None: the real one.
        session: see `EngineOptions`.
    """

    world: World
    token: str
    keeps: bool = False
    store: str = ""
    gpus: float = 0.0
    memory: int | None = None
    workers: int | None = None
    trainer: Callable[[World, str], Any] | None = None
    session: str = ""


def setup_of(
    world: World, token: str, engine: EngineOptions, keeps: bool, trainer: Callable[[World, str], Any] | None = None
) -> Setup:
    """Return the parameters of the workers that ``engine`` describes."""
    return Setup(
        world,
        token,
        keeps,
        engine.state_store if engine.remote_store else "",
        engine.gpus,
        engine.worker_memory,
        engine.workers,
        trainer,
        engine.session,
    )


@dataclass(frozen=True)
class Hello:
    """Who a worker is: where it runs, the device whose memory it shares with others, the folder of its states."""

    pid: int
    node: str
    device: str
    folder: str


@dataclass(frozen=True)
class Reply:
    """Answer to one call: the result, the seconds it took, the size of the state it kept, and the bytes in use after it.

    ``changed``: what its method changed in the state that jobs share; if not empty, the worker is replaced.
    """

    result: Any
    seconds: float
    size: int = 0
    resident: int = 0
    changed: str = ""


def _control(method: Method) -> Method:
    """Answered beside a running job, in a thread of its own."""
    marked: Method = ray.method(concurrency_group="control")(method)
    return marked


@dataclass(frozen=True, eq=False)
class Call:
    """A function to be called on a worker, beside the search."""

    function: Callable[[Any], Any]
    argument: Any


class Worker:
    """One job at a time. It is never restarted by Ray: a restarted actor has silently lost its states; the fleet replaces it."""

    def __init__(self, setup: Setup, name: str) -> None:
        self._pid, self._setup = os.getpid(), setup
        self._since: float | None = None
        states = Path(setup.world.states)  # what the user named may be a link here, the folder of a run may not
        self._folder: NodeFolder = node_folder(states.resolve() if setup.keeps else states, setup.token)
        if setup.trainer is not None:
            self._trainer = setup.trainer(setup.world, name)
        else:
            self._trainer = trainer_of(setup, name, self._folder)

    @_control
    def hello(self) -> Hello:
        """Who it is; answers when it is made, also while a job runs.

        Raises:
            UserError: this node finds packages of ours in several installations.
        """
        check_together()
        node = ray.get_runtime_context().get_node_id()
        gpus = ",".join(map(str, ray.get_gpu_ids())) if self._setup.gpus > 0 else "cpu"
        return Hello(self._pid, node, f"{node}/{gpus}", self._folder.key or node)

    def run(
        self, job: Edge | Probe | Call | tuple[str, int, Shard], offers: Mapping[str, Offer], alone: bool = False
    ) -> Reply:
        """Do one job. A tuple names a shard of frozen features to be computed; ``alone``: the device is its own for now."""
        start = time.perf_counter()
        with self._trainer.context(offers, alone):
            result: Any = None
            if isinstance(job, Edge):
                result = self._trainer.train(job)
            elif isinstance(job, Probe):
                result = self._trainer.probe(job)
            elif isinstance(job, Call):
                result = job.function(job.argument)
            else:
                self._trainer.extract(*job)
        if os.getpid() != self._pid:  # a method forked, and its child came back: there must be one answer
            os._exit(1)
        size = self._trainer.kept_bytes(job.key.digest) if isinstance(job, Edge) else 0
        return Reply(result, time.perf_counter() - start, size, resident_memory(), self._trainer.guard.last_changes)

    @_control
    def seconds_in_job(self) -> float:
        """Seconds since the training, evaluation or probe under way began; 0 between jobs."""
        since: float | None = self._trainer.since
        return time.monotonic() - since if since is not None else 0.0

    @_control
    def read_state(self, digest: str, have: Iterable[str]) -> Files | None:
        """A state for another node, without the packs that it has; None if it is not on this node's disk."""
        files: Files | None = self._trainer.states.cache.disk.files(digest, set(have))
        return files

    @_control
    def drop(self, states: list[str]) -> None:
        """Forget states that nothing will extend."""
        self._trainer.states.cache.drop(states)

    @_control
    def leave(self) -> None:
        """The run is over: nothing stays on this node's own disk."""
        self._folder.remove()


WorkerActor: Any = ray.remote(max_restarts=0, max_task_retries=0, concurrency_groups={"control": 1})(Worker)


def trainer_of(setup: Setup, name: str, folder: NodeFolder) -> Any:
    from actors.cluster import workers_here
    from actors.peers import Peers
    from seqsearch.states.cache import StateCache
    from seqsearch.states.shared import StateStore
    from seqsearch.training.cache_budget import cache_budget
    from seqsearch.training.device import pin_threads
    from seqsearch.training.trainer import Trainer

    pin_threads()
    here = workers_here(setup.workers, setup.gpus)
    if setup.memory is not None and setup.gpus == 0:  # the CUDA driver reserves more than it uses
        limit_memory(setup.memory)
    caches = cache_budget(here, setup.memory)
    cache = StateCache(folder.path, caches.states, clears=folder.own and not setup.keeps)
    store = StateStore(setup.store) if setup.store else None
    sources: list[StateSource] = [*([store] if store else []), Peers()]
    return Trainer(
        setup.world,
        name,
        cache,
        sources=sources,
        store=store,
        gpu_share=setup.gpus,
        memory=part_of_memory(here) if setup.memory is None else None,
        caches=caches,
        session=setup.session,
    )
