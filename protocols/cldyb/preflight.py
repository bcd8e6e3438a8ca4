"""Warnings before a study is trained: ineffective settings, and sequences that cannot differ (also of a finished run)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqsearch.core.text import counted
from seqsearch.planners.settings import SearchSettings
from seqsearch.results.run import RunResults

if TYPE_CHECKING:
    from protocols.cldyb.study import CldybStudy


def preflight_warnings(study: CldybStudy) -> str:
    """Return the warnings that a run and ``--dry-run`` print before a study is trained; empty if there are none."""
    return " ".join(filter(None, (expected(study), ineffective_settings(study.settings))))


def ineffective_settings(s: SearchSettings) -> str:
    """Which settings are lowered by others, and to what, as far as the settings alone say; empty if none is.

    How many classes are left is not looked at: of few classes fewer candidates can be made than are asked for.
    """
    if s.tasks == 1 or s.selector != "mcts":
        return ""
    arms = min(s.candidates, s.condensed)
    if min(arms, s.simulations) == 1:
        name = next(n for n in ("candidates", "condensed", "simulations") if getattr(s, n) == 1)
        return f"One candidate is evaluated at each step (--{name} 1): nothing will be chosen by training."
    return " ".join([*_candidates(s, arms), *_ahead(s)])


def _candidates(s: SearchSettings, arms: int) -> list[str]:
    said = []
    if s.condensed > s.candidates:
        said.append(
            f"--condensed {s.condensed}: no more than {s.candidates} are proposed at a step (--candidates), and all of these are "
            f"evaluated{', without clustering' if s.clustering else ''}."
        )
    elif s.clustering and s.condensed < s.candidates < s.clusters:
        said.append(f"--clusters {s.clusters}: no more than {s.candidates}, one for each of --candidates.")
    elif s.clustering and s.condensed < min(s.clusters, s.candidates):
        said.append(
            f"--clusters {s.clusters}: candidates of no more than {s.condensed} of them are evaluated at a step (--condensed)."
        )
    if s.simulations < arms:
        said.append(
            f"--simulations {s.simulations}: at most {s.simulations} of {counted(arms, 'candidate')} are evaluated at a step."
        )
    return said


def _ahead(s: SearchSettings) -> list[str]:
    most = max(s.lookahead_at(t) for t in range(2, s.tasks + 1))
    if s.lookahead <= max(most, SearchSettings.lookahead):  # of its default, which nobody asked for, nothing is said
        return []
    last = f"task {s.tasks} is the last (--tasks)"
    return [f"--lookahead {s.lookahead}: {f'no more than {most}' if most else 'none'}, since {last}."]


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
        f"Found and random sequences will hardly differ: each holds all {counted(n, 'class')} in play, and the final "
        f"accuracy of {named} does not depend on the order of tasks. Only how classes are grouped can matter: have fewer "
        "--tasks or --classes-per-task, a larger --pool, or other --methods."
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
