"""The figures of an online summary: rankings, accuracy over the stream, retention, cost, what labels give away, two by two."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from protocols.online.summary import HELD_OUT, Learned, Shuffled, Summary
from protocols.report.figures import Panel, Panels, series, sharing
from protocols.report.maps import cells
from protocols.report.online import blind
from protocols.report.online.tables import ahead, baseline, checked, learners, points, whole
from protocols.report.shapes import Line, Slope, curves, named_dots, slopes
from protocols.report.text import enumerated, percent, samples
from seqsearch.core.text import counted
from seqsearch.results.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASELINE = "soft"
"""Colour of the blind baseline, whose lines are dashed."""
WINDOWS = 40
"""Points of a curve of accuracy."""
MOST = 60
"""Learners that are drawn, by near-future accuracy from the highest down."""
MOST_CELLS = 24
"""Two by twos that are drawn."""
MOST_MAPPED = 40
"""Values of k, or of S, that are drawn."""


def figures(s: Summary) -> list[Panels]:
    """All that there is something for."""
    found = [rankings(s), over_stream(s), retention(s), labels_alone(s), choice(s), costs(s), shuffled(s)]
    return [p for p in found if p.panels]


def colours(s: Summary) -> dict[str, str]:
    """Of each learner that is drawn; the same in all figures."""
    of = series([x.label for x in learners(s) if x.label != baseline(s)][:MOST])
    return of | {b: BASELINE for b in [baseline(s)] if b is not None}


def _groups(s: Summary) -> Iterator[list[str]]:
    """Learners that share a figure, the baseline with each."""
    own = [m for m in colours(s) if m != baseline(s)]
    last = [m for m in colours(s) if m == baseline(s)]
    yield from ([*group, *last] for group in sharing(own) or [[]])


def _left_out(s: Summary) -> str:
    more = len([x for x in s.learners if x.label != baseline(s)]) - MOST
    return f" Of {more + MOST} learners the first {MOST} by near-future accuracy are drawn." if more > 0 else ""


def _baseline(s: Summary, drawn: Collection[str]) -> str:
    """How the baseline is drawn, in a legend; empty where it is not among the learners that are ``drawn``."""
    return "" if baseline(s) not in drawn else " Dashed, dots hollow: the blind baseline."


def _grouped(found: Mapping[str, Line], s: Summary, title: str, x_name: str) -> list[Panel]:
    """A figure for each group that has lines, by learner."""
    drawn: list[Panel] = []
    for group in _groups(s):
        lines = [found[m] for m in group if m in found]
        if any(not one.dashed for one in lines) or (lines and not drawn):
            named = [replace(one, name=f"{one.name} {percent(one.y[-1])}") for one in lines]
            ends = "; ".join(f"{one.name}: {percent(one.y[-1])} %" for one in lines)
            drawn.append(Panel(curves(named, x_name, ends=False), f"{x_name}; in the end {ends}", title))
    return drawn


# ------------------------------------------------------------------------------------------------ over the stream


def over_stream(s: Summary) -> Panels:
    """Accuracy within windows of the stream, online and ahead."""
    drawn: list[Panel] = []
    there: set[str] = set()
    for shift in dict.fromkeys((0, s.shift)):
        where, found = ahead(shift), windows(s, shift)
        drawn += _grouped(found, s, f"{where[0].upper()}{where[1:]}", "samples of the main part")
        there |= found.keys()
    legend = (
        f"Percent right within at most {WINDOWS} windows of the stream, the last one beside each name; bands: range of training "
        f"seeds.{_baseline(s, there)}{_left_out(s)}"
    )
    return Panels("stream", "Accuracy over the stream", legend, tuple(drawn))


def windows(s: Summary, shift: int) -> dict[str, Line]:
    """A line of each learner that is drawn: the share that was right in each window, mean over seeds, and its range."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for r in s.run.figures:
        if (r["learned_window"], r["judged_window"], r["shift"], r["samples"]) == (0, 0, shift, "all"):
            rows[r["method_id"]].append(r)
    return {m: line for m, c in colours(s).items() if m in rows and (line := _windowed(m, c, rows[m])) is not None}


def _windowed(name: str, colour: str, rows: Sequence[Row]) -> Line | None:
    """From the counts by block: the share that was right in each window, over the seeds that were evaluated there."""
    block, blocks = rows[0]["block"], len(rows[0]["block_n"])
    alike = [r for r in rows if (r["block"], len(r["block_n"])) == (block, blocks)]
    if not blocks:
        return None
    edges = np.unique(np.linspace(0, blocks, min(WINDOWS, blocks) + 1).round().astype(int))
    n, right = (
        np.add.reduceat(np.array([r[c] for r in alike]), edges[:-1], axis=1) for c in ("block_n", "block_correct")
    )
    at: dict[int, list[float]] = {}
    for i, end in enumerate(edges[1:].tolist()):
        shares = [r / m for m, r in zip(n[:, i].tolist(), right[:, i].tolist(), strict=True) if m]
        if shares:
            at[end * block] = shares
    return _along(name, colour, at, len(alike) > 1) if at else None


def _along(name: str, colour: str, at: Mapping[int, list[float]], several: bool) -> Line:
    """Mean and range of the values at each place."""
    places = sorted(at)
    y = tuple(float(np.mean(at[x])) for x in places)
    line = Line(name, colour, tuple(map(float, places)), y, dashed=colour == BASELINE)
    if not several or len(places) < 2:
        return line
    return replace(line, low=tuple(min(at[x]) for x in places), high=tuple(max(at[x]) for x in places))


# ------------------------------------------------------------------------------------------------ holdout


def retention(s: Summary) -> Panels:
    """Of the final model up to each time, and of the models on the way."""
    names = {
        "retention": ("Of the final model, up to each time", "samples of the holdout, in order of time"),
        "trace": ("Of the models on the way", "samples of the main part learned"),
    }
    drawn: list[Panel] = []
    there: set[str] = set()
    for measure, (title, x_name) in names.items():
        found = held_out(s, measure)
        drawn += _grouped(found, s, title, x_name)
        there |= found.keys()
    legend = (
        f"Percent right on the holdout, which is never learned; bands: range of training seeds.{_baseline(s, there)}"
    )
    return Panels("retention", "Retention", legend, tuple(drawn))


def held_out(s: Summary, measure: str) -> dict[str, Line]:
    """A line of each learner that is drawn: ``retention`` of the final model, or the ``trace`` of those on the way."""
    by_label: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for r in s.run.curves:
        here = (r["learned_window"], r["shift"], r["measure"]) == (0, HELD_OUT, measure)
        if here and r["accuracy"] is not None and 0 <= r["accuracy"] <= 1:
            by_label[r["method_id"]][r["position"]].append(r["accuracy"])
    found = {}
    for m, colour in colours(s).items():
        if m in by_label:
            at = by_label[m]
            few = {x: at[x] for x in sorted(at)[:: max(1, len(at) // 400)]}
            found[m] = _along(m, colour, few, any(len(v) > 1 for v in few.values()))
    return found


# ------------------------------------------------------------------------------------------------ rankings


def ranking(s: Summary, ax: Axes | None = None) -> Figure:
    """Online against near-future accuracy."""
    css = colours(s)
    return slopes([_slope(s, x, css[x.label]) for x in whole(s) if x.label in css], ("online", ahead(s.shift)), ax)


def _slope(s: Summary, x: Learned, colour: str) -> Slope:
    online, future = (x.at[shift].estimate.interval for shift in (0, s.shift))
    return Slope(x.label, colour, online, future, dashed=colour == BASELINE)


def rankings(s: Summary) -> Panels:
    """One figure, where there is a shift."""
    there = [x for x in whole(s) if x.label in colours(s)] if s.shift else []
    legend = (
        "Percent, a line a learner; upright: the interval of each accuracy by itself."
        f"{_baseline(s, [x.label for x in there])} The table of pairs says which learners differ.{_left_out(s)}"
    )
    label = "; ".join(f"{x.label}: {percent(x.at[0].accuracy)}, {percent(x.at[s.shift].accuracy)}" for x in there)
    panels = (Panel(ranking(s), label, wide=True),) if there else ()
    return Panels("ranking", "Ranking, online and near-future", legend, panels)


def costs(s: Summary) -> Panels:
    """Near-future accuracy against updates, their cost and time, of a step."""
    css, y_name = colours(s), "near-future accuracy, percent"
    there = [x for x in whole(s) if x.label in css]
    drawn = []
    for x_name, values in (
        ("updates a step", [x.updates for x in there]),
        ("cost of updates a step", [x.spent if x.spent != x.updates else None for x in there]),
        ("stored in the end, kB", [None if x.state_bytes is None else x.state_bytes / 1000 for x in there]),
        ("learning, ms a step", [None if x.seconds is None else 1000 * x.seconds for x in there]),
    ):
        dots = [
            (x.label, css[x.label], v, x.at[s.shift].accuracy)
            for x, v in zip(there, values, strict=True)
            if v is not None and math.isfinite(v) and v >= 0
        ]
        if dots:
            label = "; ".join(f"{name}: {v:.4g}, {percent(y)} %" for name, _, v, y in dots)
            drawn.append(
                Panel(named_dots(dots, x_name, y_name), f"{x_name}, and near-future accuracy: {label}", x_name)
            )
    legend = f"Each dot is a learner: near-future accuracy (S = {s.shift:,}), percent. Times are of the machines of this run."
    return Panels("costs", "Accuracy and compute", legend, tuple(drawn))


# ------------------------------------------------------------------------------------------------ labels alone


def labels_alone(s: Summary) -> Panels:
    """Accuracy of the blind classifier over k and S."""
    part = "main" if blind.swept(s, "main", "batch") or blind.swept(s, "main", "sample") else "search"
    forms = {"batch": "in batches, as learners are evaluated", "sample": "sample by sample, as the paper defines it"}
    drawn = [
        Panel(blind_map(s, part, form), _extremes(grid), name, wide=True, note=_framed(s, part, form))
        for form, name in forms.items()
        if (grid := blind.swept(s, part, form))
    ]
    at_shift = any(shift == s.shift for form in forms for _, shift in blind.swept(s, part, form))
    framed = f" Framed in grey: S = {s.shift:,}." if at_shift else ""
    legend = f"Percent right, by k (rows) and S (columns); higher is more strongly coloured.{framed}"
    return Panels("labels", "What labels alone give away", legend, tuple(drawn))


def _extremes(grid: blind.Grid) -> str:
    low, high = (of(grid, key=lambda at: grid[at]["accuracy"]) for of in (min, max))
    ends = {"lowest": low, "highest": high}
    return "; ".join(
        f"{name}: {percent(grid[k, S]['accuracy'])} % at k = {k}, S = {S}" for name, (k, S) in ends.items()
    )


def _framed(s: Summary, part: str, form: str) -> str:
    """The line below a map: its samples, and the k of the baseline where these are framed."""
    n = min(r["n"] for r in blind.swept(s, part, form).values())
    at = [f"S = {shift:,}" for _, shift in sorted(_of_baseline(s, part, form), key=itemgetter(1))]
    return f"On the last {counted(n, 'sample')} of the {part} part." + (
        f" Framed in colour: the k of the baseline, at {enumerated(at)}." if at else ""
    )


def _of_baseline(s: Summary, part: str, form: str) -> list[tuple[int, int]]:
    """k and S of the baseline, as far as they were swept; it is evaluated in batches."""
    grid = blind.swept(s, part, form) if form == "batch" else {}
    return [at for shift, k in blind.chosen(s).items() if (at := (k, shift)) in grid]


def blind_map(s: Summary, part: str, form: str, ax: Axes | None = None) -> Figure:
    """Of a part of the stream and a form of the classifier."""
    grid = blind.swept(s, part, form)
    windows = sorted({k for k, _ in grid})[:MOST_MAPPED]
    shifts = sorted({shift for _, shift in grid})[:MOST_MAPPED]
    at = {(k, shift): (i, j) for i, k in enumerate(windows) for j, shift in enumerate(shifts)}
    values = {at[key]: float(r["accuracy"]) for key, r in grid.items() if key in at}
    framed = [at[key] for key in _of_baseline(s, part, form) if key in at]
    column = shifts.index(s.shift) if s.shift in shifts else None
    rows, columns = [samples(k) for k in windows], [samples(shift) for shift in shifts]
    return cells(values, rows, columns, names=("k", "S"), framed=framed, column=column, ax=ax)


def choice(s: Summary) -> Panels:
    """How S was chosen."""
    found = blind.choice(s.run.shift)
    panels = () if found is None else (Panel(shift_curve(s), f"kappa by S; chosen: S = {s.shift:,}"),)
    legend = "The blind classifier's kappa on the search part. Dashed: limits that do not depend on S; upright: the chosen S."
    return Panels("choice", "How S was chosen", legend, panels)


def shift_curve(s: Summary, ax: Axes | None = None) -> Figure:
    """K*(S), the bound that decides, and the tolerance; S on a logarithmic axis."""
    found, tol = blind.choice(s.run.shift), blind.tolerance(s)
    assert found is not None
    shifts = tuple(map(float, found.shifts))
    lines = [Line("K*(S): highest kappa over k", "found", shifts, tuple(found.best))]
    if found.bound:
        lines.append(Line("upper bound of K*, less its plateau", "random", shifts, tuple(found.bound)))
    ends = (shifts[0], shifts[-1])
    lines.append(Line(f"tolerance, {tol:g}", "soft", ends, (tol, tol), dashed=True))
    if (plateau := found.plateau) is not None:
        lines.append(Line("plateau", "paper", ends, (plateau, plateau), dashed=True))
    return curves(
        lines, "S, samples (logarithmic)", "kappa", ends=False, percent_y=False, mark=s.shift, log_x=True, ax=ax
    )


# ------------------------------------------------------------------------------------------------ in order and shuffled


def two_by_two(x: Shuffled, ax: Axes | None = None) -> Figure:
    """Trained and evaluated in order and shuffled."""
    order = ("ordered", "shuffled")
    values = {
        (i, j): x.cells[trained, evaluated]
        for i, trained in enumerate(order)
        for j, evaluated in enumerate(order)
        if math.isfinite(x.cells[trained, evaluated])
    }
    return cells(values, [f"trained {name}" for name in order], [f"evaluated {name}" for name in order], ax=ax)


def shuffled(s: Summary) -> Panels:
    """The two by two of each learner and window."""
    found = checked(s)
    drawn = []
    for x in found[:MOST_CELLS]:
        where = f"evaluated in order {points(x.ordered)}; evaluated shuffled {points(x.shuffled)}"
        label = f"Trained in order minus trained shuffled, points: {where}"
        drawn.append(Panel(two_by_two(x), label, f"{x.label}, window {x.window:,}", note=label))
    left = f" {len(found) - MOST_CELLS} more are in the table above." if len(found) > MOST_CELLS else ""
    legend = (
        f"Online accuracy, percent; higher is more strongly coloured. Cells of a column are of the same samples.{left}"
    )
    return Panels("shuffled", "In order and shuffled", legend, tuple(drawn))
