"""Cost of explaining a run: the number of trainings of methods and upper bounds, and their time, timed on two tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from protocols.evaluate.explain.study import ExplainStudy
from protocols.running.costs import Cost, each, unit_costs
from protocols.running.snapshot import Expected
from seqsearch.core.text import counted


def trainings(study: ExplainStudy) -> tuple[int, int]:
    """Trainings of methods and of upper bounds, at most."""
    whole = study.evaluations.trainings
    bounds = sum(len(seeds) for m in study.bounds.values() for _, seeds in study.evaluations.missing.get(m, ()))
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


def remarks(study: ExplainStudy) -> str:
    """See `protocols.running.protocol.Protocol.announcement`."""
    return f"{in_words(study)}; --dry-run gives the hours"


def expected(study: ExplainStudy) -> Expected:
    """See `protocols.running.protocol.Protocol.expected`."""
    evaluations = study.evaluations
    return Expected(evaluations.rollouts, evaluations.trainings, len(study.found[0].tasks))


def cost(study: ExplainStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`.

    An upper bound is trained on the classes of two tasks; its time grows with the number of classes.
    """
    methods, bounds = trainings(study)
    tasks = max(study.sequences, key=lambda s: len(s.tasks)).tasks
    unit = unit_costs(study, tasks[:2], "test", scratch, len(tasks))
    of_bound = 0.0
    if bounds:
        jointly = replace(study, methods=tuple(study.bounds.values()))
        classes = [len(t.classes) for t in tasks]
        of_bound = unit_costs(jointly, tasks[:2], "test", scratch, 3).seconds * sum(classes) / sum(classes[:2])
    bound = f", {each(of_bound)} an upper bound" if bounds else ""
    return Cost(
        in_words(study),
        (methods * unit.seconds + bounds * of_bound) / 3600 / workers,
        workers,
        f"at {each(unit.seconds)} a training{bound} on this machine",
        {
            "trainings": methods + bounds,
            "rollouts": study.evaluations.rollouts,
            "bound_trainings": bounds,
            "seconds_per_training": unit.seconds,
            "seconds_per_bound": of_bound,
            "bound_kinds": dict(study.kinds),
        },
        memory=unit.memory,
    )
