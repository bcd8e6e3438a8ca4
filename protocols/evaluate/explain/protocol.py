"""The record of the protocol that explains what a run found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.evaluate.explain.settings import ExplainSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import EFFECTS, RESULTS, SEQUENCES, STATS, TRAININGS

if TYPE_CHECKING:
    from protocols.evaluate.explain.run import ExplainRun
    from protocols.evaluate.explain.study import ExplainStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Explain(Protocol[ExplainSettings, "ExplainStudy"]):
    """Whether the classes, the grouping or the order of the tasks make found sequences hard."""

    name = "explain"
    command = "explain"
    settings = ExplainSettings
    exports = (SEQUENCES.file, RESULTS.file, EFFECTS.file, TRAININGS.file, "common.json", STATS)
    may_change = Protocol.may_change | {"bounds"}

    def look(self, settings: ExplainSettings, directory: Path) -> None:
        from protocols.evaluate.parts.placed import look

        look(settings, directory)

    def takes_over(self, settings: ExplainSettings, directory: Path) -> Path | None:
        from protocols.evaluate.parts.source import run_of

        return run_of(settings.source, directory, settings.by_name)

    def prepare(self, settings: ExplainSettings, states: Path, device: str, directory: Path) -> ExplainStudy:
        from protocols.evaluate.explain.study import prepare

        return prepare(settings, states, device, directory)

    def announcement(self, prepared: ExplainStudy) -> str:
        from protocols.evaluate.explain.costs import in_words

        return f"{in_words(prepared)}; --dry-run gives the hours"

    def expected(self, prepared: ExplainStudy) -> Expected:
        from protocols.running.snapshot import Expected

        judging = prepared.judging
        return Expected(judging.rollouts, judging.trainings, len(prepared.found[0].tasks))

    def begin(self, session: Session, prepared: ExplainStudy) -> ExplainRun:
        from protocols.evaluate.explain.run import ExplainRun

        return ExplainRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.evaluate.explain.export import read_explained
        from protocols.evaluate.explain.summary import summarise

        explained = read_explained(run)
        return Exported(explained, summarise(run, explained))


def build() -> Explain:
    return Explain()
