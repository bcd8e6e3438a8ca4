"""Where training happens: restore a parent state, let the scenario learn and evaluate, keep what was learned. Knows no Ray."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import LRUCache

from seqsearch.core import deadline
from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult, ProbeResult
from seqsearch.core.registry import load
from seqsearch.core.types import Edge, Probe, StateKey
from seqsearch.features.store import Shard, UnionFeatures
from seqsearch.methods.base import Additive, FitReport, Method, joined
from seqsearch.methods.config import build_config
from seqsearch.methods.spec import build_of
from seqsearch.states.access import StateAccess
from seqsearch.states.blocks import State
from seqsearch.states.cache import StateCache
from seqsearch.states.transfer import Offer, StateSource
from seqsearch.training.cache_budget import CacheBudget, cache_budget
from seqsearch.training.checkpoints import Checkpoints
from seqsearch.training.command.edge import run_command
from seqsearch.training.context import PoolSource, WorkerContext
from seqsearch.training.device import Device
from seqsearch.training.failures import line_of, status_of, traceback_of
from seqsearch.training.guard import Guard
from seqsearch.training.probes import Features, StateView, answer
from seqsearch.training.process import seed_generators
from seqsearch.training.scenario import COST, Notes, Scenario, cost_of, learned, sizes_of
from seqsearch.training.world import World

if TYPE_CHECKING:
    from seqsearch.methods.data import TaskData
    from seqsearch.states.shared import StateStore


class Trainer:
    """Trains edges and answers probes, one at a time, for any method of a run.

    Args:
        world: what all processes of the run agree on.
        name: who computed, written into every result.
        cache: of states; by default in the world's folder.
        sources: where states that are not here may be brought from.
        store: where states are copied to.
        session: of the run; see `StateAccess`.
        gpu_share: of the device's memory that it may use.
        caches: how large they may be; by default as if it were alone here.
    """

    def __init__(
        self,
        world: World,
        name: str = "inline",
        cache: StateCache | None = None,
        *,
        sources: Sequence[StateSource] = (),
        store: StateStore | None = None,
        gpu_share: float = 1.0,
        memory: int | None = None,
        caches: CacheBudget | None = None,
        session: str = "",
    ) -> None:
        self.world, self.name, self._budgets = world, name, caches or cache_budget()
        self._own = Device(world.device, gpu_share, memory)
        self.device = self._own.torch
        self.states = StateAccess(
            cache or StateCache(Path(world.states), self._budgets.states), sources, store, session
        )
        self.scenario: Scenario = load("scenario", world.scenario)(world, self.source)
        self.since: float | None = None
        """When the training, evaluation or probe under way began (`time.monotonic`)."""
        self._sources: dict[str, PoolSource] = {}
        self._features: LRUCache[tuple[str, int, str], Features] = LRUCache(
            self._budgets.probes, getsizeof=lambda f: int(f.nbytes)
        )
        self.guard = Guard(self._sources.values, self._features.clear)
        self._notes: Notes = ()  # of the training last done

    # ------------------------------------------------------------------------------------------------ jobs

    @contextlib.contextmanager
    def context(self, offers: Mapping[str, Offer], alone: bool = False) -> Iterator[None]:
        """Set the conditions of a job: the known offers of its prefixes' states, and whether it has the device for
        itself."""
        self.states.offers = offers
        try:
            with self._own.alone() if alone else contextlib.nullcontext():
                yield
        finally:
            self.states.offers, self.since = {}, None

    def kept_bytes(self, state: str) -> int:
        """Size of a state that is on the disk, its parent's blocks included; 0 if it is not."""
        return manifest.size if (manifest := self.states.cache.manifest(state)) else 0

    def train(self, edge: Edge) -> EdgeResult:
        """Train and evaluate one edge. What goes wrong inside the method is in the result's status and message."""
        key, trained = edge.key, list[str]()
        if key.method.command:
            self.since = time.monotonic()
            return run_command(self.world, edge, self.name, lambda: self.source(key.method.backbone).features.space)
        self._notes, self.states.earlier, origin = (), (), ""
        try:
            start = time.perf_counter()
            origin = self.states.prepare(key)
            with self._own.limited(), self.guard.job(key.method.target):
                method = self.state(key, trained, keep=edge.keep, keep_parent=True)
                evaluated_at, self.since = time.perf_counter(), time.monotonic()
                evaluated = self.scenario.evaluate(method, key, edge.judged)
                counters = tuple((str(n), float(v)) for n, v in method.counters().items())
                space = method.feature_space() or f"state:{key.digest}"
                footprint = sizes_of(method, self.source(key.method.backbone).parameter_bytes)
            origin = "trained" if key.parent.digest in trained else origin  # what lay there was damaged
        except UserError:
            raise
        except BaseException as error:  # whatever a method does wrong is a result: the driver decides
            if ends_session(error):
                raise
            return EdgeResult(
                edge.digest,
                key.digest,
                status_of(error),
                trained=tuple(trained),
                message=line_of(error, key.method.target),
                worker=self.name,
                origin=origin,
                traceback=traceback_of(error),
            )
        return EdgeResult(
            edge.digest,
            key.digest,
            "ok",
            evaluated.counts,
            evaluated.classifiers,
            counters,
            tuple(trained),
            space,
            footprint,
            train_seconds=evaluated_at - start,
            judge_seconds=time.perf_counter() - evaluated_at,
            peak_memory=self._own.peak_memory(),
            notes=self._notes,
            worker=self.name,
            origin=origin,
            earlier=self.states.earlier,
        )

    def probe(self, probe: Probe) -> ProbeResult:
        """Answer one question about a state."""
        start, trained, self.states.earlier = time.perf_counter(), list[str](), ()
        source, seed = self.source(probe.key.method.backbone), partial(seed_generators, probe.key, "probe")

        def state() -> Method:
            learns = probe.feature_space != source.features.space  # else what was learned has no part in the answer
            if learns:
                self.states.bring(probe.key.chain)
            self.since = time.monotonic()
            return self.state(probe.key, trained, keep=True) if learns else self.fresh(probe.key)

        view = StateView(state, source, probe.feature_space, self._features, seed)
        try:
            with self._own.limited(), self.guard.job(probe.key.method.target):
                values = answer(probe, self.world, view)
        except UserError:
            raise
        except BaseException as error:
            if ends_session(error):
                raise
            raise UserError(
                f"method {probe.key.method.label!r} failed in {'predict' if probe.kind == 'confusion' else 'features'}(): "
                f"{line_of(error, probe.key.method.target)}; mend it, then resume"
            ) from error
        spent, earlier = time.perf_counter() - start, self.states.earlier
        return ProbeResult(probe.digest, values, spent, tuple(trained), self.name, earlier)

    def extract(self, backbone: str, pool: int, shard: Shard) -> None:
        """Compute one shard of a frozen backbone's features of a pool (by number) unless it is there.

        Raises:
            UserError: there is too little memory.
        """
        with _fits(backbone), self._own.limited():
            self.source(backbone).features.ensure(pool, shard)

    # ------------------------------------------------------------------------------------------------ states

    def state(self, key: StateKey, trained: list[str], *, keep: bool, keep_parent: bool = False) -> Method:
        """The method of a key: from RAM, from disk, or trained from its parent (recomputed if that is lost).

        A lost parent is kept again (``keep_parent``) where its other children will ask for it; ``trained`` gets the states that
        had to be trained. It is always a fresh instance that was given the state, also right after training: whatever a method
        keeps outside its state is lost in every case alike, and cannot make results depend on which worker had trained what.
        """
        if not key.prefix or key.method.command:
            seed_generators(key, "make")
            return self.fresh(key)
        state = self.states.get(key.digest, key.home.digest if key.part else None)
        if state is None:
            start = key.parent if self.scenario.stepwise else key.after(0)
            method = self.state(start, trained, keep=keep_parent)
            self.since = time.monotonic()
            self._notes = self._learned(method, key, trained)
            self.since = time.monotonic()
            parent, found = start.digest if start.prefix else None, learned(method, self._notes)
            _check(self.guard)
            state = self.states.put(key.digest, found, keep=keep, parent=parent)
            self._notes += self.scenario.representation_drift(method, key)
        else:
            self._notes = cost_of(state)
        seed_generators(key.after(0), "make")
        return self.restore(key, state)

    def fresh(self, key: StateKey) -> Method:
        """The method of a key, having seen nothing."""
        spec = key.method
        source, build = self.source(spec.backbone), build_of(self.scenario.learns.kind, spec.target)
        source.asker = spec.digest
        context = WorkerContext(source, key.seed, key.replicate, spec.target)
        return self.scenario.made(build, context, build_config(build, dict(spec.params), spec.backbone))

    def restore(self, key: StateKey, state: State) -> Method:
        """A fresh instance that is given a state as it comes from `learned`."""
        method = self.fresh(key)
        own = dict(state)
        method.n_seen, method.n_tasks = int(own.pop("_n_seen")), int(own.pop("_n_tasks"))
        own.pop(COST, None)
        method.load_state_dict(own)
        return method

    def source(self, backbone_name: str) -> PoolSource:
        """Pixels and frozen features for one backbone."""
        if backbone_name not in self._sources:
            backbone = self.world.backbone(backbone_name)
            features = UnionFeatures(Path(self.world.cache), self.world.images, backbone, self.device)
            features.network.check = partial(self.guard.check, between_calls=False)
            self._sources[backbone_name] = PoolSource(self.world, backbone, features, self.device, self._budgets)
        return self._sources[backbone_name]

    def _learned(self, method: Method, key: StateKey, trained: list[str]) -> Notes:
        """Let a live method learn the last experience of a key, or add what was learned of it before; what it noted."""
        seed_generators(key.home, "learn")
        if not key.part:
            notes = self.scenario.learn(method, key, Checkpoints(self.world, key).training(method))
            trained.append(key.digest)
            return notes
        assert isinstance(method, Additive)
        part = self.states.get(key.part, key.home.digest)
        if part is not None:
            return self.scenario.learn(method, key, lambda data: method.absorb(part, data))

        def learn(data: TaskData) -> FitReport:
            found, report = method.learn(data)
            if report.status != "ok":
                return report
            _check(self.guard)
            own = self.states.put(key.part, found, keep=True)
            return joined(report, method.absorb(own, data))

        notes = self.scenario.learn(method, key, learn)
        trained.append(key.home.digest)
        return notes


@contextlib.contextmanager
def _fits(backbone: str) -> Iterator[None]:
    """Raises UserError: the features of a backbone need more memory than there is."""
    try:
        yield
    except Exception as error:
        if status_of(error) != "oom":
            raise
        raise UserError(
            f"backbone {backbone!r}: its features need more memory than a worker may have: give fewer --workers, or more memory, "
            "then resume"
        ) from error


def _check(guard: Guard) -> None:
    """Before a state is stored: no method has swallowed what ends the session, and what all jobs share is as it was."""
    deadline.check()
    guard.check()
