"""The record of the MCIL protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.mcil.settings import McilSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.experience_schema import EXPERIENCES, RUN_FIGURES
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRAININGS

if TYPE_CHECKING:
    from protocols.mcil.run import McilRun
    from protocols.mcil.study import McilStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Mcil(Protocol[McilSettings, "McilStudy"]):
    """Methods on random class orders, cut into experiences; balanced and pooled accuracy over all classes seen."""

    name = "mcil"
    command = "mcil"
    settings = McilSettings
    exports = (SEQUENCES.file, RESULTS.file, EXPERIENCES.file, RUN_FIGURES.file, TRAININGS.file, STATS)

    def look(self, settings: McilSettings, directory: Path) -> None:
        from protocols.mcil.classes import classes_in_play
        from seqsearch.study.classes import check_images, world_of

        world = world_of(settings, Path(), "cpu", directory)
        check_images(world, classes_in_play(world, settings))

    def prepare(self, settings: McilSettings, states: Path, device: str, directory: Path) -> McilStudy:
        from protocols.mcil.study import prepare

        return prepare(settings, states, device, directory)

    def expected(self, prepared: McilStudy) -> Expected:
        from protocols.mcil.run import expected

        return expected(prepared)

    def begin(self, session: Session, prepared: McilStudy) -> McilRun:
        from protocols.mcil.run import McilRun

        return McilRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.mcil.reading import read_run
        from protocols.mcil.summary import summarise

        found = read_run(run)
        return Exported(found, summarise(found))


def build() -> Mcil:
    return Mcil()
