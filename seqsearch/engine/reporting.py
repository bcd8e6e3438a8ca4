"""Results of a process beside the driver, as of a trial of a tuner: reported one by one, put down by the driver alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from seqsearch.core.outcomes import EdgeResult, ProbeResult


class ReportedResults:
    """A `seqsearch.engine.evaluator.Ledger` that hands every result on as soon as it is there.

    Nothing is written here: of two attempts at the same work the driver keeps what the first reported. A second attempt that
    is given the ``known`` results trains none of them again, and finds their states in the folder that both share.

    Args:
        report: takes each new result; it may carry it to another process.
        known: results of earlier attempts.
    """

    def __init__(
        self, report: Callable[[EdgeResult | ProbeResult], None], known: Iterable[EdgeResult | ProbeResult] = ()
    ) -> None:
        self._report = report
        self._known = {r.digest: r for r in known if isinstance(r, ProbeResult) or r.status in ("ok", "diverged")}

    @property
    def trained(self) -> int:
        return sum(len(r.trained) for r in self._known.values())

    def edge(self, digest: str) -> EdgeResult | None:
        found = self._known.get(digest)
        return found if isinstance(found, EdgeResult) else None

    def probe(self, digest: str) -> ProbeResult | None:
        found = self._known.get(digest)
        return found if isinstance(found, ProbeResult) else None

    def add(self, *results: EdgeResult | ProbeResult) -> None:
        for result in results:
            self._known[result.digest] = result
            self._report(result)
