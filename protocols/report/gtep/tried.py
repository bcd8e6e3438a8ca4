"""The tables of the first phase of a GTEP run: settings tried, settings chosen, and whether they were enough."""

from __future__ import annotations

import math

from protocols.gtep.searches import Search
from protocols.gtep.summary import Summary
from protocols.report.gtep.tables import OF_MEANS, OWN, TIME, first_phase, names, tuned_on, tuning
from protocols.report.table import (
    COUNT,
    DOWN,
    GTEP,
    HUNDREDTHS,
    METHOD,
    NEITHER,
    OURS,
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
from protocols.report.text import percent
from seqsearch.core.text import shortened, shown

STEPS = (1, 5, 10)
"""Settings tried, for which the expected best is shown, beside all and the fewest that a method has."""
FREE = "no steps"
"""Work of a method that takes no gradient steps."""
MOST_TROUBLES, LONGEST_REASON = 40, 240
"""Settings that did not end well of which it is said why; characters of that."""


SELECTION = f"{OURS}, docs/selection.md"
NUMBER = Scale("number", "from 0", str)
AS_CHOSEN = "of the chosen setting, on the images that settings are chosen by: too high on average"
ALONE = "number of the setting that {} alone would have chosen"
TRIED = Layout(
    "tried",
    "What was tried on ...",
    (
        METHOD,
        Column("tried", "tried", "settings tried, R", SMALL, NEITHER, f"{GTEP}, Algorithm 2"),
        Column("not_well", "not well", "settings that diverged or failed on any order; such never win", SMALL, NEITHER, OWN),
        Column("left_early", "left early", "settings that the scheduler stopped", SMALL, NEITHER, OWN),
        Column(
            "chosen", "chosen", "number of the setting chosen, from 0: the one with the highest H", NUMBER, NEITHER,
            f"{GTEP}, section 4.1", "argmax over settings of H",
        ),
        Column("h", "H", AS_CHOSEN, PERCENT, UP, f"{GTEP}, section 4.1", OF_MEANS),
        Column("acc", "Acc", AS_CHOSEN, PERCENT, UP, f"{GTEP}, section 4.1", "as Acc (sd)"),
        Column("avg_acc", "AvgAcc", AS_CHOSEN, PERCENT, UP, f"{GTEP}, section 4.1", "as AvgAcc (sd)"),
        Column(
            "alike", "alike", "other settings that do not differ significantly from the best (95 % over all settings)",
            SMALL,
            NEITHER, "Simultaneous Confidence Intervals for All Distances from the 'Best' (Hsu, 1981)",
        ),
        Column("by_acc", "by Acc", ALONE.format("Acc"), NUMBER, NEITHER, OWN, "argmax over settings"),
        Column("by_avg_acc", "by AvgAcc", ALONE.format("AvgAcc"), NUMBER, NEITHER, OWN, "argmax over settings"),
        Column(
            "images_each", "images each",
            "images stepped on for one setting, over all tasks and orders, on average; a shared first task counts in each",
            COUNT._replace(text=lambda n: f"{n:,.0f}" if n else FREE), DOWN, OWN,
        ),
        Column("train_seconds", "time of all", "time to train all settings tried, on the machines of this run", TIME, DOWN, OWN),
    ),
)  # fmt: skip
TROUBLES = Layout(
    "troubles",
    "Settings that did not end well",
    (
        METHOD,
        Column("setting", "setting"),
        Column("pool", "on"),
        Column("ended", "ended"),
        Column("why", "where and why"),
    ),
)
BEST_OF = Column(
    "best_of_...",
    "best of ...",
    "H, as chosen by, of the best of r random settings of these spaces, on average, on these class orders",
    PERCENT,
    UP,
    "Showing Your Work Doesn't Always Work (Tang et al., 2020)",
    "mean over all r-subsets of the R settings of their greatest H, all as likely",
)
ENOUGH = (
    Column(
        "best_of_all",
        "of all",
        "the same for r = R, the number tried",
        PERCENT._replace(text=lambda v: f"{percent(v[0])} (R = {v[1]})"),
        UP,
        SELECTION,
        "greatest H of the R settings",
        parts=("", "_tried"),
    ),
    Column(
        "more_at_most",
        "10 more: at most",
        "what 10 more settings would add, over searches of this length, at most",
        HUNDREDTHS,
        NEITHER,
        SELECTION,
        "best of R minus best of R - 10",
    ),
    Column(
        "more_from_here",
        "from here",
        "what 10 more would add to this search, if the best scores fall off exponentially",
        HUNDREDTHS,
        NEITHER,
        SELECTION,
    ),
    Column(
        "noise",
        "noise",
        "standard error over class orders of how far a setting is behind the best; median over settings",
        HUNDREDTHS,
        NEITHER,
        SELECTION,
    ),
    Column(
        "enough",
        "enough",
        "whether both are below the noise: a rule, no test",
        Scale("yes or no", "-", str),
        NEITHER,
        SELECTION,
    ),
)
EXPECTED = Layout("expected", "Are there enough settings?", (METHOD, BEST_OF, *ENOUGH))


def tried(s: Summary) -> Table:
    """The settings tried on the tuning pool."""
    rows: list[tuple[Value, ...]] = []
    for x in first_phase(s):
        numbers = len(x.scores), x.diverged, x.left_early
        if x.chosen is None:
            rows.append((x.method, *numbers, *[None] * 7, x.work, x.seconds))
            continue
        alike = len(x.candidates.candidates) - 1 if x.candidates and not x.candidates.unavailable_because else None
        figures = (float(v[x.chosen]) for v in (x.scores, x.acc, x.avg))
        rows.append((x.method, *numbers, x.chosen, *figures, alike, x.by_acc, x.by_avg, x.work, x.seconds))
    lead = (
        "Percent, on the images that settings are chosen by; figures of a chosen setting are too high on average. Settings are "
        "numbered from 0."
    )
    return table(TRIED, lead, rows, title=f"What was tried on {tuning(s)}")


def troubles(s: Summary) -> Table:
    """Settings that did not end well, on any pool: where, and why."""
    pools = {**names(s), tuned_on(s): tuning(s)}
    rows = [
        (x.method, n, pools.get(x.pool, x.pool), status, shortened(shown(why), LONGEST_REASON))
        for x in s.searches
        for n, status, why in x.troubles
    ]
    lead = "Where: the first class order (sequences.parquet) and task (from 1) that failed. A setting is not tried further then."
    if len(rows) > MOST_TROUBLES:
        lead += f" The first {MOST_TROUBLES} of {len(rows):,}; trials.parquet has all."
    return table(TROUBLES, lead, rows[:MOST_TROUBLES])


def expected(s: Summary) -> Table:
    """Expected best of r settings, and the gain of more settings; nothing where settings are no independent draws."""
    rows, searches = list[tuple[Value, ...]](), [x for x in first_phase(s) if x.best_of is not None]
    numbers = {len(x.scores) for x in searches}
    steps = sorted({*STEPS, min(numbers)} if len(numbers) > 1 else STEPS)
    for x in searches:
        assert x.best_of is not None
        best, R = x.best_of.expected, len(x.best_of.expected)
        at = [float(best[r - 1]) if r <= R else None for r in steps]
        rows.append((x.method, *at, (float(best[-1]), R), *_gains(x), _stop(x)))
    lead = "H as chosen by in percent, what more settings add in pp. Enough: ten more would add less than the noise."
    return table(EXPECTED, lead, rows, [METHOD, *(BEST_OF.named(str(r)) for r in steps), *ENOUGH])


def _gains(x: Search) -> tuple[float, float, float]:
    """None of them where one is missing: of four settings a tail says nothing."""
    if x.enough is None or x.enough.unavailable_because:
        return math.nan, math.nan, math.nan
    return x.enough.bound, x.enough.from_here, x.enough.noise


def _stop(x: Search) -> str | None:
    return (
        None if x.enough is None else "not known" if x.enough.unavailable_because else "yes" if x.enough.stop else "no"
    )
