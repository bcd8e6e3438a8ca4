"""``seqsearch check`` of contract C8: images that are no numbers, and learning rates that nothing survives."""

from __future__ import annotations

import torch

from seqsearch.core.errors import Diverged
from seqsearch.core.types import Task
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import TaskData
from seqsearch.study.check_subject import Subject
from seqsearch.study.check_trainings import RATE, rates_of
from seqsearch.training.failures import line_of


def diverges(subject: Subject) -> str:
    """C8."""
    subject.recorder.spoil = True
    try:
        status = _status(subject, subject.trainer.fresh(subject.key()), subject.tasks[0])
    except (ArithmeticError, ValueError, RuntimeError) as error:
        return (
            f"fit_task raised of images that are all NaN, where it is to return FitReport('diverged'): {line_of(error)}"
        )
    finally:
        subject.recorder.spoil = False
    if status != "diverged":
        return "fit_task said ok of images that are all NaN: return FitReport('diverged') when a loss or statistic is not finite"
    found, batch = list[str](), subject.batch(subject.tasks[0])
    for name in rates_of(subject.both().config):
        fast = subject.variant(**{name: RATE})
        method = fast.trainer.fresh(fast.key())
        for number in (1, 2) if method.caps.trains_backbone else (1,):  # some rates are of later tasks alone
            if _status(fast, method, *fast.tasks[:number]) == "diverged":
                break
            if not bool(torch.isfinite(method.predict(batch)).all()):
                return f"fit_task said ok with {name}={RATE:g}, and its scores are not finite: it diverged"
        else:
            found.append(name)
    subject.survived = found
    return ""


def survived(subject: Subject) -> str:
    """C8, of learning rates of what trains its backbone: a head alone may stay finite."""
    if subject.survived is None:
        diverges(subject)
    if not subject.survived or not subject.both().caps.trains_backbone:
        return ""
    named = ", ".join(f"{name}={RATE:g}" for name in subject.survived)
    return f"trainings with {named} are said to be ok: with these settings it has no effect, or a divergence is not noticed"


def _status(subject: Subject, method: Method, *tasks: Task) -> str:
    """How a training of the last of these tasks ends."""
    found = "ok"

    def fit(data: TaskData) -> FitReport:
        nonlocal found
        report = subject.trainings.watched(lambda: method.fit_task(subject.recorded(data)))
        found = str(getattr(report, "status", found))
        return report

    try:
        subject.trainer.scenario.learn(method, subject.key(*tasks), fit)
    except Diverged:
        if found != "diverged":  # it was raised, not returned
            raise
    return found
