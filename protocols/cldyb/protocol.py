"""The record of the CLDyB protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protocols.cldyb.settings import CldybSettings
from protocols.running.protocol import Exported, Protocol
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRACE, TRAININGS, TRIALS

if TYPE_CHECKING:
    from protocols.cldyb.run import CldybRun
    from protocols.cldyb.study import CldybStudy
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected


class Cldyb(Protocol[CldybSettings, "CldybStudy"]):
    """Find, step by step, the task sequence hardest for given methods, and prove that it is."""

    name = "cldyb"
    command = "cldyb"
    settings = CldybSettings
    may_change = Protocol.may_change | {"surrogates"}
    exports = (SEQUENCES.file, RESULTS.file, TRACE.file, TRAININGS.file, TRIALS.file, STATS)

    def look(self, settings: CldybSettings, directory: Path) -> None:
        from protocols.cldyb.classes import classes_in_play
        from seqsearch.study.classes import world_of

        classes_in_play(world_of(settings, Path(), "cpu", directory), settings)

    def prepare(self, settings: CldybSettings, states: Path, device: str, directory: Path) -> CldybStudy:
        from protocols.cldyb.costs import refuse_commands
        from protocols.cldyb.study import prepare

        study = prepare(settings, states, device, directory)
        refuse_commands(study)
        return study

    def announcement(self, prepared: CldybStudy) -> str:
        from protocols.cldyb.costs import costs_of_commands
        from protocols.cldyb.lowered import beforehand
        from seqsearch.methods.command import commands

        named = commands(prepared.searchers)
        costs = costs_of_commands(prepared.settings, len(prepared.methods), named) if named else ""
        return " ".join(filter(None, (beforehand(prepared), costs)))

    def expected(self, prepared: CldybStudy) -> Expected:
        from protocols.cldyb.costs import estimate
        from protocols.running.costs import UnitCosts
        from protocols.running.snapshot import Expected
        from seqsearch.methods.command import commands

        by_command = UnitCosts(commands=len(commands(prepared.searchers)))
        cost = estimate(prepared.settings, len(prepared.methods), by_command, jointly=len(prepared.jointly))
        return Expected(cost.rollouts, cost.trainings, prepared.settings.tasks)

    def begin(self, session: Session, prepared: CldybStudy) -> CldybRun:
        from protocols.cldyb.run import CldybRun

        return CldybRun(session, prepared)

    def read(self, run: Path) -> Exported:
        from protocols.cldyb.summary import summarise
        from seqsearch.results.run import read_results

        results = read_results(run)
        return Exported(results, summarise(run, results))


def build() -> Cldyb:
    return Cldyb()
