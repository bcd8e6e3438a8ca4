"""The stream of an online study, opened without torch."""

from __future__ import annotations

from pathlib import Path

from protocols.online.settings import OnlineSettings
from seqsearch.streams.open import build_stream, located_stream


def look(settings: OnlineSettings, directory: Path) -> None:
    """See `protocols.running.protocol.Protocol.look`."""
    build_stream(located_stream(settings.stream, directory))
