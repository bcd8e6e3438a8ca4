"""What an online study costs: runs, steps, and hours, from the first steps of each learner."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.online.study import OnlineStudy
from seqsearch.core.errors import UserError
from seqsearch.core.types import Edge, Segment, StateKey
from seqsearch.training.trainer import Trainer

STEPS = 10
"""That are timed, after as many that are not."""


@dataclass(frozen=True)
class Cost:
    """Runs of learners through the stream, steps of each, seconds of all steps on this machine, hours with so many workers."""

    runs: int
    steps: int
    seconds: float
    workers: int
    hours: float


def estimate(study: OnlineStudy, workers: int) -> Cost:
    """Let each learner go twice a few steps, and time the second.

    Raises:
        UserError: a learner fails on them.
    """
    from seqsearch.training.device import pin_threads

    pin_threads()
    trainer, seconds, runs = Trainer(study.world), 0.0, 0
    steps = study.played.steps
    few = min(STEPS, max(1, steps // 2))
    for window in study.orders:
        identity = study.played.identity(window)
        segments = (Segment(identity, 0, few), Segment(identity, few, 2 * few))
        for m in study.methods:
            number = len(study.replicates(m))
            runs += number
            key = StateKey(m, study.settings.seed, 0, segments)
            for edge in (Edge(key.parent, "test"), Edge(key, "test")):
                result = trainer.train(edge)
                if result.status != "ok":
                    raise UserError(f"learner {m.label!r} {result.status} on its first steps: {result.message}")
            seconds += (
                number * steps * (dict(result.notes)["learning_seconds"] + dict(result.notes)["judging_seconds"]) / few
            )
    longest = max(1, min(workers, runs))
    return Cost(runs, steps, seconds, workers, seconds / 3600 / longest)
