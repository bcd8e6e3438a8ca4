"""Candidate tasks drawn uniformly from all subsets of ``k`` classes: the random baseline."""

from __future__ import annotations

import math

from seqsearch.planners.candidates.base import CandidateRequest, Proposal, draw_distinct


def propose(request: CandidateRequest) -> list[Proposal]:
    """Distinct uniform ``k``-subsets of the available classes."""
    possible = math.comb(len(request.classes), request.k)
    return draw_distinct(lambda: request.rng.choice(request.classes, request.k, replace=False), request.count, possible)
