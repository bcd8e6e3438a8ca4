"""The arguments of ``seqsearch duel``, and settings of a run whose sequences two methods are paired on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from protocols.evaluate.common.source import fill_from_run
from protocols.evaluate.duel.settings import DuelSettings
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import defaults, flag
from seqsearch.planners.settings import SearchSettings
from seqsearch.study.named import check_named

OF_SEARCH = {f.name for f in dataclasses.fields(SearchSettings)} - {"tasks", "classes_per_task"}
"""Settings that only a search looks at."""
NOT_ON = {"tasks", "classes_per_task", "sequences", "fixed_first", "until", "max_sequences", "find"}
"""Settings that say which sequences there are."""


def settle(given: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """See `protocols.running.protocol.Protocol.settle`. The methods are two words, A and B.

    Raises:
        UserError: not two methods, or a flag that would have no effect.
    """
    words = given.get("methods", ())
    words = (words,) if isinstance(words, str) else words
    given = {**given, "methods": ",".join(words)} if words else given
    if resumed:
        return given
    if len(words) != 2:
        raise UserError(
            "name two methods: seqsearch duel A B, e.g. seqsearch duel ranpac slca (see: seqsearch methods)"
        )
    for text in words:
        if len(parse_items(text, "method")) > 1:
            raise UserError(f"{text}: is more than one method; a duel is between two, A and B")
    values = {**defaults(DuelSettings), **given}
    _check_effect(values, set(given))
    check_named(DuelSettings, given)
    if not values["on"]:
        return given
    found = fill_from_run(DuelSettings, {**values, "source": values["on"]}, set(given), methods="never")
    return {**found, "on": found["source"]}


def _check_effect(values: Mapping[str, Any], named: set[str]) -> None:
    """Raises UserError: a flag was given that would have no effect."""
    if values["on"] and (idle := sorted(named & NOT_ON)):
        raise UserError(f"--on brings its own sequences: leave {flag(idle[0])} out")
    if values["find"] == "none" and (idle := sorted(named & OF_SEARCH)):
        raise UserError(f"{flag(idle[0])} is for --find: leave it out, or add --find both")
    if values["until"] == "none" and "max_sequences" in named:
        raise UserError("--max-sequences is for --until: leave it out, or add --until verdict")
