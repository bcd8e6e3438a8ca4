"""Values as JSON has them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A value as JSON has it: records as dictionaries, arrays as lists; NaN and infinity are None.

    The key of a field is its name, or ``metadata["json"]`` where users' scripts know another one.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.metadata.get("json", f.name): getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    """A plain value with all its texts changed, keys included."""
    if isinstance(value, Mapping):
        return {change(k): texts_changed(v, change) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [texts_changed(v, change) for v in value]
    return change(value) if isinstance(value, str) else value
