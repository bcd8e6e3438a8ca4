"""``seqsearch check`` of contract C1: what a training draws, from which generators, and what comes of it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping
from typing import Any

import torch

from seqsearch.core.errors import UserError
from seqsearch.methods.base import Additive, Method
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
        f"a training drew from the global generator of {drew}: give all that draws a generator, task.generator(...); layers of "
        "torch draw when they are made"
    )


def later(subject: Subject) -> str:
    """C1, of parameters that say so: all with other values at once, and one by one if that makes a difference, or is refused."""
    first = subject.both()
    changed = {f.name: another(f, getattr(first.config, f.name)) for f in later_of(first.config)}
    if not changed:
        return ""
    before = subject.restored(subject.first())
    all_at_once = ""
    with contextlib.suppress(UserError):  # rules between parameters refuse them together
        if not (all_at_once := _acts(subject, before, changed)):
            return ""
    found = {name: _acts(subject, before, {name: value}) for name, value in changed.items()}
    wrong = [f"{what} with {name}={changed[name]}" for name, what in found.items() if what]
    together = f"something differs with {', '.join(f'{n}={v}' for n, v in changed.items())} together"
    return f"{(wrong or [together])[0]}: its param must not say later=True" if wrong or all_at_once else ""


def _acts(subject: Subject, before: Method, changed: Mapping[str, Any]) -> str:
    """What other values of parameters change in the first task, in words; ``before`` is what has learned it with its own."""
    other, batch = subject.variant(**changed).learn(subject.tasks[0]), subject.batch(subject.tasks[0])
    if names := differing(learned(before), learned(other)):
        return f"{names} differ"
    if not torch.equal(before.predict(batch), other.predict(batch)):
        return "scores differ"
    return "memory_footprint() differs" if before.memory_footprint() != other.memory_footprint() else ""


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
    if anew or type(method).fit_task is Additive.fit_task:  # what that learns must be the same wherever the task occurs
        return anew
    return draws.each_time(next_draws, looked)
