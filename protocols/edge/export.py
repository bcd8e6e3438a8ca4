"""From the planners of an EDGE study to the files of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.edge.estimates import estimates
from protocols.edge.summary import summarise
from protocols.report.edge import write_report
from protocols.running.export import rescored, run_info, write_costs
from seqsearch.results.tables import TaskSequence, write_estimates, write_results, write_sequences
from seqsearch.similarity.files import write

if TYPE_CHECKING:
    from protocols.edge.run import EdgeRun


def export(edge: EdgeRun, busy_share: float | None, reached: str | None) -> None:
    """Write ``sequences``, ``results``, ``estimates``, ``similarity`` and ``trainings.parquet``, ``stats.json``, ``report.html``.

    Of a run that was stopped, having ``reached`` so and so far, it is what is known so far, without estimates and report.
    """
    s, study = edge.session, edge.study
    folder, info = s.folder.path, run_info(s.folder, study)
    labels, trained = tuple(m.label for m in study.methods), list(edge.sequences())
    write_sequences(
        folder / "sequences.parquet",
        info,
        [
            TaskSequence(t.name, t.kind, labels, study.settings.seed, edge.prefix(t.tasks), (t.value,) * len(t.tasks))
            for t in trained
        ],
    )
    named = [(t.name, t.kind, edge.prefix(t.tasks)) for t in trained]
    scorer = next(iter(edge.planners.values()), None)
    write_results(folder / "results.parquet", info, rescored(study, s.journal, scorer, named) if scorer else [])
    if edge.similarities:
        write(folder / "similarity.parquet", edge.similarities[0])
    write_costs(s.folder, info, s.journal, s.search, busy_share, reached)
    if reached is None:
        summary = summarise(folder)
        write_estimates(folder / "estimates.parquet", info, estimates(summary.methods))
        write_report(folder, summary, *study.world.images.parts)
