"""Where training happens: restore a parent state, learn one task, judge it. Knows no Ray; a Ray worker holds one of these."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from cachetools import LRUCache
from numpy.typing import NDArray

from seqsearch.core.errors import AccessError, UserError
from seqsearch.core.registry import load
from seqsearch.core.types import (
    Edge,
    EdgeResult,
    MethodSpec,
    Prefix,
    Probe,
    ProbeResult,
    Task,
    state_chain,
    state_digest,
)
from seqsearch.features.store import Shard, UnionFeatures
from seqsearch.methods.base import Additive, FitReport, Method, build_config, joined
from seqsearch.methods.data import Batch, TaskData
from seqsearch.states.blocks import State
from seqsearch.states.cache import StateCache
from seqsearch.states.transfer import Offer, StateSource, ways
from seqsearch.training.context import CACHE_BYTES, PoolSource, WorkerContext, task_data
from seqsearch.training.device import Device
from seqsearch.training.failures import Diverged, line_of, status_of
from seqsearch.training.world import World

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows
    from seqsearch.states.shared import StateStore

Notes = tuple[tuple[str, float], ...]
Features = NDArray[np.float32]


class Trainer:
    """Trains edges and answers probes, one at a time, for any method of a run.

    Args:
        world: what all processes of the run agree on.
        name: who computed, written into every result.
        cache: of states; by default in the world's folder.
        sources: where states that are not here may be brought from.
        store: where states are copied to.
        gpu_share: of the device's memory that it may use.
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
    ) -> None:
        self.world, self.name = world, name
        self._own = Device(world.device, gpu_share)
        self.device = self._own.torch
        self.cache = cache or StateCache(Path(world.states))
        self.sources, self.store = tuple(sources), store
        self.since: float | None = None
        """When the training, evaluation or probe under way began (`time.monotonic`)."""
        self._sources: dict[str, PoolSource] = {}
        self._features: LRUCache[tuple[str, int, str], Features] = LRUCache(
            CACHE_BYTES, getsizeof=lambda f: int(f.nbytes)
        )
        self._offers: Mapping[str, Offer] = {}
        self._notes: Notes = ()
        """Of the training last done."""

    # ------------------------------------------------------------------------------------------------ jobs

    @contextlib.contextmanager
    def having(self, offers: Mapping[str, Offer], alone: bool = False) -> Iterator[None]:
        """What a job may count on: known of its prefixes' states; whether it has the device for itself."""
        self._offers = offers
        try:
            with self._own.alone() if alone else contextlib.nullcontext():
                yield
        finally:
            self._offers, self.since = {}, None

    def kept_bytes(self, state: str) -> int:
        """Size of a state that is on the disk, its parent's blocks included; 0 if it is not."""
        manifest = self.cache.manifest(state)
        return manifest.size if manifest else 0

    def train(self, edge: Edge) -> EdgeResult:
        """Train and judge one edge. What goes wrong inside the method is in the result's status and message."""
        trained: list[str] = []
        self._notes, origin = (), ""
        try:
            start = time.perf_counter()
            if self.cache.where(edge.state) or any(s.may_have(edge.state, Offer()) for s in self.sources):
                origin = self._regain(edge.chain)  # another run has trained it
            if origin in ("", "trained"):
                origin = self._regain(edge.chain[:-1])
                if edge.part and edge.home is not edge:
                    self._regain([edge.part])
            method = self._state(
                edge.method, edge.seed, edge.replicate, edge.prefix, trained, keep=edge.keep, keep_parent=True
            )
            judged_at, self.since = time.perf_counter(), time.monotonic()
            correct, masked, counts = self._judge(method, edge)
            space = method.feature_space() or f"state:{edge.state}"
            origin = "trained" if edge.parent in trained else origin  # what lay there was damaged
            footprint = tuple(vars(method.memory_footprint()).items())
        except UserError:
            raise
        except (Exception, SystemExit) as error:  # whatever a method does wrong is a result: the driver decides
            return EdgeResult(
                edge.digest, edge.state, status_of(error), trained=tuple(trained), message=line_of(error), worker=self.name,
                origin=origin,
            )  # fmt: skip
        return EdgeResult(
            edge.digest, edge.state, "ok", correct, masked, counts, tuple(trained), space, footprint,
            train_seconds=judged_at - start, judge_seconds=time.perf_counter() - judged_at,
            peak_memory=self._own.peak_memory(), notes=self._notes, worker=self.name, origin=origin,
        )  # fmt: skip

    def probe(self, probe: Probe) -> ProbeResult:
        """Answer one question about a state."""
        from seqsearch.training.probes import answer

        start = time.perf_counter()
        trained: list[str] = []
        method: list[Method] = []

        def state() -> Method:
            if not method:
                self._regain(state_chain(probe.method, probe.seed, probe.replicate, probe.prefix))
                self.since = time.monotonic()
                method.append(self._state(probe.method, probe.seed, probe.replicate, probe.prefix, trained, keep=True))
            return method[0]

        def features(rows: Rows) -> Features:
            batch = Batch(rows, self.source(probe.method.backbone))
            return _checked_features(state().features(batch), len(rows))

        def scores(rows: Rows) -> torch.Tensor:
            batch = Batch(rows, self.source(probe.method.backbone))
            return checked_scores(state().predict(batch), len(rows), state().n_seen)

        try:
            stored = (
                probe.feature_space == self.source(probe.method.backbone).features.space
            )  # no need to keep them twice
            found = (lambda _, __, rows: features(rows)) if stored else self._memoised(probe.feature_space, features)
            values = answer(probe, self.world, found, scores)
        except UserError:
            raise
        except (Exception, SystemExit) as error:
            raise UserError(
                f"method {probe.method.label!r} failed in {'predict' if probe.kind == 'confusion' else 'features'}(): "
                f"{line_of(error)}; mend it, then resume"
            ) from error
        return ProbeResult(probe.digest, values, time.perf_counter() - start, tuple(trained), self.name)

    def extract(self, backbone: str, pool: int, shard: Shard) -> None:
        """Compute one shard of a frozen backbone's features of a pool (by number) unless it is there."""
        self.source(backbone).features.ensure(pool, shard)

    # ------------------------------------------------------------------------------------------------ states

    def _state(
        self, spec: MethodSpec, seed: int, replicate: int, prefix: Prefix, trained: list[str], *, keep: bool,
        keep_parent: bool = False,
    ) -> Method:  # fmt: skip
        """The method after ``prefix``: from RAM, from disk, or trained from its parent (recomputed if that is lost).

        A lost parent is kept again (``keep_parent``) where its other children will ask for it.
        It is always a fresh instance that was given the state, also right after training: whatever a method keeps outside its
        state is lost in every case alike, and cannot make results depend on which worker had trained what.
        """
        if not prefix:
            return self.fresh(spec, seed, replicate)
        digest = state_digest(spec, seed, replicate, prefix)
        state = self.cache.get(digest)
        if state is None:
            method = self._state(spec, seed, replicate, prefix[:-1], trained, keep=keep_parent)
            self.since = time.monotonic()
            self._notes = self._learned(method, Edge(spec, seed, replicate, prefix), trained)
            self.since = time.monotonic()
            parent = state_digest(spec, seed, replicate, prefix[:-1]) if len(prefix) > 1 else None
            state = self.cache.put(digest, learned(method), keep=keep, parent=parent)
            if keep and self.store is not None:
                self.store.push(self.cache.disk, digest)
        return self.restore(spec, seed, replicate, state)

    def _regain(self, chain: Sequence[str]) -> str:
        """Bring the last state of a chain of prefixes here if that is cheaper than to train it; where it is, or comes from."""
        here = next((i for i in range(len(chain), 0, -1) if self.cache.where(chain[i - 1])), 0)
        if not chain or here == len(chain):
            return self.cache.where(chain[-1]) or "" if chain else ""
        for position, source in ways(chain, here, self._offers, self.sources):
            came = source.fetch(chain[position], self._offers.get(chain[position], Offer()), self.cache.disk)
            if came and self.cache.get(chain[position]) is not None:
                return came if position == len(chain) - 1 else "trained"
        return "trained"

    def _learned(self, method: Method, edge: Edge, trained: list[str]) -> Notes:
        """Let a live method learn the last task of an edge, or add what was learned of it before; what it noted."""
        spec, task = edge.method, edge.prefix[-1]
        if not edge.part:
            notes = self.fit(method, spec, task, edge.seed, edge.replicate)
            trained.append(edge.state)
            return notes
        assert isinstance(method, Additive)
        part = self.cache.get(edge.part)
        if part is not None:
            return self.fit(method, spec, task, edge.seed, edge.replicate, lambda data: method.absorb(part, data))

        def learn(data: TaskData) -> FitReport:
            found, report = method.learn(data)
            if report.status != "ok":
                return report
            own = self.cache.put(edge.part, found, keep=True)
            if self.store is not None:
                self.store.push(self.cache.disk, edge.part)
            return joined(report, method.absorb(own, data))

        notes = self.fit(method, spec, task, edge.seed, edge.replicate, learn)
        trained.append(edge.home.state)
        return notes

    def fit(
        self, method: Method, spec: MethodSpec, task: Task, seed: int, replicate: int,
        learn: Callable[[TaskData], FitReport] | None = None,
    ) -> Notes:  # fmt: skip
        """Let a live method learn one task (by ``learn``, its own `fit_task` if None); what it noted.

        Raises:
            Diverged: it says so. Whatever it raises itself is passed on.
        """
        data = task_data(self.world, self.source(spec.backbone), task, method, seed, replicate)
        report = (learn or method.fit_task)(data)
        if getattr(report, "status", None) not in ("ok", "diverged"):
            raise TypeError("fit_task must return a FitReport")
        if report.status == "diverged":
            raise Diverged("training diverged (non-finite loss)")
        if strange := set(method.exemplars().tolist()) - data.readable:
            raise AccessError(f"exemplars() holds image {min(strange)}, which it never was given")
        method.n_seen += len(task.classes)
        method.n_tasks += 1
        last = {"loss": report.losses[-1]} if report.losses else {}
        return tuple((str(k), float(v)) for k, v in {**last, **report.notes}.items())

    def fresh(self, spec: MethodSpec, seed: int, replicate: int) -> Method:
        """A method that has seen nothing."""
        source, build = self.source(spec.backbone), load("method", spec.target)
        backbone = source.backbone
        context = WorkerContext(
            self.device, backbone.dim, source.features.space, 3 * backbone.view.size**2, seed, replicate,
            source.features.network,
        )  # fmt: skip
        method: Method = build(context, build_config(build, dict(spec.params), spec.backbone))
        return method

    def restore(self, spec: MethodSpec, seed: int, replicate: int, state: State) -> Method:
        """A fresh instance that is given a state as it comes from `learned`."""
        method = self.fresh(spec, seed, replicate)
        own = dict(state)
        method.n_seen, method.n_tasks = int(own.pop("_n_seen")), int(own.pop("_n_tasks"))
        method.load_state_dict(own)
        return method

    def source(self, backbone_name: str) -> PoolSource:
        """Pixels and frozen features for one backbone."""
        if backbone_name not in self._sources:
            backbone = self.world.backbone(backbone_name)
            features = UnionFeatures(Path(self.world.cache), self.world.images, backbone, self.device)
            self._sources[backbone_name] = PoolSource(self.world, backbone, features, self.device)
        return self._sources[backbone_name]

    # ------------------------------------------------------------------------------------------------ judging

    def _judge(self, method: Method, edge: Edge) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Correct, correct with scores masked to the task's own classes, and judged images, for each task ``[t]``."""
        correct, masked, counts, first = [], [], [], 0
        for task in edge.prefix:
            rows, positions = self.world.rows(task.classes, edge.judged)
            scores = checked_scores(
                method.predict(Batch(rows, self.source(edge.method.backbone))), len(rows), method.n_seen
            )
            labels = torch.from_numpy(positions)
            last = first + len(task.classes)
            correct.append(int((scores.argmax(1) == labels + first).sum()))
            masked.append(int((scores[:, first:last].argmax(1) == labels).sum()))
            counts.append(len(rows))
            first = last
        return tuple(correct), tuple(masked), tuple(counts)

    def _memoised(self, space: str, features: Callable[[Rows], Features]) -> Callable[[int, str, Rows], Features]:
        """Features by (class, part): a class that stands in many candidate tasks is looked at once."""

        def of_class(class_index: int, part: str, rows: Rows) -> Features:
            key = (space, class_index, part)
            found = self._features.get(key)
            if found is None:
                found = features(rows)
                with contextlib.suppress(ValueError):  # larger than all the room there is
                    self._features[key] = found
            return found

        return of_class


def learned(method: Method) -> State:
    """All that a method has learned, and how many classes and tasks that were."""
    return {**method.state_dict(), "_n_seen": method.n_seen, "_n_tasks": method.n_tasks}


def checked_scores(scores: Any, n: int, n_seen: int) -> torch.Tensor:
    if not isinstance(scores, torch.Tensor) or tuple(scores.shape) != (n, n_seen):
        shape = tuple(scores.shape) if hasattr(scores, "shape") else type(scores).__name__
        raise ValueError(f"predict returned {shape}, must be ({n}, {n_seen}): one column for each class seen, no other")
    if not bool(torch.isfinite(scores).all()):
        raise Diverged("scores are not finite")
    return scores.detach().cpu()


def _checked_features(features: Any, n: int) -> Features:
    if not isinstance(features, torch.Tensor) or features.ndim != 2 or len(features) != n:
        shape = tuple(features.shape) if hasattr(features, "shape") else type(features).__name__
        raise ValueError(f"features returned {shape}, must be ({n}, d)")
    if not bool(torch.isfinite(features).all()):
        raise ValueError("features are not finite")
    found: Features = features.detach().float().cpu().numpy()
    return found
