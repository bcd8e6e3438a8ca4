"""Numbers, durations and costs in words, the same wherever they are shown; lines for a terminal."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from html import escape
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from seqsearch.core.text import counted, shown
from seqsearch.distribution.interval import Interval, shows

COLUMNS, FEWEST = 120, 40
"""Columns of what is printed where there is no terminal and no ``COLUMNS``; fewer than 40 are not asked for."""


def show(what: RenderableType) -> None:
    """Print on stdout; a line that is wider than that because it names a command (`line`) is not cut."""
    console().print(what, crop=False)


def console() -> Console:
    """For stdout: as wide as its terminal; elsewhere as ``COLUMNS`` says, or 120 columns."""
    said = os.environ.get("COLUMNS", "")
    if sys.stdout.isatty():
        return Console()
    known = said.isascii() and said.isdecimal() and len(said) < 6
    return Console(width=max(FEWEST, int(said)) if known else COLUMNS)


class Bold(str):
    """A cell in bold: the accuracy of a method that may be the best."""


def cell(text: str) -> str:
    """In HTML."""
    return f"<b>{escape(text)}</b>" if isinstance(text, Bold) else escape(text)


def line(text: str, style: str = "") -> Text:
    """A line, or a cell, for a terminal: every character shows, none is markup. A command to be copied stays in one line."""
    style = style or "bold" * isinstance(text, Bold)
    if text.removeprefix("- ").startswith("Go on with: "):
        return unbroken(text)
    return Text(shown(text), style=style)


def unbroken(text: str) -> Text:
    """As `line`, of what may be copied, as a digest or a path: it is never broken."""
    return Text(shown(text), no_wrap=True, overflow="ignore")


def percent(fraction: float) -> str:
    """A fraction in percent, without the sign: ``12.3``; ``-`` if it is no number."""
    return f"{100 * fraction:.1f}".replace("-0.0", "0.0") if math.isfinite(fraction) else "-"


def points(difference: float) -> str:
    """A difference of fractions in points, with its sign where it shows: ``+1.2``, ``0.0``; ``-`` if it is no number."""
    return f"{100 * difference:+.1f}" if shows(difference) else percent(abs(difference))


def interval(i: Interval) -> str:
    """Percent with bounds: ``81.2 [79.0, 83.1]``."""
    return percent(i.value) if math.isnan(i.low) else f"{percent(i.value)} [{percent(i.low)}, {percent(i.high)}]"


def signed(i: Interval) -> str:
    """A difference in points with its interval."""
    value = points(i.value)
    return value if math.isnan(i.low) else f"{value} [{points(i.low)}, {points(i.high)}]"


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


def count(n: int, noun: str) -> str:
    """E.g. ``1 session``, ``1,024 trainings``."""
    return counted(n, noun)


def these(n: int, noun: str) -> str:
    """``this one training seed``, ``these 2 training seeds``."""
    return f"this one {noun}" if n == 1 else f"these {n} {noun}s"


def enumerated(parts: Sequence[str], last: str = " and ") -> str:
    """E.g. ``one``, ``one and two``, ``one, two and three``; of no parts an empty string."""
    return last.join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def highest(figures: Sequence[tuple[str, float]], what: str, where: str = "") -> str:
    """Who has the highest of ``figures`` (highest first), all that show it: ``er and ncm have the highest Avg (97.2 % each)``."""
    first = percent(figures[0][1])
    names = [name for name, value in figures if percent(value) == first]
    verb, each = ("have", " each") if len(names) > 1 else ("has", "")
    return f"{enumerated(names)} {verb} the highest {what}{where} ({first} %{each})"


def duration(seconds: float) -> str:
    """E.g. ``2 h 5 min``, ``3 min 7 s``, ``41 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


HARDLY = 0.01
"""A median movement of features below which a method is said to be nearly its head on frozen features."""


def hardly_moved(stats: dict[str, Any]) -> list[str]:
    """A line for each method whose trainings hardly moved its features, where the run says how far they did."""
    said = "it is nearly its head on frozen features."
    return [
        f"{shown(method)}: training moves its features by {100 * median:.2g} % (median of {count(n, 'training')}): {said}"
        for method, (median, n) in stats.get("moved", {}).items()
        if median < HARDLY
    ]


def _time(stats: dict[str, Any], seconds: float) -> str:
    """What the sessions took; with ``--time-budget`` what counted, and what did not."""
    sessions, starting = count(int(stats.get("sessions") or 1), "session"), stats.get("starting_seconds")
    if starting is None or stats.get("budget_seconds") is None:
        return f"{duration(seconds)} in {sessions}"
    spent = duration(float(stats["budget_seconds"]))
    return f"{spent} in {sessions} (+ {duration(float(starting))} starting, which --time-budget does not count)"


def _time_of_killed(stats: dict[str, Any]) -> str:
    """What is known of the time of a run of which sessions were killed; empty where none was."""
    sessions, killed = int(stats.get("sessions") or 0), int(stats.get("killed_sessions") or 0)
    if not killed:  # of an older version, which did not say how many
        return f"; how long {count(sessions, 'session')} took is not known: some were killed" if sessions > 1 else ""
    known = f"{duration(float(stats.get('others_seconds') or 0))} in {count(sessions - killed, 'session')}"
    unknown = f"{count(killed, 'more session')} {'was' if killed == 1 else 'were'} killed, and did not say how long"
    took = " it took" if killed == 1 else " they took"
    if killed >= sessions:
        return f"; {unknown.replace('more ', '')}{took}"
    return f"; {known}; {unknown}{took}"


def cost(stats: dict[str, Any] | None) -> list[str]:
    """What the trainings of the run did not do (`hardly_moved`), and what they took, as far as it says."""
    if stats is None:
        return ["No stats.json in the run folder: what the run cost is not known."]
    trained, naive = int(stats.get("trained") or 0), int(stats.get("naive") or 0)
    text = f"{count(trained, 'training')} done"
    if trained and naive > trained:  # fewer where the time was up before rollouts had come to their end
        text += f"; retraining every rollout from scratch takes {naive:,} ({naive / trained:.1f} times as many)"
    if stats.get("replayed"):
        text += f"; {count(int(stats['replayed']), 'result')} replayed from the journal"
    if (seconds := stats.get("wall_seconds")) is not None:
        text += f"; {_time(stats, float(seconds))}"
    else:
        text += _time_of_killed(stats)
    if (busy := stats.get("busy_share")) is not None:
        text += f", workers busy {percent(float(busy))} % of it"
    return [*hardly_moved(stats), text + "."]
