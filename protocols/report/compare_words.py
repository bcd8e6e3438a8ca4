"""A comparison in words and in cells, for the terminal and the page alike."""

from __future__ import annotations

import math

from protocols.evaluate.compare.agreement import Agreement, ColumnAgreement, PairAgreement
from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN, Side
from protocols.evaluate.compare.table import Table
from protocols.report.tables import Cells
from protocols.report.text import count, percent
from seqsearch.core.text import shown
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.mean_difference import Estimate

NAMES = {"acc": "Acc", "avg_acc": "AvgAcc", "ar": "AR", "ala": "ALA", "upcoming": "upcoming Acc"}
SIGNIFICANT = 0.05
GROUPS_SHOWN = 5


def printed(table: Table, ranks: Agreement | None, reach: list[list[float]] | None = None) -> Cells:
    """The table as papers print it: final accuracies in percent with ``reach``, else as given; correlations below."""
    rows = []
    for m, method in enumerate(table.methods):
        cells = [
            _plain(v) if reach is None else _accuracy(v, reach[m][c]) for c, v in enumerate(table.values[m].tolist())
        ]
        rows.append((method, *cells))
    if ranks:
        by_column = {a.column: a for a in ranks.columns}
        for name, figure in (("SRCC", "srcc"), ("KRCC", "krcc")):
            with_reference = [_coefficient(by_column.get(c), figure) for c in table.columns]
            rows.append((f"{name} with {ranks.reference}", *with_reference))
    lead = "" if reach is None else "Final Acc in percent, +- half the width of its 95 % interval where there is one. "
    stars = f"* p < .05 (two-sided, by itself; of {_times(ranks)} nothing is corrected)." if ranks else ""
    return Cells("Accuracy by method", lead + stars, ("Method", *table.columns), tuple(rows))


def correlations(ranks: Agreement) -> Cells:
    """Each column with the reference, with p-values."""
    rows = []
    for a in ranks.columns:
        c = a.correlations
        if c is None:
            rows.append((a.column, "-", "-", "-", "-", "fewer than two methods have both"))
            continue
        how = "all orders" if c.exact else "approximate"
        if math.isnan(c.srcc):
            how = "a column has one value only"
        numbers = (_three(c.srcc), _p(c.srcc_p), _three(c.krcc), _p(c.krcc_p))
        rows.append((f"{a.column} ({count(c.n, 'method')})", *numbers, how))
    lead = (
        "Spearman's (SRCC) and Kendall's (KRCC, tau-b) rank correlation; p: two-sided, of no agreement, over all orders of these "
        "methods up to 9 of them."
    )
    return Cells(
        f"Agreement with {ranks.reference}", lead, ("Column", "SRCC", "p", "KRCC", "p", "p is of"), tuple(rows)
    )


def pairs(ranks: Agreement) -> Cells | None:
    """Differences of correlations."""
    if not ranks.pairs:
        return None
    rows = [(f"{p.first} minus {p.second}", *_difference(p)) for p in ranks.pairs]
    lead = (
        "Difference of their correlations with the reference and its 95 % interval (conservative), each by itself. Conditional "
        "on the methods being a sample of those that might have been compared. Where 0 is inside, it is not known which agrees "
        "better."
    )
    return Cells("Which column agrees better", lead, ("Columns", "SRCC", "KRCC", ""), tuple(rows))


def means(c: Comparison) -> Cells | None:
    """Acc, AvgAcc, AR and ALA of each run, mean over the shared methods, then of each method."""
    sides = [s for s in c.sides if s.method == MEAN] + [s for s in c.sides if s.method != MEAN]
    if not sides:
        return None
    names = tuple(n for n in NAMES if n in sides[0].values)
    rows = [(f"{s.run}, {s.side}", s.method or _of(c), *(_figure(s, n) for n in names)) for s in sides]
    lead = (
        f"Percent. {_conditional([s.estimates['acc'] for s in sides])} AvgAcc: mean of Acc after each task. AR, ALA and AvgAcc "
        "have no interval: which images were right before the last step is not kept."
    )
    if c.start is not None:
        lead += f" Upcoming Acc: final accuracy on the tasks from step {c.start} on, when the first pool grew."
    return Cells("Runs by figure", lead, ("Run", "Method", *(NAMES[n] for n in names)), tuple(rows))


def changes(c: Comparison) -> Cells | None:
    """Each run minus the first (Fig. 6)."""
    if not c.differences:
        return None
    of: dict[tuple[str, str], dict[str, Estimate]] = {}
    for d in c.differences:
        of.setdefault((d.run, d.side), {})[d.figure] = d.estimate
    names = tuple(n for n in NAMES if n in next(iter(of.values())))
    rows = [(f"{r}, {side}", *(_change(e[n]) for n in names), e["acc"].lacking) for (r, side), e in of.items()]
    lead = (
        f"Points, mean over {count(len(c.shared), 'shared method')}, with the training seeds that both runs have. "
        f"{_conditional([e['acc'] for e in of.values()])} Each interval by itself."
    )
    return Cells(f"Minus {c.runs[0].name}", lead, ("Run", *(NAMES[n] for n in names), ""), tuple(rows))


def growth(c: Comparison) -> Cells | None:
    """Fig. 21."""
    if not c.new:
        return None
    rows = [(f"{n.run}, task {n.step}", f"{n.taken} of {n.classes}", percent(n.share), percent(n.left)) for n in c.new]
    lead = (
        "Classes of the found tasks that had come with --grow, beside their share among the classes that were left to take, "
        "which a random choice has on average. Counts of these searches; there is no interval."
    )
    return Cells("Taken from the grown pool", lead, ("Run", "Classes", "Share, %", "Left, %"), tuple(rows))


def groups(c: Comparison) -> Cells | None:
    """Section 5.3."""
    if not c.groups:
        return None
    rows = []
    for run, rewards in c.groups.items():
        for g in rewards.groups[:GROUPS_SHOWN]:
            of_steps = f"{100 * g.lowest:+.1f} to {100 * g.highest:+.1f} ({g.steps})"
            rows.append((run, g.group, str(g.candidates), f"{100 * g.reward:.1f}", f"{100 * g.above:+.1f}", of_steps))
    lead = (
        f"Mean reward of the judged candidates, in points, each counting with its share of classes of the group; the "
        f"{GROUPS_SHOWN} most rewarding of a run. Above: the mean of all candidates of the same step. Descriptive: candidates of "
        "a step share a state and were not drawn at random, so that the range over steps is no confidence interval."
    )
    heads = ("Run", "Group", "Candidates", "Reward", "Above", "By step (steps)")
    return Cells("Reward by group of classes", lead, heads, tuple(rows))


def tables(c: Comparison) -> list[Cells]:
    """All there are."""
    found = [printed(c.table, c.ranks, c.reach.tolist())]
    if c.ranks:
        found += [correlations(c.ranks), *filter(None, [pairs(c.ranks)])]
    return [*found, *filter(None, (changes(c), means(c), growth(c), groups(c)))]


def of_table(table: Table, ranks: Agreement) -> list[Cells]:
    """Of a table from a file."""
    return [printed(table, ranks), correlations(ranks), *filter(None, [pairs(ranks)])]


def headline(c: Comparison) -> str:
    """What is compared."""
    runs = ", ".join(r.name for r in c.runs)
    return f"{count(len(c.runs), 'run')} beside each other: {runs}"


def notes(c: Comparison) -> list[str]:
    """What is missing, and what holds of all figures."""
    said = list(c.troubles)
    if len(c.runs) > 1 and c.random_shared:
        said.append("All runs have the same random sequences, so that they differ in the found ones alone.")
    if c.ranks is None:
        said.append(
            "No column of held-out accuracy (seqsearch score RUN --heldout-pool POOL makes one): name another one with "
            "--reference for rank correlations."
        )
    if not c.shared and len(c.runs) > 1:
        said.append("The runs share no method that was judged on every side: no mean and no difference is given.")
    for run, rewards in c.groups.items():
        if rewards.unknown:
            said.append(
                f"{run}: of {rewards.unknown} of {rewards.classes} classes of candidates no file says the group."
            )
    return [shown(line) for line in said]


# ------------------------------------------------------------------------------------------------ cells


def _of(c: Comparison) -> str:
    return f"mean of {len(c.shared)}"


def _times(ranks: Agreement | None) -> str:
    return count(2 * len(ranks.columns), "test") if ranks else ""


def _plain(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.6g}"


def _accuracy(value: float, reach: float) -> str:
    return percent(value) + (f" +- {percent(reach)}" if math.isfinite(reach) else "")


def _coefficient(a: ColumnAgreement | None, figure: str) -> str:
    """``0.964*``."""
    if a is None:
        return "N/A"
    if a.correlations is None or math.isnan(a.correlations.srcc):
        return "-"
    value, p = getattr(a.correlations, figure), getattr(a.correlations, f"{figure}_p")
    return f"{value:.3f}" + ("*" if p < SIGNIFICANT else "")


def _three(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _p(value: float) -> str:
    return "-" if math.isnan(value) else "< .0001" if value < 0.0001 else f"{value:.4f}"


def _difference(p: PairAgreement) -> tuple[str, str, str]:
    if p.difference is None:
        return "-", "-", "fewer than two methods have all three"
    return _signed(p.difference.srcc), _signed(p.difference.krcc), p.difference.lacking


def _signed(i: Interval) -> str:
    if math.isnan(i.value):
        return "-"
    return f"{i.value:+.3f}" + (f" [{i.low:+.3f}, {i.high:+.3f}]" if math.isfinite(i.low) else "")


def _figure(s: Side, name: str) -> str:
    e = s.estimates[name]
    return _accuracy(e.value.value, e.value.half_width)


def _change(e: Estimate) -> str:
    i = e.value
    bounds = f" [{100 * i.low:+.1f}, {100 * i.high:+.1f}]" if math.isfinite(i.low) else ""
    return f"{100 * i.value:+.1f}{bounds}"


def _conditional(estimates: list[Estimate]) -> str:
    """What the intervals are over, and conditional on."""
    single = any(1 in e.sequences for e in estimates)
    images = any(e.these_images for e in estimates)
    one_seed = any(e.seeds == 1 for e in estimates)
    given = ["the first task and the split of the images"]
    given += ["the found sequence where a run has one (another search may find another)"] * single
    given += ["the training seed where there is one"] * one_seed + [
        "the test images where it is not known which were right"
    ] * images
    return f"95 % intervals are over sequences, training seeds and test images; conditional on {', on '.join(given)}."
