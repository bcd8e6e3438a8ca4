"""What explaining a run costs: trainings of methods and of upper bounds, counted; their time, measured on two tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from protocols.evaluate.explain.study import ExplainStudy
from protocols.running.costs import unit_costs
from protocols.running.memory import Needed
from seqsearch.core.text import counted


@dataclass(frozen=True)
class Cost:
    """Trainings of methods and of upper bounds, at most; seconds of one of each; hours with so many workers;
    memory of a worker."""

    methods: int
    bounds: int
    seconds: float
    bound_seconds: float
    workers: int
    hours: float
    memory: Needed | None


def trainings(study: ExplainStudy) -> tuple[int, int]:
    """Trainings of methods and of upper bounds, at most."""
    whole = study.judging.trainings
    bounds = sum(len(seeds) for m in study.bounds.values() for _, seeds in study.judging.missing.get(m, ()))
    return whole - bounds, bounds


def in_words(study: ExplainStudy) -> str:
    """The trainings and the kinds of upper bounds."""
    methods, bounds = trainings(study)
    said = f"{counted(methods + bounds, 'training')} at most"
    if not bounds:
        return said
    how = {"frozen": "on frozen features", "full": "fine-tuning included"}
    kinds = ", ".join(how[kind] for kind in dict.fromkeys(study.kinds.values()))
    return f"{said}: {methods} of methods on a task, {bounds} of upper bounds on all classes of a sequence ({kinds})"


def estimate(study: ExplainStudy, scratch: Path, workers: int) -> Cost:
    """Hours with so many workers.

    An upper bound is trained on the classes of two tasks; its time grows with the number of classes.

    Raises:
        UserError: a method fails on its first tasks.
    """
    methods, bounds = trainings(study)
    tasks = max(study.sequences, key=lambda s: len(s.tasks)).tasks
    unit = unit_costs(study, tasks[:2], "test", scratch, len(tasks))
    of_bound = 0.0
    if bounds:
        jointly = replace(study, methods=tuple(study.bounds.values()))
        classes = [len(t.classes) for t in tasks]
        of_bound = unit_costs(jointly, tasks[:2], "test", scratch, 3).seconds * sum(classes) / sum(classes[:2])
    hours = (methods * unit.seconds + bounds * of_bound) / 3600 / workers
    return Cost(methods, bounds, unit.seconds, of_bound, workers, hours, unit.memory)
