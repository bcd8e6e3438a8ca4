"""Upper bound of the cost of a GTEP study: counted, and timed on two tasks with each method's defaults."""

from __future__ import annotations

from pathlib import Path

from protocols.gtep import spaces
from protocols.gtep.settings import evaluated_settings
from protocols.gtep.study import GtepStudy
from protocols.running.costs import Cost, each, unit_costs
from seqsearch.core.text import counted


def trainings(study: GtepStudy) -> tuple[int, int, int, int]:
    """Trainings to choose, to evaluate, for the conventional protocol and original settings, and first tasks that settings
    share."""
    s, pools = study.gtep, len(study.evaluated_on)
    tuning = conventional = shared = 0
    for m in study.methods:
        settings = spaces.drawn(study.world, m, s.most_trials, s) if s.most_trials else []
        firsts = {t.spec.first or t.spec.digest for t in settings}
        saved = (len(settings) - len(firsts)) * s.orders
        once = len(settings) * s.orders * s.tasks - saved
        tuning += once
        shared += saved * (1 + s.conventional * pools)
        conventional += s.conventional * pools * once
    evaluated = s.evaluated_orders * s.tasks * len(study.methods)
    beside = evaluated_settings(s, pools) - pools
    return tuning, evaluated * pools, conventional + evaluated * beside, shared


def cost(study: GtepStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`."""
    tuning, evaluations, conventional, shared = trainings(study)
    prefix = study.scenario.order(study.world, study.tuned_on, "tune", study.world.seed, 0)[:2]
    unit = unit_costs(study, prefix, "reward", scratch, study.gtep.tasks)
    whole = tuning + evaluations + conventional
    beside = f", {conventional:,} for conventional and original settings" if conventional else ""
    first = "first task of them is" if shared == 1 else "first tasks of them are"
    return Cost(
        f"{counted(whole, 'training')} at most: {tuning:,} to choose, {evaluations:,} to evaluate{beside}; "
        f"{shared:,} {first} shared by settings that differ in nothing that acts there",
        whole * unit.seconds / 3600 / workers,
        workers,
        f"at {each(unit.seconds)} a training on this machine (two tasks with each method's defaults: settings with more epochs "
        "take longer, and Ray takes some seconds to start)",
        {
            "trainings": whole,
            "tuning": tuning,
            "judging": evaluations,
            "conventional": conventional,
            "shared": shared,
            "seconds": unit.seconds,
        },
        memory=unit.memory,
        worker="trial",
    )


def remarks(study: GtepStudy) -> str:
    """See `protocols.gtep.spaces.remarks`."""
    return spaces.remarks(study.gtep, study.methods)
