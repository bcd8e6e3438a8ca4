"""References that a method is compared with on its own backbone, read from a run's ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def backbone_of(config: Mapping[str, Any], method: str) -> str:
    """The backbone of a method: its own (``identity.methods``), or that of one whose results are another run's
    (``identity.taken_over``); empty if neither says."""
    own = _dict(_dict(config, "identity", "methods").get(method)).get("backbone")
    found = own or _dict(config, "identity", "taken_over").get(method)
    return found if isinstance(found, str) else ""


def reference_of(config: Mapping[str, Any], method: str, table: str, role: str) -> str:
    """The label under ``role`` of what stands by the backbone of a method in ``identity``'s ``table``; empty if there is none.

    Score runs have the table ``references`` with ``mean`` and ``bound``, those that explain ``bounds`` with ``label``
    and ``kind``.
    """
    label = _dict(config, "identity", table, backbone_of(config, method)).get(role)
    return label if isinstance(label, str) else ""


def _dict(said: Any, *path: str) -> Mapping[str, Any]:
    for name in path:
        said = said.get(name) if isinstance(said, Mapping) else None
    return said if isinstance(said, Mapping) else {}
