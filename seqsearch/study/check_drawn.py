"""``seqsearch check`` of contract C1: what a training draws, from which generators, and what comes of it."""

from __future__ import annotations

import copy

import torch

from seqsearch.methods.base import Additive
from seqsearch.study.check_compared import another
from seqsearch.study.check_subject import Subject
from seqsearch.study.check_trainings import later_of
from seqsearch.study.check_watched import drawing
from seqsearch.study.findings import differing
from seqsearch.training.scenario import learned


def pure(subject: Subject) -> str:
    """C1."""
    first = copy.deepcopy(learned(subject.both()))
    names = differing(first, learned(subject.straight()))
    advice = "draw from task.generator(...), asked for in each training, never from torch's or numpy's global generator"
    return f"{names} differ: {advice}" if names else ""


def global_draws(subject: Subject) -> str:
    """C1, of all trainings until now: also draws of which nothing came."""
    subject.both()
    drew = " and ".join(subject.trainings.drew)
    return drew and (
        f"a training drew from the global generator of {drew}: nothing came of it here, but give all that draws a generator, "
        "task.generator(...); layers of torch draw when they are made"
    )


def later(subject: Subject) -> str:
    """C1, of parameters that say so."""
    idle = later_of(subject.both().config)
    if not idle:
        return ""
    first, batch = subject.restored(subject.first()), subject.batch(subject.tasks[0])
    for f in idle:
        value = another(f, getattr(first.config, f.name))
        other = subject.variant(**{f.name: value}).learn(subject.tasks[0])
        if names := differing(learned(first), learned(other)):
            return f"{names} differ with {f.name}={value}: its param must not say later=True"
        if not torch.equal(first.predict(batch), other.predict(batch)):
            return f"scores differ with {f.name}={value}: its param must not say later=True"
        if first.memory_footprint() != other.memory_footprint():
            return f"memory_footprint() differs with {f.name}={value}: its param must not say later=True"
    return ""


def rounds(subject: Subject) -> str:
    """C1, of loops and tasks: they draw other numbers in each, and what is drawn has an effect."""
    with drawing() as draws:
        method = subject.learn(subject.tasks[0], seed=1)
    other = differing(learned(method), subject.first())
    with drawing() as next_draws:
        subject.go_on(method, *subject.tasks, seed=1)
    with drawing() as looked:
        method.predict(subject.batch(subject.tasks[0]))
    if draws.phases and not other:
        phases = ", ".join(sorted(draws.phases))
        return f"it asks for generators ({phases}), and another seed gives the very same state: are they used?"
    if other and not draws.phases:
        return f"{other} differ with another seed, and it asks for no generator: take task.generator(...), which has the seed"
    anew = draws.again() or next_draws.again()
    if anew or isinstance(method, Additive):  # what it learns of a task must be the same wherever the task occurs
        return anew
    return draws.each_time(next_draws, looked)
