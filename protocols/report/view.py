"""The module that shows a protocol's results."""

from __future__ import annotations

import importlib
from typing import Any

from protocols.running.protocol import Protocol


def report_of(protocol: Protocol) -> Any:
    """See `Protocol.view`."""
    return importlib.import_module(protocol.view)
