"""What a protocol is: a record of its settings, how it is prepared, computed and exported, and when it is finished.

A new protocol is one folder beside this one, or in ``evaluate``, with a record in a module that has ``build``, and one file of
its name each under ``report`` and ``cli``. Nothing else asks for a protocol by its name.
"""

from __future__ import annotations

import importlib
import re
import typing
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from seqsearch.core.settings import Settings
from seqsearch.core.text import copyable
from seqsearch.storage.inside import Inside

if TYPE_CHECKING:
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected
    from seqsearch.pools.base import Pool

S = TypeVar("S", bound=Settings)
P = TypeVar("P", bound="Prepared")

MARK = "report.html"
"""What is written last into the folder of a finished run."""
_BUILDS = re.compile(r"^def build\(\)", re.MULTILINE)


class Prepared(typing.Protocol):
    """What is to be run: settings whose names have been looked up and checked."""

    def identity(self) -> dict[str, Any]:
        """What the names of the settings stand for; written into ``config.json``, and compared when the run is resumed."""
        ...

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """All values of each method that is trained, by label, defaults included; written into ``config.json``."""
        ...

    def pools(self) -> list[dict[str, Any]]:
        """What each pool is, for the journal; none if nothing is trained."""
        ...

    def images(self) -> tuple[Pool, ...]:
        """Pools whose images a report may show."""
        ...


@dataclass(frozen=True)
class Exported:
    """What was written, or read again: the results, and the one summary of them that is shown everywhere."""

    results: Any
    summary: Any


class ProtocolRun(ABC):
    """What is done in one session, and how far it has come."""

    @abstractmethod
    def run(self) -> None:
        """Everything that is computed.

        Raises:
            TimeIsUp: it goes on when it is resumed.
        """

    @abstractmethod
    def export(self, reached: str | None) -> Exported:
        """Write what is known into the run folder; ``reached`` says how far it came if it is not finished.

        The results are those at hand: nothing that was written is read again.
        """


class Protocol(ABC, Generic[S, P]):
    """A protocol. Subclasses import what is heavy inside their methods: the command line lists them all."""

    name: ClassVar[str]
    """In ``config.json``; of the file under ``report``, too, with ``_`` for ``-``."""
    command: ClassVar[str]
    """What makes and resumes its runs: ``seqsearch COMMAND``."""
    settings: type[S]
    exports: ClassVar[tuple[str, ...]]
    """Files, beside ``config.json`` and the report, that its runs may have when they are finished."""
    again: ClassVar[str] = "written again, from the journal"
    """What becomes of exports that are torn."""
    trains: ClassVar[bool] = True
    """Its runs compute on the device that is asked for."""
    may_change: ClassVar[frozenset[str]] = frozenset({"methods", "python"})
    """What of the identity may differ on resume. Methods may be mended: what they trained is trained again, the rest kept."""

    def look(self, settings: S, directory: Path) -> None:
        """Open the pools, streams and files that settings name, and refuse what can be told of them, without torch: a refusal
        takes no seconds. What passes is opened and checked by `prepare`.

        Raises:
            UserError: bad input, which `prepare` would refuse in the same words.
        """
        return

    def takes_over(self, settings: S, directory: Path) -> Path | None:
        """The run whose results stand beside those that are trained; None: there is none."""
        return None

    @abstractmethod
    def prepare(self, settings: S, states: Path, device: str, directory: Path) -> P:
        """Resolve and check all names; files are looked for in ``directory``.

        Raises:
            UserError: bad input, before anything is computed.
        """

    def announcement(self, prepared: P) -> str:
        """What is to be said before anything is run, e.g. of a cost that no other study has; empty: nothing."""
        return ""

    @abstractmethod
    def expected(self, prepared: P) -> Expected:
        """What a session will do at most, for progress."""

    @abstractmethod
    def begin(self, session: Session, prepared: P) -> ProtocolRun:
        """What is done in a session."""

    @abstractmethod
    def read(self, run: Path) -> Exported:
        """The results and the summary of a run that was exported, from its files.

        Raises:
            UserError: not a run, or nothing of it was exported yet.
        """

    def finished(self, run: Path) -> bool:
        """Whether everything is exported; the report is what is written last."""
        return Inside(run).has(MARK)

    def resume_command(self, run: Path) -> str:
        """What continues a run, to be copied into a shell."""
        return f"seqsearch {self.command} --resume {copyable(run)}"


@cache
def protocols() -> dict[str, Protocol[Any, Any]]:
    """All there are, by name."""
    here, others = Path(__file__).parents[1], ("cli", "report")
    files = [f.relative_to(here.parent) for f in sorted(here.glob("*/**/*.py")) if _BUILDS.search(f.read_text())]
    modules = [".".join(f.with_suffix("").parts) for f in files if f.parts[1] not in others]
    found = [importlib.import_module(name).build() for name in modules]
    return {p.name: p for p in found}


def resume_command(run: Path, name: object) -> str:
    """What continues a run of the protocol that its ``config.json`` names, which may be anything."""
    known = protocols().get(name) if isinstance(name, str) else None
    return known.resume_command(run) if known else f"the command that made it, with --resume {copyable(run)}"
