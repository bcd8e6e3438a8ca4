"""Run of ``seqsearch score``: trains the missing rollouts, and exports them with the known ones."""

from __future__ import annotations

from protocols.evaluate.score.study import ScoreStudy
from protocols.evaluate.score.summary import summarise
from protocols.running.export import RunFiles, classes_of
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from seqsearch.results.run import assembled
from seqsearch.results.schema import RESULTS


class ScoreRun(ProtocolRun):
    """One session of a score run, and its progress."""

    def __init__(self, session: Session, study: ScoreStudy) -> None:
        self.session, self.study = session, study
        self.evaluations = study.evaluations

    def run(self) -> None:
        """Train what is missing; if nothing is, no worker is started."""
        s, planners = self.session, self.evaluations.planners
        if planners:
            s.extract_features(self.study)
            s.monitor.begin_phase(planners, "scoring", self.evaluations.rollouts, world=self.study.world)
            s.search(self.study.world).run(planners, deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        """Write ``sequences``, ``results`` and ``trainings.parquet``, and ``stats.json``."""
        s, study, folder = self.session, self.study, self.session.folder
        files = RunFiles(s, classes_of(study.world))
        files.sequences(study.sequences)
        rows = files.write(RESULTS, self.evaluations.rows(study, s.journal))
        stats = files.costs(s.search(study.world) if self.evaluations.planners else None, reached)
        found = assembled(folder.path, folder.saved(), stats, study.sequences, rows)
        return Exported(found, summarise(folder.path, found))
