"""Legends of charts: a key for each kind of mark that is drawn, made from the drawing itself, and none for what is not in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

KINDS = (
    "line", "dot", "band", "mark", "range", "bar", "cell", "frame", "interval", "growth", "even", "candidate", "chosen",
)  # fmt: skip
"""First class of whatever stands for something in a chart; after it come its colour, and ``masked`` if it is dashed."""
_DRAWN = re.compile(rf'class="({"|".join(KINDS)})((?: [a-z]+)*)"')


def marks(drawn: str) -> set[tuple[str, str]]:
    """Kind and colour of what is drawn, such as ``("dot", "found masked")``; of frame and labels nothing."""
    return {(kind, colour.strip()) for kind, colour in _DRAWN.findall(drawn)}


def keys(names: Mapping[str, str], drawn: Iterable[str]) -> str:
    """The keys of charts, as markup.

    Args:
        names: what marks stand for, as text, by their kinds and colour: ``"line dot found masked"``.
        drawn: the charts; a name of which nothing is in them gets no key.
    """
    there = set().union(*map(marks, drawn))
    found = []
    for asked, name in names.items():
        words = asked.split()
        colour = " ".join(w for w in words if w not in KINDS)
        kinds = [w for w in words if (w, colour) in there]
        if kinds:
            found.append(f'<span class="key {" ".join([*colour.split(), *kinds])}">{escape(name)}</span>')
    return "".join(found)


def section(title: str, legend: str, drawn: Sequence[str]) -> str:
    """Charts under a heading; ``legend`` is markup. Empty without charts."""
    if not drawn:
        return ""
    return f'<h2>{escape(title)}</h2>\n<p class="legend">{legend}</p>\n<div class="charts">{"".join(drawn)}</div>'


def titled(title: str, drawn: str) -> str:
    """A chart, as markup, with its title in `section`."""
    return f"<div><h3>{escape(title)}</h3>{drawn}</div>"
