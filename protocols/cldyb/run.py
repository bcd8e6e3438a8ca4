"""CLDyB: find, step by step, the task sequence hardest for given methods, and prove that it is.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models". One search per ``--searches`` (and per
method with ``--separate``); the random baseline trains on what the searches leave idle; what was found is scored again with fresh
training seeds, since a selected extreme is biased.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from protocols.cldyb.export import export
from protocols.cldyb.planners import Plans, make_plans
from protocols.cldyb.study import CldybStudy, prepare
from protocols.cldyb.tuning import Tuning, in_words
from protocols.running import session
from protocols.running.costs import estimate
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from protocols.running.session import Session
from seqsearch.results.tables import Row

__all__ = ["prepare", "run"]


def run(folder: RunFolder, study: CldybStudy, runtime: Runtime) -> bool:
    """Search, score, export: see `protocols.running.session.run`."""
    cost = estimate(study.settings, len(study.methods))
    return session.run(folder, study, runtime, cost.expected, lambda s: CldybRun(s, study))


@dataclass
class CldybRun:
    """What is done in one session, and how far it has come."""

    session: Session
    study: CldybStudy
    plans: Plans = field(default_factory=lambda: Plans([], [], []))
    trials: list[Row] = field(default_factory=list)

    def run(self) -> None:
        """Tune if asked for, search, score."""
        s = self.session
        if self.study.settings.tune_tasks:
            self._tune()
        s.extract_features(self.study)
        self.plans = make_plans(self.study)
        s.monitor.watch(self.plans.all)
        s.search.run(self.plans.all, deadline=s.deadline)

    def _tune(self) -> None:
        """Choose the methods' hyperparameters; what was chosen is written into ``config.json`` and said."""
        s, tuning = self.session, Tuning(self.study)
        s.extract_features(self.study)
        s.monitor.watch(tuning.planners, "tuning", len(tuning.trials))
        s.search.run(tuning.planners, more=True, deadline=s.deadline)
        chosen = tuning.chosen()
        s.folder.config["tuned"] = {label: dict(trial.spec.params) for label, trial in chosen.items()}
        s.folder.save()
        s.monitor.say("tuned", "tuned " + "; ".join(in_words(chosen, tuning.trials)), chosen=s.folder.config["tuned"])
        self.study, self.trials = tuning.tuned(), tuning.rows()

    def export(self, busy_share: float | None, reached: str | None) -> None:
        """The files of the run."""
        s = self.session
        export(s.folder, self.study, self.plans, self.trials, s.journal, s.search, busy_share, reached)
