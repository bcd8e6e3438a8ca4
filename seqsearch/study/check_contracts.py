"""The contracts C1 to C10 of ``docs/methods.md`` as ``seqsearch check`` tests them: what is wrong in words, or nothing."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import NamedTuple

import torch

from seqsearch.states.blocks import FROZEN, State
from seqsearch.study.check_compared import APART, bytes_of, gap_alone
from seqsearch.study.check_diverged import diverges, survived
from seqsearch.study.check_drawn import global_draws, later, pure, rounds
from seqsearch.study.check_ordered import ordered
from seqsearch.study.check_reported import reported
from seqsearch.study.check_restored import interrupted, restored
from seqsearch.study.check_subject import OTHER, Subject
from seqsearch.study.findings import differing
from seqsearch.training.scenario import checked_scores, learned, scores_of


class Test(NamedTuple):
    """A contract, what it asks, and how that is found out; ``warns``: what is found breaks nothing."""

    contract: str
    asks: str
    wrong: Callable[[Subject], str]
    warns: bool = False


def looking(subject: Subject) -> str:
    """C2."""
    method, batch = subject.both(), subject.batch(*subject.tasks)
    before, seen = copy.deepcopy(learned(method)), method.predict(batch)
    method.features(batch)
    method.classifiers(batch)
    method.counters()
    method.exemplars()
    method.feature_space()
    with contextlib.suppress(Exception):  # that it cannot be had is found beside what it says
        method.memory_footprint()
    if names := differing(before, learned(method)):
        return f"{names} changed while it was looked at"
    return "" if torch.equal(seen, method.predict(batch)) else "the same question has another answer the second time"


def per_image(subject: Subject) -> str:
    """C3."""
    method, batch = subject.both(), subject.batch(*subject.tasks)
    for name, look in (("scores", method.predict), ("features", method.features)):
        if gap_alone(look, batch) > APART:
            return f"{name} change with the batch: no batch statistics, network in eval mode"
    return ""


def sizes(subject: Subject) -> str:
    """C5."""
    method, tasks = subject.trainer.fresh(subject.key()), subject.sized()
    for n, task in enumerate(tasks, 1):
        subject.go_on(method, *tasks[:n])
        batch = subject.batch(task)
        checked_scores(method, method.predict(batch), len(batch))
    return ""


def children(subject: Subject) -> str:
    """C6, of children and of the parent itself."""
    state, alone = subject.first(), subject.gone_on()
    untouched = copy.deepcopy(state)
    elsewhere = subject.trainer.restore(subject.key(subject.tasks[0]), _with_shared_tensors(state))
    subject.go_on(elsewhere, subject.tasks[0], subject.world.task(OTHER))
    if names := differing(state, untouched) or subject.written:
        return f"{names} changed in a state that was saved: what is named frozen... is shared, never write to it"
    second = subject.trainer.restore(subject.key(subject.tasks[0]), _with_shared_tensors(state))
    subject.go_on(second, *subject.tasks)
    names = differing(alone, learned(second))
    return names and f"{names} differ after another instance was trained: keep nothing in the class or the module"


def _with_shared_tensors(state: State) -> State:
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


def scores(subject: Subject) -> str:
    """C9."""
    method, batch = subject.both(), subject.batch(*subject.tasks)
    unseen = subject.batch(subject.world.task(OTHER))
    for looked in (batch, unseen):
        checked_scores(method, method.predict(looked), len(looked))
        for name, scores in scores_of(method, looked).items():
            checked_scores(method, scores, len(looked), name)
    found = method.predict(batch)
    if bool((found == found[:1]).all()):
        return "scores are the same for every image: it says nothing of them (all zeros, or something that no image enters)"
    return ""


def gradients(subject: Subject) -> str:
    """C9, of what is kept with scores."""
    scored = subject.both().predict(subject.batch(*subject.tasks))
    return (
        "predict keeps gradients, and with them its whole network's work: put it under torch.no_grad()"
        * scored.requires_grad
    )


def said(subject: Subject) -> str:
    """C9, of its own figures."""
    return reported(subject.both(), subject.batch(*subject.tasks))


def counted(subject: Subject) -> str:
    """C9, of bytes."""
    return bytes_of(subject.both()).wrong()


def shared_unchanged(subject: Subject) -> str:
    """C10, of what it does beside training, which every test compared."""
    return looking(subject)[:0]


RAISING = ("C5", "C8", "C9")
"""What a method raises in tests of these, of unusual tasks and images, and of what it says of itself, breaks the contract; in all
others it fails as it would in any run."""
TESTS = (
    Test("C1", "the same seed gives the same state", pure),
    Test("C1", "nothing is drawn from global generators", global_draws, warns=True),
    Test("C1", "what acts later changes nothing in the first task", later),
    Test("C1", "each round of a loop, and each task, draws other numbers", rounds, warns=True),
    Test("C2", "predict and features change nothing", looking),
    Test("C3", "a score depends on its own image alone", per_image),
    Test("C4", "a restored method goes on as if never interrupted", restored),
    Test("C4", "a training that is killed goes on as if never interrupted", interrupted),
    Test("C5", "tasks may have any size", sizes),
    Test("C6", "trainings that start from one state do not feel each other", children),
    Test("C7", "it reads its own training images and declared exemplars alone", own_images),
    Test("C8", "divergence is a result", diverges),
    Test("C8", "a learning rate that nothing survives ends in divergence", survived, warns=True),
    Test("C9", "finite scores for seen classes only", scores),
    Test("C9", "scores keep no gradients", gradients, warns=True),
    Test("C9", "what it says of its state can be counted", said),
    Test("C9", "its footprint says what it holds", counted),
    Test("C9", "the order of tasks changes nothing where caps say so", ordered),
    Test(
        "C10", "shared resources are left unchanged", shared_unchanged
    ),  # the last: what any test found is told with it
)
"""In their order."""
