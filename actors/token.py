"""The token of this user's Ray clusters, ``~/.ray/auth_token``: it lets in whoever reads it, so nobody else may."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.notices import warn
from seqsearch.core.typed import brief

DEFAULT_TOKEN = Path("~/.ray/auth_token")
MODES = ("token", "disabled")


def keep_private(create: bool) -> None:
    """Make the token file private (0600) before Ray reads it; with ``create``, and none there, make one.

    Ray itself would make it with the permissions that the umask leaves. A file that others could read is mended, and a
    warning says so. Nothing is done where ``RAY_AUTH_TOKEN``, ``RAY_AUTH_TOKEN_PATH`` or ``RAY_AUTH_MODE=disabled`` say that the
    file is not used.

    Raises:
        UserError: it, or its folder, is somebody else's, or it is no regular file; ``RAY_AUTH_MODE`` is none that Ray knows.
        OSError: it cannot be made.
    """
    mode = os.environ.get("RAY_AUTH_MODE", "token")
    if mode.lower() not in MODES:  # Ray would take it for disabled
        raise UserError(f"RAY_AUTH_MODE={brief(mode)}: must be {' or '.join(MODES)}: mend it, or unset it")
    if mode.lower() == "disabled":
        warn("RAY_AUTH_MODE=disabled: whoever reaches the ports of this Ray can run code as you")
        return
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return
    try:
        path = DEFAULT_TOKEN.expanduser()
    except RuntimeError:  # no home
        return
    if create:
        path.parent.mkdir(mode=0o700, exist_ok=True)
    if not path.parent.is_dir():
        return
    _check_folder(path.parent)
    if not _mend(path) and create:
        _make(path)


def _check_folder(folder: Path) -> None:
    """Make sure that nobody else can put another file into it."""
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise UserError(f"{folder}, where Ray's token lies, is not yours: make it yours, or set RAY_AUTH_TOKEN_PATH")
    if found.st_mode & 0o022:
        folder.chmod(0o700)
        warn(f"{folder}, where Ray's token lies, could be written by others: made private")


def _mend(path: Path) -> bool:
    """Whether the file holds a token; then nobody else can read it any more."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        what = "is a link" if path.is_symlink() else f"cannot be read ({error.strerror})"
        raise UserError(f"{path}, the token of Ray clusters, {what}: replace it by a file of your own") from None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise UserError(
                f"{path}, the token of Ray clusters, is no file of your own: remove it, and one will be made"
            )
        if found.st_mode & 0o077:
            os.fchmod(file, 0o600)
            warn(
                f"{path} was readable by others: made private; if others use this machine, replace it "
                "(rm it, and `ray get-auth-token --generate` makes another)"
            )
        return bool(os.read(file, 4096).strip())
    finally:
        os.close(file)


def _make(path: Path) -> None:
    """A token of 256 bits, as Ray makes it, whole from the first moment; one that another process made meanwhile stays."""
    handle, temporary = tempfile.mkstemp(prefix=".auth_token-", dir=path.parent)  # 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(handle)
        if path.exists() and not path.read_text().strip():
            os.replace(temporary, path)  # an empty one
        else:
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
