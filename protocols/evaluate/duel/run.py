"""A duel: two methods trained on the same random sequences.

Each sequence has a training seed of its own, the same for both methods. Extremes are trained again with fresh seeds,
because a selected extreme is biased. They are the random sequences with the widest gap each way. With ``--find`` they
also are the sequences that were searched for a wide gap.
"""

from __future__ import annotations

from protocols.cldyb.costs import estimate
from protocols.evaluate.duel.export import export
from protocols.evaluate.duel.planners import Plans, make_plans
from protocols.evaluate.duel.settings import BATCH
from protocols.evaluate.duel.study import DuelStudy, as_search
from protocols.running.costs import UnitCosts
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from seqsearch.methods.command import commands


class DuelRun(ProtocolRun):
    """One session of a duel, and its progress."""

    def __init__(self, session: Session, study: DuelStudy) -> None:
        self.session, self.study = session, study
        self.plans = Plans()

    def run(self) -> None:
        """Search if asked for, train, train again."""
        s = self.session
        s.extract_features(self.study)
        self.plans = make_plans(self.study, BATCH)
        phase = None if self.plans.searches else "training"
        s.monitor.begin_phase(self.plans.all, phase, world=self.study.world)
        s.search(self.study.world).run(self.plans.all, deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        return export(self.session, self.study, self.plans, reached)


def expected(study: DuelStudy) -> Expected:
    """Return an upper bound of the rollouts and trainings.

    It also counts results that the run behind ``--on`` already has.
    """
    s = study.settings
    random = s.most if not study.source else study.asked
    again = min(s.crossed_orders, study.asked) + 2 * (random > 0) + len(study.given) + len(s.directions)
    rollouts = 2 * (random + again * s.score_seeds)
    trainings = rollouts * study.length
    if s.directions:
        search = estimate(as_search(s), 2, UnitCosts(commands=len(commands(study.methods))))
        rollouts += len(s.directions) * (search.rollouts - 2 * 3)
        trainings += len(s.directions) * search.search
    return Expected(rollouts, trainings, study.length)
