"""From the planners of a duel to the files of a run."""

from __future__ import annotations

from collections.abc import Iterator

from protocols.cldyb.export import chosen_values, searched_rollouts, traced
from protocols.evaluate.duel.planners import Plans, worst_numbers
from protocols.evaluate.duel.settings import SIDES
from protocols.evaluate.duel.study import DuelStudy
from protocols.evaluate.duel.summary import summarise
from protocols.running.export import RunFiles, classes_of, rescored
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.engine.journal import Journal
from seqsearch.planners.replicates import of_order, scoring
from seqsearch.results.rows import Row, TaskSequence, result_rows, trace_rows
from seqsearch.results.run import assembled
from seqsearch.results.schema import RESULTS, TRACE


def export(session: Session, study: DuelStudy, plans: Plans, reached: str | None) -> Exported:
    """Write ``sequences``, ``results``, ``trainings`` and, if something was searched, ``trace.parquet``, and ``stats.json``.

    Of a run that was stopped, having ``reached`` so and so far, it is what is known so far.
    """
    folder, files = session.folder, RunFiles(session, classes_of(study.world))
    asked = list(_asked(study, plans))
    sequences = [s for s, _ in asked]
    files.sequences(sequences)
    results = files.write(RESULTS, _rows(study, plans, asked, session.journal))
    trace = []
    if plans.searches:
        searches = plans.searches.values()
        trace = files.write(TRACE, trace_rows(files.info, (row for p in searches for row in traced(p))))
    stats = files.costs(session.search(study.world), reached)
    found = assembled(folder.path, folder.saved(), stats, sequences, results, trace)
    return Exported(found, summarise(folder.path, found))


def _asked(study: DuelStudy, plans: Plans) -> Iterator[tuple[TaskSequence, tuple[int, ...]]]:
    """All sequences that are trained, or were begun, with their training seeds."""
    s, seeds = study.settings, tuple(scoring(study.settings.score_seeds))
    for side, p in plans.searches.items():
        worst_for = (study.labels[SIDES.index(side)],)
        yield TaskSequence(p.name, "searched", worst_for, s.seed, tuple(p.sequence), chosen_values(p)), seeds
    done = plans.random is not None and plans.random.done
    again = set(worst_numbers(*plans.random.compared())) if plans.random and done else set()
    for i in range(max(study.asked, len(plans.random.given) if plans.random else 0)):
        more = seeds if i < s.crossed_orders or i in again else ()
        yield study.random(i), (of_order(i), *more)
    yield from ((g, seeds) for g in study.given)


def _rows(
    study: DuelStudy, plans: Plans, asked: list[tuple[TaskSequence, tuple[int, ...]]], journal: Journal
) -> Iterator[Row]:
    """Yield the result rows of a duel.

    They are the searches' own evaluations of their sequences and both methods on every sequence. Rows that the run of
    ``--on`` already had for its own sequences are included.
    """
    given = {g.sequence_id for g in study.given}
    own = searched_rollouts(plans.searches.values(), study.weight_tags, study.settings.reward_split)
    yield from result_rows(own)
    named = [(s.sequence_id, s.kind, s.tasks, r) for s, r in asked if s.sequence_id not in given]
    yield from result_rows(rescored(study, journal, study.methods, named))
    if plans.evaluations:
        ours = [r for r in plans.evaluations.rows(study, journal) if r["sequence_id"] in given]
        yield from (r for r in ours if r["method_id"] in study.labels)
