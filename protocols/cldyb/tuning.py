"""``--tune-tasks``: choose each method's hyperparameters before a study, on tasks that it is not evaluated on.

Every method is trained with its defaults and with settings drawn from its declared search space, on the same random tasks of
classes that are kept out of the run, and evaluated on their reward images, which no method ever sees. The settings with the
highest final accuracy are taken. Trials are ordinary rollouts: scheduled, cached, journalled and resumed like any other.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.cldyb.study import CldybStudy, with_methods
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted
from seqsearch.core.types import MethodSpec
from seqsearch.methods.sampling import proposals
from seqsearch.methods.spec import build_of
from seqsearch.planners.fixed import FixedPlanner, FixedSequence, with_replicates
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import TUNING
from seqsearch.stats.accuracy import acc

if TYPE_CHECKING:
    from seqsearch.core.grammar import Value
    from seqsearch.planners.base import Planner
    from seqsearch.results.rows import Row


@dataclass(frozen=True)
class Trial:
    """One setting of one method: what was added to the parameters given, and what came of it."""

    method: MethodSpec
    number: int
    added: Mapping[str, Value]
    spec: MethodSpec


class Tuning:
    """The trials of a study. Run `planners`, then look at `tuned` and `rows`."""

    def __init__(self, study: CldybStudy) -> None:
        self.study = study
        self.trials = [t for m in study.methods for t in _trials(study, m)]
        self._search: CldybPlanner | None = None
        s = study.settings
        if s.tune_on == "first":
            short = dataclasses.replace(
                s, tasks=s.tune_tasks, extended_from=(), grow=tuple(g for g in s.grow if _step(g) <= s.tune_tasks)
            )
            self._search = CldybPlanner("tuning-search", study.searchers, study.view, study.first, short, s.seed, 0)
        self._given = FixedPlanner("tuning", self._tasks, [t.spec for t in self.trials], s.seed, evaluated="reward")

    @property
    def planners(self) -> list[Planner]:
        return [self._search, self._given] if self._search else [self._given]

    def _tasks(self) -> tuple[FixedSequence, ...] | None:
        if self._search is None:
            return with_replicates([self.study.tuning], [TUNING])
        return with_replicates([tuple(self._search.sequence)], [TUNING]) if self._search.done else None

    def _accuracy(self, trial: Trial) -> float | None:
        """Final accuracy on the reward images of all tasks; None if it did not end well."""
        [[outcome]] = self._given.outcomes[trial.spec.label]
        return acc(outcome.accuracy) if outcome.status == "ok" else None

    def chosen(self) -> dict[str, Trial]:
        """The best trial by method label; of equals the first, hence the defaults if nothing beats them.

        Raises:
            UserError: all trials of a method failed.
        """
        best: dict[str, Trial] = {}
        for method in self.study.methods:
            scored = [(a, t) for t in self.trials if t.method == method and (a := self._accuracy(t)) is not None]
            if not scored:
                [[outcome]] = self._given.outcomes[next(t for t in self.trials if t.method == method).spec.label]
                raise UserError(
                    f"--tune-tasks: no setting of method {method.label!r} could be trained: {outcome.status}: "
                    f"{outcome.message}"
                )
            best[method.label] = max(scored, key=lambda pair: (pair[0], -pair[1].number))[1]
        return best

    def in_words(self) -> list[str]:
        """A line per method: what was chosen, of how many, and how many of them were as good."""
        lines = []
        for label, trial in self.chosen().items():
            scores = [self._accuracy(t) for t in self.trials if t.method.label == label]
            added = ", ".join(f"{n}={v}" for n, v in trial.added.items()) or "its defaults"
            alike = scores.count(self._accuracy(trial)) - 1
            equal = f", {counted(alike, 'other')} as good" if alike else ""
            lines.append(
                f"{label}: {added} (best of {len(scores)}{equal})" if len(scores) > 1 else f"{label}: nothing to tune"
            )
        return lines

    def tuned(self) -> CldybStudy:
        """The study with every method at its chosen settings, under its old label."""
        chosen = self.chosen()
        specs = [dataclasses.replace(chosen[m.label].spec, label=m.label) for m in self.study.methods]
        return with_methods(self.study, specs)

    def rows(self) -> list[Row]:
        """One row per trial for ``trials.parquet``."""
        chosen, rows = self.chosen(), []
        for trial in self.trials:
            [[outcome]] = self._given.outcomes[trial.spec.label]
            rows.append(
                {
                    "method_id": trial.method.label,
                    "trial": trial.number,
                    "config_digest": trial.spec.digest,
                    "params": json.dumps(dict(trial.spec.params)),
                    "accuracy": self._accuracy(trial),
                    "status": outcome.status,
                    "train_seconds": float(outcome.train_seconds),
                    "trainings": len(self._given.sequences[0]),
                    "chosen": chosen[trial.method.label] is trial,
                }
            )
        return rows


def _trials(study: CldybStudy, method: MethodSpec) -> list[Trial]:
    fixed = dict(method.params)
    settings = study.settings
    drawn = proposals(build_of("method", method.target), fixed, settings.tune_trials, settings.seed, method.backbone)
    return [
        Trial(method, n, added, study.world.respecified(method, {**fixed, **added}, f"{method.label} [trial {n}]"))
        for n, added in enumerate(drawn)
    ]


def _step(grow: str) -> int:
    return int(grow.partition(":")[0])
