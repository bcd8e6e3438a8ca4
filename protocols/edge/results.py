"""Results of an EDGE run: those that every run has, the plans, and the similarity of the plans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protocols.edge.fit import Fit, read_fits
from protocols.edge.plan import ExtremesPlan, read_plans
from seqsearch.results.run import RunResults, read_results
from seqsearch.results.schema import SIMILARITY
from seqsearch.similarity.files import read
from seqsearch.similarity.matrix import Similarity
from seqsearch.storage.inside import Inside


@dataclass(frozen=True)
class EdgeResults:
    """Of a run that was stopped before it had a similarity there is none; ``fits`` are there with ``--fit`` alone."""

    run: RunResults
    plans: tuple[ExtremesPlan, ...]
    fits: tuple[Fit, ...] = ()
    similarity: Similarity | None = None


def read_edge_results(run: Path) -> EdgeResults:
    """From the files of a run.

    Raises:
        UserError: no run folder, a run that has exported nothing yet, or a damaged file.
    """
    similarity = read(run / SIMILARITY) if Inside(run).has(SIMILARITY) else None
    return EdgeResults(read_results(run), tuple(read_plans(run)), read_fits(run)[1], similarity)
