"""From the results of an MCIL run to its files."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.mcil.counted import experience_rows, figure_rows
from protocols.mcil.reading import McilResults
from protocols.mcil.study import McilStudy
from protocols.mcil.summary import summarise
from protocols.running.export import RunFiles, classes_of, rescored
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.results.experience_schema import EXPERIENCES, RUN_FIGURES
from seqsearch.results.rows import EvaluatedRollout, SequenceKind, TaskSequence

KIND: SequenceKind = "random"


def export(session: Session, study: McilStudy, reached: str | None) -> Exported:
    """Write ``sequences``, ``results``, ``experiences``, ``run_figures`` and ``trainings.parquet``, and ``stats.json``.

    Of a run that was stopped, having ``reached`` so and so far, it is what is known so far.
    """
    files = RunFiles(session, classes_of(study.world))
    labels, length = tuple(m.label for m in study.methods), len(study.sizes)
    given = study.given()
    sequences = [(f"order-{k}", KIND, study.order(k), g.replicates) for k, g in enumerate(given)]
    evaluated = list(rescored(study, session.journal, study.methods, sequences))
    of_orders = [
        TaskSequence(name, kind, labels, study.settings.seed, tasks, (None,) * length)
        for name, kind, tasks, _ in sequences
    ]
    files.sequences(of_orders)
    files.results(evaluated)
    experiences = files.write(EXPERIENCES, experience_rows(evaluated, study.settings.text_at_test))
    found = files.write(RUN_FIGURES, figure_rows(experiences, evaluated, length))
    stats = files.costs(session.search(study.world), reached, _failures(evaluated))
    results = McilResults(session.folder.saved(), stats, tuple(experiences), tuple(found))
    return Exported(results, summarise(results))


def _failures(evaluated: Iterable[EvaluatedRollout]) -> dict[str, str]:
    """Why the first run of each method that did not end well did not."""
    found: dict[str, str] = {}
    for j in evaluated:
        if j.outcome.status != "ok":
            found.setdefault(j.method_id, f"{j.outcome.status} on {j.sequence_id}: {j.outcome.message}")
    return found
