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
WRITE_FILE, REFER, TRUNCATE = 1 << 1, 1 << 13, 1 << 14
MAKE_AND_REMOVE = sum(1 << n for n in range(4, 13))
"""Remove folders and files; make devices, folders, files, sockets, pipes, links."""
ALWAYS = ("/dev", "/proc")
"""Devices, shared memory, and what a process says of itself."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64),)


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
    """From now on this process and those that it starts write below these folders only.

    Raises:
        OSError: the kernel refuses that, or there is no such folder.
    """
    version = available()
    if not version:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    writing = WRITE_FILE | MAKE_AND_REMOVE | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(writing)
    ruleset = _done(libc.syscall(CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0))
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
    that the program has started is gone.
    """
    at = arguments.index("--")
    watcher = os.fork()
    if watcher == 0:
        os._exit(_watched(arguments[:at], arguments[at + 1 :]))
    return _code(os.waitpid(watcher, 0)[1])


def _watched(folders: list[str], program: list[str]) -> int:
    """Start the program, and wait for its end or for that of the pipe at the standard input, which the worker holds."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)  # what the program leaves behind becomes a child of this process
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
    _end_all(child)
    return code


def _end_all(group: int) -> None:
    """Kill the program and all that it has started, those that made a session of their own included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:  # the children of those that are killed become ours
            for child in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """Of this process, as far as the system tells."""
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
