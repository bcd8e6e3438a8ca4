"""Upper bound of the cost of an MCIL study."""

from __future__ import annotations

from pathlib import Path

from protocols.mcil.run import expected
from protocols.mcil.study import McilStudy
from protocols.running.costs import Cost, of_trainings, unit_costs
from seqsearch.core.text import counted


def cost(study: McilStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`."""
    unit = unit_costs(study, study.order(0)[:2], "test", scratch, study.settings.experiences)
    most, (orders, seeds) = expected(study), study.settings.plan
    large, small = study.sizes[0], study.sizes[-1]
    return of_trainings(
        most,
        unit,
        workers,
        f"{counted(most.trainings, 'training')} ({counted(len(study.methods), 'method')}, {counted(orders, 'class order')} with "
        f"{counted(seeds, 'training seed')} each, "
        f"{len(study.sizes)} experiences of {large if large == small else f'{small} or {large}'} classes)",
        ", by the second experience of each method (one that trains on all seen so far, as mm_ub, takes longer later)",
        orders=orders,
        seeds=seeds,
        sizes=list(study.sizes),
    )
