"""Where the images and the hyperparameters of a run come from, in words: for the report and below the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.wording import count

CIRCULAR = (
    "Hyperparameters were tuned on the first tasks of a searched sequence (--tune-on first, the paper's way): the methods are "
    "judged on tasks that they were tuned on, and all tasks but the first had been chosen to be hard for their defaults."
)
CHANGEABLE = "files-"
"""Beginning of the digest of a pool that is known by path, size and time of its files."""


def origins(config: Mapping[str, Any]) -> list[str]:
    """A sentence or two on each pool, and on tuning if there was any."""
    identity = config.get("identity") or {}
    return [_pool(p) for p in identity.get("pools", ())] + _stages(config) + _tuning(config)


def caveats(config: Mapping[str, Any]) -> list[str]:
    """What a reader of the figures must know of it."""
    grown = [_pool(p) for p in (config.get("identity") or {}).get("pools", ()) if p["from_step"] > 1]
    return grown + _stages(config) + _tuning(config)


def _stages(config: Mapping[str, Any]) -> list[str]:
    """What an extended run owes to its history."""
    settings = config.get("settings") or {}
    before = settings.get("extended_from")
    if not before:
        return []
    lengths = " to ".join(str(n) for n in (*before, settings["tasks"]))
    return [f"Extended from {lengths} tasks: no look-ahead went beyond the length that a task was chosen for."]


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
    tuned = config.get("tuned")
    if not tuned:
        return []
    settings = config["settings"]
    values = "; ".join(
        f"{label}: {', '.join(f'{k}={v}' for k, v in params.items()) or 'defaults'}" for label, params in tuned.items()
    )
    how = (
        CIRCULAR
        if settings.get("tune_on") == "first"
        else f"Hyperparameters were tuned on {count(settings['tune_tasks'], 'random task')} of classes outside the run."
    )
    return [f"{how} Chosen: {values}. All trials are in trials.parquet."]
