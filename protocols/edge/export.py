"""From the planners of an EDGE study to the files of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from protocols.edge.estimates import estimates
from protocols.edge.fit import Fit
from protocols.edge.plan import ExtremesPlan
from protocols.edge.results import EdgeResults
from protocols.edge.study import EdgeStudy
from protocols.edge.summary import summarise
from protocols.running.export import RunFiles, classes_of, rescored
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.core.types import Tasks
from seqsearch.engine.journal import Journal
from seqsearch.results.rows import EvaluatedRollout, SequenceKind, TaskSequence
from seqsearch.results.run import assembled
from seqsearch.results.schema import ESTIMATES, SIMILARITY
from seqsearch.similarity.files import write
from seqsearch.similarity.matrix import Similarity


@dataclass(frozen=True)
class Evaluated:
    """A sequence that is trained, or was begun: with which seeds, and which methods (labels)."""

    name: str
    kind: SequenceKind
    tasks: Tasks
    replicates: tuple[int, ...]
    methods: tuple[str, ...]


def export(
    session: Session,
    study: EdgeStudy,
    trained: Sequence[Evaluated],
    values: Sequence[float | None],
    similarities: Sequence[Similarity],
    plans: Sequence[ExtremesPlan],
    fits: tuple[Fit, ...],
    reached: str | None,
) -> Exported:
    """Write ``sequences``, ``results``, ``estimates``, ``similarity`` and ``trainings.parquet``, and ``stats.json``.

    ``values`` are the objective of ``trained``. Of a run that was stopped, having ``reached`` so and so far, it is what is known
    so far, without estimates.
    """
    folder, files = session.folder, RunFiles(session, classes_of(study.world))
    sequences = [
        TaskSequence(j.name, j.kind, j.methods, study.settings.seed, j.tasks, (value,) * len(j.tasks))
        for j, value in zip(trained, values, strict=True)
    ]
    files.sequences(sequences)
    results = files.results(_results(study, session.journal, trained))
    if similarities:
        write(folder.file(SIMILARITY), similarities[0])
    stats = files.costs(session.search(study.world), reached)
    found = EdgeResults(
        assembled(folder.path, folder.saved(), stats, sequences, results), tuple(plans), fits, *similarities[:1]
    )
    summary = summarise(folder.path, found)
    if reached is None:
        files.write(ESTIMATES, estimates(summary.methods))
    return Exported(found, summary)


def _results(study: EdgeStudy, journal: Journal, trained: Sequence[Evaluated]) -> Iterator[EvaluatedRollout]:
    """Yield the known results of each sequence with its methods, method by method."""
    for m in study.methods:
        own = [(j.name, j.kind, j.tasks, j.replicates) for j in trained if m.label in j.methods]
        yield from rescored(study, journal, [m], own)
