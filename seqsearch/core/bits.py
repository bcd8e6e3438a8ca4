"""Yes or no of many images in little memory: bits, packed and written as text."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray


def packed(flags: NDArray[np.bool_]) -> str:
    """Flags ``[n]`` as text, a sixth of a character each.

    >>> packed(np.array([True, False, True])), unpacked("oA==", 3).tolist()
    ('oA==', [True, False, True])
    """
    return base64.b64encode(np.packbits(flags).tobytes()).decode()


def unpacked(text: str, n: int) -> NDArray[np.bool_]:
    """The ``n`` flags that `packed` made.

    Raises:
        ValueError: it is no text of so many flags.
    """
    try:
        data = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    except ValueError:
        raise ValueError("flags that are no base64 text") from None
    if len(data) != -(-n // 8):
        raise ValueError(f"{len(data)} bytes cannot hold {n} flags")
    flags = np.unpackbits(data)
    if flags[n:].any():
        raise ValueError(f"more than {n} flags")
    return flags[:n].astype(np.bool_)
