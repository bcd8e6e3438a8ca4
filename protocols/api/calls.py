"""The functions of ``seqsearch``: one for each command, whose keywords are the settings' names.

They go the way of the command line: `protocols.running.launch`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from protocols.api.callbacks import Callbacks
from protocols.api.choice import one_of
from protocols.api.custom_code import remove
from protocols.api.given import WATCHING, Given, check_keywords
from protocols.api.host import display, visiting
from protocols.cldyb.extend import extending
from protocols.running.folder import free_name, refuse_used
from protocols.running.launch import Launch, chosen, launching
from protocols.running.protocol import Protocol, commands, of_command, protocols
from protocols.running.runtime import OPTIONS
from protocols.running.status import status
from seqsearch.core.errors import UserError
from seqsearch.core.notices import warn
from seqsearch.core.stop import Stopped

if TYPE_CHECKING:
    from protocols.running.costs import Cost

R = TypeVar("R")
RESUME = (*OPTIONS, *WATCHING, "methods")
"""Keywords of `resume`; ``methods`` names the commands again that a run of commands may start."""


class Interrupted(Stopped):
    """Ctrl-C has stopped a run, which can be resumed.

    Attributes:
        run: its handle.
    """

    def __init__(self, run: Any) -> None:
        self.run = run
        super().__init__(f"stopped; nothing is lost. Continue with: seqsearch.resume({os.fspath(run)!r})")


def call(command: str, values: dict[str, Any], handle: Callable[[Path], R]) -> R:
    """Make a run of a command, and compute it; returns its handle.

    Raises:
        UserError: bad input, before anything is computed; a method fails wherever it is tried; a disk is full.
        Interrupted: Ctrl-C. The run can be resumed.
    """
    of = of_command(command)
    given = Given(command, of, values)
    with _code(given, of):
        settings = given.settings(given.out)
        return _run(given, handle, lambda: launching(chosen(of, settings), settings))


def resume(path: Path, options: dict[str, Any], handle: Callable[[Path], R]) -> R:
    """See `protocols.api.commands.resume`."""
    check_keywords("resume", options, RESUME)
    protocol = _protocol_of(path)
    given = Given(protocol.made_by, of_command(protocol.made_by), options)
    return _run(given, handle, lambda: launching(protocol, given.settings(None), path))


def extend(path: Path, tasks: int, options: dict[str, Any], handle: Callable[[Path], R]) -> R:
    """See `protocols.api.run.Run.extend`."""
    check_keywords("extend", options, (*OPTIONS, *WATCHING))
    return _run(Given("cldyb", of_command("cldyb"), options), handle, lambda: extending(path, tasks))


def cost(command: str, *arguments: Any, **values: Any) -> Cost:
    """Return an upper bound of the trainings and hours of a command; two tasks are trained to time them.

    Args:
        command: its name, ``cldyb`` for one.
        arguments, values: as for its function.

    Returns:
        A record with ``trained`` (in words), ``hours``, ``workers``, ``notes`` and ``memory``; ``to_json()`` has all
        figures by name.

    Raises:
        UserError: bad input, a command that trains nothing, or a method that fails.

    Example:
        >>> import seqsearch as ss
        >>> found = ss.cost("cldyb", methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0)
        >>> found.to_json()["trainings"] > 0
        True
    """
    of = of_command(one_of(command, commands(), "no command that makes runs is called"))
    given = Given(command, of, {**as_settings(command, arguments), **values})
    with visiting(), _code(given, of), contextlib.ExitStack() as stack:
        settings = given.settings(given.out)
        protocol = chosen(of, settings)
        if not protocol.trains:
            raise UserError("this trains nothing, so that it has no cost")
        launch = stack.enter_context(launching(protocol, settings))
        return launch.cost(given.runtime())


def as_settings(command: str, arguments: Sequence[Any]) -> dict[str, Any]:
    """Arguments without keywords as settings, as on the command line: ``RUN`` of score and explain, ``A`` and ``B`` of duel.

    Raises:
        UserError: the command has no arguments, or other ones.
    """
    if not arguments:
        return {}
    record = of_command(command)[0].settings
    names = [(f.name, f.metadata["argument"]) for f in dataclasses.fields(record) if f.metadata.get("argument")]
    if not names:
        raise UserError(f"{command}: name what you give, e.g. {command}(methods={str(arguments[0])[:40]!r})")
    [(name, said)] = names
    several = " " in said
    if not several and len(arguments) > 1:
        raise UserError(f"{command}: takes one argument without a name, {said}; name the others")
    plain = [os.fspath(a) if isinstance(a, os.PathLike) else a for a in arguments]
    return {name: list(plain) if several else plain[0]}


def _protocol_of(run: Path) -> Protocol:
    """The protocol of a run, by the journal where ``config.json`` is lost, which is then restored."""
    found = protocols().get(status(run).protocol)
    if found is None:
        raise UserError(f"{run}/config.json does not say what the run is of: restore it")
    return found


@contextlib.contextmanager
def _code(given: Given, of: tuple[Protocol, ...]) -> Iterator[None]:
    """Custom code lies in the run folder within the block, and stays there if the run does."""
    codes = list(given.code.values())
    if not codes:
        yield
        return
    if given.out is None:
        given.out = free_name(chosen(of, given.settings(Path("runs"))).name)
    refuse_used(given.out)
    for code in codes:
        code.write(given.out)
    try:
        yield
    finally:
        if not (given.out / "config.json").exists():
            remove(given.out, codes)


def _run(given: Given, handle: Callable[[Path], R], launches: Callable[[], AbstractContextManager[Launch]]) -> R:
    """Launch a run in this process, and compute it."""
    runtime, shows = given.runtime(), display(given.quiet)
    with visiting(None if given.quiet else shows), launches() as launch:
        launch.create((given.out or free_name(launch.settings.protocol)).absolute())
        from protocols.report.page import reporter

        run = handle(launch.folder.path)
        calls = Callbacks(run, given.callbacks)
        runtime = dataclasses.replace(runtime, on_result=calls.result) if given.callbacks else runtime
        try:
            try:
                calls.start()
                ended = launch.run(runtime, shows, reporter(launch.protocol))
            finally:
                calls.end()
        except KeyboardInterrupt:
            raise Interrupted(run) from None
        if not ended.finished:
            warn(f"time is up; nothing is lost. Continue with: seqsearch.resume({os.fspath(launch.folder.path)!r})")
    return run
