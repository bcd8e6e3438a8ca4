"""The re-scored rollouts of a run folder: accuracy matrices by (sequence, method, training seed)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.bits import unpacked
from seqsearch.core.errors import UserError
from seqsearch.core.paths import beside
from seqsearch.core.text import copyable, did_you_mean, shown
from seqsearch.core.typed import brief
from seqsearch.core.user_modules import COPIES
from seqsearch.results.rows import Row, TaskSequence, model_bytes, stored_bytes
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRACE
from seqsearch.results.stats import read_stats
from seqsearch.results.tables import read_rows, read_sequences
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import json_object

Matrix = NDArray[np.float64]
ROUNDING = 1e-9
"""An accuracy and the share of images that were right differ by no more."""
FOUND = ("searched", "hard")


@dataclass(frozen=True, eq=False)
class TaskImages:
    """The images of a task that were evaluated: how many of each class, and which ``[n]`` were classified right, class by
    class."""

    class_n: tuple[int, ...]
    right: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scored:
    """One rollout: accuracy and masked accuracy ``[T, T]``, and a row of it, for the columns that all its rows have alike.

    One that was not evaluated to its end has NaN where it was not, or nothing but one NaN.
    """

    status: str
    accuracy: Matrix
    masked: Matrix
    row: Row
    right: tuple[TaskImages, ...] = ()
    """By task, which images were right in the end; nothing where that is not known."""

    @property
    def stored(self) -> int | None:
        """Bytes that are kept beyond the backbone, see `stored_bytes`."""
        return stored_bytes(self.row)

    @property
    def size(self) -> int | None:
        """Bytes of the model's parameters, see `model_bytes`."""
        return model_bytes(self.row)

    @property
    def complete(self) -> bool:
        lower = np.tril_indices(len(self.accuracy))
        return self.status == "ok" and bool(np.isfinite(self.accuracy[lower]).all())


@dataclass(frozen=True)
class RunResults:
    """Data of a run's headline figures: role ``rescore``, split ``test``, nothing else."""

    config: dict[str, Any]
    stats: dict[str, Any] | None
    methods: tuple[str, ...]
    sequences: tuple[TaskSequence, ...]
    seeds: tuple[int, ...]
    rollouts: dict[tuple[str, str, int], Scored]
    trace: tuple[Row, ...] = ()
    """Rows of ``trace.parquet``, if the run searched."""
    rows: tuple[Row, ...] = ()
    """Rows of ``results.parquet`` that ``rollouts`` are made of."""

    @property
    def finished(self) -> bool:
        """The run came to its end; else its files hold what was known when it stopped."""
        return (self.stats or {}).get("complete") is not False

    def setting(self, name: str) -> Any:
        """A setting of the run, None if it has none of that name."""
        return _mapping(self.config.get("settings")).get(name)

    def found(self, method: str) -> list[TaskSequence]:
        """The sequences that were searched for this method, alone or jointly with others."""
        return [s for s in self.sequences if s.kind in FOUND and method in s.method_ids]

    def without(self, method: str) -> list[TaskSequence]:
        """The sequences that were searched for other methods."""
        return [s for s in self.sequences if s.kind in FOUND and method not in s.method_ids]

    def random(self) -> list[TaskSequence]:
        return [s for s in self.sequences if s.kind == "random"]

    def seeds_of(self, method: str) -> tuple[int, ...]:
        """Training seeds that a method was evaluated with, to the end or not; all if it was with none."""
        own = {r for _, m, r in self.rollouts if m == method}
        return tuple(r for r in self.seeds if r in own) or self.seeds

    def complete(self, method: str, sequences: Sequence[TaskSequence]) -> set[int]:
        """Training seeds with which every one of the sequences was evaluated to its end."""
        return {r for r in self.seeds if sequences and all(self._is_complete(s, method, r) for s in sequences)}

    def _is_complete(self, s: TaskSequence, method: str, seed: int) -> bool:
        rollout = self.rollouts.get((s.sequence_id, method, seed))
        return rollout is not None and rollout.complete


def read_results(run: Path) -> RunResults:
    """Read a run that is finished, or was stopped by its time budget.

    Raises:
        UserError: no run folder, a run that has exported nothing yet, a damaged file, or results of another run.
    """
    config, here = read_config(run), Inside(run)
    for name in (SEQUENCES.file, RESULTS.file):
        if not here.has(name):
            raise UserError(_why_missing(run, config, name))
    results = read_rows(run / RESULTS.file, RESULTS)
    own = config.get("run_id")
    if other := next((r["run_id"] for r in results if own and r["run_id"] != own), None):
        raise UserError(f"{run / RESULTS.file} is of run {brief(other)}, config.json of {brief(own)}: restore the file")
    return assembled(
        run,
        config,
        read_stats(run / STATS) if here.has(STATS) else None,
        read_sequences(run / SEQUENCES.file),
        results,
        read_rows(run / TRACE.file, TRACE) if here.has(TRACE.file) else [],
    )


def assembled(
    run: Path,
    config: dict[str, Any],
    stats: dict[str, Any] | None,
    sequences: Sequence[TaskSequence],
    results: Iterable[Row],
    trace: Sequence[Row] = (),
) -> RunResults:
    """The results of a run from what its files hold, or are about to hold; ``run`` is named in messages.

    Raises:
        UserError: rows of a sequence that is none, that are no accuracy matrix, or nothing at all.
    """
    rows = [r for r in results if (r["role"], r["split"]) == ("rescore", "test")]
    lengths = {s.sequence_id: len(s.tasks) for s in sequences}
    grouped: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        if row["sequence_id"] not in lengths:
            raise UserError(f"{run / RESULTS.file}: sequence {row['sequence_id']!r} is not in {SEQUENCES.file}")
        grouped.setdefault((row["sequence_id"], row["method_id"], row["seed"]), []).append(row)
    named = tuple(_mapping(_mapping(config.get("identity")).get("methods")))
    searched = [m for s in sequences if s.kind in FOUND for m in s.method_ids]
    methods = tuple(dict.fromkeys((*named, *searched, *(r["method_id"] for r in rows))))
    if not methods:
        raise UserError(f"run {run} holds no method and no sequence: nothing can be summarised")
    found = RunResults(
        config=config,
        stats=stats,
        methods=methods,
        sequences=tuple(sequences),
        seeds=tuple(sorted({r["seed"] for r in rows})),
        rollouts={key: _scored(run / RESULTS.file, part, lengths[key[0]]) for key, part in grouped.items()},
        trace=tuple(trace),
        rows=tuple(rows),
    )
    compared = {len(s.tasks) for s in sequences if s.kind != "joint"}
    if found.finished and len(compared) > 1:  # of one that was stopped some are shorter
        raise UserError(f"{run / SEQUENCES.file}: not all sequences are of one length: restore the file")
    return found


def read_config(run: Path) -> dict[str, Any]:
    """``config.json``.

    Raises:
        UserError: the folder is no run, or the file is damaged.
    """
    journalled = Inside(run).has("journal.jsonl")
    if not Inside(run).has("config.json"):
        if journalled:
            raise UserError(f"run {run} has no config.json any more: seqsearch status {run} tells how to restore it")
        raise no_run(run)
    try:
        return relocated(json_object(run / "config.json"), run)
    except UserError as error:
        if not journalled:
            raise
        said = str(error).removesuffix(": restore it")
        raise UserError(f"{said}: seqsearch status {run} tells how to restore it") from None


def no_run(path: Path) -> UserError:
    """The error that a folder is no run."""
    return UserError(
        f"{shown(str(path))[:300]} is no run folder: it has no config.json; {run_meant(path)}name one that seqsearch wrote, e.g. "
        "runs/NAME"
    )


def run_meant(path: Path) -> str:
    """A question for the middle of a message: whether a run beside the path is meant; empty if no name is similar."""
    runs = beside(path, lambda p: (p / "config.json").is_file())
    return did_you_mean(str(path), [str(path.with_name(run)) for run in runs] if path.name else [])


def relocated(config: dict[str, Any], run: Path) -> dict[str, Any]:
    """The config of a run with the paths of the code in its folder as they are now: the folder may have been moved."""
    before, now = config.get(COPIES), str((run / COPIES).absolute())
    if not isinstance(before, str) or not before or before == now:
        return config

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(v) for v in value]
        return value.replace(f"{before}/", f"{now}/") if isinstance(value, str) else value

    settings = {name: moved(value) for name, value in _mapping(config.get("settings")).items()}
    return {**config, "settings": settings, COPIES: now}


def trained_nothing(run: Path, config: dict[str, Any]) -> str:
    """Why a run that only plans has no accuracies, as its config says; empty of any other."""
    own = config.get("settings")
    if isinstance(own, dict) and "similarity" in own and "methods" not in own:
        return f"run {run} trained nothing, so that it has no accuracies: name its sequences, {run / SEQUENCES.file}"
    return ""


def _why_missing(run: Path, config: dict[str, Any], name: str) -> str:
    """Return the message about a run that has no such file."""
    if name != SEQUENCES.file and (why := trained_nothing(run, config)):
        return why
    command = copyable(str(config.get("protocol", "cldyb")).partition("-")[0])  # edge-plan is made by edge
    return f"run {run} is not finished (no {name} yet): finish it with seqsearch {command} --resume {copyable(run)}"


def _scored(path: Path, rows: Sequence[Row], n: int) -> Scored:
    steps = {(r["trained_step"], r["evaluated_step"]): r for r in rows}
    figures = [r[name] for r in rows for name in ("accuracy", "masked_accuracy") if r[name] is not None]
    whole = len(steps) == len(rows) and all(1 <= e <= t <= n for t, e in steps)
    if not whole or not all(0 <= f <= 1 or math.isnan(f) for f in figures):
        raise UserError(
            f"{path}: the rows of {rows[0]['sequence_id']!r}, {rows[0]['method_id']!r}, seed {rows[0]['seed']} are no matrix of "
            f"accuracies of {n} tasks: restore the file"
        )
    if 2 * len(rows) < n * (n + 1):  # not evaluated to its end: its figures are not used, and n may be anything
        n, steps = 1, {}
    accuracy, masked = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for (trained, evaluated), row in steps.items():
        at = trained - 1, evaluated - 1
        accuracy[at] = np.nan if row["accuracy"] is None else row["accuracy"]
        masked[at] = np.nan if row["masked_accuracy"] is None else row["masked_accuracy"]
    last = [steps.get((n, e)) for e in range(1, n + 1)]
    right = tuple(_task_images(path, row) for row in last if row and row.get("right") is not None)
    return Scored(rows[0]["status"], accuracy, masked, rows[0], right if len(right) == n else ())


def _task_images(path: Path, row: Row) -> TaskImages:
    counts = tuple(row.get("class_n") or ())
    try:
        if sum(counts) != row["n"] or min(counts, default=0) < 1:
            raise ValueError
        right = unpacked(row["right"], row["n"])
        if right.sum() != row["correct"] or abs(right.mean() - row["accuracy"]) > ROUNDING:
            raise ValueError
    except (ValueError, TypeError):  # a null among them
        raise UserError(
            f"{path}: the images of task {row['evaluated_step']} of {row['sequence_id']!r} that were right are not those "
            "counted: restore the file"
        ) from None
    return TaskImages(counts, right)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
