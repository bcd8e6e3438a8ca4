"""Numbers, durations and costs in words, the same wherever they are shown; lines for a terminal."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from seqsearch.core.text import shown
from seqsearch.stats.interval import Interval, shows

COLUMNS, FEWEST = 120, 40
"""Columns of what is printed where there is no terminal and no ``COLUMNS``; fewer than 40 are not asked for."""


def show(what: RenderableType) -> None:
    """Print on stdout; a line that is wider than that because it names a command (`line`) is not cut."""
    console().print(what, crop=False)


def console() -> Console:
    """For stdout: as wide as its terminal; elsewhere as ``COLUMNS`` says, or 120 columns."""
    columns = os.environ.get("COLUMNS", "")
    if sys.stdout.isatty():
        return Console()
    known = columns.isascii() and columns.isdecimal() and len(columns) < 6
    return Console(width=max(FEWEST, int(columns)) if known else COLUMNS)


class Bold(str):
    """A cell in bold: the accuracy of a method that may be the best."""


def line(text: str, style: str = "") -> Text:
    """A line, or a cell, for a terminal: every character shows, none is markup. A command to be copied stays in one line."""
    style = style or "bold" * isinstance(text, Bold)
    if text.removeprefix("- ").startswith("Go on with: "):
        return unbroken(text)
    return Text(shown(text), style=style)


def unbroken(text: str) -> Text:
    """As `line`, of what may be copied, as a digest or a path: it is never broken."""
    return Text(shown(text), no_wrap=True, overflow="ignore")


def without_options(text: str) -> str:
    """A note for a paper: without options and pages of the documentation in parentheses."""
    return re.sub(r" \((--|docs/)[^()]*\)", "", text)


def percent(fraction: float) -> str:
    """A fraction in percent, without the sign: ``12.3``; ``-`` if it is no number."""
    return f"{100 * fraction:.1f}".replace("-0.0", "0.0") if math.isfinite(fraction) else "-"


def points(difference: float) -> str:
    """A difference of fractions in pp, with its sign where it shows: ``+1.2``, ``0.0``; ``-`` if it is no number."""
    return f"{100 * difference:+.1f}" if shows(difference) else percent(abs(difference))


def interval(i: Interval, way: Callable[[float], str] = percent) -> str:
    """A value with its bounds, by default in percent: ``81.2 [79.0, 83.1]``."""
    return way(i.value) if math.isnan(i.low) else f"{way(i.value)} [{way(i.low)}, {way(i.high)}]"


def signed(i: Interval) -> str:
    """A difference in pp with its interval."""
    return interval(i, points)


def bounds_of(text: str) -> str:
    """The bounds in a text of `interval` or `signed`, with the space before them; empty where it has none."""
    _, space, bounds = text.partition(" ")
    return space + bounds


def p_text(p: float) -> str:
    """A p-value."""
    return "n/a" if math.isnan(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def megabytes(mb: float) -> str:
    return f"{mb:.2f}" if mb < 100 else f"{mb:,.0f}"


def samples(number: float) -> str:
    """A number of samples on an axis: ``512``, ``20k``, ``1.5M``."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= 10 * scale or (unit != "k" and abs(number) >= scale):
            return f"{number / scale:.3g}{unit}"
    return f"{number:,.4g}" if number < 1000 else f"{number:,.0f}"


def enumerated(parts: Sequence[str], last: str = " and ") -> str:
    """E.g. ``one``, ``one and two``, ``one, two and three``; of no parts an empty string."""
    return last.join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def duration(seconds: float) -> str:
    """E.g. ``2 h 5 min``, ``3 min 7 s``, ``41 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
