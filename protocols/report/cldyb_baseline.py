"""Which random sequences a verdict is on (``--baseline``), whether it is on the search, and placebo runs, in words."""

from __future__ import annotations

from protocols.cldyb.compared import Placed
from protocols.cldyb.summary import Summary
from seqsearch.core.text import as_clause

THAN = {
    "uniform": "random ones",
    "within-group": "random sequences whose tasks each come from one group",
    "greedy": "sequences of greedy proposals chosen at random",
}
"""Random sequences by ``--baseline``."""


def by_searching(said: str, placed: Placed | None) -> str:
    """A verdict against greedy proposals as one on the search: these differ from found tasks by how they are chosen alone."""
    if placed is None or not placed.test.significant or THAN["greedy"] not in said:
        return said
    t = placed.test
    searches, found = (
        ("search", f"a sequence that is {t.end}") if t.found == 1 else ("searches", f"sequences that are {t.end}")
    )
    return f"The {searches} found {found} than {said.partition(' than ')[2]}"


def as_placebo(said: str) -> str:
    """A verdict on a search that could not learn."""
    return f"Placebo, rewards were shuffled: {as_clause(said)}"


def source(summary: Summary, how: str) -> str:
    """What is harder where nothing was chosen by training, though candidates ``are grown`` or ``are proposed`` in some way."""
    if summary.baseline == "greedy":
        return "found and random tasks are drawn from the same candidates, and differ by chance alone"
    return f"what differs from random sequences comes from how candidates {how}"
