"""Online continual learning: learners play a stream, and are evaluated on what comes next and on what comes later.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?". Each learner (with each sampler and budget) plays
the main part in order of time; with ``--windows`` also shuffled within windows. Segments of the stream are what is scheduled and
kept: what was learned up to the last checkpoint is never learned again.
"""

from __future__ import annotations

from collections.abc import Iterator

from protocols.online.export import export
from protocols.online.study import OnlineStudy
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from seqsearch.core.types import MethodSpec
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, FixedSequence


class OnlineRun(ProtocolRun):
    """One session of an online run, and its progress."""

    def __init__(self, session: Session, study: OnlineStudy) -> None:
        self.session, self.study = session, study
        self.searched: Search | None = None
        self.planners: list[FixedPlanner] = []

    def run(self) -> None:
        """All learners in order of time first, then shuffled."""
        s, study = self.session, self.study
        s.extract_features(study)
        self.planners = list(self._planners())
        s.monitor.begin_phase(self.planners, "learning", expected(study).rollouts)
        self.searched = s.search(study.world)
        self.searched.run(self.planners, deadline=s.deadline)

    def _planners(self) -> Iterator[FixedPlanner]:
        for window in self.study.orders:
            for m in self.study.methods:
                yield self._planner(m, window)

    def _planner(self, method: MethodSpec, window: int) -> FixedPlanner:
        given = [FixedSequence(self.study.segments(window), self.study.replicates(method))]
        name = f"{method.label} shuffled within {window}" if window else method.label
        return FixedPlanner(name, lambda: given, [method], self.study.settings.seed)

    def export(self, reached: str | None) -> Exported:
        return export(self.session, self.study, self.searched, reached)


def expected(study: OnlineStudy) -> Expected:
    """Runs and segments."""
    runs = sum(len(study.replicates(m)) for m in study.methods) * len(study.orders)
    return Expected(runs, runs * len(study.segments(0)), 0)
