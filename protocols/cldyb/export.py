"""From the planners of a CLDyB study to the files of a run."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from protocols.cldyb.planners import Plans, seeds_of
from protocols.cldyb.study import CldybStudy
from protocols.cldyb.summary import summarise
from protocols.running.export import RunFiles, classes_of, rescored
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.core.types import EvaluationSplit, Task, Tasks
from seqsearch.engine.journal import Journal
from seqsearch.planners.fixed import FixedPlanner
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.results.joint import at_once, joint_id
from seqsearch.results.rows import EvaluatedRollout, Row, TaskSequence, TraceRow, trace_rows
from seqsearch.results.run import assembled
from seqsearch.results.schema import TRACE, TRIALS


def export(
    session: Session, study: CldybStudy, plans: Plans, trials: list[Row], reached: str | None = None
) -> Exported:
    """Write ``sequences``, ``results``, ``trace`` and ``trainings.parquet``, and ``stats.json``.

    ``trials``, if there were any, go to ``trials.parquet``. Of a run that was stopped, having ``reached`` so and so far, it is
    what is known so far.
    """
    folder, files = session.folder, RunFiles(session, classes_of(study.world))
    sequences = _sequences(study, plans)
    files.sequences(sequences)
    results = files.results(_evaluated(study, plans.searches, sequences, session.journal))
    trace = files.write(TRACE, trace_rows(files.info, (row for p in plans.searches for row in traced(p))))
    if trials:
        files.write(TRIALS, trials)
    stats = files.costs(session.search(study.world), reached)
    found = assembled(folder.path, folder.saved(), stats, sequences, results, trace)
    return Exported(found, summarise(folder.path, found))


def found_for(study: CldybStudy, planner: CldybPlanner) -> tuple[str, ...]:
    """Labels of the methods that a search was for: its own, or all of the study if surrogates searched."""
    return tuple(m.label for m in (study.methods if study.surrogates else planner.methods))


def _sequences(study: CldybStudy, plans: Plans) -> list[TaskSequence]:
    seed, labels = study.settings.seed, tuple(m.label for m in study.methods)
    found = [
        TaskSequence(p.name, "searched", found_for(study, p), seed, tuple(p.sequence), chosen_values(p))
        for p in plans.searches
    ]
    drawn = [
        TaskSequence(f"random-{i}", "random", labels, seed, tasks, (None,) * len(tasks))
        for p in plans.baseline
        for i, tasks in enumerate(_tasks(p))
    ]
    whole = [s for s in (*found, *drawn) if len(s.tasks) == study.settings.tasks]
    jointly = tuple(m.label for p in plans.joint for m in p.methods)
    joint = [at_once(replace(s, method_ids=jointly), study.view) for s in (whole if jointly else ())]
    return [*found, *drawn, *joint]


def traced(planner: CldybPlanner) -> list[TraceRow]:
    """Every candidate that a search evaluated."""
    numbers: dict[int, itertools.count[int]] = defaultdict(itertools.count)
    return [TraceRow(planner.name, next(numbers[j.step]), j) for j in planner.trace]


def chosen_values(planner: CldybPlanner) -> tuple[float | None, ...]:
    """J of each chosen task; the first task was not chosen."""
    return (None, *(j.value for j in planner.trace if j.chosen))


def _evaluated(
    study: CldybStudy, searches: Sequence[CldybPlanner], sequences: Sequence[TaskSequence], journal: Journal
) -> list[EvaluatedRollout]:
    """Return the searches' own evaluations of their sequences, and the rollouts of all methods on all sequences."""
    drawn = {name for s in sequences if s.kind == "random" for name in (s.sequence_id, joint_id(s.sequence_id))}
    seeds = {kind: seeds_of(kind, study.settings.score_seeds) for kind in ("random", "searched")}
    named = [
        (s.sequence_id, s.kind, s.tasks, seeds["random" if s.sequence_id in drawn else "searched"]) for s in sequences
    ]
    own = searched_rollouts(searches, study.weight_tags, study.settings.reward_split)
    return [*own, *rescored(study, journal, study.methods, named)]


def searched_rollouts(
    searches: Iterable[CldybPlanner], weight_tags: Mapping[str, str], split: EvaluationSplit
) -> list[EvaluatedRollout]:
    """The evaluations that searches made of their own sequences; none of a search that was stopped at its first task."""
    return [
        EvaluatedRollout(
            p.name, "searched", "search", m.label, m.digest, weight_tags[m.backbone], p.replicate, split, found
        )
        for p in searches
        for m, found in zip(p.methods, p.outcomes, strict=False)
    ]


def _tasks(planner: FixedPlanner) -> list[Tasks]:
    """The sequences that a planner was given; all of them are tasks here."""
    return [tuple(t for t in prefix if isinstance(t, Task)) for prefix in planner.sequences]
