"""Upper bound of the cost of scoring."""

from __future__ import annotations

from pathlib import Path

from protocols.evaluate.score.study import ScoreStudy
from protocols.running.costs import Cost, of_trainings, unit_costs
from protocols.running.snapshot import Expected


def expected(study: ScoreStudy) -> Expected:
    """See `protocols.running.protocol.Protocol.expected`."""
    evaluations = study.evaluations
    return Expected(evaluations.rollouts, evaluations.trainings, max(len(s.tasks) for s in study.sequences))


def cost(study: ScoreStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`; timed on the longest sequence."""
    tasks = max(study.sequences, key=lambda s: len(s.tasks)).tasks
    return of_trainings(expected(study), unit_costs(study, tasks[:2], "test", scratch, len(tasks)), workers)
