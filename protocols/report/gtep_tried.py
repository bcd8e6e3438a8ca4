"""The first phase of a GTEP run in tables and in words: what was tried, what was chosen, and whether it was enough."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from protocols.gtep.searches import Search
from protocols.gtep.summary import Summary
from protocols.report.gtep_tables import METHOD, OF_MEANS, OWN, TIME, first_phase, names, tuned_on, tuning
from protocols.report.table import (
    COUNT,
    DOWN,
    GTEP,
    NEITHER,
    OURS,
    PERCENT,
    SMALL,
    SPREAD,
    UP,
    Column,
    Layout,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import count, enumerated, percent
from seqsearch.core.text import shortened, shown
from seqsearch.selection.enough import MORE
from seqsearch.selection.with_the_best import WithTheBest

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
        Column("not_well", "not well", "settings that diverged or failed on any order", SMALL, NEITHER, OWN),
        Column("left_early", "left early", "settings that the scheduler stopped", SMALL, NEITHER, OWN),
        Column(
            "chosen", "chosen", "number of the setting chosen, from 0: the one with the highest H", NUMBER, NEITHER,
            f"{GTEP}, section 4.1", "argmax over settings of H",
        ),
        Column("h", "H", AS_CHOSEN, PERCENT, UP, f"{GTEP}, section 4.1", OF_MEANS),
        Column("acc", "Acc", AS_CHOSEN, PERCENT, UP, f"{GTEP}, section 4.1", "as Acc (sd)"),
        Column("avg_acc", "AvgAcc", AS_CHOSEN, PERCENT, UP, f"{GTEP}, section 4.1", "as AvgAcc (sd)"),
        Column(
            "alike", "alike", "other settings that do not differ significantly from the best (95 % over all settings)", SMALL,
            NEITHER, "Simultaneous Confidence Intervals for All Distances from the 'Best' (Hsu, 1981)",
        ),
        Column("by_acc", "by Acc", ALONE.format("Acc"), NUMBER, NEITHER, OWN, "argmax over settings"),
        Column("by_avg_acc", "by AvgAcc", ALONE.format("AvgAcc"), NUMBER, NEITHER, OWN, "argmax over settings"),
        Column(
            "images_each", "images each", "images stepped on for one setting, over all tasks and orders, on average",
            COUNT._replace(text=lambda n: f"{n:,.0f}" if n else FREE), DOWN, OWN,
        ),
        Column("train_seconds", "time of all", "time to train all settings tried", TIME, DOWN, OWN),
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
    "H of the best of r random settings, on average",
    PERCENT,
    UP,
    "Showing Your Work Doesn't Always Work (Tang et al., 2020)",
    "mean over all r-subsets of the R settings of their greatest H",
)
HUNDREDTHS = SPREAD._replace(text=lambda v: f"{100 * v:.2f}")
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
    """What was tried on the pool that was tuned on."""
    rows: list[tuple[Value, ...]] = []
    for x in first_phase(s):
        numbers = len(x.scores), x.diverged, x.left_early
        if x.chosen is None:
            rows.append((x.method, *numbers, *[None] * 7, x.work, x.seconds))
            continue
        alike = len(x.candidates.candidates) - 1 if x.candidates and not x.candidates.lacking else None
        figures = (float(v[x.chosen]) for v in (x.scores, x.acc, x.avg))
        rows.append((x.method, *numbers, x.chosen, *figures, alike, x.by_acc, x.by_avg, x.work, x.seconds))
    lead = (
        "Percent, on the images that settings are chosen by: of a chosen one too high on average, since it was chosen for "
        "them. Settings are numbered from 0. Not well: diverged on any class order, or failed otherwise; such never win. Left "
        "early: by the scheduler. Alike: other settings that cannot be told from the best (95 % over all settings; these classes "
        "and images). By Acc, by AvgAcc: the setting that either alone would have chosen. Images each: images that training "
        "stepped on for one setting, on average; a first task that settings share counts in each. Time of all: to train all "
        "settings, on the machines of this run."
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
    lead = (
        "Settings are numbered from 0. The first class order (sequences.parquet) on which it did not end well, the task, from 1, "
        "and what was said; a setting is not tried further once one order failed."
    )
    if len(rows) > MOST_TROUBLES:
        lead += f" The first {MOST_TROUBLES} of {len(rows):,}; trials.parquet has all."
    return table(TROUBLES, lead, rows[:MOST_TROUBLES])


def expected(s: Summary) -> Table:
    """Expected best of r settings, and what more would add; nothing where settings are no independent draws."""
    rows, searches = list[tuple[Value, ...]](), [x for x in first_phase(s) if x.best_of is not None]
    numbers = {len(x.scores) for x in searches}
    steps = sorted({*STEPS, min(numbers)} if len(numbers) > 1 else STEPS)
    for x in searches:
        assert x.best_of is not None
        best, R = x.best_of.expected, len(x.best_of.expected)
        at = [float(best[r - 1]) if r <= R else None for r in steps]
        rows.append((x.method, *at, (float(best[-1]), R), *_gains(x), _stop(x)))
    lead = (
        "H in percent as chosen by, and points. Of r random settings, the best one's on average: exactly, for every r of those "
        "tried are as likely; in a search of these spaces, on these class orders. At most: what 10 more would add, over "
        "searches of this length; from here: to this search, if the best scores fall off exponentially. Noise: standard error "
        "over class orders of a difference of two settings. Enough: both are below it."
    )
    return table(EXPECTED, lead, rows, [METHOD, *(BEST_OF.named(str(r)) for r in steps), *ENOUGH])


def _gains(x: Search) -> tuple[float, float, float]:
    """None of them where one is lacking: of four settings a tail says nothing."""
    if x.enough is None or x.enough.lacking:
        return math.nan, math.nan, math.nan
    return x.enough.bound, x.enough.from_here, x.enough.noise


def _stop(x: Search) -> str | None:
    return None if x.enough is None else "not known" if x.enough.lacking else "yes" if x.enough.stop else "no"


def params_text(params: Mapping[str, Any]) -> str:
    """In one line: ``lr=0.01, epochs=5``."""
    return ", ".join(f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in params.items()) or "defaults"


# ------------------------------------------------------------------------------------------------ in words


def chosen(x: Search) -> str:
    """What a method goes on with, and how its first phase went."""
    R = len(x.scores)
    if x.chosen is None:
        return f"{x.method}: none of {count(R, 'setting')} ended well on all class orders, so that none was chosen."
    text = f"{x.method}: setting {x.chosen} of {R} was chosen ({params_text(x.params[x.chosen])})"
    said = [f"H = {percent(x.scores[x.chosen])} % as chosen by, which is too high on average"]
    if x.diverged:
        said.append(f"{x.diverged} of {R} diverged or failed")
    if x.left_early:
        said.append(f"{x.left_early} of {R} were left early")
    if x.candidates is not None and R > 1:
        said.append(_others(x.candidates))
    return f"{text}: {'; '.join(said)}."


def _others(found: WithTheBest) -> str:
    """Which other settings are as good as the best, for all that is known."""
    if found.lacking:
        return f"whether others are as good is not told: {found.lacking}"
    number, over = len(found.candidates) - 1, "over class orders of these classes (95 %)"
    return (
        f"{count(number, 'other')} cannot be told from the best {over}"
        if number
        else f"the best is told from all others {over}"
    )


def alone(x: Search) -> str:
    """That Acc or AvgAcc alone would have chosen otherwise."""
    by = {"Acc": x.by_acc, "AvgAcc": x.by_avg}
    said = [f"{what} alone would have chosen {n}" for what, n in by.items() if n is not None and n != x.chosen]
    if x.chosen is None or not said:
        return ""
    return f"{x.method}: {enumerated(said)}, not {x.chosen}; of these settings and class orders."


def enough(s: Summary) -> str:
    """Whether more settings would be worth their while."""
    searches = [x for x in first_phase(s) if x.chosen is not None]
    if not searches:
        return ""
    if all(x.enough is None for x in searches):
        drawn = "those that Optuna proposes, or that were left early, are no independent draws"
        return f"How much more settings would bring is not known: {drawn}."
    groups: dict[str, list[str]] = {}
    for x in searches:
        if x.enough is not None:
            groups.setdefault(_verdict(x, str(s.results.setting("trials"))), []).append(x.method)
    said = "; ".join(f"{enumerated(methods)}: {verdict}" for verdict, methods in groups.items())
    return f"Would {MORE} more settings help? {said}. Of draws from these search spaces, on these class orders; a rule, no test."


def _verdict(x: Search, asked: str) -> str:
    if asked.isdecimal() and len(x.scores) < int(asked):
        return f"there are no more than {len(x.scores)}"
    if x.enough is None or x.enough.lacking:
        return f"not known ({x.enough.lacking if x.enough else ''})"
    if x.enough.stop:
        return "less than class orders make differ anyway"
    return "maybe, by more than class orders make differ anyway"
