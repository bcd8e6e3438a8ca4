"""Upper bound of the cost of an EDGE study."""

from __future__ import annotations

from pathlib import Path

from protocols.edge.study import EdgeStudy
from protocols.edge.trained import expected, of_every
from protocols.running.costs import Cost, of_trainings, unit_costs
from seqsearch.stats.sampling import number_of_sequences, required_sequences


def cost(study: EdgeStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`."""
    view, tasks = study.view, study.partition.random(study.settings.seed, 0)
    prefix = tuple(view.task(view.class_ids[c] for c in task) for task in tasks[:2])
    unit = unit_costs(study, prefix, "test", scratch, study.settings.tasks)
    there = number_of_sequences(study.partition.units)
    needed = required_sequences(there, 0.05, 0.05)
    similarity = study.similarity_method.label if study.similarity_method else ""
    shown = f"{there:,}" if there < 10**9 else f"about 10^{len(str(there)) - 1}"
    return of_trainings(
        expected(study),
        unit,
        workers,
        notes=(
            *([f"one training of {similarity} on all classes at once, for their similarity"] if similarity else []),
            f"{shown} class sequences exist; {needed:,} random ones give the mean of any method to 5 points (95 %); intervals "
            "from the run itself are narrower",
        ),
        sequences=str(there),
        required_for_5_points=needed,
        similarity_method=similarity,
    )


def remarks(study: EdgeStudy) -> str:
    """Return the note on the trainings of ``--enumerate``; empty without that flag."""
    s = study.settings
    return (
        of_every(number_of_sequences(study.partition.units), s.score_seeds, s.random_sequences) if s.enumerate else ""
    )
