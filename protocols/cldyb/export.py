"""From the planners of a CLDyB study to the files of a run."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

from protocols.cldyb.planners import Plans
from protocols.cldyb.study import CldybStudy
from protocols.report.cldyb import write_report
from protocols.running.export import rescored, run_info, write_costs
from protocols.running.folder import RunFolder
from seqsearch.core.types import Prefix
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.given import GivenPlanner
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.results.tables import (
    JudgedRollout,
    Row,
    SequenceKind,
    TaskSequence,
    TraceRow,
    write_results,
    write_sequences,
    write_trace,
    write_trials,
)


def export(
    folder: RunFolder,
    study: CldybStudy,
    plans: Plans,
    trials: list[Row],
    journal: Journal,
    search: Search,
    busy_share: float | None,
    reached: str | None = None,
) -> None:
    """Write ``sequences``, ``results``, ``trace`` and ``trainings.parquet``, ``stats.json`` and ``report.html``.

    ``trials``, if there were any, go to ``trials.parquet``. Of a run that was stopped, having ``reached`` so and so far, it is
    what is known so far, and there is no report: that is what marks a finished run.
    """
    searches, baseline = plans.searches, plans.baseline
    info = run_info(folder, study)
    write_sequences(folder.path / "sequences.parquet", info, _sequences(study, searches, baseline))
    write_results(folder.path / "results.parquet", info, _judged(study, plans, journal))
    write_trace(folder.path / "trace.parquet", info, [row for p in searches for row in _traced(p)])
    if trials:
        write_trials(folder.path / "trials.parquet", info, trials)
    write_costs(folder, info, journal, search, busy_share, reached)
    if reached is None:
        write_report(folder.path, *study.world.images.parts)


def _sequences(
    study: CldybStudy, searches: Sequence[CldybPlanner], baseline: Sequence[GivenPlanner]
) -> list[TaskSequence]:
    seed = study.settings.seed
    found = [
        TaskSequence(p.name, "searched", tuple(m.label for m in p.methods), seed, tuple(p.sequence), _values(p))
        for p in searches
    ]
    labels = tuple(m.label for m in study.methods)
    drawn = [
        TaskSequence(f"random-{i}", "random", labels, seed, tasks, (None,) * len(tasks))
        for p in baseline
        for i, tasks in enumerate(p.sequences)
    ]
    return found + drawn


def _traced(planner: CldybPlanner) -> list[TraceRow]:
    numbers: dict[int, itertools.count[int]] = defaultdict(itertools.count)
    return [TraceRow(planner.name, next(numbers[j.step]), j) for j in planner.trace]


def _values(planner: CldybPlanner) -> tuple[float | None, ...]:
    """J of each chosen task; the first task was not chosen."""
    return (None, *(j.value for j in planner.trace if j.chosen))


def _judged(study: CldybStudy, plans: Plans, journal: Journal) -> list[JudgedRollout]:
    tags = study.weight_tags
    rows = [
        JudgedRollout(
            p.name, "searched", "search", m.label, m.digest, tags[m.backbone], p.replicate, study.settings.reward_split,
            found,
        )
        for p in plans.searches
        for m, found in zip(p.methods, p.outcomes, strict=False)  # none yet if it was stopped at its first task
    ]  # fmt: skip
    scored: list[tuple[GivenPlanner, list[tuple[str, SequenceKind, Prefix]]]] = [
        (s, [(p.name, "searched", tuple(p.sequence)) for p in plans.searches if set(p.methods) == set(s.methods)])
        for s in plans.scorers
    ]
    scored += [(b, [(f"random-{i}", "random", tasks) for i, tasks in enumerate(b.sequences)]) for b in plans.baseline]
    return rows + [row for scorer, named in scored for row in rescored(study, journal, scorer, named)]
