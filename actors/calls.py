"""Functions called on a connected Ray without any fleet: for work that needs no models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import ray

from actors import health

A = TypeVar("A")
B = TypeVar("B")


def on_ray(function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
    """``[function(a) for a in arguments]``, each on a core of its own; Ray tries again what died.

    Raises:
        EngineDied: Ray itself has died.
    """
    remote = ray.remote(num_cpus=1, max_retries=2)(function)
    calls = [remote.remote(a) for a in arguments]
    left = calls
    while left:
        health.check()
        _, left = ray.wait(left, num_returns=len(left), timeout=1.0)
    results: list[B] = ray.get(calls)
    return results
