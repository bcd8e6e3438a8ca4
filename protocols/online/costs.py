"""Cost of an online study: runs, steps and hours, estimated from the first steps of each learner."""

from __future__ import annotations

from pathlib import Path

from protocols.online.study import OnlineStudy
from protocols.running.costs import Cost
from seqsearch.core.errors import RemoteTraceback, UserError
from seqsearch.core.notices import notice
from seqsearch.core.text import counted
from seqsearch.core.types import Edge, MethodSpec, Segment, StateKey
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer

STEPS, SECONDS = 10, 3.0
"""That are timed at most, and after how long no more are."""


def cost(study: OnlineStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`; the first step of a learner pays for loading and is not timed."""
    pin_threads()
    trainer, seconds, runs = Trainer(study.world), 0.0, 0
    for window in study.orders:
        for m in study.methods:
            notice(f"timing the first steps of {m.label} ...")
            number = len(study.replicates(m))
            runs += number
            seconds += number * study.played.steps * _of_a_step(trainer, study, m, window)
    steps, s = study.played.steps, study.settings
    return Cost(
        f"{counted(runs, 'run')} of {counted(steps, 'step')} ({counted(len(study.methods), 'learner')}, "
        f"{counted(s.seeds, 'seed')} of those that draw, {counted(len(study.orders), 'order')}); near-future accuracy "
        f"{study.shift:,} samples ahead",
        seconds / 3600 / max(1, min(workers, runs)),
        workers,
        "by the first steps of each learner on this machine (frozen features that are not there yet, and Ray's start, come on "
        "top)",
        {"runs": runs, "steps": steps, "seconds": seconds, "shift": study.shift},
    )


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
