"""Upper bound of the cost of a duel."""

from __future__ import annotations

from pathlib import Path

from protocols.evaluate.duel.run import expected
from protocols.evaluate.duel.study import DuelStudy, costs_of_search
from protocols.running.costs import Cost, of_trainings, unit_costs


def cost(study: DuelStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`."""
    tasks = (study.random(0) if study.asked else study.given[0]).tasks
    return of_trainings(expected(study), unit_costs(study, tasks[:2], "test", scratch, len(tasks)), workers)


def remarks(study: DuelStudy) -> str:
    """Return the note on the cost of commands in the search; empty if there are none."""
    return costs_of_search(study.settings, study.methods)
