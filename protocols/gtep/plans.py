"""Trials and evaluations that a GTEP run has requested so far: settings tried, settings chosen, settings evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from protocols.gtep.spaces import Setting
from protocols.gtep.study import GtepStudy
from protocols.gtep.sweep import Chosen, Sweep
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, MethodSpec, Rollout
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Counts
from seqsearch.engine.trials import results
from seqsearch.methods.spec import hyperparameters
from seqsearch.study.near_duplicates import NearDuplicates

Use = Literal["tuned", "original", "conventional"]
"""Setting of a method: tuned in the first phase or given, its defaults, or chosen on the evaluation pool."""
DECISION = "decision"


@dataclass(frozen=True)
class Evaluated:
    """A setting of a method on the test images of a pool: ``side`` None is the pool that it was tuned on, with fresh orders."""

    method: MethodSpec
    use: Use
    side: int | None
    setting: Setting
    rollouts: tuple[Rollout, ...]

    @property
    def label(self) -> str:
        """The method in ``results.parquet``."""
        return self.method.label if self.use == "tuned" else f"{self.method.label} ({self.use})"


class Results:
    """Results in the journal of a run, and recorded decisions of an external library."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def results(self, rollout: Rollout) -> list[EdgeResult]:
        """Return the known results of a rollout, task by task."""
        return results(rollout, self.journal)

    def learned(self, rollout: Rollout) -> list[EdgeResult]:
        """Return the known results that measure the cost of learning.

        For additive methods they are the results of the edges that learn the parts.
        """
        return [r for e in rollout.edges() if (r := self.journal.edge(e.home.digest)) is not None]

    def decided(self, name: str, decide: Callable[[], Any]) -> Any:
        """Return the decision recorded under this name, in this or an earlier session.

        If there is none, call ``decide`` and record the decision.
        """
        for entry in self.journal.entries:
            note = entry.get("note", {})
            if note.get(DECISION) == name:
                return note.get("decided")
        found = decide()
        self.journal.note(**{DECISION: name, "decided": found})
        return found


@dataclass(frozen=True)
class Plans:
    """See the module.

    Attributes:
        sweeps, chosen: of the first phase, by method label and the number of the pool; None: the one to tune on.
        evaluated: what the second phase trains.
        rollouts: all that were asked for, by digest.
        near_duplicates: images of both phases that look alike, by the number of the evaluation pool, if that was asked for.
    """

    study: GtepStudy
    known: Results
    sweeps: dict[tuple[str, int | None], Sweep] = field(default_factory=dict)
    chosen: dict[tuple[str, int | None], Chosen] = field(default_factory=dict)
    evaluated: list[Evaluated] = field(default_factory=list)
    rollouts: dict[str, Rollout] = field(default_factory=dict)
    near_duplicates: dict[int, NearDuplicates] = field(default_factory=dict)

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """All values of what is evaluated, by label; of what was chosen on each pool for itself, by label and pool."""
        specs = list[MethodSpec]()
        for j in self.evaluated:
            of_pool = (
                f" on {self.study.evaluated_on[j.side].text}" if j.use == "conventional" and j.side is not None else ""
            )
            specs.append(replace(j.setting.spec, label=j.label + of_pool))
        return hyperparameters(specs)

    def statuses(self, rollouts: Sequence[Rollout]) -> list[str]:
        """How each of these that was begun ended, or stands."""
        return [found[-1].status for r in rollouts if (found := self.known.results(r))]

    @property
    def edges(self) -> dict[str, Edge]:
        """Of all rollouts, by the state that they train."""
        return {e.key.digest: e for r in self.rollouts.values() for own in r.edges() for e in (own.home, own)}

    @property
    def counts(self) -> Counts:
        """Return the number of trainings that retraining every rollout from scratch would have taken."""
        return Counts(naive=sum(len(self.known.results(r)) for r in self.rollouts.values()))
