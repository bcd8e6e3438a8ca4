"""The record of the duel protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.evaluate.duel.settings import DuelSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRACE, TRAININGS

if TYPE_CHECKING:
    from protocols.evaluate.duel.run import DuelRun
    from protocols.evaluate.duel.study import DuelStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Duel(Protocol[DuelSettings, "DuelStudy"]):
    """Two methods paired over many sequences, and the sequence that separates them most."""

    name = "duel"
    command = "duel"
    settings = DuelSettings
    exports = (SEQUENCES.file, RESULTS.file, TRACE.file, TRAININGS.file, STATS)

    def look(self, settings: DuelSettings, directory: Path) -> None:
        from protocols.evaluate.duel.given import look

        look(settings, directory)

    def takes_over(self, settings: DuelSettings, directory: Path) -> Path | None:
        from protocols.evaluate.parts.source import run_of

        return run_of(settings.on, directory)

    def prepare(self, settings: DuelSettings, states: Path, device: str, directory: Path) -> DuelStudy:
        from protocols.evaluate.duel.study import prepare

        return prepare(settings, states, device, directory)

    def announcement(self, prepared: DuelStudy) -> str:
        from protocols.evaluate.duel.study import costs_of_search

        return costs_of_search(prepared.settings, prepared.methods)

    def expected(self, prepared: DuelStudy) -> Expected:
        from protocols.evaluate.duel.run import expected

        return expected(prepared)

    def begin(self, session: Session, prepared: DuelStudy) -> DuelRun:
        from protocols.evaluate.duel.run import DuelRun

        return DuelRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.evaluate.duel.summary import summarise
        from seqsearch.results.run import read_results

        results = read_results(run)
        return Exported(results, summarise(run, results))


def build() -> Duel:
    return Duel()
