"""What an online study costs: runs, steps, and hours, from the first steps of each learner."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.online.study import OnlineStudy
from seqsearch.core.errors import RemoteTraceback, UserError
from seqsearch.core.notices import notice
from seqsearch.core.types import Edge, MethodSpec, Segment, StateKey
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer

STEPS, SECONDS = 10, 3.0
"""That are timed at most, and after how long no more are."""


@dataclass(frozen=True)
class Cost:
    """Runs of learners through the stream, steps of each, seconds of all steps on this machine, hours with so many workers."""

    runs: int
    steps: int
    seconds: float
    workers: int
    hours: float


def estimate(study: OnlineStudy, workers: int) -> Cost:
    """Let each learner go one step, which pays for loading, and time some more.

    Raises:
        UserError: a learner fails on them.
    """
    pin_threads()
    trainer, seconds, runs = Trainer(study.world), 0.0, 0
    for window in study.orders:
        for m in study.methods:
            notice(f"timing the first steps of {m.label} ...")
            number = len(study.replicates(m))
            runs += number
            seconds += number * study.played.steps * _of_a_step(trainer, study, m, window)
    return Cost(runs, study.played.steps, seconds, workers, seconds / 3600 / max(1, min(workers, runs)))


def _of_a_step(trainer: Trainer, study: OnlineStudy, method: MethodSpec, window: int) -> float:
    """Seconds: of as many steps as `SECONDS` are enough for, by the first one.

    Raises:
        UserError: the learner fails.
    """
    identity, steps = study.played.identity(window), study.played.steps
    first = Segment(identity, 0, 1)
    spent = _seconds(trainer, StateKey(method, study.settings.seed, 0, (first,)))
    more = min(STEPS, max(1, int(SECONDS / max(spent, 1e-3))), steps - 1)
    if more < 1:
        return spent
    key = StateKey(method, study.settings.seed, 0, (first, Segment(identity, 1, 1 + more)))
    return _seconds(trainer, key) / more


def _seconds(trainer: Trainer, key: StateKey) -> float:
    result = trainer.train(Edge(key, "test"))
    if result.status != "ok":
        line = f"learner {key.method.label!r} {result.status} on its first steps: {result.message}"
        raise UserError(line) from RemoteTraceback(result.traceback)
    notes = dict(result.notes)
    return notes["learning_seconds"] + notes["judging_seconds"]
