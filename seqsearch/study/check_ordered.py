"""``seqsearch check`` of contract C9, of what a method says of the order of tasks."""

from __future__ import annotations

from seqsearch.study.check_compared import APART
from seqsearch.study.check_subject import Subject
from seqsearch.training.scenario import learned


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
