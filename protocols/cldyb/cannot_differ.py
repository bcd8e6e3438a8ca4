"""Why found and random sequences cannot differ: said before anything is trained where it is known then, and of a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqsearch.core.text import counted
from seqsearch.results.run import RunResults

if TYPE_CHECKING:
    from protocols.cldyb.study import CldybStudy

SHARED = "there is one task, the first, which all sequences share"
ONE_TASK = f"{SHARED}: nothing is searched (--tasks 2 or more)"


def expected(study: CldybStudy) -> str:
    """Before anything is trained: that no sequence can turn out harder than another; empty where some can.

    All sequences begin with the same task, so that a method whose final scores do not depend on the order of later tasks
    (`Caps.order_invariant_after` of 1 at most) can differ by what classes there are alone.
    """
    from seqsearch.methods.spec import capabilities_of

    s, n = study.settings, len(study.view.class_ids)
    if s.tasks == 1:
        return f"Found and random sequences will not differ: {ONE_TASK}."
    after = {m.label: capabilities_of(m).order_invariant_after for m in study.methods}
    minded = [label for label, tasks in after.items() if tasks is None or tasks > 1]
    if minded or s.tasks * s.classes_per_task < n:
        return ""
    named = ", ".join(after)
    return (
        f"Found and random sequences will hardly differ: each holds all {counted(n, 'class')} in play, and what {named} knows in "
        "the end does not depend on the order of tasks. Only how classes are grouped can matter: have fewer --tasks or "
        "--classes-per-task, a larger --pool, or other --methods."
    )


def measured(data: RunResults) -> str:
    """Of a run in which nothing differs: why, as far as its sequences say; in a sentence without a full stop, else empty."""
    if data.setting("tasks") == 1:
        return ONE_TASK
    held = {frozenset(c for task in s.tasks for c in task.classes) for s in data.sequences}
    if len(held) != 1:
        return ""
    [classes] = held
    return (
        f"all of them hold the same {counted(len(classes), 'class')}, and neither their order nor how they are grouped changes "
        "what is known in the end"
    )
