"""Opens one of the two evaluators: in this process, or a fleet of workers on Ray."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors import health
from actors.cluster import check_gpus, connect, disconnect, leave_dead
from actors.options import EngineOptions
from seqsearch.core.notices import notice
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.trials import InlineTrials, TrialRunner
from seqsearch.states.cache import StateCache
from seqsearch.states.shared import StateStore
from seqsearch.storage.remote import local
from seqsearch.training.cache_budget import cache_budget, free_memory
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

if TYPE_CHECKING:
    from actors.fleet import Fleet


class _Nowhere(io.StringIO):
    """Keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def connected(engine: EngineOptions, announced: str = "", go_on: str = "") -> Iterator[None]:
    """The Ray that workers need: a cluster, or one started here; ``announced`` says what it is joined for. One that this process
    is connected to already is used, and left as it is.

    Should it die while something waits for it that cannot be interrupted, this process ends; ``go_on`` says what to do then.

    Raises:
        UserError: no cluster at its address, or it refuses, or is refused; no GPU here.
    """
    if engine.workers == 0:
        yield
        return
    joining = "starting Ray ..." if engine.address is None else f"joining the Ray cluster at {engine.address} ..."
    notice(announced or joining)
    with contextlib.redirect_stdout(_Nowhere()):  # Ray prints there what becomes of its workers; the log says it, too
        ours = connect(engine.address, engine.workers or 0, engine.allow_unauthenticated)
        try:
            with health.watched(lambda what: leave_dead(what, go_on)):
                check_gpus(engine)
                yield
        finally:
            if ours:
                disconnect()


@contextmanager
def open_evaluator(
    world: World,
    engine: EngineOptions,
    events: Callable[[str, dict[str, Any]], None] = lambda _, __: None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[InlineEvaluator | Fleet]:
    """The evaluator that ``engine`` describes, inside `connected`; states go where it says.

    ``check`` raises `UserError` where the run is another process' by now: states are then left to that one.

    Raises:
        UserError: no worker can be placed, or states cannot be written where it says.
    """
    world, keeps = _stored(world, engine)
    if engine.workers == 0:
        with _inline(world, engine, keeps, check) as inline:
            yield inline
        return
    from actors.fleet import Fleet

    fleet = Fleet(world, engine, keeps=keeps, events=events, check=check)
    try:
        yield fleet
    finally:
        fleet.close()


@contextmanager
def open_trials(
    world: World,
    engine: EngineOptions,
    events: Callable[[str, dict[str, Any]], None] = lambda _, __: None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[TrialRunner]:
    """Who runs trials, as `open_evaluator`: this process, or Ray Tune.

    Raises:
        UserError: states cannot be written where ``engine`` says, nodes that share no storage.
    """
    world, keeps = _stored(world, engine)
    if engine.workers == 0:
        with _inline(world, engine, keeps, check) as inline:
            yield InlineTrials(inline)
        return
    from actors.tuning import TunedTrials

    trials = TunedTrials(world, engine, keeps=keeps, events=events, check=check)
    try:
        yield trials
    finally:
        trials.close()


def _stored(world: World, engine: EngineOptions) -> tuple[World, bool]:
    """The world with its states where ``engine`` says, and whether they stay there for other runs."""
    keeps = bool(engine.state_store) and not engine.remote_store
    if keeps:
        world = replace(world, states=str(local(engine.state_store, "--state-store").resolve()))
    return world, keeps


@contextmanager
def _inline(world: World, engine: EngineOptions, keeps: bool, check: Callable[[], None]) -> Iterator[InlineEvaluator]:
    store = StateStore(engine.state_store) if engine.remote_store else None
    caches = cache_budget()
    cache = StateCache(Path(world.states), caches.states, clears=not keeps, check=check)
    cache.disk.sweep_unfinished()
    sources = [store] if store else []
    trainer = Trainer(
        world, cache=cache, sources=sources, store=store, caches=caches, session=engine.session, memory=free_memory()
    )
    inline = InlineEvaluator(world, trainer)
    try:
        yield inline
    finally:
        inline.close()
        if store is not None:
            store.flush()
        if (keeps or store is not None) and cache.is_mine():
            (store or cache.disk).evict(engine.state_cache)
