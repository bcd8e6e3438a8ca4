"""How often the interval of a mean over n class orders holds, and how wide it is: the one rule, and those that it replaces.

    python -m benchmarks.coverage.mean [--repeats 4000] [--write] | --table

Nothing is trained: accuracies are drawn with known means, in units of their standard deviation (outliers: of that of the others).
Rows "mean": n draws with one training each (seeds 1), or with three training seeds that all draws share (seeds 3: an effect of
the seed and noise, each half the sd of orders). Rules:

- ``now``: `mean_interval`, from 3 draws on, and `mean_accuracy` with seeds in common;
- ``t``: Student's with n - 1 degrees of freedom (compare until now, from 2 draws on);
- ``fewer``: Student's with those of `degrees_of` (mcil until now, from 3 on);
- ``t or Hall``: both with n - 1 (gtep until now from 5 on, edge and duel from 30 on);
- ``fewer, both``: both with those of `degrees_of`; ``percentile`` and ``bootstrap t``: 499 resamples of each of 500 samples. None
  of the three was in use.

The constants of `degrees_of` were chosen on exponential draws, and on no other shape here. Rows "until": after ``--until mean``
with this half-width, looks as a run has them, 300 orders at most: whether the mean's interval holds, and how often a statement
on the tail misses, from all orders that were trained, and from the number that was planned before looking. Rows "adjusted": the
mean with the objective S as control variate; S is normal, and the rest of the accuracy has the shape.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import RESULTS, write_rows
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.difference import mean_accuracy
from seqsearch.stats.interval import degrees_of, t_quantile
from seqsearch.stats.mean import FEWEST, adjusted_mean, mean_interval
from seqsearch.stats.quantiles import share_beyond
from seqsearch.stats.sampling import FIRST_LOOK, Target, wanted

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]
Row = dict[str, float | str | int | None]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
NUMBERS, SEEDS = (2, 3, 5, 8, 10, 20, 30), (1, 3)
ADJUSTED = (4, 5, 8, 10, 20, 30)
RESAMPLES, RESAMPLED = 499, 500
LOOSE = -math.inf, math.inf
CENTRE, SD = 0.5, 0.005
RULES = ("now", "t", "fewer", "t or Hall", "fewer, both", "percentile", "bootstrap t")


def lognormal(sigma: float, sign: int) -> Draw:
    mean = math.exp(sigma**2 / 2)
    sd = mean * math.sqrt(math.expm1(sigma**2))
    return lambda rng, shape: sign * (rng.lognormal(0, sigma, shape) - mean) / sd


def outliers(share: float, far: float) -> Draw:
    """Normal, and one in so many lies ``far`` sd lower."""
    return lambda rng, shape: rng.normal(size=shape) - far * (rng.random(shape) < share) + share * far


SHAPES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "ties": lambda rng, shape: np.rint(rng.normal(size=shape)),
    "beta(5, 1)": lambda rng, shape: (rng.beta(5, 1, shape) - 5 / 6) / math.sqrt(5 / 252),
    "minus lognormal .5": lognormal(0.5, -1),
    "minus lognormal .75": lognormal(0.75, -1),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "lognormal 1": lognormal(1.0, 1),
    "10 % outliers, 4 sd": outliers(0.1, 4.0),
    "10 % outliers, 8 sd": outliers(0.1, 8.0),
}
HEAVY: dict[str, Draw] = {
    "normal": SHAPES["normal"],
    "minus lognormal .75": SHAPES["minus lognormal .75"],
    "minus lognormal 1": lognormal(1.0, -1),
    "t, 3 degrees": lambda rng, shape: rng.standard_t(3, shape) / math.sqrt(3),
    "10 % outliers, 8 sd": SHAPES["10 % outliers, 8 sd"],
    "3 % outliers, 8 sd": outliers(0.03, 8.0),
}
WIDTHS, MOST = (0.5, 0.3, 0.2), 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_mean.json")
    parser.add_argument("--table", action="store_true", help="print the tables of the docs from that file")
    a = parser.parse_args()
    if a.table:
        print(tables(json.loads((RESULTS / "coverage_mean.json").read_text())["rows"]))
        return
    start = time.perf_counter()
    found = [*means(a.repeats), *adjusted(a.repeats), *until(a.repeats)]
    for row in found:
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    minutes = (time.perf_counter() - start) / 60
    print(f"{minutes:.1f} minutes")
    if a.write:
        write_rows("coverage_mean", {"repeats": a.repeats, "minutes": round(minutes, 1), "rows": found})


# ------------------------------------------------------------------------------------------------ means


def means(repeats: int, numbers: tuple[int, ...] = NUMBERS, rules: tuple[str, ...] = RULES) -> Iterator[Row]:
    """Every rule at every cell. The draws of a cell depend on no rule, the resamples on those before."""
    for name, draw in SHAPES.items():
        for n in numbers:
            for seeds in SEEDS:
                rng = seeded_numpy("coverage-mean", name, n, seeds)
                x = draw(rng, (repeats, n))[:, :, None]
                if seeds > 1:
                    x = x + rng.normal(0, 0.5, (repeats, 1, seeds)) + rng.normal(0, 0.5, (repeats, n, seeds))
                for rule in rules:
                    if found := _bounds(rule, x, rng):
                        yield {"what": "mean", "shape": name, "n": n, "seeds": seeds, "rule": rule, **_held(*found)}


def _bounds(rule: str, x: Floats, rng: np.random.Generator) -> Bounds | None:
    """Of the mean of ``x [repeats, n, seeds]``; None where a rule has no interval."""
    n = x.shape[1]
    if rule == "now":
        return _now(x) if n >= FEWEST else None
    if n < 3 and rule != "t":
        return None
    if rule in ("percentile", "bootstrap t"):
        return _resampled(rule, x[:RESAMPLED].mean(axis=2), rng) if x.shape[2] == 1 else None
    draws, shared = x.mean(axis=2), x.mean(axis=1)
    value, error = draws.mean(axis=1), draws.std(axis=1, ddof=1) / math.sqrt(n)
    student = t_quantile(0.95, degrees_of(n) if rule.startswith("fewer") else n - 1)
    high = low = np.full_like(value, student)
    if rule in ("t or Hall", "fewer, both"):
        high, low = np.maximum(student, _hall(draws, student)), np.maximum(student, -_hall(draws, -student))
    rest = np.zeros_like(value)
    if x.shape[2] > 1:
        R = x.shape[2]
        rest = t_quantile(0.95, R - 1) * shared.std(axis=1, ddof=1) / math.sqrt(R)
    nothing = np.where(np.ptp(draws, axis=1) > 1e-9, 0.0, math.nan)
    return value - np.hypot(high * error, rest) + nothing, value + np.hypot(low * error, rest) + nothing


def _now(x: Floats) -> Bounds:
    """By the functions themselves."""
    if x.shape[2] == 1:
        found = [mean_interval(row[:, 0], LOOSE) for row in x]
        return np.array([i.low for i in found]), np.array([i.high for i in found])
    found = [mean_accuracy(CENTRE + SD * row).value for row in x]
    return tuple((np.array([getattr(i, end) for i in found]) - CENTRE) / SD for end in ("low", "high"))


def _hall(draws: Floats, t: float) -> Floats:
    """Hall's transformation undone at ``t``."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # draws that agree have no skewness
        g = stats.skew(draws, axis=1, bias=False) / math.sqrt(draws.shape[1])
        undone = 3 / g * (np.cbrt(1 + g * (t - g / 6)) - 1)
    return np.where(np.abs(g) > 1e-6, undone, t)


def _resampled(rule: str, draws: Floats, rng: np.random.Generator) -> Bounds:
    n, ends = draws.shape[1], (0.025, 0.975)
    found = []
    for x in draws:
        again = x[rng.integers(n, size=(RESAMPLES, n))]
        with np.errstate(all="ignore"):
            off = again.mean(axis=1) - x.mean()
            off = off if rule == "percentile" else off / again.std(axis=1, ddof=1)
        off = off[np.isfinite(off)]
        low, high = np.quantile(off, ends) if len(off) else (math.nan, math.nan)
        sd = x.std(ddof=1)
        found.append(
            (x.mean() + low, x.mean() + high) if rule == "percentile" else (x.mean() - high * sd, x.mean() - low * sd)
        )
    return np.array(found)[:, 0], np.array(found)[:, 1]


def _held(low: Floats, high: Floats) -> Row:
    said = np.isfinite(low)
    held = ((low <= 0) & (high >= 0))[said]
    share = float(held.mean()) if len(held) else math.nan
    width = float((high - low)[said].mean() / 2) if len(held) else math.nan
    return {
        "held": share,
        "error": math.sqrt(share * (1 - share) / max(1, len(held))),
        "half_width": width,
        "said": float(said.mean()),
    }


def adjusted(repeats: int) -> Iterator[Row]:
    """The mean with S as control variate."""
    for name, draw in SHAPES.items():
        for n in ADJUSTED:
            rng = seeded_numpy("coverage-mean", "adjusted", name, n)
            S = rng.normal(size=(repeats, n))
            y = CENTRE + SD * (draw(rng, (repeats, n)) + S)
            found = [adjusted_mean(accuracies, of, 0.0) for accuracies, of in zip(y, S, strict=True)]
            low, high = ((np.array([getattr(i, end) for i in found]) - CENTRE) / SD for end in ("low", "high"))
            yield {"what": "adjusted", "shape": name, "n": n, **_held(low, high)}


# ------------------------------------------------------------------------------------------------ until


def until(repeats: int, shapes: Iterable[str] = HEAVY) -> Iterator[Row]:
    """After ``--until mean``."""
    for name in shapes:
        draw = HEAVY[name]
        many = np.sort(draw(seeded_numpy("coverage-mean", "truth", name), (1_000_000,)))
        sd = float(many.std())
        for width in WIDTHS:
            rng, target = seeded_numpy("coverage-mean", "until", name, str(width)), Target("mean", width * SD * sd)
            x = CENTRE + SD * draw(rng, (repeats, MOST))
            found = np.array([_stopped(row, target, many) for row in x])
            held, all_missed, planned_missed, number = found.mean(axis=0).tolist()
            yield {
                "what": "until",
                "shape": name,
                "width": width,
                "held": held,
                "tail missed": all_missed,
                "tail missed, planned": planned_missed,
                "orders": number,
            }


def _stopped(x: Floats, target: Target, many: Floats) -> tuple[bool, bool, bool, int]:
    n = FIRST_LOOK
    while (enough := min(MOST, wanted(x[:n], target))) > n:
        n = enough
    i = mean_interval(x[:n])
    return i.low <= CENTRE <= i.high, _missed(x[:n], many), _missed(x[:FIRST_LOOK], many), n


def _missed(x: Floats, many: Floats) -> bool:
    """Whether more orders are below the lowest of ``x`` than is stated at 95 %."""
    below = np.searchsorted(many, (x.min() - CENTRE) / SD) / len(many)
    return bool(below > share_beyond(len(x)))


# ------------------------------------------------------------------------------------------------ tables


COLUMNS = ("t", "fewer", "t or Hall", "now")


def tables(rows: list[Row]) -> str:
    """Of the docs, as Markdown: coverage and mean half-width by rule, and what ``--until mean`` does to both."""
    lines = []
    for seeds in SEEDS:
        of = {(r["shape"], r["n"], r["rule"]): r for r in rows if r["what"] == "mean" and r["seeds"] == seeds}
        for figure, times in (("held", 100), ("half_width", 1)):
            lines += ["", f"{figure}, seeds {seeds}: {' / '.join(COLUMNS)}", ""]
            lines += [_line("shape", *(f"n = {n}" for n in NUMBERS)), _line(*["---"] * (1 + len(NUMBERS)))]
            lines += [_line(s, *(_cell(of, s, n, figure, times) for n in NUMBERS)) for s in SHAPES]
    with_s = {(r["shape"], r["n"]): r for r in rows if r["what"] == "adjusted"}
    lines += [
        "",
        "adjusted",
        "",
        _line("shape", *(f"n = {n}" for n in ADJUSTED)),
        _line(*["---"] * (1 + len(ADJUSTED))),
    ]
    lines += [_line(s, *(f"{100 * float(with_s[s, n]['held'] or 0):.1f}" for n in ADJUSTED)) for s in SHAPES]
    lines += ["", _line("shape", *(f"{w:g} sd" for w in WIDTHS)), _line(*["---"] * (1 + len(WIDTHS)))]
    stops = {(r["shape"], r["width"]): r for r in rows if r["what"] == "until"}
    figures = ("held", "tail missed", "tail missed, planned")
    for shape in HEAVY:
        cells = [" / ".join(f"{100 * float(stops[shape, w][f] or 0):.1f}" for f in figures) for w in WIDTHS]
        lines.append(_line(shape, *cells))
    return "\n".join(lines)


def _cell(of: dict[tuple[str, int, str], Row], shape: str, n: int, figure: str, times: int) -> str:
    shown = (of.get((shape, n, rule)) for rule in COLUMNS)
    return " / ".join(f"{times * float(r[figure] or 0):.{1 if times > 1 else 2}f}" if r else "-" for r in shown)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
