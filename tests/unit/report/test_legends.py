"""Everything that a figure of a report draws is named beside it, and nothing is named that is not drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex

from protocols import report
from protocols.report.figures import COLOURS, Drawn, Panels
from tests.unit.report.report_pages import PAGES, written

REPORTS = Path(report.__file__).parent
FRAME = {COLOURS["rule"], COLOURS["text"], COLOURS["page"]}
"""Colours of what stands for nothing: axes and labels."""


@pytest.fixture
def drawn(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Panels]:
    """All figures of the pages of a report."""
    found: list[Panels] = []
    drawn = Panels.drawn

    def collected(panels: Panels) -> Iterator[Drawn]:
        found.append(panels)
        return drawn(panels)

    monkeypatch.setattr(Panels, "drawn", collected)
    assert list(written(request.param, tmp_path / "pages"))
    return [p for p in found if p.panels]


def colours(ax: Any) -> Iterator[tuple[str, str]]:
    """Of what is drawn, with what it is."""
    for line in ax.lines:
        if len(line.get_xdata()):
            yield to_hex(line.get_color()), "line"
    for patch in ax.patches:
        if patch.get_fill():
            yield to_hex(patch.get_facecolor()), "patch"
    for collection in ax.collections:
        for colour in (*collection.get_facecolor(), *collection.get_edgecolor()):
            yield to_hex(colour), "band"


def named(ax: Any) -> set[str]:
    """Colours of what has a key, or a label of its own colour beside it."""
    handles, labels = ax.get_legend_handles_labels()
    keyed = [getattr(h, "patches", [h])[0] for h, label in zip(handles, labels, strict=True) if label]
    found = {to_hex(h.get_facecolor() if hasattr(h, "get_facecolor") else h.get_color()) for h in keyed}
    return found | {to_hex(t.get_color()) for t in ax.texts}


@pytest.mark.parametrize("drawn", PAGES, indirect=True)
def test_whatever_a_figure_draws_is_named(drawn: list[Panels]) -> None:
    assert drawn
    for panels in drawn:
        everywhere = (
            set().union(*(named(ax) for p in panels.panels for ax in p.figure.axes)) if panels.shared else set()
        )
        for panel in panels.panels:
            assert panel.label
            for ax in panel.figure.axes:
                for colour, kind in colours(ax):
                    cells = (
                        colour == COLOURS["random"] and kind == "patch" and ax.texts
                    )  # their numbers stand in or beside them
                    upright = colour == COLOURS["soft"] and "upright" in panels.legend.lower()
                    assert cells or upright or colour in FRAME | named(ax) | everywhere, (panels.name, kind, colour)


@pytest.mark.parametrize("drawn", PAGES, indirect=True)
def test_legends_say_how_to_read_what_has_no_key(drawn: list[Panels]) -> None:
    for panels in drawn:
        said = panels.legend.lower()
        for ax in (ax for p in panels.panels for ax in p.figure.axes):
            if any(c.get_alpha() == 0.15 for c in ax.collections):
                assert "band" in said, panels.name
            if any(line.is_dashed() and line.get_label().startswith("_") for line in ax.lines):
                assert "dashed" in said, panels.name
            if any(not patch.get_fill() for patch in ax.patches):
                assert "framed" in said, panels.name


def test_a_page_of_every_report_is_made_here() -> None:
    writing = {p for p in REPORTS.glob("*/*.py") if re.search(r"write_page\(|page_of\(|-> View:", p.read_text("utf-8"))}
    assert {p.parent.name for p in writing if p.name != "plan.py"} == set(PAGES), "plans have no page"


def test_figures_are_drawn_in_one_place() -> None:
    """No markup of drawings anywhere else."""
    drawing = [
        p.name
        for p in REPORTS.rglob("*.py")
        if re.search(r"<(svg|rect|circle|polyline|polygon)\b", p.read_text("utf-8"))
    ]
    assert drawing == []
