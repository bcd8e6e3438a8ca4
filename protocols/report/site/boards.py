"""What a leaderboard compares of each protocol: columns, the main one, and the settings that must be equal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from protocols.cldyb.compared import Pair, best_of
from protocols.evaluate.compare.figures import side_of
from protocols.evaluate.compare.runs import evaluated_on, read_runs
from protocols.report.edge.tables import METHODS as EDGE
from protocols.report.gtep.tables import ACC, AVG, HARMONIC
from protocols.report.mcil.tables import METHODS as MCIL
from protocols.report.online.tables import FUTURE, LEARNERS
from protocols.report.table import OURS, PERCENT, POINTS, UP, Column, Layout, Marked, Table, Value
from protocols.report.view import View
from seqsearch.results.run import FOUND
from seqsearch.stats.interval import Interval

PAPER = f"{OURS}, docs/paper.md"
OVER = "sequences, training seeds and test images, as far as a run has several"


def _acc(key: str, heading: str, which: str) -> Column:
    about = f"final accuracy on {which}: mean over tasks, sequences and training seeds"
    return Column(key, f"{heading} [95 %]", about, PERCENT, UP, PAPER, "1/T sum over i <= T of a_Ti", OVER)


def _side(figure: str, heading: str, about: str, formula: str) -> Column:
    scale = POINTS if figure == "ar" else PERCENT
    return Column(f"{figure}_random", f"{heading}, random", about, scale, UP, PAPER, formula)


def _picked(layout: Layout, *keys: str) -> tuple[Column, ...]:
    return tuple(c for key in keys for c in layout.columns if c.key == key)


def _mean(column: Column, heading: str) -> Column:
    """Of a column with mean and sd the mean."""
    return replace(column, heading=heading, scale=PERCENT, parts=())


RANDOM = _acc("acc_random", "Acc, random", "random sequences")
ON_FOUND = _acc(
    "acc_found", "Acc, found", "all sequences that a search found; lower for the methods that it searched with"
)


@dataclass(frozen=True)
class Board:
    """How runs of a protocol are compared.

    Attributes:
        columns: those of a table of the site, behind that of the method.
        main: keys of the columns that may decide the order of rows; the first that a table has does.
        settings: those that must be equal for figures to be compared, beside `SETTINGS`.
        identity: the same, of the identity of a run; ``a.b`` is b within a.
        found: keys of columns whose sequences a run found by itself.
        sides: columns that are computed from the results instead of taken from the key table: kinds of sequences by key.
    """

    columns: tuple[Column, ...]
    main: tuple[str, ...]
    settings: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    sides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


SETTINGS = ("seed", "backbone", "precision", "augment", "exclude_groups")
IDENTITY = ("split_digest", "classes_in_play")
BOARDS = {
    "cldyb": Board(
        (
            RANDOM,
            _side("ar", "AR", "average retention on random sequences: what earlier tasks kept since they were learned",
                  "1/(T-1) sum over i < T of (a_Ti - a_ii)"),
            _side("ala", "ALA", "average learning accuracy on random sequences: each task right after it was learned",
                  "1/T sum over i <= T of a_ii"),
            ON_FOUND,
        ),
        ("acc_random",),
        ("tasks", "classes_per_task", "grow", "baseline"),
        ("first_task",),
        ("acc_found",),
        {"acc_random": ("random",), "acc_found": FOUND},
    ),
    "edge": Board(
        _picked(EDGE, "mean", "sd", "hard", "easy", "difference"),
        ("mean",),
        ("tasks", "classes", "initial_classes", "estimator"),
        ("task_sizes",),
        ("hard", "easy", "difference"),
    ),
    "gtep": Board(
        (HARMONIC, _mean(ACC, "Acc"), _mean(AVG, "AvgAcc")),
        ("h",),
        ("tasks", "classes_per_task", "first_task", "class_orders", "params", "trials", "max_trials", "orders", "searcher",
         "scheduler", "select", "space"),
        ("sides.tuned_on.digest", "task_sizes"),
    ),
    "online": Board(
        (replace(FUTURE, heading="near future [95 %]"), *_picked(LEARNERS, "online", "retention")),
        ("near_future",),
        ("batch", "budget", "search", "holdout"),
        ("shift", "played_digest"),
    ),
    "mcil": Board(
        _picked(MCIL, "average", "pd_final", "stored_mb", "size_mb"),
        ("average",),
        ("experiences", "classes"),
        ("scenario", "experience_sizes"),
    ),
    "score": Board(
        (
            ON_FOUND,
            _acc("acc_easy", "Acc, easy", "easy sequences"),
            _acc("acc_given", "Acc, given", "the sequences of a file"),
            RANDOM,
            _acc("acc_heldout", "Acc, held-out pool", "random sequences of a pool that no search saw"),
        ),
        ("acc_found", "acc_given", "acc_random"),
        ("grow", "which", "by_name"),
        ("source",),
        (),
        {"acc_found": FOUND, "acc_easy": ("easy",), "acc_given": ("given",), "acc_random": ("random",),
         "acc_heldout": ("heldout",)},
    ),
}  # fmt: skip
"""By protocol; runs of others have no figure of a method that could be compared."""


@dataclass(frozen=True)
class Figure:
    """A value of a row, None where the run has none, with the bounds of its 95 % interval.

    ``best``: by the run's own paired comparison its method may be the best in this column, and some other may not.
    """

    column: str
    value: float | None
    low: float | None
    high: float | None
    best: bool

    @property
    def interval(self) -> Interval:
        """The value with its bounds, NaN where they are not known."""
        value, low, high = (math.nan if v is None else v for v in (self.value, self.low, self.high))
        return Interval(value, low, high)


@dataclass(frozen=True)
class Row:
    """The figures of a method; ``pool``: the number of the pool, from 0."""

    pool: int
    method: str
    figures: tuple[Figure, ...]


def rows_of(run: Path, board: Board, view: View, pools: Sequence[str]) -> Iterator[Row]:
    """The rows of a finished run; ``pools``: names of the pools in its key table, if it has a column for them.

    Raises:
        UserError: results that cannot be compared.
    """
    if board.sides:
        yield from _by_sequences(run, board)
    elif view.key:
        yield from _by_table(view.key[0], board, pools)


def _by_table(table: Table, board: Board, pools: Sequence[str]) -> Iterator[Row]:
    keys = [c.key for c in table.columns]
    name = next(keys.index(key) for key in ("method", "learner") if key in keys)
    for row in table.rows:
        cells = {c.key: (c, value) for c, value in zip(table.columns, row, strict=True)}
        figures = []
        for wanted in board.columns:
            column, value = cells.get(wanted.key, (wanted, None))
            figures.append(_figure(column, value, isinstance(value, Marked) and value.bold))
        pool = pools.index(str(row[keys.index("pool")])) if "pool" in keys else 0
        yield Row(pool, str(row[name]), tuple(figures))


def _figure(column: Column, value: Value, best: bool = False) -> Figure:
    """Of a cell: its value and its bounds; of a cell with several figures the first."""
    plain = column.plain(value)
    numbers = [float(v) if isinstance(v, float | int) else None for v in (plain if column.over else plain[:1])]
    number, low, high = [*numbers, None, None][:3]
    return Figure(column.key, number, low, high, best)


def _by_sequences(run: Path, board: Board) -> Iterator[Row]:
    """Accuracies with intervals, which the key table lacks, and the 95 % set of the best on the same sequences and seeds."""
    [compared] = read_runs([run])
    values: dict[str, dict[str, Figure]] = {m: {} for m in compared.data.methods}
    for key, kinds in board.sides.items():
        sequences = tuple(s for s in compared.data.sequences if s.kind in kinds)
        there = {m: j for m in values if sequences and (j := evaluated_on(compared, m, sequences))}
        best = best_of(list(there), [Pair(j, j, j.seeds) for j in there.values()])
        for m, j in there.items():
            side = side_of(compared.name, m, key, (j,), None)
            bold = m in best and len(best) < len(there)
            values[m][key] = _figure(replace(RANDOM, key=key), side.estimates["acc"].value, bold)
            for figure in ("ar", "ala"):
                name = key.replace("acc", figure)
                values[m][name] = Figure(name, float(side.values[figure].mean()), None, None, False)
    for m, of in values.items():
        yield Row(0, m, tuple(of.get(c.key) or _figure(c, None) for c in board.columns))
