"""Looks of figures in papers and on slides: widths and fonts of venues.

Those that tueplots knows are its own; IEEE TPAMI's are those of its author guide: columns of 3.5 in, text of 7.16 in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

VenueName = Literal["icml", "neurips", "iclr", "cvpr", "tpami", "slides"]
VENUES: tuple[VenueName, ...] = get_args(VenueName)
FormatName = Literal["pdf", "svg", "pgf", "png"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)
UNITS = 11
"""Size of letters on a page; sizes in `protocols.report.figures` are relative to it."""


@dataclass(frozen=True)
class Style:
    """How figures look.

    Attributes:
        column: width in inches of a figure in a column, or of one of two beside each other.
        text: width in inches of one across the whole text.
        size, small: of letters in points: of names of axes, and of ticks and keys.
        preamble: LaTeX that sets the venue's fonts; empty for letters without serifs.
    """

    column: float
    text: float
    size: float
    small: float
    preamble: str = ""

    def inches(self, width: float, height: float, alone: float) -> tuple[float, float]:
        """The size of a figure that has this one on a page. One no wider than ``alone`` gets a column."""
        across = self.column if width <= alone else min(self.text, self.column * width / alone)
        return across, height * across / width

    def settings(self, latex: bool) -> dict[str, Any]:
        """Settings of matplotlib; with ``latex`` it sets all text."""
        serif = bool(self.preamble)
        ink = "#000000"
        return {
            "axes.edgecolor": "#888888",
            "axes.labelcolor": ink,
            "axes.labelsize": self.size,
            "axes.linewidth": 0.6,
            "axes.titlesize": self.size,
            "figure.facecolor": "white",
            "font.family": "serif" if latex and serif else "STIXGeneral" if serif else "DejaVu Sans",
            "font.size": self.size,
            "grid.linewidth": 0.5,
            "legend.fontsize": self.small,
            "legend.frameon": False,
            "lines.linewidth": 2.2 * self.size / UNITS,
            "lines.markersize": 5 * self.size / UNITS,
            "mathtext.fontset": "stix",
            "pdf.fonttype": 42,
            "pgf.preamble": self.preamble,
            "pgf.rcfonts": False,
            "pgf.texsystem": "pdflatex",
            "savefig.facecolor": "white",
            "svg.fonttype": "path",
            "text.color": ink,
            "text.latex.preamble": self.preamble,
            "text.usetex": latex and serif,
            "xtick.color": ink,
            "xtick.labelsize": self.small,
            "ytick.color": ink,
            "ytick.labelsize": self.small,
        }


TIMES = r"\usepackage{times}"
OWN: Mapping[str, Style] = {
    "tpami": Style(3.5, 7.16, 8, 7, TIMES),
    "slides": Style(6.0, 12.0, 18, 14),
}


def style_of(venue: VenueName) -> Style:
    """The look of a venue's papers."""
    from tueplots import bundles

    if venue in OWN:
        return OWN[venue]
    if venue in ("icml", "cvpr"):
        bundle = bundles.icml2024 if venue == "icml" else bundles.cvpr2024
        half, full = bundle(column="half"), bundle(column="full")
    else:
        bundle = bundles.neurips2024 if venue == "neurips" else bundles.iclr2024
        half, full = bundle(rel_width=0.5), bundle(rel_width=1.0)
    widths = half["figure.figsize"][0], full["figure.figsize"][0]
    return Style(*widths, half["font.size"], half["xtick.labelsize"], half["text.latex.preamble"].strip())
