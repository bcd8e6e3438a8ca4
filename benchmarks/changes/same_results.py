"""Whether two finished runs found the same, bit for bit: what a change of the code must leave as it was.

    python -m benchmarks.changes.same_results RUN_BEFORE RUN_AFTER
    python -m benchmarks.changes.same_results FOLDER_BEFORE FOLDER_AFTER     # two folders of benchmarks.changes.every_command

Of two runs, sequences, results and the tables of each protocol are compared row by row: floats as bits, NaN as nothing. What
depends on the run's name, the code or the clock is left out. A column, trace or estimates that only one of them has is named and
not compared: an older version may not have written it.

Of two folders of commands, every file of every command is compared, as are the numbers of pages and of printed text
(`benchmarks.changes.file_rows`), with the headings of ``renamed_headings.json``. A file or a column that only the second folder
has is named. A file, a column or a number that only the first has is a difference.

One line per file. The exit status is 1 if anything differs or cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.changes.every_command import COMMANDS
from benchmarks.changes.file_rows import READERS, file_rows
from benchmarks.common.two_runs import Rows, changes, differences

RENAMED = Path(__file__).with_name("renamed_headings.json")
"""Of tables and figures on pages and in a terminal: by a heading those that stood above its numbers before."""


def of_commands(before: Path, after: Path) -> Iterator[tuple[bool, str]]:
    """As `differences`, of all files of two folders of `benchmarks.changes.every_command`."""
    for name in sorted({f.relative_to(folder) for folder in (before, after) for f in files(folder)}):
        if not (after / name).exists():
            yield False, f"{name}: only before"
        elif not (before / name).exists():
            yield True, f"{name}: new"
        else:
            yield _compared(name, file_rows(before / name), _renamed(name, file_rows(after / name)))


def _renamed(name: Path, rows: Rows) -> Rows:
    """Of a page or printed text, with the headings that numbers had before."""
    if name.suffix not in (".html", ".txt"):
        return rows
    headings: dict[str, list[str]] = json.loads(RENAMED.read_text())
    found = Shown(rows)
    for heading, label, number in rows:
        for before in headings.get(heading, ()):
            found[before, label, number] = {}
    return found


class Shown(dict[tuple[Any, ...], dict[str, Any]]):
    """Numbers of a text, by heading, label and number. One is there if it is shown with more digits; one of a sentence also under
    another heading."""

    def __contains__(self, key: Any) -> bool:
        if super().__contains__(key):
            return True
        heading, label, number = key
        there = (k for k in self if not label or k[:2] == (heading, label))
        return any(_rounds_to(k[2], number) for k in there)

    def __missing__(self, key: tuple[Any, ...]) -> dict[str, Any]:
        return {}


def _rounds_to(number: str, other: str) -> bool:
    decimals = len(other.partition(".")[2])
    return number.lstrip("+") == other.lstrip("+") or f"{float(number.replace(',', '')):.{decimals}f}" == other.replace(
        ",", ""
    ).lstrip("+")


def files(folder: Path) -> list[Path]:
    """Return the compared files of commands in a folder, without journals, logs and files of Ray Tune."""
    made = [f for n in COMMANDS for f in (*(folder / n).glob("*.*"), *(folder / n / "run").glob("*.*"))]
    return [f for f in made if f.suffix in READERS and f.name != "status.json"]


def _compared(name: Path, before: Rows, after: Rows) -> tuple[bool, str]:
    """Whether ``after`` has all that ``before`` has, and in words."""
    gone = [key for key in before if key not in after]
    lost = sorted({c for key, row in before.items() for c in row if key in after and c not in after[key]})
    other = {k: found for k, row in before.items() if k in after and (found := changes(row, after[k]))}
    new = len(after.keys() - before.keys())
    if not (gone or lost or other):
        return True, f"{name}: {len(before)} rows, the same" + f"; {new} new" * bool(new)
    parts = [f"{len(gone)} rows are gone, first {gone[0]}"] if gone else []
    parts += [f"columns are gone: {', '.join(lost)}"] if lost else []
    if other:
        key, found = next(iter(other.items()))
        parts.append(f"{len(other)} rows differ, first {key}: {'; '.join(f'{c} {what}' for c, what in found.items())}")
    return False, f"{name}: {'; '.join(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs=2, metavar="FOLDER")
    before, after = parser.parse_args().folders
    compare_folders = of_commands if any((before / n / "run").is_dir() for n in COMMANDS) else differences
    equal = True
    for same, line in compare_folders(before, after):
        print(line)
        equal &= same
    sys.exit(not equal)


if __name__ == "__main__":
    main()
