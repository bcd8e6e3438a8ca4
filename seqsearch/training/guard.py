"""What jobs share stays as it was: compared after each job, put back, and the method that changed it is named (contract C10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from seqsearch.training.process import (
    Setting,
    environment,
    own_generators,
    restore_environment,
    restore_generators,
    settings,
)

if TYPE_CHECKING:
    from seqsearch.training.context import PoolSource


class NotAsLent(Exception):
    """A method changed what is lent to it, or what all jobs of the process share: a result, ``failed``."""


class Guard:
    """Looks after one process and the networks that its ``sources`` lend; one job at a time.

    Global generators are put back, whatever a job drew from them; variables of the environment that are new are removed. Neither
    is held against the method: layers of torch draw when they are made, and libraries set variables when they are imported.

    Args:
        sources: those opened so far.
        forget: called when a network was changed, for what is remembered elsewhere than in its source.

    Attributes:
        spoilt: what jobs have changed, in words; empty if nothing. All of it was put back.
    """

    def __init__(self, sources: Callable[[], Iterable[PoolSource]], forget: Callable[[], None] = lambda: None) -> None:
        self._sources, self._forget = sources, forget
        self.spoilt = ""
        self._job: _Job | None = None

    def job(self, borrower: str) -> _Job:
        """The block in which code of ``borrower`` (a method's target) runs.

        Raises:
            NotAsLent: at its end, if something was changed; not in place of an exception of the block itself.
        """
        self._job = _Job(self, self._sources, borrower)
        return self._job

    def check(self) -> None:
        """In the middle of a job, before anything is kept that later jobs build on.

        Raises:
            NotAsLent: something is changed.
        """
        if self._job is None:
            return
        if found := _words(self._job.networks(), self._job.changed(scoped=False)):
            raise NotAsLent(_blame(found))

    def end(self, found: list[str], changed: list[PoolSource]) -> None:
        """A job is over. Networks that it changed are built again, and what was computed meanwhile is forgotten."""
        self._job = None
        self.spoilt = "; ".join(filter(None, [self.spoilt, *found]))
        for source in changed:
            self._forget()
            source.forget()
            source.features.network.renew()


class _Job:
    """From the state of the process before a job to that after it."""

    def __init__(self, guard: Guard, sources: Callable[[], Iterable[PoolSource]], borrower: str) -> None:
        self._guard, self._sources, self._borrower = guard, sources, borrower

    def __enter__(self) -> None:
        self._settings = [s.read() for s in settings()]
        self._environment = environment()
        self._generators = own_generators()

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        restore_generators(self._generators)
        networks, changed = self.networks(), self.changed()
        found = _words(networks, changed)
        for setting, value in changed:
            setting.write(value)
        for name in restore_environment(self._environment):
            found.append(f"the environment variable {name}: put it back where you change it")
        self._guard.end(found, [source for source, _ in networks])
        if found and error is None:
            raise NotAsLent(_blame(found))

    def changed(self, scoped: bool = True) -> list[tuple[Setting, Any]]:
        """Settings that are not as they were, and what they were; ``scoped``: also those that a ``with`` block may change."""
        asked = [(s, v) for s, v in zip(settings(), self._settings, strict=True) if scoped or not s.scoped]
        return [(s, value) for s, value in asked if s.read() != value]

    def networks(self) -> list[tuple[PoolSource, str]]:
        """Sources whose network is changed, and where. Asked of those that the borrower was given: it may have kept one."""
        lent = [s for s in self._sources() if self._borrower in s.features.network.lent_to]
        return [(s, wrong) for s in lent if (wrong := s.features.network.changed())]


def _words(networks: Iterable[tuple[PoolSource, str]], changed: Iterable[tuple[Setting, Any]]) -> list[str]:
    lent = [
        f"the network lent of backbone {source.backbone.name!r} ({wrong}): "
        "train a copy of it, self.context.fresh_backbone()"
        for source, wrong in networks
    ]
    shared = [
        f"{setting.name} ({_shown(value)} became {_shown(setting.read())}): put it back where you change it"
        for setting, value in changed
    ]
    return lent + shared


def _blame(found: list[str]) -> str:
    return "it changed what all jobs share: " + "; ".join(found)


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
