"""The contracts C1 to C10 of ``docs/methods.md`` as ``seqsearch check`` tests them: what is wrong in words, or nothing."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import torch

from seqsearch.core.errors import Diverged
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import TaskData
from seqsearch.states.blocks import FROZEN, State
from seqsearch.study.check_compared import another, bytes_of, gap_alone, not_flat
from seqsearch.study.check_interrupted import learned_twice
from seqsearch.study.check_reported import reported
from seqsearch.study.check_subject import OTHER, Subject
from seqsearch.study.check_watched import drawing
from seqsearch.study.findings import differing
from seqsearch.training.scenario import checked_scores, learned, scores_of

APART, RATE = 1e-3, 1e30
"""How far rounding may change the largest score in other company; a learning rate that no training survives."""


class Test(NamedTuple):
    """A contract, what it asks, and how that is found out; ``warns``: what is found breaks nothing."""

    contract: str
    asks: str
    wrong: Callable[[Subject], str]
    warns: bool = False


def pure(subject: Subject) -> str:
    """C1."""
    first = copy.deepcopy(learned(subject.both()))
    names = differing(first, learned(subject.learn(*subject.tasks, disturb=11)))
    advice = "draw from task.generator(...), asked for in each training, never from torch's or numpy's global generator"
    return f"{names} differ: {advice}" if names else ""


def later(subject: Subject) -> str:
    """C1, of parameters that say so."""
    idle = [f for f in dataclasses.fields(subject.both().config) if f.metadata.get("later")]
    if not idle:
        return ""
    first, batch = subject.restored(subject.first()), subject.batch(subject.tasks[0])
    for f in idle:
        value = another(f, getattr(first.config, f.name))
        params = {**dict(subject.spec.params), f.name: value}
        spec = subject.world.respecified(subject.spec, params, subject.spec.label)
        other = Subject(subject.world, spec).learn(subject.tasks[0])
        if names := differing(learned(first), learned(other)):
            return f"{names} differ with {f.name}={value}: its param must not say later=True"
        if not torch.equal(first.predict(batch), other.predict(batch)):
            return f"scores differ with {f.name}={value}: its param must not say later=True"
    return ""


def rounds(subject: Subject) -> str:
    """C1, of loops: they draw other numbers in each round, and what is drawn has an effect."""
    with drawing() as draws:
        other = subject.learn(subject.tasks[0], seed=1)
    if draws.phases and not differing(learned(other), subject.first()):
        phases = ", ".join(sorted(draws.phases))
        return f"it asks for generators ({phases}), and another seed gives the very same state: are they used?"
    return draws.again()


def looking(subject: Subject) -> str:
    """C2."""
    method, batch = subject.both(), subject.batch(*subject.tasks)
    before, seen = copy.deepcopy(learned(method)), method.predict(batch)
    method.features(batch)
    method.classifiers(batch)
    method.counters()
    if names := differing(before, learned(method)):
        return f"{names} changed while predicting"
    return "" if torch.equal(seen, method.predict(batch)) else "the same question has another answer the second time"


def per_image(subject: Subject) -> str:
    """C3."""
    method, batch = subject.both(), subject.batch(*subject.tasks)
    for name, look in (("scores", method.predict), ("features", method.features)):
        if gap_alone(look, batch) > APART:
            return f"{name} change with the batch: no batch statistics, network in eval mode"
    return ""


def restored(subject: Subject) -> str:
    """C4."""
    straight, again = subject.both(), subject.restored(subject.first())
    wrong = not_flat({n: v for n, v in learned(straight).items() if not n.startswith("_")})
    if wrong:
        return wrong
    subject.go_on(again, *subject.tasks, disturb=1)
    if names := differing(learned(straight), learned(again)):
        return f"{names} differ after one more task: something that training needs is not in state_dict"
    batch, fresh = subject.batch(*subject.tasks), subject.trainer.restore(subject.key(*subject.tasks), learned(again))
    if not torch.equal(straight.predict(batch), fresh.predict(batch)):
        return "a restored method predicts otherwise: something that predict needs is not in state_dict"
    return ""


def interrupted(subject: Subject) -> str:
    """C4, of trainings that leave checkpoints."""
    before = None
    for key in (subject.key(subject.tasks[0]), subject.key(*subject.tasks)):
        found = learned_twice(subject.trainer, key, before)
        if names := differing(found.whole, found.resumed):
            return (
                f"{names} differ after interruptions at checkpoints ({', '.join(found.phases)}): name all networks, and all "
                "generators that losses draw from, to Live, and keep nothing else from epoch to epoch"
            )
        before = found.whole
    return ""


def sizes(subject: Subject) -> str:
    """C5."""
    method, tasks = subject.trainer.fresh(subject.key()), subject.sized()
    for n, task in enumerate(tasks, 1):
        subject.go_on(method, *tasks[:n])
        seen = sum(len(t.classes) for t in tasks[:n])
        batch = subject.batch(task)
        checked_scores(method.predict(batch), len(batch), seen)
    return ""


def children(subject: Subject) -> str:
    """C6."""
    state, alone = subject.first(), subject.restored(subject.first())
    subject.go_on(alone, *subject.tasks)
    saved = _lent(state)
    for _ in range(2):  # one that goes on elsewhere, and its parent's likeness with the very tensors that are final
        elsewhere = subject.trainer.restore(subject.key(subject.tasks[0]), _lent(saved))
        subject.go_on(elsewhere, subject.tasks[0], subject.world.task(OTHER))
    if names := differing(state, saved):
        return f"{names} changed in a state that was saved: what is named frozen... is lent, never write to it"
    second = subject.trainer.restore(subject.key(subject.tasks[0]), _lent(saved))
    subject.go_on(second, *subject.tasks)
    names = differing(learned(alone), learned(second))
    return names and f"{names} differ after another instance was trained: keep nothing in the class or the module"


def _lent(state: State) -> State:
    """As a worker hands a state to a child: copied, but for what is final."""
    return {n: v if n.startswith(FROZEN) else copy.deepcopy(v) for n, v in state.items()}


def own_images(subject: Subject) -> str:
    """C7, of all trainings until now."""
    method = subject.both()
    if subject.foreign:
        return (
            f"it read image {min(subject.foreign)}, which is neither of the task nor a stored exemplar: return rows from "
            "exemplars() and read them with task.replay(rows, labels)"
        )
    if (stored := len(method.exemplars()) > 0) != method.caps.needs_exemplars:
        return f"exemplars() names {len(method.exemplars())} images: caps must say needs_exemplars={stored}"
    if method.caps.input == "frozen" and subject.decoded:
        return "it decoded images, and its caps say input='frozen': it reads batch.frozen alone, or says input='images'"
    return ""


def diverges(subject: Subject) -> str:
    """C8."""
    subject.recorder.spoil = True
    try:
        report = _status(subject, subject.trainer.fresh(subject.key()))
    finally:
        subject.recorder.spoil = False
    if report != "diverged":
        return "fit_task said ok of images that are all NaN: return FitReport('diverged') when a loss or statistic is not finite"
    for f in dataclasses.fields(subject.both().config):
        high = f.metadata.get("maximum")
        if f.name.endswith("lr") and (high is None or high >= RATE):
            params = {**dict(subject.spec.params), f.name: RATE}
            fast = Subject(subject.world, subject.world.respecified(subject.spec, params, subject.spec.label))
            method, batch = fast.trainer.fresh(fast.key()), subject.batch(subject.tasks[0])
            if _status(fast, method) == "ok" and not bool(torch.isfinite(method.predict(batch)).all()):
                return f"fit_task said ok with {f.name}={RATE:g}, and its scores are not finite: it diverged"
    return ""


def _status(subject: Subject, method: Method) -> str:
    """How a training of the first task ends."""

    def fit(data: TaskData) -> FitReport:
        return method.fit_task(subject.recorded(data))

    try:
        subject.trainer.scenario.learn(method, subject.key(subject.tasks[0]), fit)
    except Diverged:
        return "diverged"
    return "ok"


def scores(subject: Subject) -> str:
    """C9."""
    method, batch = subject.both(), subject.batch(*subject.tasks)
    unseen = subject.batch(subject.world.task(OTHER))
    for looked in (batch, unseen):
        checked_scores(method.predict(looked), len(looked), 7)
        for found in scores_of(method, looked).values():
            checked_scores(found, len(looked), 7)
    found = method.predict(batch)
    if bool((found == found[:1]).all()):
        return "scores are the same for every image: it says nothing of them (all zeros, or something that no image enters)"
    return ""


def said(subject: Subject) -> str:
    """C9, of its own figures."""
    return reported(subject.both(), subject.batch(*subject.tasks))


def counted(subject: Subject) -> str:
    """C9, of bytes."""
    return bytes_of(subject.both()).wrong()


def lent(subject: Subject) -> str:
    """C10, of what it does beside training, which every test compared."""
    return looking(subject)[:0]


TESTS = (
    Test("C1", "the same seed gives the same state", pure),
    Test("C1", "what acts later changes nothing in the first task", later),
    Test("C1", "each round of a loop draws other numbers", rounds, warns=True),
    Test("C2", "predict and features change nothing", looking),
    Test("C3", "a score depends on its own image alone", per_image),
    Test("C4", "a restored method goes on as if never interrupted", restored),
    Test("C4", "a training that is killed goes on as if never interrupted", interrupted),
    Test("C5", "tasks may have any size", sizes),
    Test("C6", "trainings that start from one state do not feel each other", children),
    Test("C7", "it reads its own training images and declared exemplars alone", own_images),
    Test("C8", "divergence is a result", diverges),
    Test("C9", "finite scores for seen classes only", scores),
    Test("C9", "what it says of its state can be counted", said),
    Test("C9", "its footprint says what it holds", counted),
    Test("C10", "what is lent is left as it was", lent),  # the last: what any test found is told with it
)
"""In their order."""
