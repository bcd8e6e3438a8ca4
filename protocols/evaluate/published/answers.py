"""Answers of the commands of an entry, and the files that store them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import parsed

ROOT = Path(__file__).parents[3]
LARGEST = 1 << 28
"""Bytes of an answer that is read again."""


class Failed(UserError):
    """A command of an entry ended with another exit ``code`` than 0, and has said why."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the command ended with exit code {code}; run the same again to go on")
        self.code = code


def answered(words: Sequence[str]) -> Any:
    """Run a command with this version of the code and return the JSON that it prints.

    Its progress and messages go to stderr.

    Raises:
        Failed: it ended with an exit code other than 0.
        UserError: it printed no JSON.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-P", "-m", "protocols.cli", *words[1:]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    try:
        text, _ = process.communicate()
    except BaseException:  # it ends in order, and can be resumed
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    if process.returncode:
        raise Failed(process.returncode)
    try:
        return json.loads(text)
    except ValueError:
        raise UserError(f"no JSON was printed by: {shlex.join(words)}") from None


def made(out: Path) -> Inside:
    """The folder of results.

    Raises:
        UserError: there is none, and none can be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        (folder := Inside.below(out)).make()
    except OSError as error:
        raise UserError(f"{out} cannot be made a folder ({error.strerror}): choose another --out") from None
    return folder


def write(folder: Inside, name: str, text: str) -> None:
    with atomic_file(folder, name) as file:
        file.write(text.encode())


def answer_in(folder: Inside, name: str, typed: str) -> Any:
    """Return the stored answer of the same command; None if there is none, or if its file is damaged."""
    try:
        said = parsed(folder.read(name, LARGEST))
    except (OSError, ValueError):
        return None
    return said.get("answer") if isinstance(said, dict) and said.get("command") == typed else None
