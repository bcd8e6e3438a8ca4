"""Computes the rows of ``experiences.parquet`` and ``run_figures.parquet`` from evaluations after experiences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from seqsearch.core.outcomes import EdgeResult
from seqsearch.results.rows import EvaluatedRollout, Row, exemplars
from seqsearch.stats import accuracy as metrics

WHO = ("sequence_id", "order", "method_id", "config_digest", "seed", "classifier", "text_at_test")
"""Columns of an experience that its run has as well."""
Ended = Mapping[tuple[str, str, int], str]
"""Status by sequence, method and seed."""


def experience_rows(evaluated: Iterable[EvaluatedRollout], text_at_test: str) -> Iterator[Row]:
    """One row per (order, method, seed, classifier, experience), as far as a run was evaluated."""
    for j in evaluated:
        for t, result in enumerate((r for r in j.outcome.edges if r.status == "ok"), 1):
            for classifier in result.classifiers:
                counts = [list(c) for c in classifier.correct]
                who = {**_who(j), "classifier": classifier.name, "text_at_test": text_at_test}
                yield {**who, "experience": t, **_counted(result, counts)}


def _who(j: EvaluatedRollout) -> Row:
    return {
        "sequence_id": j.sequence_id,
        "order": int(j.sequence_id.rpartition("-")[2]),
        "method_id": j.method_id,
        "config_digest": j.config_digest,
        "seed": j.seed,
    }


def _counted(result: EdgeResult, correct: Sequence[Sequence[int]]) -> Row:
    sizes, n, right = (
        [len(j) for j in result.judged],
        [m for j in result.judged for m in j],
        [m for c in correct for m in c],
    )
    return {
        "sizes": sizes,
        "classes": len(n),
        "images": sum(n),
        "correct": sum(right),
        "class_n": n,
        "class_correct": right,
        **accuracies(sizes, n, right),
        "train_seconds": result.train_seconds,
        "judge_seconds": result.judge_seconds,
    }


def accuracies(sizes: Sequence[int], n: Sequence[int], right: Sequence[int]) -> Row:
    """The figures of a row of ``experiences.parquet`` from its counts.

    Raises:
        ValueError: counts that do not pair.
    """
    return {
        "balanced": metrics.balanced(n, right),
        "pooled": metrics.pooled(n, right),
        "by_experience": list(metrics.by_experience(sizes, n, right)),
    }


def figure_rows(experiences: Sequence[Row], evaluated: Iterable[EvaluatedRollout], length: int) -> Iterator[Row]:
    """One row per (order, method, seed, classifier), of the rows of ``experiences.parquet``."""
    costs = {(j.sequence_id, j.method_id, j.seed): _costs(j, length) for j in evaluated}
    for rows in by_run(experiences):
        head = rows[0]
        who = {k: head[k] for k in WHO}
        yield {**who, **costs[head["sequence_id"], head["method_id"], head["seed"]], **figures(rows)}


def by_run(experiences: Iterable[Row]) -> list[list[Row]]:
    """Rows of one order, method, seed and classifier together, by experience."""
    found: dict[tuple[str, str, int, str], list[Row]] = {}
    for row in experiences:
        found.setdefault((row["method_id"], row["sequence_id"], row["seed"], row["classifier"]), []).append(row)
    return [sorted(rows, key=lambda r: r["experience"]) for rows in found.values()]


def figures(rows: Sequence[Row]) -> Row:
    """All figures of one run, from its rows by experience."""
    A, pooled = [r["balanced"] for r in rows], [r["pooled"] for r in rows]
    T = len(rows)
    matrix = np.full((T, T), math.nan)
    for t, row in enumerate(rows):
        matrix[t, : t + 1] = row["by_experience"]
    return {
        "experiences": T,
        "average": metrics.average(A),
        "average_pooled": metrics.average(pooled),
        "first": A[0],
        "last": A[-1],
        "pd_printed": metrics.pd_printed(A),
        "pd_final": metrics.pd_final(A),
        "pd_printed_pooled": metrics.pd_printed(pooled),
        "pd_final_pooled": metrics.pd_final(pooled),
        "forgetting": metrics.forgetting(matrix),
        "backward_transfer": metrics.backward_transfer(matrix),
        "train_seconds": sum(r["train_seconds"] for r in rows),
        "judge_seconds": sum(r["judge_seconds"] for r in rows),
    }


def _costs(j: EvaluatedRollout, length: int) -> Row:
    o = j.outcome
    whole = len(o.edges) == length
    sizes = dict(o.footprint)
    return {
        "status": o.status if o.status != "ok" or whole else "unfinished",
        "backbone_bytes": sizes.get("backbone"),
        "params_bytes": sizes.get("params"),
        "statistics_bytes": sizes.get("statistics"),
        "exemplar_bytes": exemplars(sizes),
    }
