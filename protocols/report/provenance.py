"""Where the images and the hyperparameters of a run come from, in words: for the report and below the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.report.text import count
from seqsearch.core.errors import UserError
from seqsearch.core.typed import fits

CIRCULAR = (
    "Hyperparameters were tuned on the first tasks of a searched sequence (--tune-on first, the paper's way): the methods are "
    "judged on tasks that they were tuned on, and all tasks but the first had been chosen to be hard for their defaults."
)
POOL = {
    "pool": str, "digest": str, "from_step": int, "classes": int, "in_play": int, "images": int, "split": str,
    "excluded_groups": tuple[str, ...],
}  # fmt: skip
"""What is said of a pool in ``config.json``."""
CHANGEABLE = "files-"
"""Beginning of the digest of a pool that is known by path, size and time of its files."""


def provenance(config: Mapping[str, Any]) -> list[str]:
    """A sentence or two on each pool, and on tuning if there was any."""
    return [_pool(p) for p in _pools(config)] + _stages(config) + _tuning(config)


def caveats(config: Mapping[str, Any]) -> list[str]:
    """What a reader of the figures must know of it."""
    grown = [_pool(p) for p in _pools(config) if p["from_step"] > 1]
    return grown + _stages(config) + _tuning(config)


def _stages(config: Mapping[str, Any]) -> list[str]:
    """What an extended run owes to its history."""
    settings = config.get("settings") or {}
    before = settings.get("extended_from") if isinstance(settings, dict) else None
    if not before:
        return []
    if not fits(before, tuple[int, ...]) or not fits(settings.get("tasks"), int):
        raise UserError("config.json: extended_from or tasks is not as it was written: restore it")
    lengths = " to ".join(str(n) for n in (*before, settings["tasks"]))
    return [f"Extended from {lengths} tasks: no look-ahead went beyond the length that a task was chosen for."]


def _pools(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What was noted of each pool.

    Raises:
        UserError: something else stands there.
    """
    identity = config.get("identity")
    pools = identity.get("pools", []) if isinstance(identity, dict) else []
    if not isinstance(pools, list) or not all(isinstance(p, dict) for p in pools):
        raise UserError("config.json: identity.pools is not as it was written: restore it")
    for p in pools:
        if wrong := next((n for n, kind in POOL.items() if not fits(p.get(n), kind)), None):
            raise UserError(f"config.json: {wrong} in identity.pools is not as it was written: restore it")
    return pools


def _pool(p: Mapping[str, Any]) -> str:
    there = (
        f"Pool {p['pool']}: {p['in_play']} of {p['classes']} classes in play, {p['images']} images, split {p['split']}"
    )
    if p["from_step"] > 1:
        there += f", there from task {p['from_step']} on (--grow)"
    there += "."
    if p["excluded_groups"]:
        there += f" Groups left out: {', '.join(p['excluded_groups'])}."
    if p["digest"].startswith(CHANGEABLE):
        there += " It is known by path, size and time of its files, not by their content (seqsearch pool build)."
    return there


def _tuning(config: Mapping[str, Any]) -> list[str]:
    tuned, settings = config.get("tuned"), config.get("settings")
    if not tuned:
        return []
    whole = isinstance(tuned, dict) and all(isinstance(p, dict) for p in tuned.values())
    if not whole or not isinstance(settings, dict) or not fits(settings.get("tune_tasks"), int):
        raise UserError("config.json: what was tuned is not as it was written: restore it")
    values = "; ".join(
        f"{label}: {', '.join(f'{k}={v}' for k, v in params.items()) or 'defaults'}" for label, params in tuned.items()
    )
    how = (
        CIRCULAR
        if settings.get("tune_on") == "first"
        else f"Hyperparameters were tuned on {count(settings['tune_tasks'], 'random task')} of classes outside the run."
    )
    return [f"{how} Chosen: {values}. All trials are in trials.parquet."]
