"""Names in figures: cut to the room that they have and still different, and beside numbers whatever way they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from rich.cells import cell_len

from seqsearch.core.text import shown

NAME, AXIS = 28, 18
"""Columns of a name beside a dot, and of one at an axis."""
_LEFTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff"
_RUN = re.compile(f"([{_LEFTWARD}](?:[^A-Za-z,;:]*[{_LEFTWARD}])?)")


def labels(names: Sequence[str], most: int = NAME) -> list[str]:
    """Names of at most so many columns, cut in the middle. If every cut makes two of them equal, each has a number.

    >>> labels(["er:epochs=1,size=12", "er:epochs=2,size=12"], 12)
    ['er:epochs=1…', 'er:epochs=2…']
    """
    whole = [shown(name) for name in names]
    for head in (most // 2, most // 3, 2 * most // 3, 0, most - 1):
        cut = [_cut(name, most, head) for name in whole]
        if len(set(cut)) == len(set(whole)):
            return cut
    numbers = {name: i for i, name in enumerate(dict.fromkeys(whole), 1)}
    return [f"{_cut(name, most - 4, most // 2)} {numbers[name]}" for name in whole]


def _cut(text: str, most: int, head: int) -> str:
    """A text in ``most`` columns: of a longer one ``head`` columns of its beginning, and its end."""
    if cell_len(text) <= most:
        return text
    start = _fitting(text, head)
    return f"{start}…{_fitting(text[::-1], most - 1 - cell_len(start))[::-1]}"


def _fitting(text: str, columns: int) -> str:
    return text[: sum(width <= columns for width in accumulate(map(cell_len, text)))]


def runs(text: str) -> list[str]:
    """A text in parts, every second of which is written from right to left: it must not move the numbers beside it.

    >>> [len(part) for part in runs("\u05d0\u05d1 63.7")]
    [0, 2, 5]
    """
    return _RUN.split(text)
