"""Figures by matplotlib: a function takes data, and an axes if it is to draw there, and returns the figure.

A page shows their SVG in its own colours, light or dark: colours here are those of `page`, by name. Nothing of pyplot is used,
and nothing of the user's settings of matplotlib.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from xml.etree import ElementTree

from markupsafe import Markup

from protocols.report.labels import runs
from protocols.report.styles import UNITS, Style
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Item = TypeVar("Item")
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
WIDTH, WIDE, HEIGHT = 340, 380, 220
"""Of a figure on a page, and of one that stands alone, in units of its SVG: pixels where it is not scaled."""
READABLE, LARGEST = 9 / 11, 1.5
"""How small and how large a figure is drawn. Smaller ones scroll, so that their texts have 9 pixels; a telephone shows `WIDE`."""
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
    "font.size": UNITS,
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


def series(names: Iterable[str]) -> dict[str, str]:
    """The colour of each name: those of `SERIES` in turn."""
    return {name: SERIES[i % len(SERIES)] for i, name in enumerate(names)}


def sharing(items: Sequence[Item]) -> list[Sequence[Item]]:
    """Items in groups that share a figure, in which each has a colour of its own."""
    return [items[i : i + len(SERIES)] for i in range(0, len(items), len(SERIES))]


class Look(NamedTuple):
    """A style, and whether LaTeX sets its text."""

    style: Style
    latex: bool


_look: ContextVar[Look | None] = ContextVar("look", default=None)


@contextmanager
def looking(look: Look | None) -> Iterator[None]:
    """A block in which figures look as in a venue's papers; with None as on a page."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


def units(size: float) -> float:
    """A size on a page in points of the current look: it goes with the size of letters."""
    look = _look.get()
    return size * look.style.size / UNITS if look else size


@contextmanager
def styled() -> Iterator[None]:
    """A block in which matplotlib has its own defaults, `STYLE` and the current look, whatever the user has set."""
    import matplotlib

    own = {k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
    look = _look.get()
    with (
        matplotlib.rc_context({**own, **STYLE, **(look.style.settings(look.latex) if look else {})}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the reader's browser has it
        warnings.filterwarnings("ignore", message="constrained_layout not applied")  # names leave no room
        warnings.filterwarnings("ignore", category=matplotlib.MatplotlibDeprecationWarning)
        yield


class Drawing:
    """The figures of a block, in the order in which they are begun; the one with this ``number`` is drawn into ``ax``."""

    def __init__(self, ax: Axes | None = None, number: int = -1) -> None:
        self.ax, self.number = ax, number
        self.figures: list[Figure] = []


_drawing: ContextVar[Drawing | None] = ContextVar("drawing", default=None)


@contextmanager
def drawn(drawing: Drawing) -> Iterator[Drawing]:
    """A block in which figures are drawn as ``drawing`` says, in the style of pages."""
    token = _drawing.set(drawing)
    try:
        with styled():
            yield drawing
    finally:
        _drawing.reset(token)


def axes_of(ax: Axes | None, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """``ax``, or that of a new figure of this size, or the one that `drawn` has for it."""
    drawing = _drawing.get() if ax is None else None
    if drawing is not None and len(drawing.figures) == drawing.number:
        ax = drawing.ax
    if ax is None:
        from matplotlib.figure import Figure

        look = _look.get()
        size = look.style.inches(width, height, WIDE) if look else (width / 72, height / 72)
        ax = Figure(figsize=size).subplots()
    if drawing is not None:
        drawing.figures.append(figure_of(ax))
    return ax


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are in."""
    from matplotlib.figure import Figure

    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """A figure as a notebook shows it, on white: a PNG of twice the size, and the width and height to show it with."""
    buffer, (width, height) = io.BytesIO(), figure.get_size_inches() * 72
    with styled():
        figure.savefig(buffer, format="png", dpi=144, facecolor="white")
    return buffer.getvalue(), {"width": round(width), "height": round(height)}


# ------------------------------------------------------------------------------------------------ on a page

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
NAMES = {value: f"var(--{name}, {value})" for name, value in COLOURS.items()}


def inline(figure: Figure, name: str, label: str) -> str:
    """A figure as SVG within a page: its colours are the page's, its ids begin with ``name``; ``label`` describes it."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    with styled():
        figure.set_facecolor("none")
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})  # `savefig` would lay out and draw twice
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in [c for c in parent if c.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style")]:
            parent.remove(child)
    referred = {v.removeprefix("#") for e in root.iter() for k, v in e.items() if k == f"{{{XLINK}}}href"}
    referred |= {v[5:-1] for e in root.iter() for k, v in e.items() if v.startswith("url(#")}
    for element in list(root.iter()):
        _adapt(element, name, referred)
        _isolate(element)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": shown(label), "stroke-linejoin": "round", "overflow": "visible"}
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


def _isolate(element: ElementTree.Element) -> None:
    """Names that are written from right to left by themselves, so that numbers stay where they are."""
    first, *rest = runs(element.text or "")
    if rest:
        element.text = first
        for name, after in zip(rest[::2], rest[1::2], strict=True):
            part = ElementTree.SubElement(element, f"{{{SVG}}}tspan", {"style": "unicode-bidi: isolate"})
            part.text, part.tail = name, after


def _declared(text: str) -> str:
    """A declaration of a style, with the page's colours and its font; empty for the family of a font."""
    key, colon, value = (part.strip() for part in text.partition(":"))
    return "" if not colon or key == "font-family" else f"{key}: {NAMES.get(value, value)}"


def keys(figures: Sequence[Figure]) -> Markup:
    """The legend of figures as markup: each line, dot or bar that is drawn, once."""
    found = dict[str, str]()
    for figure in figures:
        for ax in figure.axes:
            for artist, label in zip(*ax.get_legend_handles_labels(), strict=True):
                if label:
                    found.setdefault(label, _key(artist))
    key, named = Markup('<span class="key {}">{}</span>'), Markup("<bdi>{}</bdi>")
    texts = {k: Markup("").join(named.format(t) if i % 2 else t for i, t in enumerate(runs(shown(k)))) for k in found}
    return Markup(" ").join(key.format(css, texts[k]) for k, css in found.items())


def _key(artist: Any) -> str:
    """The class of a key."""
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D
    from matplotlib.markers import TICKUP

    if not isinstance(artist, Line2D):
        return f"range {_NAMES_OF[to_hex(getattr(artist, 'patches', [artist])[0].get_facecolor())]}"
    colour = _NAMES_OF[str(artist.get_color())]
    if artist.get_marker() in ("|", TICKUP):
        return f"mark {colour}"
    if artist.get_linestyle() == "None":
        shape = {"D": " diamond", "d": " diamond", "x": " cross", "X": " cross"}.get(str(artist.get_marker()), "")
        return f"dot{shape} {colour}"
    return f"line dot {colour}{' masked' * artist.is_dashed()}"


_NAMES_OF = {value: name for name, value in COLOURS.items()}


@dataclass(frozen=True)
class Panel:
    """A figure on a page: its title (may be empty), and a text for readers who cannot see it; ``wide`` ones fill the page.

    ``note``: the line below it.
    """

    figure: Figure
    label: str
    title: str = ""
    wide: bool = False
    note: str = ""


class Drawn(NamedTuple):
    """A figure as a page has it: its SVG, its legend, and the width from which and up to which it is scaled.

    ``least`` is 0 for one as wide as its column. ``label`` says its figures in words.
    """

    title: str
    svg: Markup
    keys: Markup
    note: str
    least: int
    most: int
    label: str


@dataclass(frozen=True)
class Panels:
    """Figures under one heading.

    Attributes:
        name: what files and ids begin with.
        title, legend: the heading, and the text below the figures.
        shared: whether all have the same lines, so that these are named once.
    """

    name: str
    title: str
    legend: str
    panels: tuple[Panel, ...]
    shared: bool = False

    @property
    def shared_keys(self) -> Markup:
        """One legend for all of them."""
        return keys([p.figure for p in self.panels]) if self.shared else Markup("")

    def drawn(self) -> Iterator[Drawn]:
        """Each for a page."""
        for i, p in enumerate(self.panels):
            width = 72 * p.figure.get_figwidth() if p.wide else 0
            named = Markup("") if self.shared else keys([p.figure])
            svg = Markup(inline(p.figure, f"{self.name}-{i}", p.label))
            yield Drawn(p.title, svg, named, p.note, round(READABLE * width), round(LARGEST * width), p.label)
