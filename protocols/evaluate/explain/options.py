"""Settings of ``seqsearch explain`` that the explained run has."""

from __future__ import annotations

from typing import Any

from protocols.evaluate.common.source import settings_for_source
from protocols.evaluate.explain.settings import ExplainSettings


def settle(given: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """See `protocols.running.protocol.Protocol.settle`."""
    return settings_for_source(ExplainSettings, given, resumed, methods="unless named")
