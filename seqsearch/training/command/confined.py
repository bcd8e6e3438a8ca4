"""Run a program that may write below some folders only, and end it with all that it has started when who started it ends.

``python confined.py FOLDER... -- PROGRAM WORD...``, its standard input being a pipe that the worker holds. Where the kernel has
no Landlock, nothing is confined. Run by its path, it imports nothing of this package.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of Landlock's system calls, on every architecture."""
VERSION, PATH_BENEATH = 1, 1
SCOPE_SIGNAL, SCOPES_FROM = 1 << 1, 6
"""No signals to processes outside; the version of Landlock that has it."""
WRITE_FILE, REFER, TRUNCATE = 1 << 1, 1 << 13, 1 << 14
MAKE_AND_REMOVE = sum(1 << n for n in range(4, 13))
"""Remove folders and files; make devices, folders, files, sockets, pipes, links."""
ALWAYS = ("/dev", "/proc")
"""Devices, shared memory, and what a process says of itself."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def available() -> int:
    """Version of Landlock in the kernel; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    version: int = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, VERSION)
    return max(0, version)


def confine(folders: list[str]) -> None:
    """From now on this process and those that it starts write below these folders only, and signal none but each other.

    Raises:
        OSError: the kernel refuses that, or there is no such folder.
    """
    version = available()
    if not version:
        return
    writing = WRITE_FILE | MAKE_AND_REMOVE | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    _restrict(_Ruleset(writing, 0, SCOPE_SIGNAL if version >= SCOPES_FROM else 0), folders, version)


def set_apart() -> bool:
    """From now on this process and those that it starts signal none but each other; whether the kernel can hold that.

    A process that confines itself after this one cannot signal this one either: what it starts can neither stop nor end it, and
    ``kill(-1)`` from here reaches all that it has started and nothing else.
    """
    version = available()
    if version < SCOPES_FROM:
        return False
    _restrict(_Ruleset(0, 0, SCOPE_SIGNAL), [], version)
    return True


def _restrict(rules: _Ruleset, folders: list[str], version: int) -> None:
    libc, writing = ctypes.CDLL(None, use_errno=True), rules.handled
    size = ctypes.sizeof(rules) if version >= SCOPES_FROM else ctypes.sizeof(ctypes.c_uint64)
    ruleset = _done(libc.syscall(CREATE_RULESET, ctypes.byref(rules), size, 0))
    for folder in folders:
        parent = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = _Beneath(writing, parent)
        _done(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0))
        os.close(parent)
    _done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _done(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _done(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def main(arguments: list[str]) -> int:
    """Run the program to its end; its exit code, as a shell has it.

    This process is the worker's child, and may be killed with it (Ray does that); the watcher is its child, and lives on till all
    that the program has started is gone. Where the kernel cannot keep the program from killing the watcher, this process ends
    what that leaves.
    """
    at = arguments.index("--")
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    watcher = os.fork()
    if watcher == 0:
        os._exit(_watched(arguments[:at], arguments[at + 1 :]))
    code = _code(os.waitpid(watcher, 0)[1])
    _end_all(apart=False)
    return code


def _watched(folders: list[str], program: list[str]) -> int:
    """Start the program, and wait for its end or for that of the pipe at the standard input, which the worker holds."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)  # what the program leaves behind becomes a child of this process
    apart = set_apart()
    child = os.fork()
    if child == 0:
        _become(folders, program)
    ended = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
    code = None
    while code is None:
        ready, _, _ = select.select(
            [0, *([] if ended is None else [ended])], [], [], None if ended is not None else 0.05
        )
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = _code(status)
        elif 0 in ready:  # nothing is ever written into it
            code = 128 + signal.SIGKILL
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    _end_all(apart)
    return code


def _end_all(apart: bool) -> None:
    """Kill all that is left of the program and of what it has started, those that made a session of their own included.

    ``apart``: see `set_apart`; then one call kills all at once, however fast they start others. Else the children of those that
    are killed become ours, and are killed in turn.
    """
    with contextlib.suppress(ChildProcessError):
        while True:
            for child in [-1] if apart else _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def inherit(orphans: bool) -> None:
    """Whether what the descendants of this process leave behind becomes its children."""
    _prctl(PR_SET_CHILD_SUBREAPER, int(orphans))


def left(scratch: str) -> list[int]:
    """Children of this process whose environment names a folder for temporary files."""
    found = []
    for child in _children():
        with contextlib.suppress(OSError), open(f"/proc/{child}/environ", "rb") as file:
            if f"TMPDIR={scratch}".encode() in file.read().split(b"\0"):
                found.append(child)
    return found


def _children() -> list[int]:
    """Of this process, as far as the system says."""
    found, own = [], str(os.getpid())
    for name in filter(str.isdecimal, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            if file.read().rpartition(b")")[2].split()[1].decode() == own:
                found.append(int(name))
    return found


def _become(folders: list[str], program: list[str]) -> NoReturn:
    try:
        os.setpgid(0, 0)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        confine([*folders, *ALWAYS])
        os.execvp(program[0], program)
    except OSError as error:
        print(f"{error.filename or program[0]}: {error.strerror}", file=sys.stderr)
    os._exit(127)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
