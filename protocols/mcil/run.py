"""MCIL: methods learn a pool's classes in experiences, in random class orders, and are evaluated on all classes seen so far.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks". A run is a class order with a training seed; methods
share the runs, so that their differences are paired. All images but those of test are learned, those kept for choosing
hyperparameters included: nothing is chosen here, and the paper has two parts only.
"""

from __future__ import annotations

from protocols.mcil.export import export
from protocols.mcil.study import McilStudy
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from seqsearch.planners.fixed import FixedPlanner


class McilRun(ProtocolRun):
    """One session of an MCIL run, and its progress."""

    def __init__(self, session: Session, study: McilStudy) -> None:
        self.session, self.study = session, study

    def run(self) -> None:
        """All methods on all class orders."""
        s, study = self.session, self.study
        s.extract_features(study)
        given = study.given()
        planner = FixedPlanner("class orders", lambda: given, study.methods, study.settings.seed)
        s.monitor.begin_phase([planner], "learning", expected(study).rollouts)
        s.search(study.world).run([planner], deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        return export(self.session, self.study, reached)


def expected(study: McilStudy) -> Expected:
    """Runs and trainings."""
    orders, seeds = study.settings.plan
    runs = orders * seeds * len(study.methods)
    return Expected(runs, runs * len(study.sizes), len(study.sizes))
