"""Flags of ``seqsearch online`` that bring others."""

from __future__ import annotations

from typing import Any

from protocols.online.settings import PRESETS


def settle(given: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """See `protocols.running.protocol.Protocol.settle`: a preset of ``--shift`` has a batch size of its own."""
    if resumed:
        return given
    preset = PRESETS.get(given.get("shift", ""))
    return {**given, "batch": preset[0]} if preset and "batch" not in given else given
