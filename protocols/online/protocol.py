"""The record of the online protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.online.settings import OnlineSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import STATS, TRAININGS
from seqsearch.results.stream_schema import BLIND, CURVES, FIGURES, SHIFT

if TYPE_CHECKING:
    from protocols.online.run import OnlineRun
    from protocols.online.study import OnlineStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Online(Protocol[OnlineSettings, "OnlineStudy"]):
    """Learners of a stream, judged online, in the near future, and on a holdout."""

    name = "online"
    command = "online"
    settings = OnlineSettings
    exports = (FIGURES.file, CURVES.file, BLIND.file, TRAININGS.file, SHIFT, STATS)

    def look(self, settings: OnlineSettings, directory: Path) -> None:
        from seqsearch.streams.open import build_stream, located_stream

        build_stream(located_stream(settings.stream, directory))

    def prepare(self, settings: OnlineSettings, states: Path, device: str, directory: Path) -> OnlineStudy:
        from protocols.online.study import prepare

        return prepare(settings, states, device, directory)

    def expected(self, prepared: OnlineStudy) -> Expected:
        from protocols.online.run import expected

        return expected(prepared)

    def begin(self, session: Session, prepared: OnlineStudy) -> OnlineRun:
        from protocols.online.run import OnlineRun

        return OnlineRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.online.reading import read_run
        from protocols.online.summary import summarise

        found = read_run(run)
        return Exported(found, summarise(found))


def build() -> Online:
    return Online()
