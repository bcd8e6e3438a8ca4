"""CLDyB: find, step by step, the task sequence hardest for given methods, and prove that it is.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models". One search per ``--searches`` (and per
method with ``--separate``); the random baseline trains on what the searches leave idle; what was found is scored again with fresh
training seeds, since a selected extreme is biased.
"""

from __future__ import annotations

from protocols.cldyb.export import export
from protocols.cldyb.planners import Plans, make_plans
from protocols.cldyb.study import CldybStudy
from protocols.cldyb.tuning import Tuning
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from seqsearch.methods.spec import hyperparameters
from seqsearch.results.rows import Row


class CldybRun(ProtocolRun):
    """One session of a CLDyB run, and its progress."""

    def __init__(self, session: Session, study: CldybStudy) -> None:
        self.session, self.study = session, study
        self.plans = Plans([], [], [], [], [])
        self.trials: list[Row] = []

    def run(self) -> None:
        """Tune if asked for, search, score."""
        s = self.session
        if self.study.settings.tune_tasks:
            self._tune()
        s.extract_features(self.study)
        self.plans = make_plans(self.study)
        s.monitor.begin_phase(self.plans.all, world=self.study.world)
        s.search(self.study.world).run(self.plans.all, deadline=s.deadline)

    def _tune(self) -> None:
        """Choose the methods' hyperparameters; what was chosen is written into ``config.json`` and said."""
        s, tuning = self.session, Tuning(self.study)
        s.extract_features(self.study)
        s.monitor.begin_phase(tuning.planners, "tuning", len(tuning.trials), world=self.study.world)
        s.search(self.study.world).run(tuning.planners, more=True, deadline=s.deadline)
        chosen = tuning.chosen()
        s.folder.config["tuned"] = {label: dict(trial.spec.params) for label, trial in chosen.items()}
        s.monitor.say("tuned", "tuned " + "; ".join(tuning.in_words()), chosen=s.folder.config["tuned"])
        self.study, self.trials = tuning.tuned(), tuning.rows()
        s.folder.record_hyperparameters(hyperparameters(self.study.methods))

    def export(self, reached: str | None) -> Exported:
        return export(self.session, self.study, self.plans, self.trials, reached)
