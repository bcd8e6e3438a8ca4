"""Where the images and the hyperparameters of a run come from, in words: for the report and below the table."""

from __future__ import annotations

from protocols.report.text import count
from protocols.running.provenance import CIRCULAR, PoolRecord, Provenance, TuningRecord


def sentences(p: Provenance) -> list[str]:
    """A sentence or two on each pool, and on tuning if there was any."""
    return [_pool(pool) for pool in p.pools] + _stages(p) + _tuning(p.tuning)


def caveats(p: Provenance) -> list[str]:
    """What a reader of the figures must know of it."""
    return [_pool(pool) for pool in p.pools if pool.from_step > 1] + _stages(p) + _tuning(p.tuning)


def _stages(p: Provenance) -> list[str]:
    """What an extended run owes to its history."""
    if not p.lengths:
        return []
    lengths = " to ".join(map(str, p.lengths))
    return [f"Extended from {lengths} tasks: no look-ahead went beyond the length that a task was chosen for."]


def _pool(p: PoolRecord) -> str:
    there = f"Pool {p.pool}: {p.in_play} of {p.classes} classes in play, {p.images} images, split {p.split}"
    if p.from_step > 1:
        there += f", there from task {p.from_step} on (--grow)"
    there += "."
    if p.excluded_groups:
        there += f" Groups left out: {', '.join(p.excluded_groups)}."
    if not p.by_content:
        there += " It is known by path, size and time of its files, not by their content (seqsearch pool build)."
    return there


def _tuning(t: TuningRecord | None) -> list[str]:
    if t is None:
        return []
    values = "; ".join(
        f"{label}: {', '.join(f'{k}={v}' for k, v in params.items()) or 'defaults'}"
        for label, params in t.chosen.items()
    )
    how = (
        CIRCULAR
        if t.on_first
        else f"Hyperparameters were tuned on {count(t.tasks, 'random task')} of classes outside the run."
    )
    return [f"{how} Chosen: {values}. All trials are in trials.parquet."]
