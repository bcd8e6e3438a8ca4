"""The shift S of a study: chosen on the search part, where kappa of the blind classifier stays near its plateau from there on."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from protocols.online.settings import OnlineSettings
from seqsearch.core.errors import UserError
from seqsearch.stats.shift import ShiftChoice, choose_shift
from seqsearch.streams.base import Labels
from seqsearch.streams.open import build_stream
from seqsearch.streams.playing import Played

AHEAD = 200_000
"""Labels that are drawn for the choice where drawing costs nothing."""
SHARES = (0.2, 0.3, 0.5, 0.7, 0.8, 0.9)
MOST_TRIED = 5_000_000
"""Samples of a stream whose larger search parts are tried for a message."""


def by_rule(played: Played, settings: OnlineSettings) -> ShiftChoice:
    """Return the shift that the rule chooses on the search part, also if the user named a shift.

    See `seqsearch.stats.shift.choose_shift` for the rule.
    """
    return _chosen(played.stream.labels[played.search], played, settings)


def _chosen(labels: Labels, played: Played, settings: OnlineSettings) -> ShiftChoice:
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
            f"--shift auto: none can be chosen on the {len(played.search):,} samples of the search part: "
            f"{found.reason.partition(': give ')[0]}; {_way_out(played, settings)}"
        )
    if found.shift >= len(played.main):
        raise UserError(
            f"--shift auto: labels are correlated up to {found.shift:,} samples apart, and the main part has "
            f"{len(played.main):,}: take a longer stream"
        )
    return found


def _way_out(played: Played, settings: OnlineSettings) -> str:
    """Suggest settings that would work instead; every suggested search part has been tested."""
    tried = (flag for flag, labels, main in _larger(played, settings) if _does(labels, main, played, settings))
    found = list(itertools.islice(tried, 1))
    named = min(16, (len(played.main) - 1) // settings.batch) * settings.batch
    ways = [*found, *([f"--shift {named}"] if named else [])]
    return f"take {' or '.join(ways)}" if ways else "take a longer stream"


def _larger(played: Played, settings: OnlineSettings) -> Iterator[tuple[str, Labels, int]]:
    """Flags that bring a larger search part, its labels, and samples of the main part, about; what comes first is preferred."""
    stream, text = played.stream, settings.stream
    if text.partition(":")[0] == "glyphs" and "ahead=" not in text:
        longer = f"{text}{',' if ':' in text else ':'}ahead={AHEAD}"
        with contextlib.suppress(UserError):
            yield f"--stream {longer}", build_stream(longer).labels[:AHEAD], len(stream)
    if stream.given is None and len(stream) <= MOST_TRIED:
        for share in SHARES:
            n = round(share * len(stream))
            if n > len(played.search):
                yield f"--search {share}", stream.labels[:n], round((len(stream) - n) * (1 - settings.holdout))


def _does(labels: Labels, main: int, played: Played, settings: OnlineSettings) -> bool:
    shift = _chosen(labels, played, settings).shift
    return shift is not None and shift < 0.9 * main  # bursts that are held out are whole


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
