"""The record of the GTEP protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.gtep.settings import GtepSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import CHOSEN, LOOK_ALIKES, RESULTS, SEQUENCES, STATS, TABLE, TRAININGS, TRIALS

if TYPE_CHECKING:
    from protocols.gtep.run import GtepRun
    from protocols.gtep.study import GtepStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Gtep(Protocol[GtepSettings, "GtepStudy"]):
    """Hyperparameters chosen on one pool, methods judged with them on another."""

    name = "gtep"
    command = "gtep"
    settings = GtepSettings
    exports = (SEQUENCES.file, RESULTS.file, TRIALS.file, TABLE.file, LOOK_ALIKES.file, TRAININGS.file, CHOSEN, STATS)

    def look(self, settings: GtepSettings, directory: Path) -> None:
        from protocols.gtep.scenario import indices_of, sizes_of
        from seqsearch.study.classes import world_of

        texts = [settings.tune_pool, *settings.pool]
        world = world_of(settings.in_one_world(), Path(), "cpu", directory)
        whole, _ = indices_of(world, texts, directory)
        sizes_of(settings, {text: len(w) for text, w in zip(texts, whole, strict=True)})

    def prepare(self, settings: GtepSettings, states: Path, device: str, directory: Path) -> GtepStudy:
        from protocols.gtep.study import prepare

        return prepare(settings, states, device, directory)

    def announcement(self, prepared: GtepStudy) -> str:
        from protocols.gtep.spaces import remarks

        return remarks(prepared.gtep, prepared.methods)

    def expected(self, prepared: GtepStudy) -> Expected:
        from protocols.gtep.run import expected

        return expected(prepared)

    def begin(self, session: Session, prepared: GtepStudy) -> GtepRun:
        from protocols.gtep.run import GtepRun

        return GtepRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.gtep.reading import read_run
        from protocols.gtep.summary import summarise

        found = read_run(run)
        return Exported(found, summarise(found))


def build() -> Gtep:
    return Gtep()
