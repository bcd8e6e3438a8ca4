"""Sizes, and flags of the engine that contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from actors.options import EngineOptions
from seqsearch.core.errors import UserError
from seqsearch.core.units import size


def test_sizes() -> None:
    assert [size(t) for t in ("8GB", "500 MB", "1.5k", "2TiB", 77, "12b")] == [
        8 << 30,
        500 << 20,
        1536,
        2 << 40,
        77,
        12,
    ]
    for wrong in ("", "GB", "-1GB", "0", "8 gigs", "1e9", "nan"):
        with pytest.raises(UserError, match="is no size: write"):
            size(wrong)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"workers": 0, "address": "auto"}, "--workers 0 runs in this process and --address on a cluster"),
        ({"workers": 0, "rollout_timeout": 3.0}, "--rollout-timeout needs a worker"),
        ({"workers": 0, "worker_memory": 1 << 30}, "--worker-memory needs a worker"),
        ({"workers": 1, "worker_memory": 10 << 20}, "--worker-memory 10MB: less than a worker needs"),
        ({"gpus_per_worker": 0.5, "worker_memory": 1 << 30}, "--worker-memory is for workers on CPUs"),
    ],
)
def test_flags_that_contradict_each_other(values: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        EngineOptions(**values)
