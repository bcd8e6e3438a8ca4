"""The first phase of a GTEP run in cells and in words: what was tried, what was chosen, and whether it was enough."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from protocols.gtep.searches import Search
from protocols.gtep.summary import Summary
from protocols.report.gtep_cells import first_phase, names, seconds_text, tuned_on, tuning
from protocols.report.tables import Cells
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


def tried(s: Summary) -> Cells:
    """What was tried on the pool that was tuned on."""
    rows: list[tuple[str, ...]] = []
    for x in first_phase(s):
        numbers = (str(len(x.scores)), str(x.diverged), str(x.left_early))
        cost = (f"{x.work:,.0f}" if x.work else FREE) if math.isfinite(x.work) else "-", seconds_text(x.seconds)
        if x.chosen is None:
            rows.append((x.method, *numbers, *("-",) * 7, *cost))
            continue
        alike = len(x.candidates.candidates) - 1 if x.candidates and not x.candidates.lacking else None
        figures = (percent(v[x.chosen]) for v in (x.scores, x.acc, x.avg))
        others = (_number(x.by_acc), _number(x.by_avg))
        rows.append((x.method, *numbers, str(x.chosen), *figures, "-" if alike is None else str(alike), *others, *cost))
    lead = (
        "Percent, on the images that settings are chosen by: of a chosen one too high on average, since it was chosen for "
        "them. Settings are numbered from 0. Not well: diverged on any class order, or failed otherwise; such never win. Left "
        "early: by the scheduler. Alike: other settings that cannot be told from the best (95 % over all settings; these classes "
        "and images). By Acc, by AvgAcc: the setting that either alone would have chosen. Images each: images that training "
        "stepped on for one setting, on average; a first task that settings share counts in each. Time of all: to train all "
        "settings, on the machines of this run."
    )
    headings = (
        "Method",
        "tried",
        "not well",
        "left early",
        "chosen",
        "H",
        "Acc",
        "AvgAcc",
        "alike",
        "by Acc",
        "by AvgAcc",
        "images each",
        "time of all",
    )
    return Cells(f"What was tried on {tuning(s)}", lead, headings, tuple(rows))


def troubles(s: Summary) -> Cells:
    """Settings that did not end well, on any pool: where, and why."""
    pools = {**names(s), tuned_on(s): tuning(s)}
    rows = [
        (x.method, str(n), pools.get(x.pool, x.pool), status, shortened(shown(why), LONGEST_REASON))
        for x in s.searches
        for n, status, why in x.troubles
    ]
    lead = (
        "Settings are numbered from 0. The first class order (sequences.parquet) on which it did not end well, the task, from 1, "
        "and what was said; a setting is not tried further once one order failed."
    )
    if len(rows) > MOST_TROUBLES:
        lead += f" The first {MOST_TROUBLES} of {len(rows):,}; trials.parquet has all."
    headings = ("Method", "setting", "on", "ended", "where and why")
    return Cells("Settings that did not end well", lead, headings, tuple(rows[:MOST_TROUBLES]))


def _number(n: int | None) -> str:
    return "-" if n is None else str(n)


def expected(s: Summary) -> Cells:
    """Expected best of r settings, and what more would add; nothing where settings are no independent draws."""
    rows, searches = [], [x for x in first_phase(s) if x.best_of is not None]
    numbers = {len(x.scores) for x in searches}
    steps = sorted({*STEPS, min(numbers)} if len(numbers) > 1 else STEPS)
    for x in searches:
        assert x.best_of is not None
        best, R = x.best_of.expected, len(x.best_of.expected)
        at = [percent(float(best[r - 1])) if r <= R else "-" for r in steps]
        last = (f"{percent(float(best[-1]))} (R = {R})", *(_points(v) for v in _gains(x)))
        rows.append((x.method, *at, *last, _stop(x)))
    lead = (
        "H in percent as chosen by, and points. Of r random settings, the best one's on average: exactly, for every r of those "
        "tried are as likely; in a search of these spaces, on these class orders. At most: what 10 more would add, over "
        "searches of this length; from here: to this search, if the best scores fall off exponentially. Noise: standard error "
        "over class orders of a difference of two settings. Enough: both are below it."
    )
    headings = (
        "Method",
        *(f"best of {r}" for r in steps),
        "of all",
        "10 more: at most",
        "from here",
        "noise",
        "enough",
    )
    return Cells("Are there enough settings?", lead, headings, tuple(rows))


def _gains(x: Search) -> tuple[float, float, float]:
    """None of them where one is lacking: of four settings a tail says nothing."""
    if x.enough is None or x.enough.lacking:
        return math.nan, math.nan, math.nan
    return x.enough.bound, x.enough.from_here, x.enough.noise


def _points(value: float) -> str:
    return f"{100 * value:.2f}" if math.isfinite(value) else "-"


def _stop(x: Search) -> str:
    return "-" if x.enough is None else "not known" if x.enough.lacking else "yes" if x.enough.stop else "no"


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
