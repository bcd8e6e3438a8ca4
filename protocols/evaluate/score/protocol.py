"""The record of the score protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.evaluate.score.settings import ScoreSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRAININGS

if TYPE_CHECKING:
    from protocols.evaluate.score.run import ScoreRun
    from protocols.evaluate.score.study import ScoreStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Score(Protocol[ScoreSettings, "ScoreStudy"]):
    """Any methods on sequences that were found, or that somebody has written down."""

    name = "score"
    command = "score"
    settings = ScoreSettings
    exports = (SEQUENCES.file, RESULTS.file, TRAININGS.file, STATS)

    def look(self, settings: ScoreSettings, directory: Path) -> None:
        from protocols.evaluate.parts.placed import look

        look(settings, directory)

    def takes_over(self, settings: ScoreSettings, directory: Path) -> Path | None:
        from protocols.evaluate.parts.source import run_of

        return run_of(settings.source, directory, settings.by_name)

    def prepare(self, settings: ScoreSettings, states: Path, device: str, directory: Path) -> ScoreStudy:
        from protocols.evaluate.score.study import prepare

        return prepare(settings, states, device, directory)

    def expected(self, prepared: ScoreStudy) -> Expected:
        from protocols.running.snapshot import Expected

        judging = prepared.judging
        return Expected(judging.rollouts, judging.trainings, max(len(s.tasks) for s in prepared.sequences))

    def begin(self, session: Session, prepared: ScoreStudy) -> ScoreRun:
        from protocols.evaluate.score.run import ScoreRun

        return ScoreRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.evaluate.score.summary import summarise
        from seqsearch.results.run import read_results

        results = read_results(run)
        return Exported(results, summarise(run, results))


def build() -> Score:
    return Score()
