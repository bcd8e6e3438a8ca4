"""Flags of ``seqsearch edge`` that need others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.edge.settings import EdgeSettings
from seqsearch.core.errors import UserError
from seqsearch.core.settings import defaults, flag
from seqsearch.results.frozen import pinned


def settle(given: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """See `protocols.running.protocol.Protocol.settle`.

    Raises:
        UserError: a flag would have no effect.
    """
    if resumed:
        return given
    _check_effect({**defaults(EdgeSettings), **given}, set(given), given.get("plan_only", False))
    if not given.get("orders"):
        return given
    return {**given, "orders": pinned(given["orders"])}


def _check_effect(values: Mapping[str, Any], named: set[str], plan_only: bool) -> None:
    """Raises UserError: a flag was given that would have no effect."""
    if plan_only and named & {"enumerate", "until", "orders", "fit", "heuristics", "partition"}:
        raise UserError(
            "--plan-only trains nothing: leave --enumerate, --until, --orders, --fit, --heuristics and --partition out"
        )
    anneals = values["planner"] in ("auto", "anneal")
    from_file = values["similarity"] not in ("names", "prototypes", "confusion")
    idle = {
        "lags": (values["objective"] != "lags", "is for --objective lags"),
        "moves": (not anneals, "is for --planner anneal"),
        "budget": (not anneals, "is for --planner anneal"),
        "restarts": (not anneals, "is for --planner anneal"),
        "diversity": (values["extremes"] == 1, "is for --extremes 2 or more"),
        "max_sequences": (not values["until"], "is for --until"),
        "crossed_orders": (values["enumerate"], "says how many share the seeds, and with --enumerate all do"),
        "rs_draw": (not values["rs_seeds"], "is for --rs-seeds"),
        "robust_baseline": (not values["robust_within"], "is for --robust-within"),
        "fit_extremes": (not values["fit"], "is for --fit"),
        "fit_seeds": (not values["fit"], "is for --fit"),
        "enumerate_limit": (not values["enumerate"], "is for --enumerate"),
        "classes": (plan_only and from_file, "draws from a pool, and the plan is made from a file"),
        "exclude_groups": (plan_only and from_file, "leaves classes of a pool out, and the plan is made from a file"),
    }
    for name, (has_none, why) in idle.items():
        if has_none and name in named:
            raise UserError(f"{flag(name)} {why}: leave it out")
