"""Settings of ``seqsearch score`` that the run has whose sequences are scored."""

from __future__ import annotations

from typing import Any

from protocols.evaluate.common.source import settings_for_source
from protocols.evaluate.score.settings import ScoreSettings


def settle(given: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """See `protocols.running.protocol.Protocol.settle`. With a held-out pool the run's methods are scored, too."""
    return settings_for_source(
        ScoreSettings, given, resumed, methods="beside named" if given.get("heldout_pool") else "never"
    )
