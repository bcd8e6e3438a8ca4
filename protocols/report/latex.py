"""Tables as LaTeX: booktabs, figures that siunitx aligns, intervals as the user chooses, notes below, a command for each cell.

Names come from runs that others may have made: every character of them that LaTeX would act upon is escaped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from protocols.report.table import Cell, Column, Marked, Table, Value
from seqsearch.core.text import shown
from seqsearch.stats.interval import Interval

IntervalForm = Literal["brackets", "scripts", "plus-minus", "none"]
FORMS: tuple[IntervalForm, ...] = get_args(IntervalForm)
PREAMBLE = r"""\usepackage{adjustbox,booktabs,makecell,siunitx,textcomp,threeparttable}
\sisetup{detect-weight,mode=text,retain-explicit-plus,group-digits=integer,group-minimum-digits=4,group-separator={,}}
"""
"""What a document needs that has such tables."""
COLUMN, PAGE = 52, 105
"""Small letters across a column of two, and across both."""
NUMBER = re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d+))?")
"""A figure as it is shown."""
DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip


def tex(text: str) -> str:
    """Text for LaTeX, with every character escaped that would be a command."""
    return "".join(_ESCAPED.get(c, c) for c in shown(text)).replace("--", "-{}-")


# ------------------------------------------------------------------------------------------------ tables


def tabular(table: Table, intervals: IntervalForm = "brackets") -> str:
    """A ``tabular``: names left, figures aligned at their points, the cells in bold that the page has in bold.

    Args:
        intervals: ``81.2 [79.0, 83.1]``, bounds as scripts, ``81.2 ± 2.1`` where both bounds are as far away (scripts
            elsewhere), or none.
    """
    columns = [_Column(c, [row[i] for row in table.rows], intervals) for i, c in enumerate(table.columns)]
    rows = [" & ".join(column.cell(i) for column in columns) for i in range(len(table.rows))]
    if table.total and len(rows) > 1:
        rows[-1] = f"\\midrule\n{rows[-1]}"
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{''.join(c.kind for c in columns)}}}",
            r"\toprule",
            rf"{' & '.join(c.heading for c in columns)} \\",
            r"\midrule",
            *(rf"{row} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def floating(table: Table, intervals: IntervalForm, notes: Sequence[str] = (), run: str = "") -> str:
    """A ``table`` with its title as caption, a label, and notes below; see `tabular`. One that is too wide is made smaller.

    Args:
        run: name of the run, or of the runs; a part of the label.
    """
    letters = letters_across(table, intervals)
    across, size = "*" * (letters > COLUMN), r"\footnotesize" if letters > PAGE else r"\small"
    items = [rf"\item {tex(note)}" for note in notes]
    below = [r"\begin{tablenotes}\footnotesize", *items, r"\end{tablenotes}"] if items else []
    caption = " ".join(tex(part) for part in (f"{table.title}.", table.lead) if part)
    return "\n".join(
        [
            rf"\begin{{table{across}}}",
            rf"\centering{size}\setlength{{\tabcolsep}}{{3.5pt}}",
            r"\begin{adjustbox}{max width=\linewidth}\begin{threeparttable}",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{'-'.join(_label(part) for part in (run, table.name) if part)}}}",
            tabular(table, intervals).rstrip(),
            *below,
            r"\end{threeparttable}\end{adjustbox}",
            rf"\end{{table{across}}}",
            "",
        ]
    )


def letters_across(table: Table, intervals: IntervalForm) -> int:
    """About how many letters a table is wide."""
    widths = []
    for i, column in enumerate(table.columns):
        cells = [column.cell(row[i]) for row in table.rows]
        behind = 0 if intervals == "none" else 12 if intervals == "brackets" else 5
        texts = [len(c.main) + len(c.mark) + behind * bool(c.low) for c in cells]
        widths.append(max([*texts, *map(len, _lines(column))]) + 2)
    return sum(widths)


def _lines(column: Column) -> list[str]:
    """The lines of a heading."""
    first = column.heading.removesuffix("-")
    below = column.below if first == column.heading or not column.below else f"-{column.below}"
    return [text for text in (first, below) if text]


class _Column:
    """A column of a ``tabular``: figures, and what stands behind them, are two columns of LaTeX."""

    def __init__(self, column: Column, values: Sequence[Value], intervals: IntervalForm) -> None:
        self._cells = [column.cell(v) for v in values]
        self._behind = [_behind(c, _half(column, v), intervals) for c, v in zip(self._cells, values, strict=True)]
        figures = [] if column.left else [m for cell in self._cells if (m := _number(cell.main))]
        self._of_figures, self._two = bool(figures), bool(figures) and any(self._behind)
        if self._of_figures:
            sign = "+" if any(m[1] for m in figures) else ""
            whole = max(len(m[2].replace(",", "")) for m in figures)
            digits = max(len(m[3] or "") for m in figures)
            self.kind = f"S[table-format={sign}{max(whole, 1)}.{digits}]" + r"@{\,}l" * self._two
        else:
            self.kind = "l" if column.left else "r"
        first, *below = map(tex, _lines(column))
        title = rf"\makecell{{{first}\\{below[0]}}}" if below else first
        self.heading = (
            rf"\multicolumn{{2}}{{c}}{{{title}}}" if self._two else f"{{{title}}}" if self._of_figures else title
        )

    def cell(self, row: int) -> str:
        cell, behind = self._cells[row], self._behind[row]
        if not self._of_figures:
            text = tex(cell.main) + behind
            return rf"\textbf{{{text}}}" if cell.bold else text
        main = cell.main.replace(",", "") if _number(cell.main) else f"{{{tex(cell.main)}}}"
        main = rf"\bfseries {main}" if cell.bold else main
        return f"{main} & {behind}" if self._two else main


def _number(text: str) -> re.Match[str] | None:
    found = NUMBER.fullmatch(text)
    return found if found and (found[2] or found[3]) else None


def _behind(cell: Cell, half: str, intervals: IntervalForm) -> str:
    """The mark of a cell, and its interval."""
    mark = tex(cell.mark)
    if not cell.low or intervals == "none":
        return mark
    low, high = tex(cell.low), tex(cell.high)
    if intervals == "brackets":
        return f"{mark} [{low}, {high}]".strip()
    if intervals == "plus-minus" and half:
        return rf"{mark}$\pm$\,{half}"
    return rf"{mark}$_{{{low}}}^{{{high}}}$"


def _half(column: Column, value: Value) -> str:
    """Half the width of an interval whose bounds are shown to be as far from its value; else empty."""
    interval = value.value if isinstance(value, Marked) else value
    if not isinstance(interval, Interval) or math.isnan(interval.low):
        return ""
    scale = (value.scale if isinstance(value, Marked) else None) or column.scale
    below, above = (
        scale.text(distance).lstrip("+") for distance in (interval.value - interval.low, interval.high - interval.value)
    )
    return above if below == above else ""


# ------------------------------------------------------------------------------------------------ commands


class Macro(NamedTuple):
    """A command of LaTeX: its name without the backslash, and the text that it stands for."""

    name: str
    text: str


def macros(table: Table, run: str = "") -> Iterator[Macro]:
    """A command for each figure of a table: ``\\MethodsMineRanpacAccFound``, and ``...Low`` and ``...High`` of its interval.

    Names are made of the table, the run, the words of the row and the key of the column. A name that is taken gets a number.

    Args:
        run: its name, where it is in no column of the table.
    """
    taken = set[str]()
    for number, row in enumerate(table.rows, 1):
        words = "".join(_letters(c.text(v)) for c, v in zip(table.columns, row, strict=True) if c.left)
        of_row = words or f"Row{_letters(str(number))}"
        for column, value in zip(table.columns, row, strict=True):
            if column.left:
                continue
            cell = column.cell(value)
            base = name = f"{_letters(table.name)}{_letters(run)}{of_row}{_letters(column.key)}"
            again = 2
            while name in taken:
                name, again = base + _letters(str(again)), again + 1
            taken.add(name)
            for end, text in (("", cell.main), ("Low", cell.low), ("High", cell.high)):
                if text:
                    yield Macro(name + end, text)


def commands(found: Sequence[Macro]) -> str:
    """Definitions, a line each."""
    return "".join(rf"\newcommand{{\{m.name}}}{{{tex(m.text)}}}" + "\n" for m in found)


def _label(text: str) -> str:
    """A text as a part of a label: letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


def _letters(text: str) -> str:
    """A text as a part of a command's name, which may have letters only: ``acc_found`` is ``AccFound``, ``M=64`` ``MSixFour``."""
    words = re.findall(r"[A-Za-z]+|\d", text)
    return "".join(DIGITS[int(w)] if w.isdigit() else w[0].upper() + w[1:] for w in words)
