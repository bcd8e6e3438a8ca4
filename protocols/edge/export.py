"""From the planners of an EDGE study to the files of a run."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.edge.estimates import estimates
from protocols.edge.plan import ExtremesPlan
from protocols.edge.results import EdgeResults
from protocols.edge.study import EdgeStudy
from protocols.edge.summary import summarise
from protocols.running.export import classes_of, rescored, run_info, write_costs
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.core.types import Tasks
from seqsearch.results.rows import SequenceKind, TaskSequence
from seqsearch.results.run import assembled
from seqsearch.results.schema import SIMILARITY
from seqsearch.results.tables import write_estimates, write_results, write_sequences
from seqsearch.similarity.files import write
from seqsearch.similarity.matrix import Similarity


def export(
    session: Session,
    study: EdgeStudy,
    trained: Sequence[tuple[str, SequenceKind, Tasks, tuple[int, ...]]],
    values: Sequence[float | None],
    similarities: Sequence[Similarity],
    plans: Sequence[ExtremesPlan],
    reached: str | None,
) -> Exported:
    """Write ``sequences``, ``results``, ``estimates``, ``similarity`` and ``trainings.parquet``, and ``stats.json``.

    ``trained`` are all sequences that are trained, or were begun: name, kind, tasks and training seeds; ``values`` their
    objective. Of a run that was stopped, having ``reached`` so and so far, it is what is known so far, without estimates.
    """
    folder, journal, file = session.folder.path, session.journal, session.folder.file
    info, labels = run_info(session.folder, classes_of(study.world)), tuple(m.label for m in study.methods)
    sequences = [
        TaskSequence(name, kind, labels, study.settings.seed, tasks, (value,) * len(tasks))
        for (name, kind, tasks, _), value in zip(trained, values, strict=True)
    ]
    write_sequences(file("sequences.parquet"), info, sequences)
    results = write_results(file("results.parquet"), info, rescored(study, journal, study.methods, trained))
    if similarities:
        write(file(SIMILARITY), similarities[0])
    search = session.search(study.world)
    stats = write_costs(session.folder, info, journal, search, session.busy_share, reached)
    found = EdgeResults(
        assembled(folder, session.folder.saved(), stats, sequences, results), tuple(plans), *similarities[:1]
    )
    summary = summarise(folder, found)
    if reached is None:
        write_estimates(file("estimates.parquet"), info, estimates(summary.methods))
    return Exported(found, summary)
