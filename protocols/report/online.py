"""What is shown of an online run: terminal, JSON, ``report.html``."""

from __future__ import annotations

from typing import Any

from protocols.online.summary import Summary


def render(s: Summary) -> Any:
    return str(s.learners)


def to_json(s: Summary) -> dict[str, Any]:
    return {}
