"""The record of the EDGE protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.edge.settings import EdgeSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import ESTIMATES, FITS, PLANS, RESULTS, SEQUENCES, SIMILARITY, STATS, TRAININGS

if TYPE_CHECKING:
    from protocols.edge.run import EdgeRun
    from protocols.edge.study import EdgeStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Edge(Protocol[EdgeSettings, "EdgeStudy"]):
    """Hard, easy and random class sequences, and the distribution of accuracies that they reveal."""

    name = "edge"
    command = "edge"
    settings = EdgeSettings
    exports = (
        SEQUENCES.file, RESULTS.file, ESTIMATES.file, TRAININGS.file, SIMILARITY, PLANS, FITS, STATS,
    )  # fmt: skip

    def look(self, settings: EdgeSettings, directory: Path) -> None:
        from protocols.edge.sources import look

        look(settings, directory)

    def prepare(self, settings: EdgeSettings, states: Path, device: str, directory: Path) -> EdgeStudy:
        from protocols.edge.study import prepare

        return prepare(settings, states, device, directory)

    def announcement(self, prepared: EdgeStudy) -> str:
        from protocols.edge.trained import of_every
        from seqsearch.distribution.sampling import number_of_sequences

        s = prepared.settings
        return of_every(number_of_sequences(prepared.sizes), s.score_seeds, s.random_sequences) if s.enumerate else ""

    def expected(self, prepared: EdgeStudy) -> Expected:
        from protocols.edge.trained import expected

        return expected(prepared)

    def begin(self, session: Session, prepared: EdgeStudy) -> EdgeRun:
        from protocols.edge.run import EdgeRun

        return EdgeRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.edge.results import read_edge_results
        from protocols.edge.summary import summarise

        results = read_edge_results(run)
        return Exported(results, summarise(run, results))


def build() -> Edge:
    return Edge()
