"""Run folders made up for tests: chosen accuracies, the real glyph pool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import ClassId, Task
from seqsearch.planners.step import CandidateResult
from seqsearch.pools.base import ClassInfo, Pool
from seqsearch.pools.glyphs import build
from seqsearch.results.rows import (
    EvaluatedRollout,
    RunInfo,
    TaskSequence,
    TraceRow,
    Training,
    result_rows,
    trace_rows,
)
from seqsearch.results.schema import ACCURACIES, EFFECTS, ESTIMATES, NEAR_DUPLICATES, RESULTS, TABLE, TRACE, TRIALS
from seqsearch.results.tables import write_rows, write_sequences, write_trainings

SPLIT = "a-split"
STATS = {"trained": 40, "naive": 100, "replayed": 3, "wall_seconds": 125.0, "busy_share": 0.9, "sessions": 2}


@cache
def glyphs(classes: int = 60) -> Pool:
    return build(train=2, reward=1, test=1, classes=classes, size=32)


class RenamedPool:
    """A pool with other class names and groups."""

    def __init__(self, pool: Pool, name: str, group: str) -> None:
        self.name, self.digest, self.native_size, self.images = pool.name, pool.digest, pool.native_size, pool.images
        self.classes = tuple(ClassInfo(name, group, c.count) for c in pool.classes)


def triangle(rows: Sequence[Sequence[float]], steps: int | None = None) -> np.ndarray:
    """``[T, T]`` from the evaluated rows, NaN elsewhere."""
    n = steps or len(rows)
    full = np.full((n, n), np.nan)
    for t, row in enumerate(rows):
        full[t, : t + 1] = row
    return full


def outcome(
    rows: Sequence[Sequence[float]],
    masked: Sequence[Sequence[float]] | None = None,
    status: Any = "ok",
    steps: int | None = None,
    n: int = 100,
    footprint: tuple[int, int, int, int] | None = (3_000_000, 1_000_000, 500_000, 0),
) -> Outcome:
    names = ("backbone", "params", "statistics", "exemplar_images")
    sizes = () if footprint is None else tuple(zip(names, footprint, strict=True))
    counts = (n,) * (steps or len(rows)) if status == "ok" else ()
    return Outcome(
        "digest", status, triangle(rows, steps), triangle(masked or rows, steps), counts, "space", sizes, 2.5, "why"
    )


def sequence(
    pool: Pool, name: str, kind: Any, methods: Sequence[str], indices: Sequence[Sequence[int]]
) -> TaskSequence:
    """A sequence of tasks given by class indices; a searched one has values from its second task on."""
    tasks = tuple(Task(tuple(ClassId(pool.digest, i) for i in task), SPLIT) for task in indices)
    values = tuple(None if kind == "random" or not t else -0.5 + 0.1 * t for t in range(len(tasks)))
    return TaskSequence(name, kind, tuple(methods), 7, tasks, values)


def rescored(s: TaskSequence, method: str, seed: int, result: Outcome) -> EvaluatedRollout:
    return EvaluatedRollout(
        s.sequence_id, s.kind, "rescore", method, f"config of {method}", "weights", seed, "test", result
    )


def traced(s: TaskSequence, others: int = 2) -> list[TraceRow]:
    """The chosen task of each step and some that were not; the last of them failed."""
    rows = []
    for step, (task, value) in enumerate(zip(s.tasks, s.values, strict=True), 1):
        if value is None:
            continue
        for i in range(others + 1):
            bad = others > 1 and i == others
            evaluated = CandidateResult(
                step,
                task,
                -np.inf if bad else value - 0.05 * i,
                np.nan if bad else value,
                np.nan if bad else 0.02,
                4 - i,
                (1.0, 2.0),
                3.0,
                "method 'er' diverged: loss" if bad else "ok",
                i == 0,
            )
            rows.append(TraceRow(s.sequence_id, i, evaluated))
    return rows


def write_run(
    path: Path,
    pool: Pool,
    sequences: Sequence[TaskSequence],
    evaluated: Sequence[EvaluatedRollout],
    methods: Sequence[str] = (),
    stats: dict[str, Any] | None = STATS,
) -> Path:
    """All files of a finished run but its report."""
    path.mkdir(parents=True, exist_ok=True)
    config = {"protocol": "cldyb", "run_id": path.name, "settings": {"seed": 7, "tasks": len(sequences[0].tasks)},
              "identity": {"pool_digest": pool.digest, "methods": {m: {"digest": m} for m in methods}}}  # fmt: skip
    (path / "config.json").write_text(json.dumps(config))
    if stats is not None:
        (path / "stats.json").write_text(json.dumps(stats))
    info = run_info(path, pool)
    write_sequences(path / "sequences.parquet", info, sequences)
    write_rows(path / "results.parquet", RESULTS, info, result_rows(evaluated))
    results = [r for s in sequences if s.kind == "searched" for r in traced(s)]
    write_rows(path / "trace.parquet", TRACE, info, trace_rows(info, results))
    write_trainings(path / "trainings.parquet", info, [Training("state", "er", 0, 1, 2.0, 10**9, "{}", "w0", 1)])
    trial = {
        "config_digest": "d",
        "params": "{}",
        "accuracy": 0.5,
        "status": "ok",
        "train_seconds": 1.0,
        "trainings": 3,
    }
    trials = [{"method_id": "er", "trial": i, **trial, "chosen": i == 0} for i in range(2)]
    write_rows(path / "trials.parquet", TRIALS, info, trials)
    figure = {"method_id": "er", "about": "random", "low": 0.4, "high": None}
    estimates = [{**figure, "figure": name, "value": 0.5} for name in ("mean", "sd")]
    write_rows(path / "estimates.parquet", ESTIMATES, info, estimates)
    effect = {"method_id": "er", "measure": "accuracy", "value": 0.5, "over": ["training seeds"], "lacking": ""}
    effects = [{**effect, "figure": name, "found_sequences": 1, "seeds": 3} for name in ("content", "order")]
    write_rows(path / "effects.parquet", EFFECTS, info, effects)
    accuracies = [{"column": "random", "method_id": m, "accuracy": 0.5} for m in ("er", "slca")]
    write_rows(path / "accuracy.parquet", ACCURACIES, info, accuracies)
    cell = {"pool": "glyphs", "method_id": "er", "params": "{}", "orders": 2, "diverged": 0, "train_seconds": 1.0}
    write_rows(path / TABLE.file, TABLE, info, [{**cell, "use": use, "accuracy": 0.5} for use in ("tuned", "original")])
    pair = {c.name: 1 if c.type == "int64" else 0.5 if c.type == "float64" else "a" for c in NEAR_DUPLICATES.columns}
    write_rows(path / NEAR_DUPLICATES.file, NEAR_DUPLICATES, info, [{**pair, "number": n} for n in range(2)])
    return path


def run_info(path: Path, pool: Pool) -> RunInfo:
    names = {ClassId(pool.digest, i): (c.name, c.group) for i, c in enumerate(pool.classes)}
    return RunInfo(path.name, "config", names)
