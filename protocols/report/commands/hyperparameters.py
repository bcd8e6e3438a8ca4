"""The hyperparameters of the methods of a run, from its ``config.json``: a line a method, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType

from protocols.report.text import line
from seqsearch.core.text import cut, shown

MOST = 50
"""Methods that are listed."""


def hyperparameters(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By the label of a method; of runs from before all were recorded, those that the user gave (``identity.methods``)."""
    found = config.get("hyperparameters")
    if not isinstance(found, dict):
        identity = config.get("identity")
        methods = identity.get("methods") if isinstance(identity, dict) else None
        named = methods if isinstance(methods, dict) else {}
        found = {label: m.get("params") for label, m in named.items() if isinstance(m, dict)}
    return {label: values for label, values in found.items() if isinstance(values, dict)}


def render(config: Mapping[str, Any]) -> RenderableType:
    """For a terminal."""
    found = hyperparameters(config)
    title = "Hyperparameters" if "hyperparameters" in config else "Hyperparameters given (defaults were not recorded)"
    lines = [
        f"{label}: {', '.join(f'{n}={v}' for n, v in values.items()) or 'none'}" for label, values in found.items()
    ]
    more = [f"{len(lines) - MOST} more methods: --json lists all"] * (len(lines) > MOST)
    own = [line(cut(shown(text))) for text in [*lines[:MOST], *more]]
    return Group(line(""), line(title, "bold"), *own) if own else Group()
