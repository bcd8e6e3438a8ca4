"""Values as JSON has them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

KEYS = {"unavailable_because": "lacking", "evaluated": "judged", "evaluated_row": "judged_row"}
"""Keys of JSON by the names of fields: JSON keeps the keys that scripts of users read."""


def plain(value: Any) -> Any:
    """A value as JSON has it: records as dictionaries; what is not a finite number is None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {KEYS.get(k, k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
