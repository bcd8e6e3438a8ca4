"""Run or resume what a protocol has prepared: compute, export, report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.running.export import copy_files, torn
from protocols.running.folder import RunFolder
from protocols.running.memory import needed, too_little
from protocols.running.monitor import Monitor
from protocols.running.protocol import Exported, Prepared, Protocol, ProtocolRun
from protocols.running.runtime import Runtime
from protocols.running.session import Session
from protocols.running.snapshot import Display, NoDisplay
from seqsearch.core import stop
from seqsearch.core.deadline import TimeIsUp
from seqsearch.core.errors import EngineDied, UserError
from seqsearch.core.notices import notice, warn
from seqsearch.engine.journal import damaged_line
from seqsearch.planners.step import AllFailed
from seqsearch.storage.remote import export_target, open_remote, usable
from seqsearch.study.study import Study

WriteReport = Callable[[Path, Exported, Any], object]
"""Folder of the run, what was exported, pools whose images may be shown."""


@dataclass(frozen=True)
class Ended:
    """How a session ended: whether the run is ``finished``; what was exported, None if it had been finished before; and how many
    results this session ``added``."""

    finished: bool
    exported: Exported | None
    added: int = 0


def run(
    folder: RunFolder,
    protocol: Protocol,
    prepared: Prepared,
    runtime: Runtime,
    *,
    display: Display | None = None,
    write_report: WriteReport | None = None,
    beside: bool = False,
) -> Ended:
    """Compute and export. What is known already is replayed from the journal; a finished run is left as it is.

    If the run is not finished, its time was up, and what is known so far is exported. With ``beside``, results of another run
    stand beside those that are trained, so that there is something to export even if all trainings fail.

    Raises:
        UserError: a method fails on all candidates of a step, or all methods on all that is reported; the disk is full, workers
            cannot be placed.
        Stopped: a signal asked the process to stop.
    """
    _check_storage(runtime)
    finished = protocol.finished(folder.path)
    changed = folder.identify(prepared.identity(), protocol.may_change, finished)
    if not finished:  # else it may say what was tuned
        folder.record_hyperparameters(prepared.hyperparameters())
    damage = torn(protocol, folder.path) if finished else ""
    if finished and not damage:
        if said := damaged_line(folder.path):
            warn(f"{said}: tables and report are whole, but before the run is extended, restore or delete this line")
        copy_files(protocol, folder.path, runtime.engine.export)
        return Ended(True, None)
    if not runtime.quiet:
        _say_what_is_done_again(damage and f"{damage}: {protocol.again}", changed)
        _say_too_little_memory(prepared, runtime)
    with Monitor(
        folder.path, folder.config["run_id"], runtime, protocol.expected(prepared), display or NoDisplay(), folder.check
    ) as monitor:
        session = Session(folder, runtime, monitor, prepared.pools(), changed, _go_on(protocol, folder.path))
        with contextlib.closing(session), session.noting_its_end():
            doing = protocol.begin(session, prepared)
            finished = _to_its_end(doing, protocol, folder, session, beside)
            session.release()
            if finished:
                session.forget_checkpoints()
            session.end()
            reached = None if finished else monitor.snapshot.phase
            monitor.show_exporting()
            stop.check()
            notice("writing tables and report ...")
            exported = doing.export(reached)
        stop.check()
        if finished and write_report is not None:
            folder.check()
            write_report(folder.path, exported, prepared.images())
        copy_files(protocol, folder.path, runtime.engine.export)
        monitor.log.write("exported", complete=finished, reached=reached, trained=monitor.snapshot.trained)
        monitor.end(*(("finished", "", "finished") if finished else ("stopped", "time is up", reached)))
    return Ended(finished, exported, session.added)


def _say_what_is_done_again(damage: str, changed: Iterable[str]) -> None:
    if damage:
        warn(damage)
    if names := ", ".join(changed):
        warn(f"changed since the last session, hence trained again: {names}")


def _say_too_little_memory(prepared: Prepared, runtime: Runtime) -> None:
    """Only of studies of methods, which are estimated."""
    if not isinstance(prepared, Study):
        return
    with stop.interruptible():
        need = needed(prepared)
        said = too_little(need, runtime.engine, prepared.world.device != "cpu") if need else ""
    if said:
        warn(said)


def _check_storage(runtime: Runtime) -> None:
    engine = runtime.engine
    if engine.remote_store:
        open_remote(engine.state_store, "--state-store")
    elif engine.state_store:
        usable(engine.state_store, "--state-store")
    if engine.export:
        export_target(engine.export, "--export")


def _to_its_end(doing: ProtocolRun, protocol: Protocol, folder: RunFolder, session: Session, beside: bool) -> bool:
    """Whether it came to the end before its time was up.

    Raises:
        UserError: see `run`; also that no method has a complete result, unless results stand ``beside``.
    """
    try:
        with _say_what_failed(protocol, folder.path):
            doing.run()
            if failure := session.failure():
                if not beside:
                    raise AllFailed(f"no method has a complete result: {failure}")
                warn(f"no method that was trained here has a complete result: {failure}")
    except TimeIsUp:
        return False
    return True


@contextlib.contextmanager
def _say_what_failed(protocol: Protocol, path: Path) -> Iterator[None]:
    try:
        yield
    except EngineDied as error:
        raise EngineDied(f"{error}; {_go_on(protocol, path)}") from None
    except AllFailed as error:
        if error.diverged:
            raise UserError(
                f"{error}. Mend that by other parameters, in a new run; {path} keeps what was trained"
            ) from None
        raise UserError(f"{error}. Mend the method, then: {protocol.resume_command(path)}") from None


def _go_on(protocol: Protocol, path: Path) -> str:
    """Said where Ray has died."""
    return f"nothing is lost. Continue with: {protocol.resume_command(path)}"
