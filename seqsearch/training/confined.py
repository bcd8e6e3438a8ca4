"""Run a program that may write below some folders only, and end it with all of its group when who started it ends.

``python confined.py FOLDER:FOLDER... PROGRAM WORD...``. Where the kernel has no Landlock, nothing is confined.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
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


def main(folders: str, program: list[str]) -> int:
    """Run the program to its end in the process group of this process, which it must lead; its exit code, as a shell has it."""
    starter = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != starter:  # gone before it could be asked for
            return 1
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _become(folders, program)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def _become(folders: str, program: list[str]) -> NoReturn:
    try:
        confine([*folders.split(":"), *ALWAYS])
        os.execvp(program[0], program)
    except OSError as error:
        print(f"{program[0]}: {error.strerror}", file=sys.stderr)
    os._exit(127)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
