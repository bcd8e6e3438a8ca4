"""Values as JSON has them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

KEYS = {"unavailable_because": "lacking", "evaluated": "judged", "evaluated_row": "judged_row"}
"""Keys of JSON by the names of fields: JSON keeps the keys that scripts of users read."""


def plain(value: Any) -> Any:
    """A value as JSON has it: records as dictionaries, arrays as lists; NaN and infinity are None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {KEYS.get(k, k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
