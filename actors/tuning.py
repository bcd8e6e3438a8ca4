"""Trials on Ray Tune: Tune places them, bounds how many run, and starts those again that were killed.

A trial runs in a process of its own with the workbench of a worker, reports every edge as soon as it is there, and goes on when
the driver has put it down. It starts no actor. `Progress` says what a trial had done before it was killed. Tune's own
files stay in memory, and nothing is read from them: the journal of the run is what a resumed run begins with.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import ray
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import FSSpecHandler, PyFileSystem
from ray import tune
from ray.exceptions import RayError
from ray.tune.callback import Callback
from ray.tune.error import TuneError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors import health
from actors.cluster import alive_nodes, fitting_workers
from actors.faults import MAX_DEATHS, MAX_RETRIES, Starts, given_up
from actors.options import EngineOptions
from actors.quiet import quiet
from actors.run_states import RunStates
from actors.shards import extracted
from actors.trial import REFUSED, RESULT, Progress, Work, run_trial
from actors.worker import setup_of
from seqsearch.core import no_trackers
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import EngineDied, UserError
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Rollout
from seqsearch.engine.evaluator import Ledger
from seqsearch.engine.search import Counts
from seqsearch.engine.trials import Observe, Trial, known_before, next_edge, passed, place, trouble
from seqsearch.features.store import Shard
from seqsearch.training.world import World


class TunedTrials:
    """A `seqsearch.engine.trials.TrialRunner` on Ray Tune, on a Ray that is there.

    Args:
        keeps: states stay on the disk when nothing extends them, for other runs.
        events: called with what happens to trials, for the log.
        check: raises `UserError` where the run is another process' by now.

    Raises:
        UserError: nodes that share no storage, states that cannot be written.
    """

    def __init__(
        self,
        world: World,
        engine: EngineOptions,
        *,
        keeps: bool,
        events: Callable[[str, dict[str, Any]], None],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        if len(alive_nodes()) > 1 and not engine.state_store:
            raise UserError(
                "trials on several nodes share what they have learned through --state-store: name a folder that all of them "
                "see, or a URL"
            )
        self.workers = engine.workers or fitting_workers(engine.gpus)
        self._engine, self._events, self._check = engine, events, check
        token = uuid.uuid4().hex
        self._setup = setup_of(world, token, engine, keeps)
        self._states = RunStates(
            Path(world.states), token, engine, keeps=keeps, events=events, needed=lambda: self._needed, check=check
        )
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)  # others may die
        self._progress: Any = ray.remote(num_cpus=0, scheduling_strategy=here)(Progress).remote()
        self._running, self._rounds, self._begun, self._starts = 0, 0, 0, Starts(engine)
        self._needed: set[str] = set()
        self._ends: dict[str, Rollout] = {}
        """Rollouts under way, by the state that they lead to."""
        self._busy, self._wall = 0.0, 0.0

    def run(self, trials: Sequence[Trial], ledger: Ledger, observe: Observe, deadline: Deadline) -> None:
        """See `seqsearch.engine.trials.TrialRunner.run`."""
        todo = [t for t in trials if next_edge(t, ledger) is not None]
        if not todo:
            return
        for trial in todo:
            self._progress.add.remote(trial.name, *known_before(trial, ledger))
        self._needed = {digest for t in todo for r in t.rollouts for digest in r.key.chain}
        self._ends = {r.key.digest: r for t in todo for r in t.rollouts}
        why = ""
        for _ in range(MAX_RETRIES + 1):
            left = [t for t in todo if next_edge(t, ledger) is not None]
            if not left or not (why := self._attempted(left, ledger, observe, deadline)):
                return
            self.event("tune-ended", why=why)
        raise EngineDied(f"Ray Tune ended before its trials did{f' ({why})' if why else ''}")

    def _attempted(self, trials: Sequence[Trial], ledger: Ledger, observe: Observe, deadline: Deadline) -> str:
        """Run trials; why Tune ended before they did, empty if it did not.

        Raises:
            EngineDied: Ray has died.
        """
        listener, why = _Listener(self, trials, ledger, observe), "it says nothing"
        begun = time.monotonic()
        try:
            with deadline.interrupting():
                self._fit(trials, listener)
        except (RayError, TuneError) as error:  # it has let through that Ray killed a trial for its memory
            health.check()
            why = " ".join(str(error).split())[:200] or type(error).__name__
        finally:
            self._wall += time.monotonic() - begun
        if listener.refused:
            raise UserError(listener.refused)
        for number in listener.lost:
            if edge := next_edge(trials[number], ledger):
                ledger.add(given_up(edge, "failed", self._engine)[1])
        return why if any(next_edge(t, ledger) is not None for t in trials) else ""

    def _fit(self, trials: Sequence[Trial], listener: _Listener) -> None:
        self._rounds += 1
        gpus = {"gpu": self._engine.gpus} if self._engine.gpus > 0 else {}
        work = Work(self._setup, self._engine, self._progress, tuple(trials))
        trainable = tune.with_resources(tune.with_parameters(run_trial, work=work), {"cpu": 1, **gpus})
        with quiet():
            no_trackers.install()
            tuner = tune.Tuner(
                trainable,
                param_space={"number": tune.grid_search(list(range(len(trials))))},
                tune_config=tune.TuneConfig(
                    max_concurrent_trials=self._engine.workers,
                    reuse_actors=True,
                    trial_dirname_creator=lambda t: f"{t.config['number']:05d}",
                ),
                run_config=tune.RunConfig(
                    name=f"{self._setup.token[:8]}-{self._rounds}",  # new: nothing lies there
                    storage_path="tune",
                    storage_filesystem=PyFileSystem(FSSpecHandler(MemoryFileSystem())),  # nobody reads Tune's own files
                    callbacks=[listener],
                    stop=listener.over,
                    failure_config=tune.FailureConfig(max_failures=_most_deaths(trials)),
                    verbose=0,
                ),
            )
            with health.interrupting():
                tuner.fit()

    def took(self, trial: str, result: EdgeResult) -> None:
        """A result has been put down."""
        self._busy += result.train_seconds + result.judge_seconds
        ray.get(self._progress.add.remote(trial, result))
        if result.state in self._ends:
            gone = passed(self._ends.pop(result.state))
            self._needed -= gone
            self.drop(gone)
        self._states.free_space()

    def began(self, running: int) -> None:
        """So many trials run now."""
        self._running = running

    def event(self, name: str, **fields: Any) -> None:
        """Something that happened to a trial."""
        self._events(name, fields)

    def restarted(self, trial: str) -> None:
        """The process of a trial has died, and another is to go on with it.

        Raises:
            UserError: one after the other died, and none of them had begun a training.
        """
        self.event("trial-restarted", trial=trial)
        if (begun := ray.get(self._progress.begun.remote())) > self._begun:
            self._begun = begun
            self._starts.succeeded()
        else:
            self._starts.failed(self.workers, "they are killed (perhaps by the system, for their memory)")

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterable[None]:
        """See `actors.shards.extracted`; as many at a time as trials."""
        return extracted(self._setup, self._engine, missing, self.workers)

    def drop(self, states: Iterable[str]) -> None:
        self._states.drop(list(states))

    def busy(self) -> int:
        """Trials that run now."""
        return self._running

    def busy_share(self) -> float | None:
        """Fraction of their time that the places for trials trained and evaluated."""
        return self._busy / (self._wall * self.workers) if self._wall else None

    def close(self) -> None:
        """Leave nothing behind that is of no use."""
        self._states.close()


class _Listener(Callback):
    """Puts down what trials report; the only one who writes."""

    def __init__(self, runner: TunedTrials, trials: Sequence[Trial], ledger: Ledger, observe: Observe) -> None:
        self._runner, self._trials, self._ledger, self._observe = runner, trials, ledger, observe
        self.refused = ""
        self.lost: set[int] = set()
        """Trials that Tune gave up on."""
        self._counts = Counts(trained=ledger.trained)
        self._live: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        """Tune puts what it was made with into a file, which nobody reads."""
        return {}

    def over(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether Tune is to stop a trial: all of them, once one cannot go on."""
        return bool(self.refused)

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self._live.add(trial.trial_id)
        self._count()

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        if (said := result.get(REFUSED)) is not None:
            self.refused = self.refused or said
        elif isinstance(found := result.pop(RESULT, None), EdgeResult):
            self._take(self._trials[trial.config["number"]], found)

    def _take(self, trial: Trial, found: EdgeResult) -> None:
        try:
            if self._ledger.edge(found.digest) is None:
                self._ledger.add(found)
                self._counts.trained = self._ledger.trained
            self._runner.took(trial.name, found)
        except UserError as error:  # a full disk, or another process that has taken the run over
            self.refused = str(error)
        if found.status != "ok":
            line = trouble(trial, *place(trial, found.digest), found.status, found.message)
            self._counts.troubles.setdefault(line, found.traceback)
        self._count()

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self._live.discard(trial.trial_id)
        self._count()

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self._live.discard(trial.trial_id)
        self.lost.add(trial.config["number"])
        self._runner.event("trial-lost", trial=self._trials[trial.config["number"]].name)
        self._count()

    def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self._live.discard(trial.trial_id)
        self._runner.restarted(self._trials[trial.config["number"]].name)

    def _count(self) -> None:
        self._runner.began(len(self._live))
        self._counts.in_flight = len(self._live)
        self._observe(self._counts)


def _most_deaths(trials: Sequence[Trial]) -> int:
    """How often Tune starts a trial again: each of its trainings may be tried as often as any, whatever became of the others.

    How many deaths a training is to blame for it counts itself (`actors.faults.is_poison`).
    """
    return (MAX_DEATHS + 1) * max(sum(len(r.edges()) for r in trial.rollouts) for trial in trials)
