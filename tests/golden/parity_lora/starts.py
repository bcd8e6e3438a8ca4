"""What low-rank changes start from, beside what `tests.golden.parity.starts` has: ``low_rank`` ``[tasks, B, 2, RANK, D]``, the
factors A of SD-LoRA by task, block, and projection (queries, values)."""

from __future__ import annotations

import numpy as np

from tests.golden.parity import starts as common
from tests.golden.parity.starts import DEPTH, TASKS, WIDTH, Array, uniform

RANK = 3


def starts() -> dict[str, Array]:
    """All of it."""
    drawn = uniform("low_rank", len(TASKS), DEPTH, 2, RANK, WIDTH) / WIDTH**0.5
    return {**common.starts(), "low_rank": drawn.astype(np.float32)}
