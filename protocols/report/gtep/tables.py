"""The tables of the second phase of a GTEP run: standings on each pool, and short names of pools."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from protocols.gtep.cells import OF_TUNING, Cell, Matrix, table_rows
from protocols.gtep.searches import Search
from protocols.gtep.summary import Summary
from protocols.report.table import (
    DIFFERENCE,
    DOWN,
    GTEP,
    MEGABYTES,
    METHOD,
    OURS,
    PERCENT,
    SECONDS,
    UP,
    Column,
    Layout,
    Marked,
    Scale,
    Table,
    Value,
    size,
    stored,
    table,
)
from protocols.report.text import duration, enumerated, percent
from seqsearch.core.text import counted, shortened, shown
from seqsearch.stats.interval import Interval

LONG = 40
"""Pools with longer names are numbered; their names are said once."""
LONGEST = 60
"""Characters of a setting in a table; the notes and ``--json`` have all of it."""
TUNING = "the tuning pool"
"""The pool on which settings are chosen, if its name is long."""


def bytes_text(number: int | None) -> str:
    """Bytes: ``1.56 kB``, ``12.3 MB``."""
    if number is None:
        return "-"
    unit, scale = next(((u, x) for u, x in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if number >= x), ("B", 1.0))
    return f"{number / scale:.3g} {unit}"


def seconds_text(seconds: float) -> str:
    """A time that may be short."""
    return "-" if not math.isfinite(seconds) else duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"


OWN = f"{OURS}, docs/gtep.md"
POOL = Column("pool", "Pool")
PLACE = Scale("place", "from 1", str)
WITH_SD = PERCENT._replace(text=lambda v: f"{percent(v[0])} ({percent(v[1])})")
TIME = SECONDS._replace(text=seconds_text)
BYTES = MEGABYTES._replace(unit="MB, or as the cell says", text=lambda mb: bytes_text(round(1e6 * mb)))
LARGEST = "the largest of all trainings at the end"
OF_MEANS = "2 A B / (A + B), A and B the means of Acc and AvgAcc over orders"
ACC = Column(
    "acc", "Acc (sd)", "final accuracy, and its sd (ddof 1) over class orders", WITH_SD, UP,
    f"{GTEP}, section 4.1 (no equation)",
    "mean over orders of the share of test images right, of all classes, after the last task, pooled", parts=("", "_sd"),
)  # fmt: skip
AVG = Column(
    "avg_acc", "AvgAcc (sd)", "accuracy over all classes seen, averaged over tasks, and its sd over class orders", WITH_SD, UP,
    f"{GTEP}, section 4.1", "mean over orders of 1/T sum over t of Acc_t", parts=("", "_sd"),
)  # fmt: skip
HARMONIC = Column(
    "h", "H [95 %]", "harmonic mean of Acc and AvgAcc: what settings are chosen by", PERCENT, UP,
    f"{GTEP}, section 4.1 (whether means come first is not said)", OF_MEANS,
    "class orders, each with a training seed of its own",
)  # fmt: skip
RANK = Column(
    "rank", "rank", "place by H; * does not differ significantly from the first (95 % over all methods), or shows the same H",
    PLACE, DOWN,
    f"{OWN}; *: multiple comparisons with the best (Hsu, 1981)",
)  # fmt: skip
ON_POOL = replace(ACC, key="acc_...", heading="...: Acc"), replace(AVG, key="avg_acc_...", heading="...: AvgAcc")
REGRET = Column(
    "regret",
    "regret",
    "what choosing elsewhere costs",
    DIFFERENCE,
    DOWN,
    OWN,
    "H (chosen here) - H (tuned)",
    "class orders",
)
SETTING = Column(
    "setting", "setting", "hyperparameters that the method was evaluated with; the notes have long ones in full"
)
OVERVIEW = Layout("overview", "Pool by pool, tuned on ...", (METHOD, *ON_POOL))
EVALUATED = Layout("methods", "On ..., tuned on ...", (POOL, METHOD, ACC, AVG, HARMONIC, RANK, REGRET, SETTING))
COSTS = Layout(
    "costs",
    "Costs",
    (
        POOL,
        METHOD,
        replace(stored("stored_mb", "stored", LARGEST), scale=BYTES),
        replace(size("size_mb", "size", LARGEST), scale=BYTES),
        Column("train_seconds", "time", "time to train one class order", TIME, DOWN, f"{GTEP}, section 4.1 (Fig. 6)"),
    ),
)


@dataclass(frozen=True)
class Standing:
    """The methods of a pool: the first, those that do not differ significantly from it, and those below.

    A method whose H shows the same digits as that of the first is not said to be below it, whatever the comparison holds.

    ``unavailable_because``: why they cannot be compared, empty where they can.
    """

    first: str
    alike: tuple[str, ...]
    below: tuple[str, ...]
    unavailable_because: str = ""

    @property
    def candidates(self) -> tuple[str, ...]:
        """Methods that may be the best."""
        return (self.first, *self.alike)

    @property
    def methods(self) -> int:
        """How many are compared; where they cannot be, one."""
        return len(self.candidates) + len(self.below)

    @property
    def above(self) -> bool:
        """The first is significantly above all others."""
        return bool(self.below) and not self.alike


def standing(s: Summary, pool: str) -> Standing | None:
    """None if no method was evaluated on all orders."""
    found = s.best.get((pool, "tuned"))
    there = [c.method for c in s.cells if (c.pool, c.use) == (pool, "tuned")]
    good = [c.method for c in valid(s, pool)]
    if found is None or found.best is None or not good:
        return None
    first, alike = there[found.best], [there[i] for i in found.candidates if i != found.best]
    texts = {c.method: percent(c.harmonic.value.value) for c in valid(s, pool)}
    alike += [m for m in good if m != first and m not in alike and texts[m] == texts.get(first)]
    if found.unavailable_because and len(good) > 1:
        return Standing(first, (), (), found.unavailable_because)
    below = [m for m in good if m != first and m not in alike]
    return Standing(first, tuple(alike), tuple(below))


def standings(s: Summary) -> list[tuple[str, Standing]]:
    """Of the pools on which any method has figures."""
    return [(pool, found) for pool in names(s) if (found := standing(s, pool))]


def valid(s: Summary, pool: str, use: str = "tuned") -> list[Cell]:
    """Methods with figures."""
    return [c for c in s.cells if (c.pool, c.use) == (pool, use) and c.valid]


def h_of(s: Summary, pool: str, method: str) -> float:
    """H of a method on a pool with the setting chosen."""
    found = cell(s, pool, method)
    return found.harmonic.value.value if found else math.nan


def leaders(s: Summary, pool: str, first: str) -> list[str]:
    """Methods that show the highest H on a pool, the ``first`` one before all others."""
    texts = {c.method: percent(c.harmonic.value.value) for c in valid(s, pool)}
    return [first, *(m for m, text in texts.items() if m != first and text == texts.get(first))]


def names(s: Summary) -> dict[str, str]:
    """Short names of pools: their own names, or their numbers."""
    pools = dict.fromkeys([*s.results.pools, *(c.pool for c in s.cells if c.use not in OF_TUNING.values())])
    return {p: p if len(p) <= LONG else f"pool {n}" for n, p in enumerate(pools, 1)}


def tuned_on(s: Summary) -> str:
    """The pool of the first phase as it was named."""
    return str(s.results.setting("tune_pool") or "-")


def tuning(s: Summary) -> str:
    """Its short name."""
    return tuned_on(s) if len(tuned_on(s)) <= LONG else TUNING


def renamed(s: Summary) -> dict[str, str]:
    """Pools by their short names, where these are not their names."""
    called = {tuning(s): tuned_on(s), **{name: pool for pool, name in names(s).items()}}
    return {name: pool for name, pool in called.items() if name != pool}


def cell(s: Summary, pool: str, method: str, use: str = "tuned") -> Cell | None:
    return next((c for c in s.cells if (c.pool, c.method, c.use) == (pool, method, use)), None)


def first_phase(s: Summary) -> list[Search]:
    """On the pool that was tuned on."""
    return [x for x in s.searches if x.pool == tuned_on(s)]


def orders(s: Summary) -> int:
    """Class orders that methods are evaluated on."""
    found = s.results.setting("eval_orders") or s.results.setting("orders")
    return found if isinstance(found, int) else 0


def was_tuned(s: Summary) -> bool:
    """Settings were chosen in this run, and not given by ``--params``."""
    return str(s.results.setting("params") or "tuned") == "tuned"


def params_text(params: Mapping[str, Any]) -> str:
    """In one line: ``lr=0.01, epochs=5``."""
    return ", ".join(f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in params.items()) or "defaults"


# ------------------------------------------------------------------------------------------------ the second phase


def key(s: Summary) -> Table:
    """Each method on each pool with the setting that was chosen. Bold: methods that may be the best there."""
    several, regrets = len(names(s)) > 1, {(c.pool, c.method): c.regret for c in s.compared if c.regret}
    columns = [c for c in EVALUATED.columns if (c is not POOL or several) and (c is not REGRET or regrets)]
    rows = []
    for pool, called in names(s).items():
        for method, values in _evaluated(s, pool):
            found = regrets.get((pool, method))
            of = dict(zip(EVALUATED.columns, (called, method, *values), strict=True))
            of[REGRET] = found.value if found else None
            rows.append([of[c] for c in columns])
    long = renamed(s)
    lead = "Percent; means over class orders, with their standard deviation (sd)."
    lead += f" Here {enumerated([f'{name} is {pool}' for name, pool in long.items()])}." if long else ""
    how = f"tuned on {tuning(s)}" if was_tuned(s) else f"with the settings of --params {s.results.setting('params')}"
    where = "Methods" if several else f"On {next(iter(names(s).values()), '-')}"
    return table(EVALUATED, lead, rows, columns, f"{where}, {how}")


def _evaluated(s: Summary, pool: str) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """The methods that ran on a pool with their figures, and None in the place of regret."""
    ranks = {r["method_id"]: r["rank"] for r in table_rows(s.cells) if (r["pool"], r["use"]) == (pool, "tuned")}
    found = standing(s, pool)
    best = found.candidates if found and found.methods > 1 else ()
    for method in s.results.methods if any(c.pool == pool for c in s.cells) else ():
        c = cell(s, pool, method)
        if c is None or not c.valid:
            yield method, (trouble(s, c, method), *[None] * 5)
            continue
        h: Interval | Marked = Marked(c.harmonic.value, bold=True) if method in best else c.harmonic.value
        rank = Marked(ranks[method], "*" if method in best else "")
        yield method, (_sd(c.acc), _sd(c.avg), h, rank, None, shortened(shown(params_text(c.params)), LONGEST))


def failed(s: Summary) -> Iterator[tuple[str, str, str]]:
    """Methods that have no figures on a pool: the method, the short name of the pool, and the reason."""
    for pool, called in names(s).items():
        for method in s.results.methods if any(c.pool == pool for c in s.cells) else ():
            c = cell(s, pool, method)
            if c is None or not c.valid:
                yield method, called, trouble(s, c, method)


def costs(s: Summary) -> Table:
    """Of the methods that have figures, with the settings chosen."""
    several = len(names(s)) > 1
    rows: list[tuple[Value, ...]] = []
    for pool, called in names(s).items():
        for c in [c for m in s.results.methods if (c := cell(s, pool, m)) and c.valid]:
            sizes = (None if n is None else n / 1e6 for n in (c.stored_bytes, c.model_bytes))
            rows.append((*([called] if several else []), c.method, *sizes, c.seconds))
    columns = COSTS.columns if several else COSTS.columns[1:]
    return table(COSTS, "Times are of the machines of this run.", rows, columns)


def overview(s: Summary) -> Table:
    """Methods tuned on one pool, on all other pools side by side, as the paper prints it; empty with one pool."""
    called = names(s)
    rows = []
    for method in s.results.methods if len(called) > 1 else ():
        row: list[Value] = [method]
        for pool in called:
            c = cell(s, pool, method)
            row += [_sd(c.acc), _sd(c.avg)] if c and c.valid else [trouble(s, c, method), None]
        rows.append(row)
    lead = "Percent; means over class orders, with their standard deviation (sd). Columns: pools evaluated on."
    columns = [METHOD, *(c.named(name) for name in called.values() for c in ON_POOL)]
    return table(OVERVIEW, lead, rows, columns, f"Pool by pool, tuned on {tuning(s)}")


def trouble(s: Summary, c: Cell | None, method: str) -> str:
    """Why a method has no figures on a pool."""
    if c is None:
        search = next((x for x in first_phase(s) if x.method == method), None)
        nothing = search is not None and search.chosen is None and s.results.finished
        return "no setting ended well" if nothing else "not evaluated"
    if c.diverged:
        return f"{' and '.join(c.failures) or 'failed'} on {c.diverged} of {c.asked}"
    return f"{len(c.curve)} of {counted(c.asked, 'order')}"


def _sd(values: Matrix) -> tuple[float, float]:
    """Mean and standard deviation, NaN of one value."""
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan
