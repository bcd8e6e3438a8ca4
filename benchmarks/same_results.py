"""Whether two finished runs found the same, bit for bit: what a change of the code must leave as it was.

    python -m benchmarks.same_results RUN_BEFORE RUN_AFTER
    python -m benchmarks.same_results FOLDER_BEFORE FOLDER_AFTER     # two folders of benchmarks.every_command

Of two runs, sequences, results and the tables of each protocol are compared row by row: floats as bits, NaN as nothing. What
depends on the run's name, the code or the clock is left out. A column, trace or estimates that only one of them has is named and
not compared: an older version may not have written it.

Of two folders of commands, every file of every command is compared, as are the numbers of pages and of printed text
(`benchmarks.file_rows`), with the headings of ``renamed_headings.json``. A file or a column that only the second folder has is
named. A file, a column or a number that only the first has is a difference.

One line per file. The exit status is 1 if anything differs or cannot be read.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.every_command import COMMANDS
from benchmarks.file_rows import READERS, Rows, file_rows

RENAMED = Path(__file__).with_name("renamed_headings.json")
"""Of tables and figures on pages and in a terminal: by a heading those that stood above its numbers before."""
LEFT_OUT = (
    "run_id", "config_digest", "train_seconds", "judge_seconds", "learning_seconds", "judging_seconds", "seconds", "spent",
    "moves",
)  # fmt: skip


class File(NamedTuple):
    """A file of a run, compared if at least ``shared`` of both have it; ``key`` and ``figures`` are columns of every version.

    Where one of two has a file, and ``shared`` is 1, that ends the program.
    """

    name: str
    key: tuple[str, ...]
    figures: tuple[str, ...]
    shared: int = 1


RESULT = ("sequence_id", "role", "method_id", "seed", "split", "trained_step", "evaluated_step")
WINDOW = ("method_id", "seed", "learned_window", "judged_window", "shift")
FILES = (
    File("sequences.parquet", ("sequence_id", "step", "position"), ("class_id", "value")),
    File("results.parquet", RESULT, ("accuracy", "masked_accuracy", "status")),
    File("trace.parquet", ("search_id", "step", "candidate"), ("class_ids", "value", "reward", "visits", "chosen"), 2),
    File("estimates.parquet", ("method_id", "about", "figure"), ("value", "low", "high"), 2),
    File("plan.json", ("similarity", "side", "number"), ("tasks", "value", "bound", "mean", "sd")),
    File("similarity.parquet", ("class_name",), ()),
    File("trials.parquet", ("method_id", "trial"), ("accuracy", "chosen", "params")),
    File("table.parquet", ("pool", "method_id", "use"), ("accuracy", "rank", "params")),
    File("figures.parquet", (*WINDOW, "samples", "unseen_by"), ("accuracy", "correct")),
    File("curves.parquet", (*WINDOW, "measure", "position"), ("accuracy",)),
    File("blind.parquet", ("part", "form", "k", "shift"), ("accuracy",)),
    File("experiences.parquet", ("sequence_id", "method_id", "seed", "classifier", "experience"), ("correct",)),
    File("run_figures.parquet", ("sequence_id", "method_id", "seed", "classifier"), ("average", "last")),
    File("effects.parquet", ("method_id", "measure", "figure"), ("value", "low", "high")),
)


def read(file: File, path: Path) -> Rows:
    """All rows of a file, by key. Ends the program if there is none, it is damaged, lacks a column, or repeats a key."""
    try:
        rows = plans(path) if path.suffix == ".json" else pq.ParquetFile(path).read().to_pylist()
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        said = " ".join(str(error).split())[:160] if os.path.exists(path) else "no such file (not a finished run?)"
        sys.exit(f"{path} cannot be read: {said}")
    if missing := [c for c in (*file.key, *file.figures) if rows and c not in rows[0]]:
        sys.exit(f"{path} cannot be read: it has no column {', '.join(missing)}")
    found: Rows = {tuple(row[c] for c in file.key): row for row in rows}
    if len(found) < len(rows):
        sys.exit(f"{path} cannot be read: {len(rows) - len(found)} row(s) repeat the key of another")
    return found


def plans(path: Path) -> list[dict[str, Any]]:
    """The extremes planned on each similarity, beside mean and sd of the objective over random sequences."""
    return [
        {**e, "similarity": p["label"], "side": side, "number": i, "mean": p["mean"], "sd": p["sd"]}
        for p in json.loads(path.read_text())["plans"]
        for side in ("hard", "easy")
        for i, e in enumerate(p[side])
    ]


def exact(value: Any) -> Any:
    """Equal where the bits are (0.0 is not -0.0), and NaN is None."""
    if isinstance(value, float):
        return None if math.isnan(value) else value.hex()
    return [exact(v) for v in value] if isinstance(value, list) else value


def changes(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, str]:
    """What differs in a row, by column."""
    if before is None or after is None:
        return {"row": "only after" if before is None else "only before"}
    shared = [c for c in before if c in after and c not in LEFT_OUT]
    return {c: f"{before[c]!r} -> {after[c]!r}" for c in shared if exact(before[c]) != exact(after[c])}


def compare(file: File, before: Rows, after: Rows) -> tuple[bool, str]:
    """Whether all is the same, and in words: rows compared, or how many differ, by column, and the first of them."""
    alone = set(next(iter(before.values()), ())) ^ set(next(iter(after.values()), ()))
    note = f"; not compared, as only one has it: {', '.join(sorted(alone))}" if alone else ""
    differing = {key: found for key in before | after if (found := changes(before.get(key), after.get(key)))}
    if not differing:
        return True, f"{len(before)} rows, the same{note}"
    often = ", ".join(f"{c} {n}" for c, n in Counter(c for found in differing.values() for c in found).items())
    key, first = next(iter(differing.items()))
    where = ", ".join(f"{name} {value}" for name, value in zip(file.key, key, strict=True))
    what = "; ".join(f"{c} {change}" for c, change in first.items())
    return False, f"{len(before)} and {len(after)} rows, {len(differing)} differ ({often}), first {where}: {what}{note}"


def differences(before: Path, after: Path) -> Iterator[tuple[bool, str]]:
    """Of two runs: for each file whether it is the same, and a line that says so. Ends the program if a file cannot be read."""
    compared = False
    for file in FILES:
        there = [run for run in (before, after) if os.path.exists(run / file.name)]
        if there and len(there) >= file.shared:
            same, line = compare(file, read(file, before / file.name), read(file, after / file.name))
            compared = True
            yield same, f"{file.name}: {line}"
        elif there:
            yield True, f"{file.name}: not compared, as only {there[0]} has it"
    if not compared:
        sys.exit(f"{before} and {after}: no results (not finished runs?)")


def of_commands(before: Path, after: Path) -> Iterator[tuple[bool, str]]:
    """As `differences`, of all files of two folders of `benchmarks.every_command`."""
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
    """What commands wrote into a folder that is compared: neither journals and logs, nor what Ray Tune left."""
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
