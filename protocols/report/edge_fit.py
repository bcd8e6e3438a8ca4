"""What ``--fit`` found, as tables, sentences and a chart."""

from __future__ import annotations

import math

from protocols.edge.fit import Fit
from protocols.edge.fitted import MethodFit, Side
from protocols.edge.summary import EdgeSummary, MethodEdge
from protocols.report.edge_tables import AGAINST_RANDOM, CONDITIONS, EFFECTS
from protocols.report.table import Table, Value, table
from protocols.report.text import count, p_text, signed
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.ridge import PERMUTATIONS

RANDOM = {"hard": "worst", "easy": "best"}
"""Random sequences that fitted ones are held against, by their end."""
HARDER = {"hard": "harder", "easy": "easier"}
LESS = {"hard": "easier", "easy": "harder"}


def tables(s: EdgeSummary) -> list[Table]:
    """Fits, and where a gate is open the comparison; none without ``--fit``."""
    found = [_effects(s), _comparison(s)]
    return [t for t in found if t.rows]


def _effects(s: EdgeSummary) -> Table:
    rows = [(m.method, f.name, f.effect, f.low, f.high) for m in s.methods if m.fit for f in m.fit.fit.features]
    lead = (
        "Points of accuracy that a standard deviation of a feature more adds to what the fit predicts (ridge regression, which "
        "shrinks them; not what a change of this feature alone would do), and its range over random sequences, beyond which "
        "nothing is predicted."
    )
    return table(EFFECTS, lead, rows)


def _comparison(s: EdgeSummary) -> Table:
    rows = [_row(m.method, side) for m in s.methods if m.fit for side in m.fit.sides]
    seeds = max((m.fit.seeds for m in s.methods if m.fit), default=0)
    lead = (
        f"Percent and points. {CONDITIONS} For these sequences, over training seeds: all were trained with {seeds} seeds that "
        "served nothing before, the same for all; intervals are of training noise. Both kinds are found with the random "
        "sequences trained once each, and take as many trainings again. Chosen at: the accuracy for which the random ones were "
        "chosen, luck included. Place: random sequences that score below the first fitted one, one training each."
    )
    return table(AGAINST_RANDOM, lead, rows)


def _row(method: str, s: Side) -> tuple[Value, ...]:
    again = float(s.random.mean()) if len(s.random) else None
    place = s.place.share if s.place else None
    measured = (s.predicted, float(s.fitted.mean()), s.chosen_at, again)
    return (method, f"{len(s.fitted)} {s.side}", *measured, s.minus_random, s.minus_objective, place)


def findings(m: MethodEdge) -> list[str]:
    """What the fit says, and what its extremes did; nothing without ``--fit``."""
    return [gate(m.fit.fit), *(compared(m.fit, side) for side in m.fit.sides)] if m.fit else []


def gate(f: Fit) -> str:
    """Whether features predict accuracy, and what is done about it."""
    if f.why_not:
        return f"nothing is fitted: {f.why_not}."
    assert f.r2 is not None
    assert f.p is not None
    assert f.p_together is not None
    together = "" if f.p_together == f.p else f", {p_text(f.p_together)} with all methods read together (Holm)"
    figures = (
        f"R2 = {f.r2:.2f} over {count(len(f.orders), 'random sequence')}, each left out in turn; p = {p_text(f.p)} by "
        f"{PERMUTATIONS} permutations{together}"
    )
    if f.trained:
        return f"similarities predict accuracy ({figures}): the extremes of the fit are trained."
    return f"similarities are not shown to predict accuracy ({figures}): no extreme of a fit is trained."


def compared(m: MethodFit, s: Side) -> str:
    """Fitted sequences of an end against random ones, with fresh seeds."""
    i, random = s.minus_random, RANDOM[s.side]
    who = f"the {count(len(s.fitted), f'{s.side} sequence')} of the fit"
    if i is None:
        return f"{who} cannot be compared: no {random} random sequence was judged with every fresh seed."
    whom = f"the {count(len(s.random), f'{random} random one')} trained again"
    text = f"{signed(i)} points"
    if math.isnan(i.low):
        return f"{who} score {text} against {whom}, with every fresh seed alike: there is no interval, and nothing is claimed."
    claim = {"more": f"are {HARDER[s.side]} than", "less": f"are {LESS[s.side]} than", "open": "cannot be told from"}
    return (
        f"{who} {claim[s.found]} {whom}, at equal trainings: {text} (95 % interval over {m.seeds} fresh training seeds, for "
        "these sequences)."
    )


def note(s: EdgeSummary) -> str:
    """What sentences on fits are conditional on; empty if there are none."""
    if not any(m.fit and m.fit.sides for m in s.methods):
        return ""
    return (
        "What is said of a fit's extremes is for each method by itself, and for these sequences: another draw of random "
        "sequences gives another fit. It rests on the fresh seeds alone, not on a rank among random sequences, by which the fit "
        "was made; trainings that fail rarely, and on one side alone, are in no interval of a few seeds."
    )


def to_json(m: MethodFit) -> dict[str, object]:
    """Plain values."""
    f = m.fit
    return {
        "method": f.method, "trained": f.trained, "why_not": f.why_not, "r2": f.r2, "p": f.p, "p_together": f.p_together,
        "penalty": f.penalty, "effects": {x.name: x.effect for x in f.features}, "lacking": dict(f.lacking),
        "worst": [f"random-{i}" for i in f.worst], "best": [f"random-{i}" for i in f.best], "seeds": m.seeds,
        "sides": {s.side: {
            "found": s.found, "predicted": _finite(s.predicted), "fitted": float(s.fitted.mean()),
            "minus_random": _bounds(s.minus_random), "minus_objective": _bounds(s.minus_objective),
        } for s in m.sides},
    }  # fmt: skip


def _bounds(i: Interval | None) -> list[float | None] | None:
    return None if i is None else [_finite(x) for x in (i.value, i.low, i.high)]


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
