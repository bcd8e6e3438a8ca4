"""``seqsearch check`` of contract C4: what goes on from a stored state, and after interruptions."""

from __future__ import annotations

import numpy as np
import torch

from seqsearch.methods.base import Method
from seqsearch.states.blocks import State
from seqsearch.study.check_compared import not_flat
from seqsearch.study.check_interrupted import resumed
from seqsearch.study.check_subject import Subject
from seqsearch.study.findings import differing
from seqsearch.training.scenario import learned


def restored(subject: Subject) -> str:
    """C4."""
    both = subject.both()
    wrong = not_flat({n: v for n, v in learned(both).items() if not n.startswith("_")})
    if wrong:
        return wrong
    again = subject.gone_on()
    if names := differing(learned(both), again):
        return f"{names} differ after one more task: something that training needs is not in state_dict"
    return _looks_alike(subject, both, subject.restored(subject.stored(again), *subject.tasks)) or _third(subject)


def _looks_alike(subject: Subject, one: Method, other: Method) -> str:
    """Whether a restored method answers as the one whose state it was given, which has learned both tasks."""
    batch = subject.batch(*subject.tasks)
    if not torch.equal(one.predict(batch), other.predict(batch)):
        return "a restored method predicts otherwise: something that predict needs is not in state_dict"
    if not np.array_equal(one.exemplars(), other.exemplars()):
        return "a restored method has other exemplars(): their rows are not in state_dict"
    if one.feature_space() != other.feature_space():
        return "a restored method has another feature_space(): what it is made of is not in state_dict"
    return ""


def _third(subject: Subject) -> str:
    """One that was never restored and one that was go on with a third task, if there may be one."""
    straight, tasks = subject.straight_on(), subject.third()
    again = subject.restored(subject.stored(learned(straight)), *subject.tasks)
    if len(tasks) > len(subject.tasks):
        for method in (straight, again):
            subject.go_on(method, *tasks)
    names = differing(learned(straight), learned(again))
    return names and f"{names} differ after a third task: something that training needs is not in state_dict"


def interrupted(subject: Subject) -> str:
    """C4, of trainings that leave checkpoints."""
    both = learned(subject.both())
    whole: list[State] = [subject.first(), both]
    before: State | None = None
    for number, noted in enumerate(subject.phases):
        if noted.names:
            found = resumed(subject, subject.key(*subject.tasks[: number + 1]), before, noted.names)
            if names := differing(whole[number], found):
                phases = ", ".join(dict.fromkeys(noted.names))
                return (
                    f"{names} differ after interruptions at checkpoints ({phases}): name all networks, and all "
                    "generators that losses draw from, to Live, and keep nothing else from epoch to epoch"
                )
        before = whole[number]
    return ""
