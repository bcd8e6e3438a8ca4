"""Exceptions for trouble that is no bug: user errors, failed writes, diverged trainings."""

import traceback

from seqsearch.core.text import cut, shown


class Explained(Exception):
    """Its line says all that there is to say: no traceback adds to it."""


class UserError(Explained, ValueError):
    """A mistake the user can mend: one line saying what, where and how. The CLI prints it and exits with code 2.

    For callers from Python it is a `ValueError`.

    It stays one line of some length, and moves no cursor, whatever the names in it are.
    """

    def __str__(self) -> str:
        return cut(shown(super().__str__()))


class EngineDied(UserError):
    """The engine that computes for this process has died. A process that exits in order would wait for it."""


class CannotWrite(UserError):
    """A file could not be written: once there is room, or a right to, the same run goes on."""


class AccessError(RuntimeError):
    """Data was asked for that class-incremental learning does not let a method see, or be evaluated on."""


class Diverged(Exception):
    """Training gave NaN, said so itself, or scored with non-finite values: a result, not a crash."""


class RemoteTraceback(Exception):
    """The text of a traceback that another process, or a result, has brought: the cause of what is raised of it here."""


def whole(error: BaseException) -> str:
    """The traceback of what led to an error that is `Explained`, in several lines; empty if nothing else did."""
    cause: BaseException | None = error
    while isinstance(cause, Explained):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, RemoteTraceback):
        return str(cause)
    return "".join(traceback.format_exception(cause)) if cause else ""
