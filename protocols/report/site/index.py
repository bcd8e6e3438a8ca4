"""The index of a site: a table for each protocol, pool and group of equal settings, with intervals and ties instead of ranks."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.stats import norm

from protocols.report.site.boards import BOARDS, Figure
from protocols.report.site.entry import Entry
from protocols.report.table import DOWN, Column
from protocols.report.text import Bold
from seqsearch.core.text import shown_lines
from seqsearch.stats.interval import Interval

YES, NO, UNDECIDED = "yes", "no", "undecided"
BRIEF = 8
"""Digits of a digest where there is no room for all."""
_DIGEST = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Listed:
    """An entry of a site.

    Attributes:
        name: unlike that of any other entry.
        file: the name of its files, without their endings.
        page: the page of its run, None if there is none.
    """

    entry: Entry
    name: str
    file: str
    page: bytes | None = None

    @property
    def brief(self) -> str:
        """The beginning of its digest."""
        return self.entry.digest[:BRIEF]


@dataclass(frozen=True)
class Line:
    """A row of a table: a method of an entry, its figures as text, and whether it may be the best."""

    of: Listed
    method: str
    figures: dict[str, Figure]
    cells: tuple[str, ...] = ()
    verdict: str = UNDECIDED


@dataclass(frozen=True)
class Compared:
    """A table: entries whose figures can be compared.

    Attributes:
        title: what its settings have that those of other tables of the section have not; empty if it is alone.
        settings: what is equal in all its rows.
        columns: the one that rows are sorted by first.
        main: that column; None if no row has such a figure.
        left_out: columns whose sequences differ between its entries.
    """

    title: str
    settings: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    entries: tuple[Listed, ...]
    main: Column | None
    left_out: tuple[Column, ...]


@dataclass(frozen=True)
class Section:
    """The tables of a protocol and a pool."""

    protocol: str
    pool: str
    digest: str
    tables: tuple[Compared, ...]


def index(listed: Sequence[Listed]) -> bytes:
    """The page of all entries; every character in it shows."""
    from protocols.report.page import environment

    page = environment().get_template("site.html.j2")
    methods = {r.method for e in listed for r in e.entry.rows}
    text = page.render(listed=listed, methods=len(methods), sections=sections(listed), brief=BRIEF)
    return shown_lines(text).encode("utf-8", "backslashreplace")


def sections(listed: Sequence[Listed]) -> list[Section]:
    """By protocol, and by the digest of the pool that figures are of."""
    groups: dict[tuple[str, str], dict[tuple[tuple[str, str], ...], list[tuple[Listed, int]]]] = {}
    for of in listed:
        equal = tuple((s.name, s.value) for s in of.entry.settings)
        for number, pool in enumerate(of.entry.pools):
            group = groups.setdefault((of.entry.protocol, pool.value), {})
            group.setdefault(equal, []).append((of, number))
    found = []
    for (protocol, digest), by_settings in groups.items():
        differing = _differing(by_settings)
        tables = [_compared(equal, of, differing) for equal, of in by_settings.items()]
        first, number = next(iter(by_settings.values()))[0]
        name = first.entry.pools[number].name
        found.append(Section(protocol, name, digest, tuple(sorted(tables, key=lambda t: t.title))))
    order = list(BOARDS)
    return sorted(found, key=lambda s: (order.index(s.protocol), s.pool, s.digest))


def _differing(groups: Iterable[tuple[tuple[str, str], ...]]) -> list[str]:
    """Names of settings that some groups have with other values than others."""
    all_of = [dict(g) for g in groups]
    names = dict.fromkeys(name for of in all_of for name in of)
    return [n for n in names if len({of.get(n) for of in all_of}) > 1]


def _in_words(settings: Iterable[tuple[str, str]]) -> str:
    """E.g. ``tasks 3, split 1ef68806``; settings without a value are left out."""
    parts = ((name.replace("_", " "), v[:BRIEF] if _DIGEST.fullmatch(v) else v) for name, v in settings)
    return ", ".join(f"{name} {value}" for name, value in parts if value)


def _compared(equal: Sequence[tuple[str, str]], of: Sequence[tuple[Listed, int]], differing: Sequence[str]) -> Compared:
    entries, board = tuple(listed for listed, _ in of), of[0][0].entry.board
    own = len({e.entry.found for e in entries}) > 1
    lines = [
        Line(listed, row.method, {f.column: f for f in row.figures})
        for listed, number in of
        for row in listed.entry.rows
        if row.pool == number
    ]
    there = [c for c in board.columns if any(line.figures[c.key].value is not None for line in lines)]
    columns = tuple(c for c in there if not (own and c.key in board.found))
    main = next((c for key in board.main for c in columns if c.key == key), None)
    columns = tuple(sorted(columns, key=lambda c: c is not main))
    title = _in_words((n, dict(equal).get(n) or "none") for n in differing)
    return Compared(
        title,
        _in_words(equal),
        columns,
        tuple(_sorted(lines, columns, main)),
        entries,
        main,
        tuple(c for c in there if c not in columns),
    )


def _sorted(lines: Sequence[Line], columns: Sequence[Column], main: Column | None) -> list[Line]:
    """By the main figure, the best first; rows without it last."""
    verdicts = may_be_best(lines, main) if main else [UNDECIDED] * len(lines)
    made = [
        Line(line.of, line.method, line.figures, tuple(_cell(line, c, v == YES and c == main) for c in columns), v)
        for line, v in zip(lines, verdicts, strict=True)
    ]
    return sorted(made, key=lambda line: (-_height(line, main), line.method, line.of.name))


def _height(line: Line, main: Column | None) -> float:
    """The main figure, such that larger is better."""
    value = line.figures[main.key].interval.value if main else math.nan
    return -math.inf if math.isnan(value) else -value if main and main.direction == DOWN else value


def _cell(line: Line, column: Column, bold: bool) -> str:
    text = column.text(line.figures[column.key].interval)
    return Bold(text) if bold else text


def may_be_best(lines: Sequence[Line], main: Column) -> list[str]:
    """Whether each row may be the best.

    No: the paired comparison of its own entry excludes it, or its interval does not reach that of the row with the best
    figure, both `widened` for the number of rows; unless both are of one entry, which compares them in pairs.
    Undecided: a row without an interval, and all if fewer than two have one.
    """
    of = {id(line): line.figures[main.key].interval for line in lines}
    bounded = [line for line in lines if not math.isnan(of[id(line)].low)]
    if len(bounded) < 2:
        return [UNDECIDED] * len(lines)
    best = max(bounded, key=lambda line: _height(line, main))
    paired = {line.of.name for line in lines if line.figures[main.key].best}

    factor = widened(len(bounded))

    def verdict(line: Line) -> str:
        own, first = of[id(line)], of[id(best)]
        if math.isnan(own.low):
            return UNDECIDED
        in_pairs = line.of.name in paired
        if in_pairs and not line.figures[main.key].best:
            return NO
        together = in_pairs and line.of is best.of
        return YES if together or _reach(own, first, factor) else NO

    return [verdict(line) for line in lines]


def widened(rows: int) -> float:
    """By how much 95 % intervals are widened, so that the best of so many rows is ruled out in at most 5 % of boards.

    The best row is compared with all others. By Bonferroni's inequality each comparison may err in 5 % / (rows - 1) of boards.
    ``python -m benchmarks.coverage.leaderboard`` counts how often it is ruled out.

    >>> round(widened(2), 2), round(widened(10), 2)
    (1.0, 1.3)
    """
    return max(1.0, float(norm.ppf(1 - 0.05 / max(1, rows - 1)) / norm.ppf(0.975)))


def _reach(a: Interval, b: Interval, factor: float) -> bool:
    """Whether two intervals overlap that are so much wider."""
    low, high = (a, b) if a.value <= b.value else (b, a)
    return low.value + factor * (low.high - low.value) >= high.value - factor * (high.value - high.low)


def listed(entries: Iterable[tuple[Entry, bytes | None]]) -> list[Listed]:
    """Entries by name, with names and files of their own, whatever the order in which they are given."""
    ordered = sorted(entries, key=lambda e: (e[0].name, e[0].digest))
    names = _unlike(e.name for e, _ in ordered)
    files = _unlike((re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip(".-")[:60] or "entry" for name in names), {"index"})
    return [Listed(e, name, file, page) for (e, page), name, file in zip(ordered, names, files, strict=True)]


def _unlike(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names of which no two are equal on disks that know no capital letters: later ones have a number behind them."""
    used, found = set(taken), []
    for name in names:
        unused = next(
            n for n in itertools.chain([name], (f"{name}-{i}" for i in itertools.count(2))) if n.lower() not in used
        )
        used.add(unused.lower())
        found.append(unused)
    return found
