"""Tests of the contracts C1 to C10 (``docs/method_contracts.md``). Each returns the break in words, or nothing."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from seqsearch.check.findings import APART, another, bytes_of, differing, gap_alone, not_flat, reported
from seqsearch.check.subject import OTHER, Subject, resumed
from seqsearch.check.watched import RATE, drawing, later_of, rates_of
from seqsearch.core.errors import Diverged, UserError
from seqsearch.core.types import Task
from seqsearch.methods.base import Additive, FitReport, Method
from seqsearch.methods.data import TaskData
from seqsearch.states.blocks import FROZEN, State
from seqsearch.training.failures import line_of
from seqsearch.training.scenario import checked_scores, learned, scores_of


class Test(NamedTuple):
    """A contract, its condition, and the function that tests it; ``warns``: a finding is a warning, and breaks no contract."""

    contract: str
    asks: str
    wrong: Callable[[Subject], str]
    warns: bool = False


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
    """C1, of parameters declared to act later: all with other values at once; one by one if that differs or is refused."""
    first = subject.both()
    changed = {f.name: another(f, getattr(first.config, f.name)) for f in later_of(first.config)}
    if not changed:
        return ""
    before = subject.restored(subject.first())
    all_at_once = ""
    with contextlib.suppress(UserError):  # rules between parameters refuse them together
        if not (all_at_once := _acts(subject, before, changed)):
            return ""
    found = dict[str, str]()
    for name, value in changed.items():
        with contextlib.suppress(UserError):  # or refuse it beside the values of others
            found[name] = _acts(subject, before, {name: value})
    wrong = [f"{what} with {name}={changed[name]}" for name, what in found.items() if what]
    together = f"something differs with {', '.join(f'{n}={v}' for n, v in changed.items())} together"
    return f"{(wrong or [together])[0]}: its param must not say later=True" if wrong or all_at_once else ""


def _acts(subject: Subject, before: Method, changed: Mapping[str, Any]) -> str:
    """The change that other values of parameters make in the first task, in words; ``before`` learned it with its own."""
    other, batch = subject.variant(**changed).learn(subject.tasks[0]), subject.batch(subject.tasks[0])
    if names := differing(learned(before), learned(other)):
        return f"{names} differ"
    if not torch.equal(before.predict(batch), other.predict(batch)):
        return "scores differ"
    return "memory_footprint() differs" if before.memory_footprint() != other.memory_footprint() else ""


def rounds(subject: Subject) -> str:
    """C1, of loops and tasks: they draw other numbers in each, and the draws have an effect."""
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


def restored(subject: Subject) -> str:
    """C4."""
    both = subject.both()
    wrong = not_flat({n: v for n, v in learned(both).items() if not n.startswith("_")})
    if wrong:
        return wrong
    again = subject.gone_on()
    if names := differing(learned(both), again):
        return f"{names} differ after one more task: state_dict or load_state_dict leaves out what training needs"
    return _looks_alike(subject, both, subject.restored(subject.stored(again), *subject.tasks)) or _third(subject)


def _looks_alike(subject: Subject, one: Method, other: Method) -> str:
    """The answer in which a restored method differs from the one that learned both tasks, in words."""
    batch = subject.batch(*subject.tasks)
    if not torch.equal(one.predict(batch), other.predict(batch)):
        return "a restored method predicts otherwise: state_dict or load_state_dict leaves out what predict needs"
    if not np.array_equal(one.exemplars(), other.exemplars()):
        return "a restored method has other exemplars(): their rows are not in state_dict"
    if one.feature_space() != other.feature_space():
        return (
            "a restored method has another feature_space(): state_dict or load_state_dict leaves out what it is made of"
        )
    return ""


def _third(subject: Subject) -> str:
    """The difference between a method that was never restored and one that was, after a third task if there may be one."""
    straight, tasks = subject.straight_on(), subject.third()
    again = subject.restored(subject.stored(learned(straight)), *subject.tasks)
    if len(tasks) > len(subject.tasks):
        for method in (straight, again):
            subject.go_on(method, *tasks)
    names = differing(learned(straight), learned(again))
    return names and f"{names} differ after a third task: state_dict or load_state_dict leaves out what training needs"


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


def diverges(subject: Subject) -> str:
    """C8."""
    subject.recorder.spoil, subject.recorder.spoilt = True, False
    try:
        status = _status(subject, subject.trainer.fresh(subject.key()), subject.tasks[0])
    except UserError:
        raise
    except (ArithmeticError, ValueError, RuntimeError) as error:
        return (
            f"fit_task raised of images that are all NaN, where it is to return FitReport('diverged'): {line_of(error)}"
        )
    finally:
        subject.recorder.spoil = False
    if status != "diverged" and subject.recorder.spoilt:  # a method that learns names alone reads no image
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
    """C9, of gradients."""
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


def ordered(subject: Subject) -> str:
    """C9, of ``caps.order_invariant_after``: all tasks after as many, three in all if it may learn as many, come backwards."""
    both, tasks = subject.both(), subject.third()
    first = both.caps.order_invariant_after
    if first is None or len(tasks) - first < 2:
        return ""
    forward = subject.restored(learned(both), *subject.tasks)
    if len(tasks) > len(subject.tasks):
        subject.go_on(forward, *tasks)
    turned = (*tasks[:first], *reversed(tasks[first:]))
    backward, batch = subject.learn(*turned), subject.batch(*tasks)
    there = [c for task in turned for c in task.classes]
    columns = [there.index(c) for task in tasks for c in task.classes]
    ahead, back = forward.predict(batch), backward.predict(batch)[:, columns]
    gap = float((ahead - back).abs().max()) / max(float(ahead.abs().max()), 1e-30)
    if gap <= APART:
        return ""
    return (
        f"scores differ by {gap:.1g} of the largest if tasks {first + 1} to {len(tasks)} come backwards, and its caps say "
        f"order_invariant_after={first}, be it inherited: caps = dataclasses.replace(Base.caps, order_invariant_after=None)"
    )


def shared_unchanged(subject: Subject) -> str:
    """C10, of its predictions and reports; every test has compared the shared resources for its trainings."""
    return looking(subject)[:0]


RAISING = ("C5", "C8", "C9")
"""Contracts of unusual tasks and images, and of a method's reports on itself: an error in their tests breaks the contract. In the
tests of all others the method fails as it would in any run."""
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
    Test("C6", "trainings that start from one state do not affect each other", children),
    Test("C7", "it reads its own training images and declared exemplars alone", own_images),
    Test("C8", "divergence is a result", diverges),
    Test("C8", "a learning rate that nothing survives ends in divergence", survived, warns=True),
    Test("C9", "finite scores for seen classes only", scores),
    Test("C9", "scores keep no gradients", gradients, warns=True),
    Test("C9", "what it says of its state can be counted", said),
    Test("C9", "its footprint says what it holds", counted),
    Test("C9", "the order of tasks changes nothing where caps say so", ordered),
    Test("C10", "shared resources are left unchanged", shared_unchanged),  # the last: it reports what any test found
)
"""In their order."""
