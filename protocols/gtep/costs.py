"""What a GTEP study costs at most: counted, and timed on two tasks with each method's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protocols.gtep.settings import judged_settings
from protocols.gtep.spaces import drawn
from protocols.gtep.study import GtepStudy
from protocols.running.costs import unit_costs
from protocols.running.memory import Needed


@dataclass(frozen=True)
class Cost:
    """Trainings: of all, to choose, to judge, for the conventional protocol and original settings, and first tasks that are
    shared; seconds of one; memory of a worker."""

    trainings: int
    tuning: int
    judging: int
    conventional: int
    shared: int
    seconds: float
    workers: int
    hours: float
    memory: Needed | None


def counted(study: GtepStudy) -> tuple[int, int, int, int]:
    """Trainings to choose, to judge, for the conventional protocol and original settings, and first tasks that settings share."""
    s, pools = study.gtep, len(study.judged_on)
    tuning = conventional = shared = 0
    for m in study.methods:
        settings = drawn(study.world, m, s.most_trials, s) if s.most_trials else []
        firsts = {t.spec.first or t.spec.digest for t in settings}
        saved = (len(settings) - len(firsts)) * s.orders
        once = len(settings) * s.orders * s.tasks - saved
        tuning += once
        shared += saved * (1 + s.conventional * pools)
        conventional += s.conventional * pools * once
    judged = s.judged_orders * s.tasks * len(study.methods)
    beside = judged_settings(s, pools) - pools
    return tuning, judged * pools, conventional + judged * beside, shared


def estimate(study: GtepStudy, workers: int) -> Cost:
    """What it costs with so many trials at a time."""
    tuning, judging, conventional, shared = counted(study)
    prefix = study.scenario.order(study.world, study.tuned_on, "tune", study.world.seed, 0)[:2]
    unit = unit_costs(study, prefix, "reward", Path(study.world.states), study.gtep.tasks)
    whole = tuning + judging + conventional
    return Cost(
        whole,
        tuning,
        judging,
        conventional,
        shared,
        unit.seconds,
        workers,
        whole * unit.seconds / 3600 / workers,
        unit.memory,
    )
