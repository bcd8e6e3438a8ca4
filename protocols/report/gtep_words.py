"""A GTEP summary in words: its tables, headline, findings and notes, for the terminal and the report alike."""

from __future__ import annotations

from dataclasses import replace

from protocols.gtep.cells import OF_TUNING
from protocols.gtep.summary import Summary
from protocols.report import gtep_beside as beside
from protocols.report import gtep_compared as compared
from protocols.report import gtep_tried as tried
from protocols.report.chance_words import at_chance
from protocols.report.gtep_tables import (
    CONDITIONS,
    JUDGED,
    OVERVIEW,
    cell,
    first_phase,
    judged,
    names,
    overview,
    standing,
    tuning,
)
from protocols.report.mean_words import assumption
from protocols.report.table import Table
from protocols.report.text import cost, count, enumerated, highest, percent
from protocols.running.at_chance import AtChance
from seqsearch.core.text import shown

LAYOUTS = (
    OVERVIEW,
    JUDGED,
    beside.UNSHARED,
    tried.TRIED,
    tried.TROUBLES,
    tried.EXPECTED,
    compared.BY_CHOICE,
    compared.RANKED,
    beside.LOOK_ALIKES,
)


def tables(s: Summary) -> list[Table]:
    """All that have rows; of a run that is not finished none."""
    if not s.results.finished:
        return []
    first = tried.tried(s), tried.troubles(s), tried.expected(s)
    on_pools = [table(s, pool) for pool in names(s) for table in (judged, beside.unshared)]
    found = [overview(s), *on_pools, *first, compared.by_choice(s), compared.rankings(s)]
    found.append(beside.look_alikes(s))
    return [t for t in found if t.rows]


# ------------------------------------------------------------------------------------------------ headline


def headline(s: Summary) -> str:
    """Which methods are first on the pools that judged, in a sentence; nothing that the comparison does not hold."""
    if not s.results.finished:
        return f"Not finished (it stopped at: {(s.results.stats or {}).get('reached') or 'not known'}): nothing is claimed yet."
    said = [said for pool in names(s) if (said := _first(s, pool))]
    if not said:
        return "No method was judged on all class orders of a pool: nothing is claimed."
    return f"{chosen_on(s)}: {'; '.join(said)}."


def chosen_on(s: Summary) -> str:
    given = str(s.results.setting("params") or "tuned")
    return f"With settings chosen on {tuning(s)}" if given == "tuned" else f"With the settings of --params {given}"


def _first(s: Summary, pool: str) -> str:
    found, name = standing(s, pool), names(s)[pool]
    if found is None:
        return ""
    first = cell(s, pool, found.first)
    score = percent(first.harmonic.value.value) if first else "-"
    first_ones = highest(leaders(s, pool, found.first), "H", f" on {name}")
    if found.lacking:
        return f"{first_ones}, and {found.lacking}"
    if not found.alike and not found.below:
        return f"{found.first} alone has figures on {name} (H = {score} %)"
    if not found.alike:
        others = "all others" if len(found.below) == len(s.results.methods) - 1 else "all others that have figures"
        return f"{found.first} is above {others} on {name} (H = {score} %)"
    return f"{first_ones}, and {enumerated(found.alike)} cannot be told from {found.first}"


def leaders(s: Summary, pool: str, first: str) -> list[tuple[str, float]]:
    """Methods with their H on a pool, the ``first`` one before all others."""
    found = [(c.method, c.harmonic.value.value) for c in s.cells if (c.pool, c.use) == (pool, "tuned") and c.valid]
    return sorted(found, key=lambda pair: pair[0] != first)


# ------------------------------------------------------------------------------------------------ findings


def findings(s: Summary) -> list[str]:
    """What the data say; empty sentences are left out. Nothing of a run that is not finished."""
    if not s.results.finished:
        return []
    said = [
        *(below(s, pool) for pool in names(s)),
        *(beside.unshared_verdict(s, pool) for pool in names(s)),
        *failed(s),
        intervals(s),
        *(tried.chosen(x) for x in first_phase(s)),
        *(tried.alone(x) for x in first_phase(s)),
        tried.enough(s),
        *compared.findings(s),
        *compared.takeaways(s),
        *beside.alike_findings(s),
    ]
    return [line for line in said if line]


def below(s: Summary, pool: str) -> str:
    """Which methods are told to be below the first."""
    found = standing(s, pool)
    if found is None or found.lacking or not (found.alike or found.below):
        return ""
    named = enumerated(found.below) if found.below else "no method"
    told = f"{named} {'are' if len(found.below) > 1 else 'is'} told to be below {found.first}"
    left = f"; {enumerated(found.alike)} cannot be told from it" if found.alike else ""
    return f"On {names(s)[pool]} {told}{left} (multiple comparisons with the best, 95 % over all methods together). {CONDITIONS}."


def failed(s: Summary) -> list[str]:
    """Methods that have no figures, and why."""
    said = []
    for pool in names(s):
        for row in judged(s, pool).texts:
            if row[2] == "-":
                said.append(f"{row[0]} has no figures on {names(s)[pool]}: {row[1]}.")
    return said


def intervals(s: Summary) -> str:
    """Why H has no intervals, and what would give them."""
    cells = [c for c in s.cells if c.use not in OF_TUNING.values() and c.valid]
    bare = [c for c in cells if c.harmonic.lacking]
    if not bare:
        return ""
    reasons = enumerated(list(dict.fromkeys(c.harmonic.lacking for c in bare)))
    of = "" if len(bare) == len(cells) else f" of {enumerated(list(dict.fromkeys(c.method for c in bare)))}"
    return f"H{of} has no interval: {reasons} (--eval-orders, else --orders)."


# ------------------------------------------------------------------------------------------------ notes


def notes(s: Summary) -> list[str]:
    """What the figures rest on and what they cost; of an unfinished run how to go on."""
    if s.results.finished:
        about = [conditions(s), *filter(None, [few_orders(s)]), *at_chance(not_told(s))]
    else:
        about = [*so_far(s), *([f"Go on with: {s.results.resume}"] if s.results.resume else [])]
    return [shown(n) for n in (*about, *cost(s.results.stats))]


def few_orders(s: Summary) -> str:
    """What the intervals over class orders assume."""
    orders = s.results.setting("eval_orders") or s.results.setting("orders")
    return assumption(orders if isinstance(orders, int) else 0, "class orders")


def not_told(s: Summary) -> list[AtChance]:
    """Methods that are not told from chance, pools named as in the tables."""
    return [
        replace(a, where=f"on {names(s)[pool]}{'' if use == 'tuned' else f' ({use})'}")
        for (pool, use), those in s.at_chance.items()
        for a in those
    ]


def so_far(s: Summary) -> list[str]:
    """How far an unfinished run came, method by method."""
    said = []
    for x in first_phase(s):
        done = sum(v == v for v in x.scores.tolist())
        said.append(
            f"{x.method}: {done} of {count(len(x.scores), 'setting')} learned all tasks on all class orders so far."
        )
    for c in s.cells:
        name = names(s).get(c.pool, tuning(s))
        said.append(
            f"{c.method} ({c.use}) was judged on {len(c.curve)} of {count(c.asked, 'class order')} of {name} so far."
        )
    return said


def conditions(s: Summary) -> str:
    """What all figures are conditional on."""
    orders = s.results.setting("eval_orders") or s.results.setting("orders")
    tuned = s.results.setting("params") == "tuned"
    shared = f"{s.results.setting('orders')} to choose, {orders} to judge on" if tuned else str(orders)
    text = (
        f"All methods and settings share class orders ({shared}); each order has a training seed of its own, so that an interval "
        "over orders has both in it. It holds for these pools, their split into images, and these settings."
    )
    if s.results.setting("select") == "one-se":
        text += " Chosen is the least training within one standard error of the best (--select one-se)."
    if tuned:
        text += " Another draw of settings might choose others, and H would move with it: that is in no interval."
    if s.results.setting("allow_overlap"):
        allowed = enumerated([str(x) for x in s.results.setting("allow_overlap")])
        text += f" Both phases may share classes (--allow-overlap {allowed}): what is judged may have had a part in the choice; "
        text += "where a pool shares some, figures without them stand beside."
    return text
