"""One door to the two evaluators: in process, or a fleet on Ray."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from seqsearch.inline import InlineEvaluator
from seqsearch.world import World

if TYPE_CHECKING:
    from actors.fleet import Fleet


@contextmanager
def open_evaluator(
    world: World, workers: int | None, gpus_per_worker: float = 0.0, address: str | None = None
) -> Iterator[InlineEvaluator | Fleet]:
    """``workers`` 0: in this process; None: one for each CPU of the cluster (or for each share of a GPU).

    Raises:
        UserError: no cluster at ``address``, or no worker can be placed.
    """
    if workers == 0:
        inline = InlineEvaluator(world)
        try:
            yield inline
        finally:
            inline.close()
        return
    from actors.cluster import connect, disconnect, fitting_workers
    from actors.fleet import Fleet

    connect(address, workers or 0)
    try:
        fleet = Fleet(world, workers or fitting_workers(gpus_per_worker), gpus_per_worker)
        try:
            yield fleet
        finally:
            fleet.close()
    finally:
        disconnect()
