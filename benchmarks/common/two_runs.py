"""The files of two finished runs, compared row by row: floats as bits, NaN as nothing.

What depends on the run's name, the code or the clock is left out.
"""

from __future__ import annotations

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

Rows = dict[tuple[Any, ...], dict[str, Any]]
"""By key."""
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
    """Return the differences between two versions of a row, by column."""
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
