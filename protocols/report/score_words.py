"""A score summary in words and in cells, for the terminal and the report alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from protocols.cldyb.compared import Placed
from protocols.cldyb.summary import Side
from protocols.evaluate.score.agreement import Agreement
from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report import cldyb_joint as joint
from protocols.report.by_method import covering, marks, may_be_best, stars
from protocols.report.chance_words import at_chance
from protocols.report.cldyb_tables import interval
from protocols.report.cldyb_words import change, covered, verdict
from protocols.report.lacking import without_interval
from protocols.report.tables import Cells
from protocols.report.text import Bold, cost, count, percent
from seqsearch.core.text import as_clause, shown
from seqsearch.distribution.drop import Drop

SIDES = {"random": "random", "heldout": "held-out pool", "hard": "hard", "easy": "easy", "given": "given"}
"""Headings by kind of sequence, beside the found ones."""


def headline(s: ScoreSummary) -> str:
    """The result in one sentence."""
    if s.reached:
        return f"Not finished (it stopped at: {s.reached}): nothing is claimed yet."
    if s.unseen_drop:
        claim = f"For methods held out of the search: {as_clause(_claim(s.unseen_drop, s.unseen_placed, s.same, s.baseline))}"
        return " ".join(filter(None, (claim, for_whom(s))))
    if s.searched_drop:
        claim = as_clause(_claim(s.searched_drop, s.searched_placed, s.same, s.baseline))
        claim = f"For the methods that were searched on: {claim}"
        return " ".join(filter(None, (claim, for_whom(s))))
    why = f"; {s.same}" if s.same else ""
    return f"{len(s.methods)} method(s) on the sequences of {s.source}, without a comparison of found and random ones{why}."


def for_whom(s: ScoreSummary) -> str:
    """Whether harder sequences are harder to learn continually for the methods of the headline; else empty."""
    if s.unseen_drop:
        judged = [m.method for m in s.methods if m.unseen_drop]
        return joint.statement(s.unseen_gap, judged, s.unseen_drop, s.unseen_placed)
    judged = [m.method for m in s.methods if m.searched_drop]
    return joint.statement(s.searched_gap, judged, s.searched_drop, s.searched_placed)


def joint_rows(s: ScoreSummary) -> joint.Rows:
    """Of each method on the found sequences of the headline, and of the mean over those that were trained jointly."""
    unseen = s.unseen_drop is not None
    mean = s.unseen_gap if unseen else s.searched_gap
    rows = [
        (m.method, m.unseen_gap if unseen else m.searched_gap)
        for m in s.methods
        if (m.unseen_drop if unseen else m.searched_drop)
    ]
    return rows if mean is None or len(rows) == 1 else [*rows, ("mean", mean.of)]


def _claim(drop: Drop, placed: Placed | None, same: str = "", baseline: str = "uniform") -> str:
    """``same``: why nothing differs, if that is known; ``baseline``: where random sequences come from."""
    said = verdict(drop, placed, baseline)
    if drop.nothing_differs:
        why = f"; {same}" if same else ""
        return f"{said}: final test accuracy is {percent(drop.random)} % on each{why}."
    return f"{said}: final test accuracy {percent(drop.found)} % against {percent(drop.random)} % on average, {change(drop)}."


def notes(s: ScoreSummary) -> list[str]:
    """What the figures are conditional on, what is missing, what it cost."""
    if s.reached:
        return [f"Go on with: {s.resume}", *cost(s.stats)]
    said = []
    if s.unseen_drop and s.searched_drop:
        claim = _claim(s.searched_drop, s.searched_placed, s.same, s.baseline)
        said.append(f"For the methods that were searched on: {as_clause(claim)}")
    best, best_unseen = _best(s)
    said += [
        may_be_best(best, "on found sequences (searched)"),
        may_be_best(best_unseen, "on found sequences (held out)"),
    ]
    if drop := s.unseen_drop or s.searched_drop:
        groups = s.unseen_groups if s.unseen_drop else s.searched_groups
        searched, unseen = _stars(s)
        said += [marks(s.searched_placed, searched, " (searched)"), marks(s.unseen_placed, unseen, " (held out)")]
        compared = [d for m in s.methods for d in (m.searched_drop, m.unseen_drop) if d]
        said.append(covering(covered(drop, max(1, groups), s.shared_first), compared))
        said += without_interval([(f"{m.method} (searched)", m.searched_drop) for m in s.methods if m.searched_drop])
        said += without_interval([(f"{m.method} (held out)", m.unseen_drop) for m in s.methods if m.unseen_drop])
        placed = s.unseen_placed if s.unseen_drop else s.searched_placed
        said += joint.notes(joint_rows(s), drop, placed)
        said.append("Methods are these ones, not a sample: an interval of their mean says nothing of further methods.")
    if s.transfer:
        said.append(
            "Sequences that were searched with different methods are no draws of one search: drops over them are by group, in "
            "the table of transfer."
        )
    if s.known:
        taken = ", ".join(f"{m} ({count(n, 'rollout')})" for m, n in s.known.items())
        said.append(f"Taken over from {s.source}, not trained here: {taken}.")
    if any(m.bound for m in s.methods):
        said.append(
            "Bound: joint training on all classes at once, the best of three learners by validation images, one training (a "
            "method above it shows that more can be had); over NCM: accuracy beyond the nearest class mean of frozen features, "
            "what pre-training knew already. Both as measured, without an interval."
        )
    said += [_ranks(a) for a in s.agreement]
    return [shown(line) for line in filter(None, (*said, *s.troubles, *at_chance(s.at_chance)))] + cost(s.stats)


def _ranks(a: Agreement) -> str:
    r = a.ranks
    p = "exact p" if r.exact else "p"
    return (
        f"Ranks of {r.n} methods on {a.kind} sequences against those of the held-out pool: SRCC {_figure(r.srcc)} ({p} "
        f"{_figure(r.srcc_p)}), KRCC {_figure(r.krcc)} ({p} {_figure(r.krcc_p)}); over these methods, accuracies as they are."
    )


def _figure(x: float) -> str:
    return f"{x:.3f}" if math.isfinite(x) else "-"


def tables(s: ScoreSummary) -> list[Cells]:
    """All that have rows."""
    found = [methods(s), joint.table(joint_rows(s)).cells, *([transfer(s)] if s.transfer else []), tasks(s)]
    return [t for t in found if t.rows]


def methods(s: ScoreSummary) -> Cells:
    """One row a method; columns that nobody has a figure for are left out."""
    kinds = {"searched": "found", **SIDES}
    headings = (
        "Method", "found (searched)", "found (held out)", *SIDES.values(), "drop (searched)", "drop (held out)",
        *(h for side in kinds.values() for h in (f"bound, {side}", f"over NCM, {side}")),
    )  # fmt: skip
    found = any(m.searched or m.unseen for m in s.methods)
    bold = _best(s)
    made = [_row(m, kinds, found, marked, bold) for m, *marked in zip(s.methods, *_stars(s), strict=True)]
    columns = {heading: [row[i] for row in made] for i, heading in enumerate(headings)}
    there = {n: cells for n, cells in columns.items() if n == "Method" or any(c != "-" for c in cells)}
    drops = "; relative drop [95 %]" if any(name.startswith("drop (") for name in there) else ""
    lead = f"Final Acc in percent: means over sequences and the training seeds of each, test images{drops}."
    return Cells("Methods", lead, tuple(n for n in headings if n in there), tuple(zip(*there.values(), strict=True)))


def _best(s: ScoreSummary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods that are bold on sequences that were searched with each method, and on the others; none if it may be any."""
    compared = [[m.searched_drop for m in s.methods], [m.unseen_drop for m in s.methods]]
    searched, unseen = (sum(d is not None for d in drops) for drops in compared)
    return (
        s.searched_best if len(s.searched_best) < searched else (),
        s.unseen_best if len(s.unseen_best) < unseen else (),
    )


def _stars(s: ScoreSummary) -> tuple[list[str], list[str]]:
    """The marks of the drops on the sequences that were searched with each method, and on the others."""
    searched = stars([(m.searched_drop, m.searched_adjusted_p) for m in s.methods])
    return searched, stars([(m.unseen_drop, m.unseen_adjusted_p) for m in s.methods])


def _row(
    m: MethodScore, kinds: Iterable[str], found: bool, marked: Sequence[str], bold: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    """All its cells; hard sequences stand among the ``found`` ones where there are such."""
    return (
        m.method, *(_on_found(side, m.method in best) for side, best in zip((m.searched, m.unseen), bold, strict=True)),
        *("-" if kind == "hard" and found else percent(_acc(m, kind)) for kind in SIDES),
        _drop(m.searched_drop, marked[0]), _drop(m.unseen_drop, marked[1]),
        *(_share(of, kind) for kind in kinds for of in (m.bound, m.over_mean)),
    )  # fmt: skip


def _on_found(side: Side | None, best: bool) -> str:
    acc = percent(side.acc) if side else "-"
    return Bold(acc) if best else acc


def _acc(m: MethodScore, kind: str) -> float:
    """Mean final Acc; of random sequences over those that the drop is from, if there is one."""
    drop = (m.unseen_drop or m.searched_drop) if kind == "random" else None
    return drop.random if drop else m.sides[kind].acc if kind in m.sides else math.nan


def transfer(s: ScoreSummary) -> Cells:
    """Drop of each method on the sequences found for each group of methods."""
    groups = list(dict.fromkeys(g for g, _ in s.transfer))
    labels = [m.method for m in s.methods]
    rows = tuple((group, *(_drop(s.transfer[group, m]) for m in labels)) for group in groups)
    lead = (
        "Relative drop of Acc in percent [95 %]; rows: the methods that sequences were searched with; columns: judged."
    )
    return Cells("Transfer between methods", lead, ("Searched with", *labels), rows)


def tasks(s: ScoreSummary) -> Cells:
    """Final accuracy task by task."""
    labels = [m.method for m in s.methods]
    bounds = list(dict.fromkeys(b for t in s.tasks for b in t.bound))
    headings = ("Sequence", "task", *labels)
    for b in bounds:
        headings += (f"bound ({b})", f"NCM ({b})") if len(bounds) > 1 else ("bound", "NCM")
    rows = []
    for t in s.tasks:
        cells = [t.sequence, str(t.step), *(_share(t.accuracy, m) for m in labels)]
        for b in bounds:
            cells += [_share(t.bound, b), _share(t.mean, b)]
        rows.append(tuple(cells))
    lead = "Final accuracy in percent on each task, with scores over all classes of the sequence, mean over training seeds."
    return Cells("Tasks", lead, headings, tuple(rows))


def _drop(drop: Drop | None, mark: str = "") -> str:
    return "-" if drop is None or drop.nothing_differs else interval(drop, mark)


def _share(of: Mapping[str, float], name: str) -> str:
    return percent(of[name]) if name in of else "-"
