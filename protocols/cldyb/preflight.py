"""What a search does with less of than its settings ask for: said before anything is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.cldyb.cannot_differ import expected
from seqsearch.core.text import counted
from seqsearch.planners.settings import SearchSettings

if TYPE_CHECKING:
    from protocols.cldyb.study import CldybStudy


def preflight_warnings(study: CldybStudy) -> str:
    """What is said of a study before it is run, by a run and by ``--dry-run`` alike; empty: nothing."""
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
