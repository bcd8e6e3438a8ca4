"""Results of a run as records, and as rows of its files (`seqsearch.results.schema` has their columns)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seqsearch.core.bits import packed, unpacked
from seqsearch.core.outcomes import HEAD, EdgeResult, Outcome
from seqsearch.core.types import ClassId, EvaluationSplit, Task

if TYPE_CHECKING:
    from seqsearch.planners.step import CandidateResult

SequenceKind = Literal[
    "searched",
    "random",
    "hard",
    "easy",
    "named",
    "given",
    "enumerated",
    "joint",
    "heldout",
    "regrouped",
    "reordered",
    "fitted",
    "retrained",
]
Row = dict[str, Any]


@dataclass(frozen=True)
class RunInfo:
    """Facts about the run in each of its files; ``classes`` holds name and group of every class of its pools."""

    run_id: str
    config_digest: str
    classes: Mapping[ClassId, tuple[str, str]]


@dataclass(frozen=True)
class TaskSequence:
    """``T`` tasks and, for each, the value J that it was chosen for (None where nothing was evaluated)."""

    sequence_id: str
    kind: SequenceKind
    method_ids: tuple[str, ...]
    seed: int
    tasks: tuple[Task, ...]
    values: tuple[float | None, ...]
    shared: frozenset[ClassId] | None = None
    """Of gtep: classes that have something in common with one that was tuned on; None where none has."""


@dataclass(frozen=True)
class EvaluatedRollout:
    """One rollout over a sequence: ``seed`` is the training replicate, ``config_digest`` that of the method."""

    sequence_id: str
    kind: SequenceKind
    role: Literal["search", "rescore"]
    method_id: str
    config_digest: str
    weight_tag: str
    seed: int
    split: EvaluationSplit
    outcome: Outcome
    by_class: bool = False
    """All its rows say what is right of each class."""


@dataclass(frozen=True)
class TraceRow:
    """A candidate that a search evaluated; ``candidate`` counts within its step from 0."""

    search_id: str
    candidate: int
    result: CandidateResult


@dataclass(frozen=True)
class Training:
    """One training actually done; ``depth`` tasks are learned after it."""

    state: str
    method_id: str
    seed: int
    depth: int
    seconds: float
    peak_bytes: int | None
    notes: str
    worker: str
    session: int
    origin: str = ""


# ------------------------------------------------------------------------------------------------ rows


def sequence_rows(info: RunInfo, sequences: Iterable[TaskSequence]) -> Iterator[Row]:
    """One row per (sequence, step, class)."""
    for s in sequences:
        yield from _of_sequence(info, s)


def result_rows(evaluated: Iterable[EvaluatedRollout]) -> Iterator[Row]:
    """One row per (sequence, role, method, seed, split, trained step, evaluated step).

    A rollout that failed at step t has the rows evaluated before, and one row for (t, t) without an accuracy.
    """
    for j in evaluated:
        yield from _of_rollout(j)


def trace_rows(info: RunInfo, rows: Iterable[TraceRow]) -> Iterator[Row]:
    """One row per (search, step, candidate)."""
    return (_of_candidate(info, row) for row in rows)


def _of_sequence(info: RunInfo, s: TaskSequence) -> Iterator[Row]:
    for step, (task, value) in enumerate(zip(s.tasks, s.values, strict=True), 1):
        for position, c in enumerate(task.classes):
            name, group = info.classes.get(c, (None, None))
            yield {
                "sequence_id": s.sequence_id,
                "kind": s.kind,
                "method_ids": list(s.method_ids),
                "seed": s.seed,
                "step": step,
                "class_id": c.index,
                "class_name": name,
                "group": group,
                "pool_digest": c.pool,
                "value": finite(value),
                "position": position,
                "split_digest": task.split,
                "shared": None if s.shared is None else c in s.shared,
            }


def _of_rollout(j: EvaluatedRollout) -> Iterator[Row]:
    o = j.outcome
    sizes = dict(o.footprint)
    of_rollout = {
        "sequence_id": j.sequence_id, "kind": j.kind, "role": j.role, "method_id": j.method_id,
        "config_digest": j.config_digest, "seed": j.seed, "split": j.split, "status": o.status,
        "weight_tag": j.weight_tag, "train_seconds": float(o.train_seconds), "backbone_bytes": sizes.get("backbone"),
        "params_bytes": sizes.get("params"), "statistics_bytes": sizes.get("statistics"), "exemplar_bytes": exemplars(sizes),
    }  # fmt: skip
    final = _by_task(o.edges[-1]) if len(o.edges) == len(o.accuracy) else [{}] * len(o.accuracy)
    for t in range(len(o.accuracy)):
        if math.isnan(o.accuracy[t, 0]):
            yield {**of_rollout, "trained_step": t + 1, "evaluated_step": t + 1}
            return
        for i in range(t + 1):
            accuracy, n = float(o.accuracy[t, i]), o.counts[i] if i < len(o.counts) else None
            yield {
                **of_rollout,
                "trained_step": t + 1,
                "evaluated_step": i + 1,
                "n": n,
                "correct": None if n is None else round(accuracy * n),
                "accuracy": accuracy,
                "masked_accuracy": finite(float(o.masked_accuracy[t, i])),
                **(final[i] if t + 1 == len(o.accuracy) else {}),
                **(_by_class(o.edges[t], i) if j.by_class else {}),
            }


def stored_bytes(row: Mapping[str, Any]) -> int | None:
    """Return the bytes that a method keeps beyond the backbone, or None where they are not known. They are parameters,
    statistics and exemplars.

    Source: "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models", appendix B.3.
    """
    return _sum(row, "params_bytes", "statistics_bytes", "exemplar_bytes")


def model_bytes(row: Mapping[str, Any]) -> int | None:
    """All parameters of a model, backbone included, as 32-bit floats; None where that is not known.

    Source: "Hyperparameters in Continual Learning: A Reality Check", Fig. 6b.
    """
    return _sum(row, "backbone_bytes", "params_bytes")


def _sum(row: Mapping[str, Any], *names: str) -> int | None:
    parts = [row[name] for name in names]
    return None if None in parts else sum(parts)


def exemplars(sizes: Mapping[str, int]) -> int | None:
    """Bytes of stored images and of their texts; None where no footprint was taken."""
    images = sizes.get("exemplar_images")
    return None if images is None else images + sizes.get("exemplar_texts", 0)


def _by_class(result: EdgeResult, group: int) -> Row:
    """Images evaluated, and right, of each class of a task."""
    return {"class_n": list(result.judged[group]), "class_correct": list(result.of(HEAD).correct[group])}


def _by_task(last: EdgeResult) -> list[Row]:
    """Which images of each task were right in the end, as far as that was kept."""
    bits = last.of(HEAD).images if last.classifiers else ""
    if not bits:
        return [{}] * len(last.judged)
    right = np.split(unpacked(bits, sum(last.counts)), np.cumsum(last.counts)[:-1])
    return [{"class_n": list(n), "right": packed(own)} for n, own in zip(last.judged, right, strict=True)]


def _of_candidate(info: RunInfo, row: TraceRow) -> Row:
    j = row.result
    return {
        "search_id": row.search_id,
        "step": j.step,
        "candidate": row.candidate,
        "class_ids": [c.index for c in j.task.classes],
        "pool_digests": [c.pool for c in j.task.classes],
        "groups": [info.classes.get(c, ("", ""))[1] for c in j.task.classes],
        "value": finite(j.value),
        "reward": finite(j.reward),
        "noise": finite(j.noise),
        "visits": j.visits,
        "nll": [float(x) for x in j.nll],
        "train_seconds": float(j.train_seconds),
        "status": j.status,
        "chosen": bool(j.chosen),
        "predicted": finite(j.predicted),
        "spared": bool(j.spared),
    }


def finite(value: float | None) -> float | None:
    """The number, or None where there is none."""
    return float(value) if value is not None and math.isfinite(value) else None
