"""Figures by matplotlib: a function takes data, and an axes if it is to draw there, and returns the figure.

A page shows their SVG in its own colours, light or dark: colours here are those of `page`, by name. Nothing of pyplot is used,
and nothing of the user's settings of matplotlib.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from seqsearch.core.text import shortened, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "found": "#b8430c",
    "random": "#2a5fb4",
    "easy": "#1f7a45",
    "given": "#7b4aa8",
    "paper": "#8a6d00",
    "text": "#1d1d1b",
    "soft": "#66645e",
    "rule": "#dedcd6",
    "page": "#ffffff",
}
"""Of a light page."""
SERIES = ("found", "random", "easy", "given", "paper")
"""Colours of lines that share a figure, in their order; no more share one."""
NAME = 32
"""Characters of a name beside a dot or a bar."""
WIDTH, HEIGHT = 340, 220
"""Of a figure on a page, in units of its SVG: pixels where it is not scaled."""
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": COLOURS["rule"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": COLOURS["soft"],
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 72,
    "figure.facecolor": "none",
    "font.size": 11,
    "grid.color": COLOURS["rule"],
    "lines.linewidth": 2.2,
    "lines.markersize": 5,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "seqsearch",
    "text.color": COLOURS["soft"],
    "text.parse_math": False,
    "xtick.color": COLOURS["soft"],
    "xtick.major.size": 0,
    "ytick.color": COLOURS["soft"],
    "ytick.major.size": 0,
}


@contextmanager
def styled() -> Iterator[None]:
    """A block in which matplotlib has its own defaults and `STYLE`, whatever the user has set."""
    import matplotlib

    own = {k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
    with matplotlib.rc_context({**own, **STYLE}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the reader's browser has it
        warnings.filterwarnings("ignore", message="constrained_layout not applied")  # names leave no room
        warnings.filterwarnings("ignore", category=matplotlib.MatplotlibDeprecationWarning)
        yield


def short(name: str) -> str:
    """A name that fits beside what it names."""
    return shortened(shown(name), NAME)


def axes_of(ax: Axes | None, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """``ax``, or that of a new figure of this size."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72, height / 72)).subplots()


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are in."""
    from matplotlib.figure import Figure

    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


# ------------------------------------------------------------------------------------------------ on a page

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
NAMES = {value: f"var(--{name})" for name, value in COLOURS.items()}


def inline(figure: Figure, name: str, label: str) -> str:
    """A figure as SVG within a page: its colours are the page's, its ids begin with ``name``; ``label`` says what it shows."""
    buffer = io.StringIO()
    with styled():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in [c for c in parent if c.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style")]:
            parent.remove(child)
    referred = {v.removeprefix("#") for e in root.iter() for k, v in e.items() if k == f"{{{XLINK}}}href"}
    referred |= {v[5:-1] for e in root.iter() for k, v in e.items() if v.startswith("url(#")}
    for element in root.iter():
        _adapt(element, name, referred)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": shown(label), "stroke-linejoin": "round"}
    return ElementTree.tostring(root, "unicode")


def _adapt(element: ElementTree.Element, name: str, referred: set[str]) -> None:
    found = dict(element.items())
    for key, value in found.items():
        if key == "id":
            if value in referred:
                element.set(key, f"{name}-{value}")
            else:
                del element.attrib[key]
        elif key == f"{{{XLINK}}}href":
            element.set(key, f"#{name}-{value.removeprefix('#')}")
        elif value.startswith("url(#"):
            element.set(key, f"url(#{name}-{value[5:]}")
        elif key == "style":
            element.set(key, "; ".join(filter(None, map(_declared, value.split(";")))))


def _declared(text: str) -> str:
    """A declaration of a style, with the page's colours and its font; empty for the family of a font."""
    key, colon, value = (part.strip() for part in text.partition(":"))
    return "" if not colon or key == "font-family" else f"{key}: {NAMES.get(value, value)}"


def keys(figures: Sequence[Figure]) -> str:
    """What lines, dots and bars of figures stand for, as markup: each that is drawn, once."""
    found = dict[str, str]()
    for figure in figures:
        for ax in figure.axes:
            for artist, label in zip(*ax.get_legend_handles_labels(), strict=True):
                if label:
                    found.setdefault(label, _key(artist))
    return " ".join(f'<span class="key {css}">{escape(shown(label))}</span>' for label, css in found.items())


def _key(artist: Any) -> str:
    """The class of a key."""
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D

    if not isinstance(artist, Line2D):
        return f"range {_NAMES_OF[to_hex(getattr(artist, 'patches', [artist])[0].get_facecolor())]}"
    colour = _NAMES_OF[str(artist.get_color())]
    if artist.get_marker() == "|":
        return f"mark {colour}"
    if artist.get_linestyle() == "None":
        return f"dot {colour}"
    return f"line dot {colour}{' masked' * artist.is_dashed()}"


_NAMES_OF = {value: name for name, value in COLOURS.items()}


@dataclass(frozen=True)
class Panel:
    """A figure on a page: its title (may be empty), and what a reader who cannot see it is read; ``wide`` ones fill the page.

    ``note``: what stands below it.
    """

    figure: Figure
    label: str
    title: str = ""
    wide: bool = False
    note: str = ""


@dataclass(frozen=True)
class Panels:
    """Figures under one heading.

    Attributes:
        name: what files and ids begin with.
        title, legend: the heading, and what the figures show.
        shared: whether all have the same lines, so that these are named once.
    """

    name: str
    title: str
    legend: str
    panels: tuple[Panel, ...]
    shared: bool = False

    def html(self) -> str:
        """As a section of a page; empty without a figure."""
        if not self.panels:
            return ""
        drawn = "".join(f"<div>{self._panel(i, p)}</div>" for i, p in enumerate(self.panels))
        named = f"{keys([p.figure for p in self.panels])} " if self.shared else ""
        legend = f'<p class="legend">{named}{escape(shown(self.legend))}</p>'
        return f'<h2>{escape(shown(self.title))}</h2>\n{legend}\n<div class="charts">{drawn}</div>'

    def _panel(self, number: int, panel: Panel) -> str:
        title = f"<h3>{escape(shown(panel.title))}</h3>" if panel.title else ""
        named = f"{'' if self.shared else keys([panel.figure])}{escape(shown(panel.note))}"
        below = f'<p class="legend">{named}</p>' if named else ""
        drawn = inline(panel.figure, f"{self.name}-{number}", panel.label)
        if panel.wide:
            width = 72 * panel.figure.get_figwidth()
            sizes = f"--least: {min(width, 560):.0f}px; max-width: {1.2 * width:.0f}px"  # so that texts stay readable
            drawn = f'<div class="scroll wide" style="{sizes}">{drawn}</div>'
        return f"{title}{drawn}{below}"
