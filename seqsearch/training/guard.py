"""Guards the state that jobs share. After each job the state is compared and restored, and the method that changed it
is named (contract C10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from seqsearch.core.environment import changed_variables, environment, restore_environment
from seqsearch.features.extraction import ANYBODY, Network
from seqsearch.training.process import (
    Setting,
    alarms_raise,
    own_generators,
    restore_generators,
    settings,
)

if TYPE_CHECKING:
    from seqsearch.training.context import PoolSource


class SharedStateChanged(Exception):
    """A method changed the shared network, or state that all jobs of the process share. The result of its job is ``failed``."""


class Guard:
    """Guards one process and the shared networks of its ``sources``; one job at a time.

    Global random generators are restored, whatever a job drew from them. New environment variables are removed. A method does
    not fail for either: layers of torch draw random numbers when they are made, and libraries set variables when imported.

    Args:
        sources: return the pool sources opened so far, each with its shared network.
        forget: called for each source whose network was changed; drops whatever is cached outside the source.

    Attributes:
        last_changes: a text that lists what the last job changed; empty if nothing. All of it was restored.
    """

    def __init__(self, sources: Callable[[], Iterable[PoolSource]], forget: Callable[[], None] = lambda: None) -> None:
        self._sources, self._forget = sources, forget
        self.last_changes = ""
        self._job: _Job | None = None

    def job(self, method_target: str) -> _Job:
        """The ``with`` block in which code of the method with this target runs.

        Raises:
            SharedStateChanged: at the end of the block, if the method changed something. An exception of the block itself comes
                first.
        """
        self.last_changes, self._job = "", _Job(self, self._sources, method_target)
        return self._job

    def check(self, between_calls: bool = True) -> None:
        """Compare the shared state in the middle of a job, before a result is stored that later jobs, or a repetition of this
        one, build on.

        Args:
            between_calls: no code of the method is running. False while it may be inside a ``with`` block of its own: settings
                that such a block changes for a while, and environment variables, are then not compared.

        Raises:
            SharedStateChanged: something is changed.
        """
        if self._job is None:
            return
        changes = _describe(self._job.changed_networks(), self._job.changed_settings(between_calls))
        if between_calls:
            changes += _describe_variables(self._job.changed_variables())
        if changes:
            raise SharedStateChanged(_message(changes))

    def end(self, changes: list[str], changed_sources: list[PoolSource]) -> None:
        """End the job. Networks that it changed are built again, and whatever was computed with them is forgotten."""
        self._job = None
        self.last_changes = "; ".join(changes)
        for source in changed_sources:
            self._forget()
            source.forget()
            source.features.network.renew()


class _Job:
    """Remembers the state of the process before a job; compares and restores it after the job."""

    def __init__(self, guard: Guard, sources: Callable[[], Iterable[PoolSource]], method_target: str) -> None:
        self._guard, self._sources, self._method_target = guard, sources, method_target

    def __enter__(self) -> None:
        self._alarms = ExitStack()
        self._alarms.enter_context(alarms_raise())
        self._settings = [s.read() for s in settings()]
        self._environment = environment()
        self._generators = own_generators()

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        self._alarms.close()
        restore_generators(self._generators)
        networks, changed = self.changed_networks(), self.changed_settings()
        changes = _describe(networks, changed)
        for setting, value in changed:
            setting.write(value)
        changes += _describe_variables(restore_environment(self._environment))
        self._guard.end(changes, [source for source, _ in networks])
        if changes and error is None:
            raise SharedStateChanged(_message(changes))

    def changed_settings(self, with_scoped: bool = True) -> list[tuple[Setting, Any]]:
        """Changed settings, each with its value before the job.

        ``with_scoped``: compare also the settings that a ``with`` block may change for a while (`Setting.scoped`).
        """
        compared = [(s, v) for s, v in zip(settings(), self._settings, strict=True) if with_scoped or not s.scoped]
        return [(s, value) for s, value in compared if s.read() != value]

    def changed_variables(self) -> list[str]:
        """Names of environment variables that were changed or removed."""
        return changed_variables(self._environment)

    def changed_networks(self) -> list[tuple[PoolSource, str]]:
        """Sources whose network was changed, each with the changed entries as a text."""
        return [(s, where) for s in self._sources() if (where := _changed_in(s.features.network, self._method_target))]


def _changed_in(network: Network, method_target: str) -> str:
    """Return what was changed in a shared network, as a text; empty if nothing was.

    Any method can patch the Python classes of the modules, so the classes are always compared. Weights are compared only if this
    method may hold the network: it was given to this method, or to nobody in particular (`ANYBODY`). They are also compared as
    long as the network was given to nobody, which is cheap. A method that was given the network earlier may have kept it, but
    is not running now.
    """
    may_hold = not network.given_to or not network.given_to.isdisjoint((method_target, ANYBODY))
    return network.patched() or (network.changed() if may_hold else "")


def _describe(networks: Iterable[tuple[PoolSource, str]], changed: Iterable[tuple[Setting, Any]]) -> list[str]:
    """One text for each changed network and setting: what was changed, and how the method can avoid it."""
    of_networks = [
        f"the shared network of backbone {source.backbone.name!r} ({where}): "
        "change a copy of it, self.context.fresh_backbone()"
        for source, where in networks
    ]
    of_settings = [
        f"{setting.name} ({_shown(value)} became {_shown(setting.read())}): put it back where you change it"
        for setting, value in changed
    ]
    return of_networks + of_settings


def _describe_variables(names: Iterable[str]) -> list[str]:
    return [f"the environment variable {name}: put it back where you change it" for name in names]


def _message(changes: list[str]) -> str:
    return "it changed what all jobs share: " + "; ".join(changes)


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
