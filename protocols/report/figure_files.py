"""Figures of a view as files for papers and slides, each with its own keys, readable in grey."""

from __future__ import annotations

import io
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from protocols.report.figures import COLOURS, Look, Panel, Panels, looking, styled, units
from protocols.report.labels import labels
from protocols.report.latex import tex
from protocols.report.styles import FormatName, VenueName, style_of
from protocols.report.view import View, names_of, view_of_run
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, shown
from seqsearch.storage.outputs import check_ours, write_folder

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

DOTS = 300
"""Per inch, of PNG."""
MARKERS = {"found": "D", "random": "o", "easy": "^", "given": "s", "paper": "v"}
"""Of points, by colour."""
HATCHES = {"found": "", "random": "////", "easy": "....", "given": "xxxx", "paper": "----"}
"""Of bars, by colour."""
KEY, LETTER, LINE, TITLE = 48, 5.4, 17, 48
"""Width of a key without its text, and of a letter, and height of a line of keys or of a title, in units of a page; most
letters of a title or a key."""
MOST_MARKERS = 12
"""On a line of many points."""
UNDATED: Mapping[FormatName, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "png": {"metadata": {"Software": None}},
    "pgf": {},
}
"""Without dates and versions: the same figure is the same file."""


@dataclass(frozen=True)
class FigureFile:
    """A figure as a file.

    Attributes:
        name: of the figure, as of `seqsearch.Run.plot`.
        caption: what the page says below it, in plain text.
        label: its values in words.
        content: of the file.
        latex: whether LaTeX has set its text.
        why: why it has not, where it was to.
    """

    name: str
    caption: str
    label: str
    content: bytes
    latex: bool
    why: str = ""


def by_name(panels: Sequence[Panels]) -> dict[str, tuple[Panels, Panel]]:
    """Figures by name; a name with a number behind it is one of several panels."""
    return {
        p.name if len(p.panels) == 1 else f"{p.name}-{n}": (p, panel)
        for p in panels
        for n, panel in enumerate(p.panels, 1)
    }


def has_latex(kind: FormatName) -> bool:
    """Whether the programs are there by which matplotlib has LaTeX set text in files of this kind."""
    return all(map(shutil.which, ("latex", "kpsewhich", *(["dvipng"] if kind == "png" else []))))


def figure_files(view: View, venue: VenueName, kind: FormatName, latex: bool) -> Iterator[FigureFile]:
    """All figures of a view.

    Raises:
        UserError: ``pgf`` without LaTeX, which measures its text.
    """
    if kind == "pgf" and not shutil.which("pdflatex"):
        raise UserError("--to pgf needs pdflatex, which measures the text: install LaTeX, or choose --to pdf")
    look = Look(style_of(venue), latex)
    with looking(look):
        drawn = by_name(view.draws())
        for name, (panels, panel) in drawn.items():
            titled = panel.title if len(panels.panels) > 1 else ""
            distinct(panel.figure, titled)
            caption = " ".join(filter(None, (titled and f"{titled}:", panels.legend, panel.note)))
            yield FigureFile(name, shown(caption), shown(panel.label), *_content(name, panel.figure, kind, look))


def _content(name: str, figure: Figure, kind: FormatName, look: Look) -> tuple[bytes, bool, str]:
    """A figure in this format, whether LaTeX has set its text, and why not. What LaTeX cannot set is set without it.

    Raises:
        UserError: LaTeX cannot set the text of a figure in ``pgf``.
    """
    why = ""
    ways = (True,) if kind == "pgf" else (True, False) if look.latex and look.style.preamble else (False,)
    texts = _Texts(figure)
    for latex in ways:
        buffer = io.BytesIO()
        try:
            with looking(Look(look.style, latex and kind != "pgf")), styled():
                texts.set(tex if latex else str, latex and kind != "pgf")
                figure.savefig(buffer, format=kind, dpi=DOTS, **UNDATED[kind])
        except RuntimeError as error:
            if not latex:
                raise
            why = _why(error)
            if kind == "pgf":
                raise UserError(f"figure {name}: {why}; choose --to pdf") from error
        else:
            return buffer.getvalue(), latex, why
    raise AssertionError(f"no way to draw {name}")


def _why(error: RuntimeError) -> str:
    """What LaTeX lacks, from what it has printed."""
    cause: BaseException | None = error
    said = ""
    while cause is not None:
        said, cause = f"{said} {cause}", cause.__cause__ or cause.__context__
    file = re.search(r"File [`']([\w.-]+)' not found", said)
    return f"LaTeX has no {file[1]}" if file else "LaTeX cannot set letters of it"


class _Texts:
    """All texts of a figure, as they were drawn; numbers at ticks are written when it is saved."""

    def __init__(self, figure: Figure) -> None:
        from matplotlib.text import Text
        from matplotlib.ticker import FixedFormatter

        self._artists = {artist: artist.get_text() for artist in figure.findobj(Text) if isinstance(artist, Text)}
        formatters = [axis.get_major_formatter() for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
        self._at_ticks = {f: list(f.seq) for f in formatters if isinstance(f, FixedFormatter)}

    def set(self, escape: Callable[[str], str], latex: bool) -> None:
        """Write them anew, each line by itself."""
        for artist, text in self._artists.items():
            artist.set_usetex(latex)
            artist.set_text("\n".join(map(escape, text.split("\n"))))
        for formatter, texts in self._at_ticks.items():
            formatter.seq = ["\n".join(map(escape, text.split("\n"))) for text in texts]


def distinct(figure: Figure, title: str) -> None:
    """Make lines and bars differ by their form as well as by their colour, and add a title and the keys."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import Rectangle

    names = {value: name for name, value in COLOURS.items()}
    with styled():
        for ax in figure.axes:
            for line in ax.get_lines():
                marker, points = MARKERS.get(names.get(to_hex(line.get_color()), "")), np.size(line.get_xdata())
                joined = line.get_linestyle() != "None"
                if marker and (line.get_marker() == "o" or (joined and points > 2)):  # of two points it is an interval
                    line.set_marker(marker)
                    line.set_markevery(max(1, points // MOST_MARKERS) if joined else None)
            for patch in ax.patches:
                if isinstance(patch, Rectangle) and patch.get_label() != "" and patch.get_linewidth() > 0:
                    patch.set_hatch(HATCHES.get(names.get(to_hex(patch.get_edgecolor()), ""), ""))
            if title:
                ax.set_title(labels([title], TITLE)[0])
        handles: dict[str, Artist] = {}
        for ax in figure.axes:
            for artist, label in zip(*ax.get_legend_handles_labels(), strict=True):
                if label:
                    handles.setdefault(label, artist)
        width, height = figure.get_size_inches()
        named = labels(list(handles), TITLE)
        a_row = max(1, int(72 * width // units(KEY + LETTER * max(map(cell_len, named), default=0))))
        if handles:
            figure.legend(list(handles.values()), named, loc="outside upper center", ncols=min(len(handles), a_row))
        lines = math.ceil(len(handles) / a_row) + bool(title)
        figure.set_size_inches(width, height + lines * units(LINE) / 72)


# ------------------------------------------------------------------------------------------------ as files

INDEX = "figures.json"
PGF_PREAMBLE = b"\\usepackage{pgf}\n\\providecommand{\\mathdefault}[1]{#1}\n"
"""What a document needs that has figures in ``pgf``."""


def write_figures(runs: Sequence[Path], venue: VenueName, kind: FormatName, out: Path, latex: bool) -> dict[str, Any]:
    """Write the figures of runs into a folder, those of several runs into a folder each, and `INDEX` with their captions.

    Args:
        latex: LaTeX sets the text, if it is installed.

    Returns:
        The content of `INDEX`.

    Raises:
        UserError: see `figure_files` and `seqsearch.storage.outputs.write_folder`; a run without results.
    """
    views = dict(zip(names_of(runs), map(view_of_run, runs), strict=True))
    check_ours(out, INDEX)
    index, contents = folder_of(views, venue, kind, latex)
    write_folder(out, INDEX, contents)
    return index


def folder_of(
    views: Mapping[str, View], venue: VenueName, kind: FormatName, latex: bool
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The content of `INDEX`, and files by name: figures of views by their names, and `INDEX` itself. See `write_figures`."""
    latex = latex and has_latex(kind)
    found, contents = [], dict[str, bytes]()
    for name, view in views.items():
        made = []
        for f in figure_files(view, venue, kind, latex):
            file = f"{f.name}.{kind}" if len(views) == 1 else f"{name}/{f.name}.{kind}"
            contents[file] = f.content
            made.append(
                {"name": f.name, "file": file, "caption": f.caption, "values": f.label, "latex": f.latex, "why": f.why}
            )
        found.append({"run": name, "figures": made})
    if kind == "pgf":
        contents["preamble.tex"] = PGF_PREAMBLE
    index = {"style": venue, "to": kind, "fonts": _fonts(venue, kind, found), "runs": found}
    return index, {**contents, INDEX: json.dumps(index, indent=1).encode()}


def _fonts(venue: VenueName, kind: FormatName, found: Sequence[Mapping[str, Any]]) -> str:
    """A line on who has set the text."""
    by_latex = [figure["latex"] for run in found for figure in run["figures"]]
    why = dict.fromkeys(figure["why"] for run in found for figure in run["figures"] if figure["why"])
    if kind == "pgf":
        return "the text is set by LaTeX, with the paper"
    if not style_of(venue).preamble:
        return "the text is set in DejaVu Sans"
    if all(by_latex):
        return "the text is set by LaTeX, in the venue's fonts"
    which = "the text" if not any(by_latex) else f"the text of {counted(by_latex.count(False), 'figure')}"
    return f"{which} is set in STIX: {', '.join(why) or 'LaTeX is not installed, or not to be used'}"
