"""Start, resume or estimate a run: the one way for the command line, the API and tests."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.running.devices import CALLED, on_device
from protocols.running.folder import RunFolder
from protocols.running.found import journalled_workers
from protocols.running.protocol import Protocol
from protocols.running.runtime import Runtime
from protocols.running.snapshot import Display
from seqsearch.core import command_line, stop
from seqsearch.core.errors import CannotWrite, EngineDied, UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.notices import notice
from seqsearch.core.once import opened_once
from seqsearch.core.registry import located_text
from seqsearch.core.settings import Settings, flag
from seqsearch.core.text import shown
from seqsearch.results.run import read_config
from seqsearch.study.named import check_named

if TYPE_CHECKING:
    from protocols.running.costs import Cost
    from protocols.running.run import Ended, WriteReport


class Launch:
    """A run that can begin: its settings were checked as far as that needs no heavy library.

    `launching` makes one.

    Args:
        folder: of a run that is resumed; None for a new one.
        prepared: is called with the study before anything is computed.
    """

    def __init__(
        self,
        protocol: Protocol,
        settings: Settings,
        folder: RunFolder | None = None,
        prepared: Callable[[Any], object] = lambda _: None,
    ) -> None:
        self.protocol, self.settings = protocol, settings
        self._folder, self._prepared = folder, prepared

    @property
    def folder(self) -> RunFolder:
        """Of the run; there is none before `create`."""
        assert self._folder is not None, "create() makes it"
        return self._folder

    @property
    def directory(self) -> Path:
        """Where files that settings name are looked for."""
        return Path((self._folder.config.get("directory") if self._folder else None) or ".")

    @property
    def resume_command(self) -> str:
        """The command that continues the run. A command in the settings must be named again, or it is not started."""
        return " ".join([self.protocol.resume_command(self.folder.path), *_named_commands(self.settings)])

    def create(self, out: Path | None = None) -> None:
        """Make the folder of a new run; that of a run which is resumed is there.

        Raises:
            UserError: ``out`` is not empty, or cannot be written.
        """
        if self._folder is None:
            self._folder = RunFolder.create(out, self.settings)

    def run(self, runtime: Runtime, display: Display | None = None, write_report: WriteReport | None = None) -> Ended:
        """Compute what is missing, and export. Threads, modes, signals, environment and global generators are as before then.

        Raises:
            UserError: bad input, before anything is computed; see also `protocols.running.run.run`.
            Stopped: a signal asked the process to stop; the run can be resumed.
        """
        folder, protocol = self.folder, self.protocol
        notice("loading libraries ...")
        with stop.expendable():
            from actors.devices import in_words
            from protocols.running.run import run
            from seqsearch.training.process import left_as_found
        try:
            with left_as_found():
                with stop.interruptible(), naming(folder):
                    if not folder.created:
                        runtime = as_many_workers(runtime, folder.path)
                    runtime = self._on_device(runtime)
                    states, device = folder.path / "states", runtime.engine.device
                    study = protocol.prepare(self.settings, states, device, self.directory)
                    protocol.check(study)
                stop.check()
                self._prepared(study)
                computes_on = in_words(runtime.engine) if protocol.trains else ""
                for line in filter(None, (f"run {folder.path}", computes_on, protocol.announcement(study))):
                    notice(line)
                beside = protocol.takes_over(self.settings, self.directory) is not None
                ended = run(folder, protocol, study, runtime, display=display, write_report=write_report, beside=beside)
        except UserError as error:
            if folder.created and not stop.requested() and not isinstance(error, EngineDied | CannotWrite):
                folder.discard_if_empty()
            raise
        finally:
            folder.close()
        return ended

    def cost(self, runtime: Runtime) -> Cost:
        """Return an upper bound of the cost of the run.

        Some of its tasks are timed in this process, and their results are discarded.

        Raises:
            UserError: bad input; a method fails.
        """
        if self._folder is not None:
            runtime = as_many_workers(runtime, self._folder.path)
            self._folder.close()
        notice("loading libraries ...")
        with stop.expendable():
            from actors.devices import workers_of
            from seqsearch.training.process import left_as_found
        with stop.interruptible(), left_as_found(), tempfile.TemporaryDirectory() as scratch:
            engine = self._on_device(runtime, here=True).engine
            notice(f"timing on {CALLED[engine.device]} of this machine ...")
            study = self.protocol.prepare(self.settings, Path(scratch), engine.device, self.directory)
            return self.protocol.cost(study, max(1, workers_of(engine)), Path(scratch))

    def close(self) -> None:
        """Unlock the folder of the run, if there is one."""
        if self._folder is not None:
            self._folder.close()

    def _on_device(self, runtime: Runtime, here: bool = False) -> Runtime:
        path, began_with = (self._folder.path, self._folder.device) if self._folder else (None, None)
        return on_device(runtime, self.protocol, self.settings, self.directory, path, began_with, here)


def chosen(protocols: Sequence[Protocol], given: Mapping[str, Any], resume: Path | None = None) -> Protocol:
    """The one of a command's protocols that a flag chooses, or the first one; or that of the run to be resumed."""
    name = None
    if resume is not None:
        with contextlib.suppress(UserError):  # it is reported when the run is resumed, or its config.json restored
            name = read_config(resume).get("protocol")
    return next((p for p in protocols if p.name == name or (p.chosen_by and given.get(p.chosen_by.name))), protocols[0])


@contextlib.contextmanager
def launching(protocol: Protocol, given: Mapping[str, Any], resume: Path | None = None) -> Iterator[Launch]:
    """A new run, or one that is resumed, with everything checked that can be checked before heavy libraries are imported.

    What is opened to check it is opened once. The run is unlocked in the end.

    Args:
        given: settings and flags by name (`Protocol.settle`); of others the default, or of a resumed run its own.

    Raises:
        UserError: bad input.
    """
    with stop.deferred(), opened_once():
        settled = protocol.settle(dict(given), resume is not None)
        launch = _new(protocol, settled) if resume is None else _resumed(protocol, settled, resume)
        try:
            yield launch
        finally:
            launch.close()


def _new(protocol: Protocol, given: Mapping[str, Any]) -> Launch:
    settings = protocol.settings(**given)
    check_named(protocol.settings, vars(settings))
    with stop.interruptible():
        protocol.look(settings, Path.cwd())
    return Launch(protocol, settings)


def _resumed(protocol: Protocol, given: Mapping[str, Any], path: Path) -> Launch:
    commands = {n: text for n, text in given.items() if command_line.in_list(text)}
    folder, settings = RunFolder.resume(path, protocol.settings, {n: v for n, v in given.items() if n not in commands})
    launch = Launch(protocol, settings, folder)
    try:
        _check_commands(folder, settings, commands)
        with naming(folder), stop.interruptible():
            protocol.look(settings, launch.directory)
    except UserError:
        folder.close()
        raise
    return launch


def as_many_workers(runtime: Runtime, run: Path) -> Runtime:
    """The runtime with as many workers as the last session of a run had, unless a number or a cluster is given; not where this
    many are impossible with what is given."""
    engine = runtime.engine
    if engine.workers is None and engine.address is None:
        with contextlib.suppress(UserError):
            engine = dataclasses.replace(engine, workers=journalled_workers(run))
    return dataclasses.replace(runtime, engine=engine)


@contextlib.contextmanager
def naming(folder: RunFolder) -> Iterator[None]:
    """An error in what a resumed run needs, as files that were moved, names the run, which the user named instead of these."""
    try:
        yield
    except UserError as error:
        if folder.created or type(error) is not UserError or str(folder.path) in str(error):
            raise
        raise UserError(f"run {folder.path} cannot go on: {error}") from error


def _check_commands(folder: RunFolder, settings: Settings, named: Mapping[str, str]) -> None:
    """A run may be somebody else's: a command in it is started only if the user names it, meaning the same files.

    Raises:
        UserError: a setting holds a command that is not among those ``named``, or is another than the one named.
    """
    for f in dataclasses.fields(settings):
        own = getattr(settings, f.name)
        there = _located(own, Path(folder.config["directory"] or ".")) if command_line.in_list(own) else []
        here = _located(named[f.name], Path.cwd()) if f.name in named else []
        if there and there != here:
            how = "" if f.metadata.get("hidden") else f"{flag(f.name)} "
            words = there if f.metadata.get("hidden") else [",".join(there)]  # arguments of the command, or one flag
            said = " ".join(shlex.quote(shown(word)) for word in words)
            raise UserError(f"{folder.path} would start a command: read it, and if you trust it, name it: {how}{said}")
        if here and not there:
            raise UserError(
                f"{flag(f.name)}: {folder.path} was made without a command: leave it out, or make another run"
            )


def _located(text: str, directory: Path) -> list[str]:
    """Methods as they are found from anywhere."""
    return [located_text(item.text, "method", directory) for item in parse_items(text, "method")]


def _named_commands(settings: Settings) -> Iterator[str]:
    """Words that name the commands in settings, for a shell."""
    for f in dataclasses.fields(settings):
        if command_line.in_list(text := getattr(settings, f.name)):
            hidden = f.metadata.get("hidden")
            words = [item.text for item in parse_items(text, "method")] if hidden else [flag(f.name), text]
            yield from map(shlex.quote, words)
