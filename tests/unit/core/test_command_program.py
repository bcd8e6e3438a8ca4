"""The program of a command is called by the path that was given: by it an interpreter knows its environment."""

from __future__ import annotations

import sys
from pathlib import Path

from seqsearch.core import command_line


def test_a_link_to_an_interpreter_stays_one(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    words = command_line.located(("bin/python", "{sequence}", "{out}"), tmp_path)
    assert words == (str(tmp_path / "bin" / "python"), "{sequence}", "{out}")
