"""Small studies for the functions of ``seqsearch``."""

from __future__ import annotations

from typing import Any

POOL = "glyphs:classes=12,train=6,reward=4,test=4"
SMALL: dict[str, Any] = {
    "methods": "simplecil",
    "pool": POOL,
    "tasks": 2,
    "classes_per_task": 2,
    "candidates": 4,
    "condensed": 2,
    "clusters": 2,
    "simulations": 2,
    "score_seeds": 2,
    "random_sequences": 5,
    "workers": 0,
    "quiet": True,
}
"""Of cldyb; takes a second."""
