"""The rows of all files that small runs of every command write: ``python -m tests.golden.commands`` writes ``commands.json.xz``.

The commands are those of `benchmarks.changes.every_command`, the rows those of `benchmarks.changes.file_rows`. Write the record
anew only for a change that is meant to change what a command finds or prints, and say so in CHANGELOG.md.
"""

from __future__ import annotations

import json
import lzma
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.changes.every_command import COMMANDS, run_command
from benchmarks.changes.file_rows import file_rows
from benchmarks.changes.same_results import files
from tests.golden.record import here

FILE = Path(__file__).with_name("commands.json.xz")
Found = dict[str, list[list[Any]]]
"""Rows by file: each a key and its values."""


def found_in(folder: Path, name: str = "") -> Found:
    """All rows of all files that the commands, or the one of this name, wrote into a folder, as JSON has them."""
    rows = {
        str(file.relative_to(folder)): [[list(key), row] for key, row in file_rows(file).items()]
        for file in sorted(files(folder))
        if file.is_relative_to(folder / name)
    }
    found: Found = json.loads(json.dumps(rows))
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        for name in COMMANDS:
            run_command(Path(temporary), name)
        found = found_in(Path(temporary))
    FILE.write_bytes(lzma.compress(json.dumps({"machine": here(), "files": found}).encode(), preset=9))


if __name__ == "__main__":
    main()
