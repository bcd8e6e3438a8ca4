"""Tables: columns with their descriptions, and rows of values.

A column is described in its `Column` object and nowhere else. A table writes itself for a terminal, a page, JSON, CSV, Markdown
and pandas; `protocols.report.latex` writes LaTeX. docs/metrics.md is made of the same columns.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from protocols.report.text import Bold, megabytes, p_text, percent, points
from seqsearch.core.text import as_cell, counted, shown
from seqsearch.stats.interval import Interval

if TYPE_CHECKING:
    import pandas as pd

CLDYB = "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models"
EDGE = "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"
GTEP = "Hyperparameters in Continual Learning: A Reality Check"
MCIL = "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks"
NEAR_FUTURE = "Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?"
OURS = "this program"
UP, DOWN, NEITHER = "higher is better", "lower is better", "neither is better"
"""Directions of a column: whether a higher figure is better for a method."""
NONE = "-"
"""The text of a cell without a value, unless its column has another."""


def seconds(value: float) -> str:
    """Three significant digits, from 1,000 on all digits before the point."""
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


class Scale(NamedTuple):
    """Unit, range and format of the values of a column.

    Attributes:
        unit: of the shown value.
        bounds: range of the shown value, in words.
        text: writes a value, which is a fraction for percent and pp, in this unit.
    """

    unit: str
    bounds: str
    text: Callable[[Any], str]


NAME = Scale("", "", str)
"""For columns that name a row, or say in words how it ended. docs/metrics.md lists their headings only."""
WORDS = Scale("-", "-", str)
"""For columns of words that docs/metrics.md explains."""
PERCENT = Scale("%", "0 to 100", percent)
POINTS = Scale("pp", "-100 to 100", percent)
"""For percentage points without a plus sign."""
DIFFERENCE = Scale("pp", "-100 to 100", points)
"""For percentage points with their sign, plus as well as minus."""
SPREAD = Scale("pp", "from 0", percent)
SHARE = Scale("%", "at most 100", percent)
"""For a relative difference."""
COUNT = Scale("count", "from 0", lambda n: f"{n:,}")
HUNDREDTHS = SPREAD._replace(text=lambda spread: f"{100 * spread:.2f}")
SMALL = COUNT._replace(text=str)
"""For counts that are rarely in the thousands."""
MEGABYTES = Scale("MB", "from 0", megabytes)
SECONDS = Scale("s", "from 0", seconds)
P_VALUE = Scale("1", "0 to 1", p_text)


@dataclass(frozen=True)
class Marked:
    """A value of a cell with a mark behind it, in bold, or with another scale than its column."""

    value: float | Interval | None
    mark: str = ""
    bold: bool = False
    scale: Scale | None = None


class Cell(NamedTuple):
    """A cell as it is shown: its value, the bounds of its interval (empty without one), its mark, and whether it is bold."""

    main: str
    low: str = ""
    high: str = ""
    mark: str = ""
    bold: bool = False


Value = str | float | Interval | Marked | tuple[float | None, ...] | None
"""Value of a cell. A tuple has the figures of a column with ``parts``. Text is shown unchanged."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        key: its name in JSON, CSV and data frames.
        heading: its name for readers. ``...`` stands for a name from the run, such as a method or a pool (`named`).
        about: its meaning.
        scale: unit, range and format.
        direction: `UP`, `DOWN` or `NEITHER`; for a figure of sequences and not of a method, the meaning of a higher value.
        source: title and equation, table or section of a paper; for a figure of this program, the page of the docs.
        formula: how it is computed, in the letters of docs/metrics.md; empty if ``about`` suffices, as for counts and times.
        over: the draws that its interval is over; empty if it has no interval.
        below: a second line of the heading.
        none: the text of a cell without a value.
        parts: for cells with several figures, which the scale shows together: the ending of the key of each figure.
    """

    key: str
    heading: str
    about: str = ""
    scale: Scale = NAME
    direction: str = NEITHER
    source: str = ""
    formula: str = ""
    over: str = ""
    below: str = ""
    none: str = NONE
    parts: tuple[str, ...] = ()

    def named(self, name: str, key: str = "") -> Column:
        """The column with ``name`` in place of ``...`` in the heading, and ``key`` (by default ``name``) in the key."""
        heading, below = (text.replace("...", name) for text in (self.heading, self.below))
        return replace(self, heading=heading, below=below, key=self.key.replace("...", key or name))

    @property
    def left(self) -> bool:
        """Whether its cells are aligned left: words, not figures."""
        return self.scale in (NAME, WORDS)

    @property
    def title(self) -> str:
        """The heading in one line: ``Acc found``. A word that is divided by a hyphen at the end of the first line is joined."""
        if self.heading.endswith("-"):
            return self.heading[:-1] + self.below
        return f"{self.heading} {self.below}".strip()

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the value and of the bounds of its interval, or of each of its parts."""
        parts = self.parts or (("", "_low", "_high") if self.over else ("",))
        return tuple(self.key + part for part in parts)

    def cell(self, value: Value) -> Cell:
        """A value as it is shown, in its parts."""
        if isinstance(value, Marked):
            found = replace(self, scale=value.scale or self.scale).cell(value.value)
            return found._replace(mark=value.mark, bold=value.bold)
        if isinstance(value, Interval):
            found = self.cell(value.value)
            if math.isnan(value.low):
                return found
            return found._replace(low=self.scale.text(value.low), high=self.scale.text(value.high))
        if isinstance(value, str):
            return Cell(value or self.none)
        if isinstance(value, tuple):
            return Cell(self.scale.text(value))
        return Cell(self.none if value is None or not math.isfinite(value) else self.scale.text(value))

    def text(self, value: Value) -> str:
        """The text of a cell: ``81.2 [79.0, 83.1]`` with an interval, ``81.2* [79.0, 83.1]`` with an interval and a mark."""
        main, low, high, mark, bold = self.cell(value)
        text = f"{main}{mark} [{low}, {high}]" if low else f"{main}{mark}"
        return Bold(text) if bold else text

    def plain(self, value: Value) -> tuple[str | float | None, ...]:
        """A value for each of `keys`; None for an empty text and for a number that is not finite."""
        if isinstance(value, Marked):
            value = value.value
        if isinstance(value, Interval):
            value = (value.value, value.low, value.high)
        found = value if isinstance(value, tuple) else (value,)
        known = [None if v == "" or (isinstance(v, float) and not math.isfinite(v)) else v for v in found]
        return tuple([*known, *[None] * len(self.keys)][: len(self.keys)])


METHOD = Column("method", "Method")
MEAN = "mean over trainings at the end"
"""The default trainings of `stored` and `size`."""


def stored(key: str, heading: str, over: str = MEAN) -> Column:
    """The size of a method's state, for all protocols; ``over``: which of the trainings."""
    return Column(
        key,
        heading,
        "what a method keeps beyond the backbone at the end: parameters, statistics, and stored images with their texts "
        "(exemplars)",
        MEGABYTES,
        DOWN,
        f"{CLDYB}, appendix B.3",
        f"bytes / 10^6, {over}; 32-bit floats, 8-bit images",
    )


def size(key: str, heading: str, over: str = MEAN) -> Column:
    """The size of the model, for all protocols; ``over``: which of the trainings."""
    return Column(
        key,
        heading,
        "all parameters of the model at the end, backbone included, trained or not",
        MEGABYTES,
        DOWN,
        f"{GTEP}, section 4.1, Fig. 6(b)",
        f"4 bytes x parameters / 10^6, {over}",
    )


@dataclass(frozen=True)
class Layout:
    """A table without its rows.

    Attributes:
        name: its name in JSON and of its files.
        title: its heading.
        columns: all columns that it may have.
    """

    name: str
    title: str
    columns: tuple[Column, ...]


class Mentioned(NamedTuple):
    """A figure that is in no table, and where it is instead."""

    where: str
    column: Column


@dataclass(frozen=True, repr=False)
class Table:
    """A table of a run.

    Attributes:
        name: its name in JSON and of its files.
        title: its heading.
        lead: a sentence between the heading and the table; may be empty.
        columns: its columns.
        rows: values in the order of ``columns``: fractions (not percent), megabytes (10^6 bytes) and seconds.
        total: the last row sums up the others.
    """

    name: str
    title: str
    lead: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: bool = False

    def __repr__(self) -> str:
        return f"<table {self.name}, {counted(len(self.rows), 'row')}: {', '.join(self.keys)}>"

    def _repr_html_(self) -> str:
        """In a notebook."""
        sides = ["left" if c.left else "right" for c in self.columns]
        lines = [("th", tuple(c.title for c in self.columns)), *(("td", row) for row in self.texts)]
        rows = (
            "".join(
                f'<{cell} style="text-align: {side}">{escape(shown(text))}</{cell}>'
                for text, side in zip(row, sides, strict=True)
            )
            for cell, row in lines
        )
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The cells as they are shown."""
        return [tuple(c.text(v) for c, v in zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns; a second line follows a line break."""
        return tuple(f"{c.heading}\n{c.below}" if c.below else c.heading for c in self.columns)

    @property
    def keys(self) -> list[str]:
        """Keys of all values and bounds, all different: a key that is taken gets ``_`` behind it. Two can be equal where a
        method's name is another's with ``_low`` behind it."""
        found: list[str] = []
        for key in (k for c in self.columns for k in c.keys):
            while key in found:
                key += "_"
            found.append(key)
        return found

    def only(self, keys: Sequence[str]) -> Table:
        """The table with the columns of these keys, in this order."""
        known = [c.key for c in self.columns]
        places = [known.index(key) for key in keys]
        rows = tuple(tuple(row[i] for i in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in places), rows=rows)

    def _plain(self) -> Iterator[list[str | float | None]]:
        for row in self.rows:
            yield [v for c, value in zip(self.columns, row, strict=True) for v in c.plain(value)]

    def records(self) -> list[dict[str, str | float | None]]:
        """One dictionary per row, for JSON; None for a number that is not finite."""
        return [dict(zip(self.keys, row, strict=True)) for row in self._plain()]

    def csv(self) -> str:
        """CSV with the keys as first line. A cell without a value is empty. Text that a spreadsheet would take for
        a formula gets an apostrophe before it."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([as_cell(shown(key)) for key in self.keys])
        for row in self._plain():
            writer.writerow([as_cell(shown(v)) if isinstance(v, str) else v for v in row])
        return out.getvalue()

    def frame(self) -> pd.DataFrame:
        """A data frame, with a column for each key."""
        import pandas as pd

        return pd.DataFrame(list(self._plain()), columns=self.keys)

    def markdown(self) -> str:
        """A pipe table."""
        return "\n".join(_pipes([tuple(c.title for c in self.columns), *self.texts], [c.left for c in self.columns]))


def table(
    layout: Layout, lead: str, rows: Sequence[Sequence[Value]], columns: Sequence[Column] = (), title: str = ""
) -> Table:
    """A table of a layout with ``rows`` and the sentence ``lead`` above it; ``columns`` and ``title`` replace those of the layout
    if the run decides them."""
    return Table(layout.name, title or layout.title, lead, tuple(columns) or layout.columns, tuple(map(tuple, rows)))


def of_words(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of texts alone, for a page of the docs."""
    return Table("", "", "", tuple(Column(h, h, none="") for h in headings), tuple(map(tuple, rows)))


def _pipes(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> Iterator[str]:
    head, *body = ([shown(text).replace("\\", "\\\\").replace("|", "\\|") for text in row] for row in rows)
    for row in (head, ["---" if it else "---:" for it in left], *body):
        yield f"| {' | '.join(row)} |"
