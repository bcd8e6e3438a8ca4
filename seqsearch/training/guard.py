"""Guards the state that jobs share. After each job the state is compared and restored, and the method that changed it
is named (contract C10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from seqsearch.features.extraction import ANYBODY, Network
from seqsearch.training.process import (
    Setting,
    alarms_raise,
    changed_variables,
    environment,
    own_generators,
    restore_environment,
    restore_generators,
    settings,
)

if TYPE_CHECKING:
    from seqsearch.training.context import PoolSource


class SharedStateChanged(Exception):
    """A method changed what is shared with it, or what all jobs of the process share: a result, ``failed``."""


class Guard:
    """Looks after one process and the networks that its ``sources`` share; one job at a time.

    Global generators are put back, whatever a job drew from them; variables of the environment that are new are removed. Neither
    is held against the method: layers of torch draw when they are made, and libraries set variables when they are imported.

    Args:
        sources: those opened so far.
        forget: called when a network was changed, for what is remembered elsewhere than in its source.

    Attributes:
        spoilt: what the last job has changed, in words; empty if nothing. All of it was put back.
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
        self.spoilt, self._job = "", _Job(self, self._sources, borrower)
        return self._job

    def check(self, between_calls: bool = True) -> None:
        """In the middle of a job, before anything is kept that later jobs build on: a job that is done again builds on it, too.

        ``between_calls``: no code of the borrower's is under way, which may have changed something for the length of a block.

        Raises:
            NotAsLent: something is changed.
        """
        if self._job is None:
            return
        found = _words(self._job.networks(), self._job.changed(between_calls))
        if between_calls:
            found += _variables(self._job.variables())
        if found:
            raise SharedStateChanged(_blame(found))

    def end(self, found: list[str], changed: list[PoolSource]) -> None:
        """A job is over. Networks that it changed are built again, and what was computed meanwhile is forgotten."""
        self._job = None
        self.spoilt = "; ".join(found)
        for source in changed:
            self._forget()
            source.forget()
            source.features.network.renew()


class _Job:
    """From the state of the process before a job to that after it."""

    def __init__(self, guard: Guard, sources: Callable[[], Iterable[PoolSource]], borrower: str) -> None:
        self._guard, self._sources, self._borrower = guard, sources, borrower

    def __enter__(self) -> None:
        self._alarms = ExitStack()
        self._alarms.enter_context(alarms_raise())
        self._settings = [s.read() for s in settings()]
        self._environment = environment()
        self._generators = own_generators()

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        self._alarms.close()
        restore_generators(self._generators)
        networks, changed = self.networks(), self.changed()
        found = _words(networks, changed)
        for setting, value in changed:
            setting.write(value)
        found += _variables(restore_environment(self._environment))
        self._guard.end(found, [source for source, _ in networks])
        if found and error is None:
            raise SharedStateChanged(_blame(found))

    def changed(self, scoped: bool = True) -> list[tuple[Setting, Any]]:
        """Settings that are not as they were, and what they were; ``scoped``: also those that a ``with`` block may change."""
        asked = [(s, v) for s, v in zip(settings(), self._settings, strict=True) if scoped or not s.scoped]
        return [(s, value) for s, value in asked if s.read() != value]

    def variables(self) -> list[str]:
        """Names of variables of the environment that are changed or gone."""
        return changed_variables(self._environment)

    def networks(self) -> list[tuple[PoolSource, str]]:
        """Sources whose network is changed, and where."""
        return [(s, wrong) for s in self._sources() if (wrong := _wrong(s.features.network, self._borrower))]


def _wrong(network: Network, borrower: str) -> str:
    """Classes can be had without a network; a network that only others were given, who may have kept it, is not asked."""
    had = not network.given_to or not network.given_to.isdisjoint((borrower, ANYBODY))
    return network.patched() or (network.changed() if had else "")


def _words(networks: Iterable[tuple[PoolSource, str]], changed: Iterable[tuple[Setting, Any]]) -> list[str]:
    networks_changed = [
        f"the shared network of backbone {source.backbone.name!r} ({wrong}): "
        "change a copy of it, self.context.fresh_backbone()"
        for source, wrong in networks
    ]
    shared = [
        f"{setting.name} ({_shown(value)} became {_shown(setting.read())}): put it back where you change it"
        for setting, value in changed
    ]
    return networks_changed + shared


def _variables(names: Iterable[str]) -> list[str]:
    return [f"the environment variable {name}: put it back where you change it" for name in names]


def _blame(found: list[str]) -> str:
    return "it changed what all jobs share: " + "; ".join(found)


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
