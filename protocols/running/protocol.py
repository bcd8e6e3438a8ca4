"""Definition of a protocol: its settings, its files, and the functions that prepare, compute, read and show its runs.

A new protocol is one folder beside this one, or in ``evaluate``, with a module ``protocol`` that has ``PROTOCOLS``. It
also needs a folder of its name under ``report`` with a module ``view``. No other code names a protocol.
"""

from __future__ import annotations

import dataclasses
import importlib
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqsearch.core.errors import UserError
from seqsearch.core.settings import Settings
from seqsearch.core.text import copyable
from seqsearch.storage.inside import Inside

if TYPE_CHECKING:
    from protocols.running.costs import Cost
    from protocols.running.session import Session
    from protocols.running.snapshot import Expected
    from seqsearch.pools.base import Pool

MARK = "report.html"
"""The file that is written last into the folder of a finished run."""
MAY_CHANGE = frozenset({"methods", "python"})


class Prepared(typing.Protocol):
    """A study that is ready to run: settings whose names have been looked up and checked."""

    def identity(self) -> dict[str, Any]:
        """Return the meanings of the names in the settings.

        They are written into ``config.json``, and compared when the run is resumed.
        """
        ...

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """All values of each method that is trained, by label, defaults included; written into ``config.json``."""
        ...

    def pools(self) -> list[dict[str, Any]]:
        """Return a description of each pool for the journal; empty if nothing is trained."""
        ...

    def images(self) -> tuple[Pool, ...]:
        """Pools whose images a report may show."""
        ...


@dataclass(frozen=True)
class Exported:
    """The results that were written, or read again, and the one summary of them that all outputs show."""

    results: Any
    summary: Any


class ProtocolRun(ABC):
    """One session of a run: its computing and its export."""

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


@dataclass(frozen=True)
class Flag:
    """A flag of a command that is no setting. It is on or off, or one of some ``choices``."""

    name: str
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Protocol:
    """A protocol. Its functions are named as ``module:function`` within its ``package``, and are imported when they are used.

    Attributes:
        settings: the record of its settings; its ``protocol`` is the protocol's name.
        package: where its modules are.
        view: the module of `protocols.report` whose ``view(summary, results)`` makes the `View` of a run.
        study: ``(settings, states, device, directory) -> Prepared``, see `prepare`.
        count: ``(prepared) -> Expected``, see `expected`.
        session: ``(session, prepared) -> ProtocolRun``, see `begin`.
        reader: ``(run) -> Exported``, see `read`.
        pricing: ``(prepared, workers, scratch) -> Cost``, see `cost`; empty where runs train nothing.
        about: what ``--help`` says of its command: a sentence or more, and examples.
        flags: of its command, beside its settings.
        settling: ``(given, resumed) -> given``, see `settle`.
        exports: files, beside ``config.json`` and the report, that its runs may have when they are finished.
        opening: ``(settings, directory) -> None``, see `look`.
        refusal: ``(prepared) -> None``, see `check`.
        remarks: ``(prepared) -> str``, see `announcement`.
        source: ``(settings, directory) -> Path | None``, see `takes_over`.
        command: makes and resumes its runs: ``seqsearch COMMAND``. Empty: the protocol's name.
        chosen_by: a flag of the command by which it is chosen among those that share the command; None: it needs none.
        again: what becomes of exports that are torn.
        trains: its runs compute on the device that is asked for.
        may_change: what of the identity may differ on resume. Methods may be mended: what they trained is trained again, the rest
            kept.
        marks: files that a finished run has, the last of them written last.
    """

    settings: type[Settings]
    package: str
    view: str
    study: str
    count: str
    session: str
    reader: str
    exports: tuple[str, ...]
    about: str = ""
    flags: tuple[Flag, ...] = ()
    settling: str = ""
    pricing: str = ""
    opening: str = ""
    refusal: str = ""
    remarks: str = ""
    source: str = ""
    command: str = ""
    chosen_by: Flag | None = None
    again: str = "written again, from the journal"
    trains: bool = True
    may_change: frozenset[str] = MAY_CHANGE
    marks: tuple[str, ...] = (MARK,)

    @property
    def name(self) -> str:
        """In ``config.json``."""
        return self.settings.protocol

    @property
    def made_by(self) -> str:
        """The command that makes and resumes its runs."""
        return self.command or self.name

    def settle(self, given: dict[str, Any], resumed: bool) -> dict[str, Any]:
        """From settings and flags by name, as a user gave them, to settings: flags that stand for settings are replaced, and
        settings that another run has are filled in.

        Args:
            resumed: the run is there, and has settings of its own.

        Raises:
            UserError: a flag that has no effect, or contradicts another.
        """
        settled = self._function(self.settling)(given, resumed) if self.settling else given
        fields = {f.name for f in dataclasses.fields(self.settings)}
        return {name: value for name, value in settled.items() if name in fields}

    def look(self, settings: Settings, directory: Path) -> None:
        """Open the pools, streams and files that settings name, and refuse what can be seen in them, without torch: a refusal
        takes no seconds. What passes is opened and checked by `prepare`.

        Raises:
            UserError: bad input, which `prepare` would refuse in the same words.
        """
        if self.opening:
            self._function(self.opening)(settings, directory)

    def takes_over(self, settings: Settings, directory: Path) -> Path | None:
        """The run whose results stand beside those that are trained; None: there is none."""
        found: Path | None = self._function(self.source)(settings, directory) if self.source else None
        return found

    def prepare(self, settings: Settings, states: Path, device: str, directory: Path) -> Prepared:
        """Resolve and check all names; files are looked for in ``directory``.

        Raises:
            UserError: bad input, before anything is computed.
        """
        prepared: Prepared = self._function(self.study)(settings, states, device, directory)
        return prepared

    def check(self, prepared: Prepared) -> None:
        """Refuse what costs too much to be run unasked, although its costs can be estimated.

        Raises:
            UserError: it does.
        """
        if self.refusal:
            self._function(self.refusal)(prepared)

    def announcement(self, prepared: Prepared) -> str:
        """Return remarks that the user should read before training starts; empty if there are none.

        An example is a cost that no other study has.
        """
        return str(self._function(self.remarks)(prepared)) if self.remarks else ""

    def expected(self, prepared: Prepared) -> Expected:
        """Return an upper bound of the work of a session, for progress."""
        counted: Expected = self._function(self.count)(prepared)
        return counted

    def cost(self, prepared: Prepared, workers: int, scratch: Path) -> Cost:
        """Return an upper bound of the cost of a run with this number of workers.

        Some tasks are trained in the folder ``scratch`` to be timed.

        Raises:
            UserError: a method fails on these tasks.
        """
        cost: Cost = self._function(self.pricing)(prepared, workers, scratch)
        return cost

    def begin(self, session: Session, prepared: Prepared) -> ProtocolRun:
        """Return the protocol's part of a session."""
        begun: ProtocolRun = self._function(self.session)(session, prepared)
        return begun

    def read(self, run: Path) -> Exported:
        """The results and the summary of a run that was exported, from its files.

        Raises:
            UserError: not a run, or nothing of it was exported yet.
        """
        exported: Exported = self._function(self.reader)(run)
        return exported

    def finished(self, run: Path) -> bool:
        """Whether everything is exported."""
        return all(map(Inside(run).has, self.marks))

    def resume_command(self, run: Path) -> str:
        """Return the command that continues a run, to be copied into a shell."""
        return f"seqsearch {self.made_by} --resume {copyable(run)}"

    def _function(self, name: str) -> Callable[..., Any]:
        module, _, function = name.partition(":")
        found: Callable[..., Any] = getattr(importlib.import_module(f"{self.package}.{module}"), function)
        return found


def commands() -> dict[str, str]:
    """The modules with records, by the command that makes runs of these: the name of their folder."""
    here = Path(__file__).parents[1]
    files = [*here.glob("*/protocol.py"), *here.glob("evaluate/*/protocol.py")]
    found = [f.parent for f in files if f != Path(__file__)]
    return {f.name: ".".join((*f.relative_to(here.parent).parts, "protocol")) for f in sorted(found)}


def flags_of(protocols: Collection[Protocol]) -> dict[str, Flag]:
    """Flags of the command that these protocols share, by name; those that choose one of them included."""
    found = {f.name: f for p in protocols for f in p.flags}
    return found | {p.chosen_by.name: p.chosen_by for p in protocols if p.chosen_by}


def of_command(command: str) -> tuple[Protocol, ...]:
    """The protocols whose runs a command makes; the first one needs no flag."""
    records: tuple[Protocol, ...] = importlib.import_module(commands()[command]).PROTOCOLS
    return records


@cache
def protocols() -> dict[str, Protocol]:
    """All there are, by name."""
    return {p.name: p for command in commands() for p in of_command(command)}


def resume_command(run: Path, name: object) -> str:
    """Return the command that continues a run of the protocol ``name``.

    The name is from the run's ``config.json``, which is untrusted.
    """
    known = protocols().get(name) if isinstance(name, str) else None
    return known.resume_command(run) if known else f"the command that made it, with --resume {copyable(run)}"


def check_exported(run: Path, command: str, files: Iterable[str]) -> None:
    """
    Raises:
        UserError: a run has not all of these files yet; ``command`` continues it.
    """
    if missing := next((name for name in files if not Inside(run).has(name)), ""):
        raise UserError(f"run {run} is not finished (no {missing} yet): finish it with {command}")
