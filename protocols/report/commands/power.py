"""``seqsearch power``: how large a study must be to detect a difference, as tables and plain values.

Two kinds of studies are planned. A search study compares found sequences with random ones; its effect is the *drop*, the mean
accuracy on random sequences minus that on found sequences (`FoundSpread`). A study over class orders has as its effect the
difference of two methods, or with one method its accuracy (`PairSpread`, whose second method is then empty).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.power.spread import FoundSpread, PairSpread
from protocols.report.plain import plain
from protocols.report.table import COUNT, NEITHER, OURS, SPREAD, WORDS, Column, Layout, Scale, Table, table
from protocols.report.terminal import Grid, columns_of
from protocols.report.text import line, percent
from seqsearch.core.text import counted
from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.power import half_width_of_drop, power_of_found, power_of_mean, sd_at_most

SIZES = ((1, 19), (1, 39), (1, 59), (2, 5), (2, 10), (2, 19), (3, 5), (3, 19), (5, 5), (5, 19))
"""Numbers of searches and of random sequences of the studies in the table."""
SEEDS = (1, 3, 5, 10)
"""Numbers of training seeds in the table."""
DRAWS = (3, 5, 8, 10, 15, 20, 30, 50)
"""Numbers of class orders (or of whatever else the difference varies over, `PairSpread.unit`) in the table."""
WANTED = 0.8
"""Power that a study is planned for."""
OWN = f"{OURS}, docs/power.md"
TRAININGS = Column(
    "trainings", "trainings", "trainings of a study of this size, at most", COUNT, direction=NEITHER, source=OWN
)
HALF_WIDTH = Column(
    "half_width",
    "half-width, pp",
    "mean half-width of the 95 % interval: of the drop, or of the difference of two methods",
    SPREAD,
    direction=NEITHER,
    source=OWN,
)
POWER = Column(
    "power_...",
    "power at ... pp",
    "share of simulated studies with a significant difference, for a true one of that size",
    Scale("%", "0 to 100", lambda share: f"{100 * share:.0f} %"),
    direction=NEITHER,
    source=OWN,
    formula="significant studies / 1,000",
)
BY_SEARCHES = Layout(
    name="found",
    title="",
    columns=(Column("searches", "searches"), Column("random_sequences", "random sequences"), TRAININGS, POWER),
)
BY_SEEDS = Layout(
    name="seeds",
    title="",
    columns=(
        Column("training_seeds", "training seeds"),
        TRAININGS,
        HALF_WIDTH,
        Column(
            "over", "holds for",
            f"what the interval is over: with fewer than {FEWEST_OVER} training seeds it is conditional on these", WORDS,
            direction=NEITHER, source=OWN,
        ),
    ),
)  # fmt: skip
BY_ORDERS = Layout(name="orders", title="", columns=(Column("orders", "orders"), TRAININGS, HALF_WIDTH, POWER))
LAYOUTS = (BY_SEARCHES, BY_SEEDS, BY_ORDERS)


@dataclass(frozen=True)
class Size:
    """A size of a study.

    Attributes:
        of: what the study has, by name and number: ``{"searches": 3, "random sequences": 5}``.
        trainings: upper limit of its trainings.
        power: power for each difference that was asked for.
        half_width: mean half-width of the 95 % interval; NaN where it is not computed.
    """

    of: dict[str, int]
    trainings: int
    power: tuple[float, ...]
    half_width: float = math.nan


def sizes(spread: FoundSpread | PairSpread, differences: Sequence[float]) -> list[Size]:
    """The sizes of the main table, with the power of each."""
    if isinstance(spread, PairSpread):
        made = []
        for n in DRAWS:
            half_width, power = power_of_mean(differences, spread.sd, n)
            made.append(Size({spread.unit: n}, n * spread.trainings, tuple(power), half_width))
        return made
    noise = spread.random_sd if spread.training_sd is None else spread.training_sd
    return [
        Size(
            {"searches": F, "random sequences": L},
            spread.trainings(F, L, spread.seeds),
            tuple(power_of_found(differences, spread.random_sd, noise, F, L)),
        )
        for F, L in SIZES
    ]


def sizes_by_seeds(spread: FoundSpread) -> list[Size]:
    """The half-width of the interval of the drop, by number of training seeds, with the run's numbers of searches and random
    sequences."""
    noise = spread.random_sd if spread.training_sd is None else spread.training_sd
    return [
        Size(
            {"training seeds": R},
            spread.trainings(spread.searches, spread.random, R),
            (),
            half_width_of_drop(spread.accuracy, spread.random_sd, noise, spread.searches, spread.random, R),
        )
        for R in SEEDS
    ]


def render(run: str, found: Sequence[FoundSpread | PairSpread], differences: Sequence[float]) -> RenderableType:
    """For a terminal."""
    parts: list[RenderableType] = []
    for spread in found:
        made = sizes(spread, differences)
        by = _table_by_searches if isinstance(spread, FoundSpread) else _table_by_orders
        parts += [line(_title(run, spread), "bold"), line(_measured(spread)), line("")]
        parts += [Grid(by(made, differences)), line("")]
        parts += [*(line(f"- {sentence}") for sentence in _sentences(made, differences)), line("")]
        if isinstance(spread, FoundSpread):
            title = f"Interval of the drop, {counted(spread.searches, 'search')}, {spread.random} random sequences"
            parts += [line(title, "bold"), line(""), Grid(_table_by_seeds(sizes_by_seeds(spread))), line("")]
    notes = (*NOTES, HALF_WIDTH_NOTE) if any(isinstance(s, FoundSpread) for s in found) else NOTES
    parts += [line(f"- {sentence}") for sentence in notes]
    return Group(*parts, columns_of("power"))


NOTES = (
    "Power: the share of 1,000 simulated studies with a significant difference (5 %), for a true difference of that size. "
    "Accuracies are drawn from normal distributions with the standard deviations of this run.",
    "Trainings: those of the whole study, at most.",
)


HALF_WIDTH_NOTE = (
    "Half-widths leave out the test images, which widen the interval. With fewer than "
    f"{FEWEST_OVER} training seeds the interval holds for these trainings alone, so that it is not comparable with the others."
)


def to_json(run: str, found: Sequence[FoundSpread | PairSpread], differences: Sequence[float]) -> dict[str, Any]:
    """Plain values."""

    def values(spread: FoundSpread | PairSpread) -> dict[str, Any]:
        measured = {k: v for k, v in vars(spread).items() if not callable(v)}
        made = {"spread": measured, "sizes": [vars(s) for s in sizes(spread, differences)]}
        return made | ({"seeds": [vars(s) for s in sizes_by_seeds(spread)]} if isinstance(spread, FoundSpread) else {})

    data: dict[str, Any] = plain({"run": run, "differences": list(differences), "power": [values(s) for s in found]})
    return data


def _title(run: str, spread: FoundSpread | PairSpread) -> str:
    if isinstance(spread, FoundSpread):
        return f"{run}: power of the verdict 'harder than random sequences'"
    where = f" on {spread.pool}" if spread.pool else ""
    what = f"{spread.first} against {spread.second}" if spread.second else f"accuracy of {spread.first}"
    return f"{run}: {what}{where}"


def _measured(spread: FoundSpread | PairSpread) -> str:
    """The standard deviations that the simulation rests on."""
    if isinstance(spread, FoundSpread):
        training = (
            f"One training of a found sequence ({spread.seeds} seeds): {percent(spread.training_sd)} pp."
            if spread.training_sd is not None
            else "The run has one training seed, so that a training of a found sequence is taken to vary as much."
        )
        return (
            f"Standard deviations, mean over methods. One training of a random sequence ({spread.random} sequences): "
            f"{_sd(spread.random_sd, spread.random)}. {training}"
        )
    text = f"Standard deviation over {spread.draws} {spread.unit}: {_sd(spread.sd, spread.draws)}."
    return f"{text} Of all pairs of methods, this difference varies most." if spread.second else text


def _sd(sd: float, n: int) -> str:
    return f"{percent(sd)} pp (with 80 % confidence at most {percent(sd_at_most(sd, n))} pp)"


def _table_by_searches(made: Sequence[Size], differences: Sequence[float]) -> Table:
    return table(BY_SEARCHES, "", [(*_counts(s), *s.power) for s in made], _columns(BY_SEARCHES, differences))


def _table_by_seeds(made: Sequence[Size]) -> Table:
    over = ["other training seeds" if s.of["training seeds"] >= FEWEST_OVER else "these trainings alone" for s in made]
    return table(BY_SEEDS, "", [(*_counts(s), s.half_width, o) for s, o in zip(made, over, strict=True)])


def _table_by_orders(made: Sequence[Size], differences: Sequence[float]) -> Table:
    return table(BY_ORDERS, "", [(*_counts(s), s.half_width, *s.power) for s in made], _columns(BY_ORDERS, differences))


def _columns(layout: Layout, differences: Sequence[float]) -> list[Column]:
    """The columns of a layout, with its last one, the power, repeated for each difference."""
    return [*layout.columns[:-1], *(POWER.named(f"{100 * d:g}") for d in differences)]


def _counts(size: Size) -> tuple[int, ...]:
    return (*size.of.values(), size.trainings)


def _name(plural: str, n: int) -> str:
    return "search" if (plural, n) == ("searches", 1) else plural


def _sentences(made: Sequence[Size], differences: Sequence[float]) -> list[str]:
    """For each difference, a sentence with the cheapest size that has the power `WANTED`."""
    sentences = []
    for i, d in enumerate(differences):
        enough = [s for s in made if s.power[i] >= WANTED]
        if enough:
            best = min(enough, key=lambda s: s.trainings)
            needs = " and ".join(f"{n} {_name(name, n)}" for name, n in best.of.items())
            sentences.append(
                f"A difference of {100 * d:g} pp is detected in {100 * best.power[i]:.0f} % of studies with {needs}."
            )
        else:
            sentences.append(
                f"A difference of {100 * d:g} pp needs more than this table has for {100 * WANTED:.0f} % power."
            )
    return sentences
