"""The shift S of a study: chosen on the search part, where the blind classifier is no better than chance from there on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from protocols.online.settings import OnlineSettings
from seqsearch.core.errors import UserError
from seqsearch.correlation.shift import ShiftChoice, choose_shift
from seqsearch.streams.playing import Played


def by_rule(played: Played, settings: OnlineSettings) -> ShiftChoice:
    """What the rule says of the search part, whatever was named: `seqsearch.correlation.shift.choose_shift`."""
    labels = played.stream.labels[played.search]
    return choose_shift(
        labels, settings.batch, tol=settings.tolerance, null=settings.null, classes=played.stream_classes
    )


def chosen_shift(played: Played, settings: OnlineSettings) -> ShiftChoice:
    """The shift that the rule gives.

    Raises:
        UserError: none can be chosen, or the main part has no room for it.
    """
    found = by_rule(played, settings)
    if found.shift is None:
        raise UserError(
            f"--shift auto: none can be chosen on the {len(played.search):,} samples of the search part: {found.reason}; name "
            f"one, e.g. --shift {16 * settings.batch}, or enlarge --search"
        )
    if found.shift >= len(played.main):
        raise UserError(
            f"--shift auto: labels are correlated up to {found.shift:,} samples apart, and the main part has "
            f"{len(played.main):,}: take a longer stream"
        )
    return found


def described(choice: ShiftChoice) -> dict[str, Any]:
    """The whole curve, as JSON has it."""
    return {f.name: _plain(getattr(choice, f.name)) for f in dataclasses.fields(choice)}


def _plain(value: Any) -> Any:
    if isinstance(value, ShiftChoice):
        return described(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
