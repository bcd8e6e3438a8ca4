"""What choosing elsewhere costs, in tables and in words: regret, optimism, rankings, and the takeaways of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from protocols.gtep.cells import OF_TUNING, Cell
from protocols.gtep.summary import Rankings, Summary
from protocols.report.gtep_tables import (
    METHOD,
    OF_MEANS,
    OWN,
    bytes_text,
    cell,
    names,
    seconds_text,
    standing,
    tuned_on,
    tuning,
)
from protocols.report.gtep_tried import SELECTION
from protocols.report.table import (
    DIFFERENCE,
    DOWN,
    GTEP,
    NEITHER,
    P_VALUE,
    PERCENT,
    SMALL,
    UP,
    Column,
    Layout,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import count, enumerated, p_text, percent, signed
from seqsearch.selection.agreement import Agreement
from seqsearch.selection.regret import Difference

RANKINGS = {
    "as chosen, tuned": "by the H that settings were chosen by on {tuning}, and by their H on {pool}",
    "tuned, conventional": "on {pool} by settings chosen on {tuning}, and by settings chosen there",
    "tuned, original": "on {pool} by settings chosen on {tuning}, and by the original ones",
}
"""What two rankings are of."""
PAIRS_SHOWN = 10
"""Pairs of methods that a sentence names; ``--json`` has all."""
ALIKE = 1e-9
"""Costs and spreads that differ by a smaller share than this are the same."""
GIVEN = "Points, each with 95 % by itself over class orders of these classes, of these very settings"


POOL = Column("pool", "Pool")
CHOICES = {
    "tuned": ("tuned", "of the setting chosen on the tuning pool", f"{GTEP}, Figs. 4 and 7"),
    "conventional": ("chosen here", "of the one chosen on this pool", OWN),
    "original": ("original", "of the defaults", f"{GTEP}, Figs. 4 and 7 (original)"),
}
"""By the use of the setting that was judged: the heading of its H, what that is of, and a source."""
BY_CHOICE = Layout(
    "by_choice",
    "What choosing elsewhere costs",
    (
        POOL,
        METHOD,
        *(
            Column(f"h_{use}", heading, f"H on test images, {which}", PERCENT, UP, source, OF_MEANS)
            for use, (heading, which, source) in CHOICES.items()
        ),
        Column(
            "regret", "regret", "what choosing elsewhere costs", DIFFERENCE, DOWN, OWN, "H (chosen here) - H (tuned)",
            "class orders",
        ),
        Column(
            "gain", "gain", "what tuning elsewhere brings over the defaults", DIFFERENCE, UP, OWN, "H (tuned) - H (original)",
            "class orders",
        ),
        Column(
            "optimism", "optimism", "by how much the score chosen by promised too much", DIFFERENCE, DOWN, OWN,
            "H as chosen by - H of that setting on fresh orders, seeds and test images of the same pool", "class orders",
        ),
    ),
)  # fmt: skip
DIFFER = SMALL._replace(text=lambda v: f"{v[0]}, {v[1]}, {v[2]} of {v[3]}")
RANKED = Layout(
    "rankings",
    "Do rankings of methods agree?",
    (
        POOL,
        Column("rankings", "rankings"),
        Column("methods", "methods", "methods ranked", SMALL, NEITHER, OWN),
        Column(
            "tau", "tau", "agreement of two rankings of methods by mean H", Scale("1", "-1 to 1", lambda tau: f"{tau:.2f}"),
            "higher: they agree", SELECTION, "Kendall's tau-b",
        ),
        Column("p", "p", "p-value of unrelated rankings", P_VALUE, NEITHER, SELECTION),
        Column(
            "differ", "differ", "pairs of methods that differ significantly in the first ranking, the second, both, of all",
            DIFFER, NEITHER, SELECTION, parts=("_first", "_second", "_both", "_of"),
        ),
    ),
)  # fmt: skip


def by_choice(s: Summary) -> Table:
    """Each method by the setting that was judged; nothing without ``--conventional`` or ``--originals``."""
    called, rows = names(s), list[tuple[Value, ...]]()
    for c in s.compared:
        uses = tuple(CHOICES)
        if c.pool == tuned_on(s):
            uses = tuple(OF_TUNING.get(use, "") for use in uses)
        of = [cell(s, c.pool, c.method, use) for use in uses]
        scores = [x.harmonic.value.value if x and x.valid else None for x in of]
        gaps = [None if d is None else d.value for d in (c.regret, c.gain_over_original, s.optimism.get(c.method))]
        rows.append((called.get(c.pool, tuning(s)), c.method, *scores, *gaps))
    lead = (
        "H in percent on test images, and points with 95 % intervals over class orders alone, for these settings. Tuned: "
        f"chosen on {tuning(s)}; chosen here: on this pool's own images to choose by; original: the defaults. The pool that was "
        "tuned on is judged by further class orders. Regret: chosen here minus tuned. Gain: tuned minus original. "
        "Optimism: H as it was chosen by, minus H of the same setting on fresh "
        "class orders, training seeds and test images of the pool that it was chosen on: of this choice, not of such choices "
        "on average."
    )
    return table(BY_CHOICE, lead, rows)


def rankings(s: Summary) -> Table:
    """How rankings of methods agree."""
    called = names(s)
    rows = [
        (called.get(r.pool, r.pool), r.which, len(r.methods), a.tau, a.p, _differ(a))
        for r in s.agreements
        for a in [r.agreement]
    ]
    lead = (
        "Kendall's tau-b of mean H. p: of unrelated rankings. Differ: pairs of methods that differ significantly in the first "
        "ranking, in the second, and in both, of all pairs (95 % over all pairs of both rankings)."
    )
    return table(RANKED, lead, rows)


def _differ(a: Agreement) -> tuple[int, ...]:
    return len(a.first), len(a.second), len(a.same) + len(a.reverse), a.pairs


# ------------------------------------------------------------------------------------------------ in words


def findings(s: Summary) -> list[str]:
    """What was measured; empty sentences are left out."""
    said = [f(s, pool) for pool in (*names(s), tuned_on(s)) for f in (regret, gain)]
    said += [optimism(s), *(agreement(s, r) for r in s.agreements)]
    return [line for line in said if line]


def regret(s: Summary, pool: str) -> str:
    """What choosing on the pool itself would have brought."""
    known = {c.method: c.regret for c in s.compared if c.pool == pool and c.regret}
    same = [m for m in known if _params(s, pool, m, "tuned") == _params(s, pool, m, "conventional")]
    said = [f"{enumerated(same)}: 0, the same setting is chosen on both"] if same else []
    said += _by_verdict({m: d for m, d in known.items() if m not in same})
    of = f"H of the setting chosen there minus that of the one chosen on {tuning(s)}, both on its test images"
    text = f"Regret on {names(s).get(pool, tuning(s))} ({of})"
    return f"{text}: {'; '.join(said)}. {GIVEN}." if said else ""


def gain(s: Summary, pool: str) -> str:
    """Of what was tuned elsewhere over the defaults."""
    said = _by_verdict({c.method: c.gain_over_original for c in s.compared if c.pool == pool and c.gain_over_original})
    text = f"Gain on {names(s).get(pool, tuning(s))} (H of the setting chosen on {tuning(s)} minus that of the original one)"
    return f"{text}: {'; '.join(said)}. {GIVEN}." if said else ""


FEWER = "The first phase learns from fewer images, holding back those it judges on: that alone makes this difference smaller."


def optimism(s: Summary) -> str:
    """By how much the score that a setting was chosen by promised too much."""
    said = _by_verdict(dict(s.optimism))
    of = f"H that a setting was chosen by, minus what it shows on fresh class orders, seeds and test images of {tuning(s)}"
    text = f"Optimism ({of})"
    return f"{text}: {'; '.join(said)}. {GIVEN}, not of such choices on average. {FEWER}" if said else ""


def _params(s: Summary, pool: str, method: str, use: str) -> object:
    found = cell(s, pool, method, use)
    return found.params if found else None


def _by_verdict(known: Mapping[str, Difference]) -> list[str]:
    """Methods with their differences in points, by what is told of these."""
    groups: dict[str, list[str]] = {}
    for method, d in known.items():
        groups.setdefault(_told(d), []).append(f"{method} {signed(d.value)}")
    return [f"{', '.join(methods)} ({verdict})" for verdict, methods in groups.items()]


def _told(d: Difference) -> str:
    """What the interval holds, or why there is none."""
    if math.isnan(d.value.low):
        return f"no interval: {d.lacking}" if d.lacking else "no interval"
    return "told from 0" if d.value.sign else "not told from 0"


def agreement(s: Summary, r: Rankings) -> str:
    """Whether two rankings agree, and which pairs of methods differ in both."""
    a, of = r.agreement, RANKINGS[r.which].format(pool=names(s)[r.pool], tuning=tuning(s))
    text = f"Rankings of {count(len(r.methods), 'method')} {of}"
    if math.isnan(a.tau):
        return f"{text}: {a.lacking}."
    said = [f"tau = {a.tau:.2f}"]
    said.append(f"p = {p_text(a.p)} of unrelated rankings{'' if a.exact else ' (approximate)'}")
    if a.same:
        said.append(f"significantly different in both: {_pairs(r, a.same)}")
    if a.reverse:
        said.append(f"significantly different in the first and reversed in the second: {_pairs(r, a.reverse)}")
    said += [a.lacking] if a.lacking else []
    return f"{text}: {'; '.join(said)}. Of these methods and settings, over class orders."


def _pairs(r: Rankings, pairs: Sequence[tuple[int, int]]) -> str:
    """``good > poor, near > poor and 18 more``."""
    said = ", ".join(f"{r.methods[i]} > {r.methods[j]}" for i, j in pairs[:PAIRS_SHOWN])
    return said + (f" and {len(pairs) - PAIRS_SHOWN} more" if len(pairs) > PAIRS_SHOWN else "")


# ------------------------------------------------------------------------------------------------ takeaways


def takeaways(s: Summary) -> list[str]:
    """The two questions that the paper wants answered of a method, of the one that is first on each pool."""
    said = []
    for pool, name in names(s).items():
        found = standing(s, pool)
        cells = [c for c in s.cells if (c.pool, c.use) == (pool, "tuned") and c.valid]
        if found is None or len(cells) < 2:
            continue
        if found.lacking:
            verdict = f"not known: {found.lacking}"
        elif found.alike:
            verdict = f"of none is it shown: {found.first} is highest, {enumerated(found.alike)} cannot be told from it"
        else:
            verdict = f"yes, {found.first}"
        asked = (
            f"The paper's first question (Key Takeaway 1), on {name}: does a method outperform the others with the settings that "
            "it goes by?"
        )
        said.append(f"{asked} {verdict}. By H, over class orders of these classes, of these settings.")
        said.append(cheap_and_stable(name, next(c for c in cells if c.method == found.first), cells))
    return said


def cheap_and_stable(name: str, first: Cell, cells: list[Cell]) -> str:
    """What the first costs beside the others, and how it varies; no claim, since neither is tested."""
    memory = _place(first, cells, lambda c: math.nan if c.model_bytes is None else float(c.model_bytes))
    seconds = _place(first, cells, lambda c: c.seconds)
    text = (
        f"The paper's second question (Key Takeaway 2), on {name}: is it cheaper, and stable? "
        f"{first.method} has a model of {bytes_text(first.model_bytes)} ({memory}). An order takes "
        f"{seconds_text(first.seconds)} to train ({seconds}; on the machines of this run)"
    )
    if len(first.curve) < 2:
        return f"{text}. How it varies over class orders is not known from one."
    spread = _place(first, cells, lambda c: float(c.acc.std(ddof=1)))
    sd, low, median = (percent(float(v)) for v in (first.acc.std(ddof=1), first.acc.min(), np.median(first.acc)))
    return (
        f"{text}. Its Acc has an sd of {sd} points over {count(len(first.acc), 'class order')} ({spread}), the lowest {low} % "
        f"at a median of {median} %. Costs are one run's and spreads are not tested: a rare collapse needs more orders to show."
    )


def _place(first: Cell, cells: list[Cell], of: Callable[[Cell], float]) -> str:
    """``least of 4``, ``2 of 4 have less``, ``alike for all 4``."""
    known = [v for v in map(of, cells) if math.isfinite(v)]
    own = of(first)
    if not math.isfinite(own) or len(known) < 2:
        return "not known of others"
    less = sum(v < own - ALIKE * max(1.0, abs(own)) for v in known)
    if max(known) - min(known) <= ALIKE * max(1.0, abs(own)):
        return f"alike for all {len(known)}"
    return f"{less} of {len(known)} have less" if less else f"least of {len(known)}"
