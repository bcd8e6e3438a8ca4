"""Strips: values as dots in rows on one axis, some of them marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.report.figures import figure_of, styled
from protocols.report.shapes import dotted, in_percent, in_rows
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Strip:
    """Values as dots in one row, and those that are ``marked`` as diamonds above them."""

    name: str
    values: tuple[float, ...]
    marked: tuple[float, ...]


def _tied(values: Sequence[float], within: float) -> list[tuple[float, float]]:
    """Each value, and how far it stands from its row so that those of the same value show; the farthest is ``within``."""
    alike = [round(x, 9) for x in values]
    before = [alike[:i].count(x) for i, x in enumerate(alike)]
    return [(x, within * n / max([2, *before])) for x, n in zip(values, before, strict=True)]


def strips(
    rows: Sequence[Strip], names: tuple[str, str], x_name: str, *, percent_x: bool = True, ax: Axes | None = None
) -> Figure:
    """Strips below each other on one axis. Dots of one value stand below each other, diamonds above each other.

    Args:
        names: what dots and diamonds stand for.
    """
    with styled():
        ax = in_rows(ax, [row.name for row in rows])
        for values, name, colour, y, down, way in (
            ([r.values for r in rows], names[0], "random", 0.0, 0.35, {"faint": True}),
            ([r.marked for r in rows], names[1], "found", -0.28, -0.2, {"marker": "D"}),
        ):
            places = [(x, i + y + aside) for i, row in enumerate(values) for x, aside in _tied(row, down)]
            dotted(ax, [x for x, _ in places], [y for _, y in places], colour, name, clip_on=False, **way)
        ax.set_xlabel(shown(x_name))
        if percent_x:
            in_percent(ax.xaxis)
        return figure_of(ax)
