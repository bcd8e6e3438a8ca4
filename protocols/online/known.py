"""Results of a study's runs that its journal already holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from protocols.online.study import OnlineStudy
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import MethodSpec, Rollout, StateKey
from seqsearch.engine.evaluator import Ledger


class KnownRun(NamedTuple):
    """One learner, in one order, with one training seed; ``results`` of its segments, from the first on, as far as they are
    known. The last may be one that did not end well."""

    method: MethodSpec
    window: int
    seed: int
    results: tuple[EdgeResult, ...]


def known_runs(study: OnlineStudy, ledger: Ledger) -> Iterator[KnownRun]:
    """All runs of a study."""
    for window in study.orders:
        for m in study.methods:
            for replicate in study.replicates(m):
                key = StateKey(m, study.settings.seed, replicate, study.segments(window))
                yield KnownRun(m, window, replicate, _results(key, ledger))


def _results(key: StateKey, ledger: Ledger) -> tuple[EdgeResult, ...]:
    found: list[EdgeResult] = []
    for edge in Rollout(key, "test", leaf=True).edges():
        result = ledger.edge(edge.digest)
        if result is None:
            break
        found.append(result)
        if result.status != "ok":
            break
    return tuple(found)
