"""Who is first on which pool of a GTEP run: the tables of its second phase, and what pools are called."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from protocols.gtep.cells import OF_TUNING, Cell, Matrix, table_rows
from protocols.gtep.searches import Search
from protocols.gtep.summary import Summary
from protocols.report.table import (
    DOWN,
    GTEP,
    MEGABYTES,
    OURS,
    PERCENT,
    SECONDS,
    SIZES,
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
from protocols.report.text import count, duration, enumerated, percent

LONG = 40
"""Pools with longer names are numbered; their names are said once."""
CONDITIONS = (
    "Over all class orders of these classes and their training seeds, with these images and these settings: what other "
    "classes, images or draws of settings would show is in no interval"
)
MARKED = (
    "* does not differ significantly from the first (multiple comparisons with the best, 95 % over all methods), or shows the "
    "same H; unmarked: significantly below it."
)
TUNING = "the tuning pool"
"""What the pool is called that settings are chosen on, if its name is long."""
POOLED = "Acc: test images of all classes that are classified right after the last task, pooled (no mean over tasks)"


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
METHOD = Column("method", "Method")
PLACE = Scale("place", "from 1", str)
WITH_SD = PERCENT._replace(text=lambda v: f"{percent(v[0])} ({percent(v[1])})")
TIME = SECONDS._replace(text=seconds_text)
BYTES = MEGABYTES._replace(text=lambda mb: bytes_text(round(1e6 * mb)))
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
    "rank", "rank", "place by H; * does not differ significantly from the first", PLACE, DOWN,
    f"{OWN}; *: multiple comparisons with the best (Hsu, 1981)",
)  # fmt: skip
ON_POOL = replace(ACC, key="acc_...", heading="...: Acc"), replace(AVG, key="avg_acc_...", heading="...: AvgAcc")
OVERVIEW = Layout("overview", "Tuned on ...", (METHOD, *ON_POOL))
JUDGED = Layout(
    "judged",
    "On ..., ...",
    (
        METHOD,
        ACC,
        AVG,
        HARMONIC,
        RANK,
        replace(stored("stored_mb", "stored"), scale=BYTES),
        replace(size("size_mb", "size"), scale=BYTES),
        Column("train_seconds", "time", "time to train one class order", TIME, DOWN, f"{GTEP}, section 4.1 (Fig. 6)"),
    ),
)


@dataclass(frozen=True)
class Standing:
    """The methods of a pool and use: the first, those that do not differ significantly from it, and those below.

    A method whose H shows the same digits as that of the first is not said to be below it, whatever the comparison holds.

    ``lacking``: why they cannot be compared, empty where they can.
    """

    first: str
    alike: tuple[str, ...]
    below: tuple[str, ...]
    lacking: str = ""


def standing(s: Summary, pool: str, use: str = "tuned") -> Standing | None:
    """None if no method was judged on all orders."""
    found = s.best.get((pool, use))
    there = [c.method for c in s.cells if (c.pool, c.use) == (pool, use)]
    good = [c.method for c in s.cells if (c.pool, c.use) == (pool, use) and c.valid]
    if found is None or found.best is None or not good:
        return None
    first, alike = there[found.best], [there[i] for i in found.candidates if i != found.best]
    shown = {c.method: percent(c.harmonic.value.value) for c in s.cells if (c.pool, c.use) == (pool, use) and c.valid}
    alike += [m for m in good if m != first and m not in alike and shown[m] == shown.get(first)]
    if found.lacking and len(good) > 1:
        return Standing(first, (), (), found.lacking)
    below = [m for m in good if m != first and m not in alike]
    return Standing(first, tuple(alike), tuple(below))


def names(s: Summary) -> dict[str, str]:
    """What pools are called: by their own names where these are short."""
    pools = dict.fromkeys([*s.results.pools, *(c.pool for c in s.cells if c.use not in OF_TUNING.values())])
    return {p: p if len(p) <= LONG else f"pool {n}" for n, p in enumerate(pools, 1)}


def tuned_on(s: Summary) -> str:
    """The pool of the first phase as it was named."""
    return str(s.results.setting("tune_pool") or "-")


def tuning(s: Summary) -> str:
    """What it is called."""
    return tuned_on(s) if len(tuned_on(s)) <= LONG else TUNING


def legend(s: Summary) -> str:
    """What the pools are that are called otherwise than by their names; empty if none is."""
    called = {tuning(s): tuned_on(s), **{name: pool for pool, name in names(s).items()}}
    said = [f"{name} is {pool}" for name, pool in called.items() if name != pool]
    return f"Here {enumerated(said)}." if said else ""


def cell(s: Summary, pool: str, method: str, use: str = "tuned") -> Cell | None:
    return next((c for c in s.cells if (c.pool, c.method, c.use) == (pool, method, use)), None)


def first_phase(s: Summary) -> list[Search]:
    """On the pool that was tuned on."""
    return [x for x in s.searches if x.pool == tuned_on(s)]


# ------------------------------------------------------------------------------------------------ the second phase


def overview(s: Summary) -> Table:
    """What was tuned on one pool, on all others side by side, as the paper prints it; nothing with one pool."""
    called = names(s)
    rows = []
    for method in s.results.methods if len(called) > 1 else ():
        row: list[Value] = [method]
        for pool in called:
            c = cell(s, pool, method)
            row += [_sd(c.acc), _sd(c.avg)] if c and c.valid else [_trouble(s, c, method), None]
        rows.append(row)
    lead = f"Percent, mean over class orders (sd). Columns: pools judged on. {POOLED}; AvgAcc: mean of that over the tasks."
    columns = [METHOD, *(c.named(name) for name in called.values() for c in ON_POOL)]
    return table(OVERVIEW, lead, rows, columns, f"Tuned on {tuning(s)}")


def judged(s: Summary, pool: str) -> Table:
    """The methods on one pool."""
    ranks = {r["method_id"]: r["rank"] for r in table_rows(s.cells) if (r["pool"], r["use"]) == (pool, "tuned")}
    found, rows = standing(s, pool), list[tuple[Value, ...]]()
    compared = bool(found and not found.lacking and (found.alike or found.below))
    for method in s.results.methods if any(c.pool == pool for c in s.cells) else ():
        c = cell(s, pool, method)
        if c is None or not c.valid:
            rows.append((method, _trouble(s, c, method), *[None] * 6))
            continue
        rank = Marked(ranks[method], "*" if compared and found and method in (found.first, *found.alike) else "")
        sizes = (None if n is None else n / 1e6 for n in (c.stored_bytes, c.model_bytes))
        rows.append((method, _sd(c.acc), _sd(c.avg), c.harmonic.value, rank, *sizes, c.seconds))
    lead = (
        f"Percent. {POOLED}; AvgAcc: mean of that after each task; both mean over class orders (sd). H: harmonic mean of the "
        f"two means. {CONDITIONS}. {MARKED if compared else 'There is no significance test of these methods.'} "
        f"{SIZES} Time: to train one class order, on the machines of this run."
    )
    return table(JUDGED, lead, rows, title=f"On {names(s)[pool]}, {_how(s)}")


def _how(s: Summary) -> str:
    given = str(s.results.setting("params") or "tuned")
    return f"tuned on {tuning(s)}" if given == "tuned" else f"with the settings of --params {given}"


def _trouble(s: Summary, c: Cell | None, method: str) -> str:
    """Why a method has no figures on a pool."""
    if c is None:
        search = next((x for x in first_phase(s) if x.method == method), None)
        nothing = search is not None and search.chosen is None and s.results.finished
        return "no setting ended well" if nothing else "not judged"
    if c.diverged:
        return f"{' and '.join(c.failures) or 'failed'} on {c.diverged} of {c.asked}"
    return f"{len(c.curve)} of {count(c.asked, 'order')}"


def _sd(values: Matrix) -> tuple[float, float]:
    """Mean and standard deviation, NaN of one value."""
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan
