"""Streams whose correlation is known."""

from __future__ import annotations

import numpy as np


def bursts(n: int, length: float, classes: int, seed: int = 0) -> np.ndarray:
    """n labels in bursts, geometric of mean ``length``, of classes drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    prior = 1 / np.arange(1, classes + 1)
    runs = rng.geometric(1 / length, int(1.5 * n / length) + 100)
    return np.repeat(rng.choice(classes, len(runs), p=prior / prior.sum()), runs)[:n]
