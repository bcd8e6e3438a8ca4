"""Identities and seeds: blake2b over a canonical encoding, so that they agree on every machine and in every run."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value).data.cast("B") if value.size else b""  # no copy of what is large
        return [str(value.dtype), list(value.shape), hashlib.blake2b(data, digest_size=16).hexdigest()]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return hashlib.blake2b(value, digest_size=16).hexdigest()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"cannot take a digest of {type(value).__name__}")


def digest_of(*parts: Any) -> str:
    """32 hexadecimal digits that identify ``parts`` (plain values, dataclasses, arrays, bytes)."""
    text = json.dumps(_plain(parts), sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def seed_of(*parts: Any) -> int:
    """A 63-bit seed that is a function of ``parts`` alone."""
    return int(digest_of("seed", *parts)[:16], 16) >> 1


def seeded_numpy(*parts: Any) -> np.random.Generator:
    """A counter-based numpy generator that is a function of ``parts`` alone."""
    return np.random.Generator(np.random.Philox(seed_of(*parts)))


def depth_seed(seed: int, replicate: int, depth: int, phase: str) -> int:
    """Seed of one phase of the training at ``depth`` (length of the prefix): never of the task, so siblings share noise."""
    return seed_of("train", seed, replicate, depth, phase)
