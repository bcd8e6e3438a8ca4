"""Figures as files for papers: their sizes, letters and keys, and what is never written over."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import seqsearch as ss
from protocols.report.figure_files import by_name, distinct, figure_files, write_figures
from protocols.report.figures import Look, Panel, Panels, looking
from protocols.report.shapes import Line, curves
from protocols.report.styles import VENUES, VenueName, style_of
from protocols.report.view import View, view_of_run
from seqsearch.core.errors import UserError
from tests.unit.api.small import SMALL

COLUMN = {"icml": 3.25, "cvpr": 3.25, "neurips": 2.75, "iclr": 2.75, "tpami": 3.5, "slides": 6.0}
"""Inches, of the venues' author guides; two figures share the text of those with one column."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ss.cldyb(**{**SMALL, "methods": "simplecil,ranpac:M=64"}, out=tmp_path_factory.mktemp("runs") / "made").path


@pytest.fixture(scope="module")
def view(run: Path) -> View:
    return view_of_run(run)


@pytest.mark.parametrize("venue", VENUES)
def test_figures_are_as_wide_as_the_column(view: View, venue: VenueName) -> None:
    found = list(figure_files(view, venue, "pdf", latex=False))
    assert [f.name for f in found][:3] == ["placed", "tasks-1", "tasks-2"]
    for f in found:
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) [\d.]+ \]", f.content)
        assert box is not None
        assert float(box[1]) / 72 == pytest.approx(COLUMN[venue], abs=0.01)
        assert b"/Type3" not in f.content, "venues refuse such fonts"
        assert f.caption
        assert f.label


def test_the_same_figure_is_the_same_file(view: View) -> None:
    for kind in ("pdf", "svg", "png"):
        once, again = ([f.content for f in figure_files(view, "icml", kind, latex=False)] for _ in range(2))
        assert once == again, kind


def line(name: str, colour: str) -> Line:
    return Line(name, colour, (1.0, 2.0), (0.5, 0.4))


def drawn_lines(*names: str) -> Axes:
    with looking(Look(style_of("icml"), latex=False)):
        figure = curves([line(name, name) for name in names], "x")
        distinct(figure, "a title")
    return figure.axes[0]


def test_lines_differ_without_colour_and_have_keys() -> None:
    ax = drawn_lines("found", "random", "easy", "given", "paper")
    lines = [x for x in ax.get_lines() if x.get_label() in ("found", "random", "easy", "given", "paper")]
    assert len({x.get_marker() for x in lines}) == 5
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["found", "random", "easy", "given", "paper"]
    assert ax.get_title() == "a title"


def test_sizes_go_with_the_letters() -> None:
    width = {}
    for venue in ("icml", "slides"):
        with looking(Look(style_of(venue), latex=False)):
            [drawn] = [x for x in curves([line("found", "found")], "x").axes[0].get_lines() if x.get_label() == "found"]
        width[venue] = drawn.get_linewidth()
    assert width["slides"] / width["icml"] == pytest.approx(18 / 8)


def test_figures_are_named_as_in_python(run: Path, view: View) -> None:
    assert list(by_name(view.draws())) == list(ss.open(run).figures())
    one = Panels("one", "", "", (Panel(Figure(), ""),))
    two = Panels("two", "", "", (Panel(Figure(), ""), Panel(Figure(), "")))
    assert list(by_name([one, two])) == ["one", "two-1", "two-2"]


def test_a_style_in_python_is_that_of_the_files(run: Path) -> None:
    figure = ss.open(run).plot("tasks-1", style="icml")
    assert figure.get_figwidth() == pytest.approx(3.25)
    assert figure.legends
    assert not ss.open(run).plot("tasks-1").legends
    mistyped: Any = "icm"
    with pytest.raises(UserError, match=r"there is no style 'icm'; did you mean icml\?"):
        ss.open(run).plot("tasks-1", style=mistyped)


def test_a_folder_gets_files_and_captions_and_is_written_again(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "figs"
    index = write_figures([run], "icml", "pdf", out, latex=False)
    files = [f["file"] for f in index["runs"][0]["figures"]]
    assert sorted(p.name for p in out.iterdir()) == sorted([*files, "figures.json"])
    assert json.loads((out / "figures.json").read_text()) == index
    assert index["fonts"] == "the text is set in STIX: LaTeX is not installed, or not to be used"
    write_figures([run], "icml", "pdf", out, latex=False)
    both = write_figures([run, run], "slides", "svg", tmp_path / "both", latex=False)
    assert {Path(f["file"]).parent.name for r in both["runs"] for f in r["figures"]} == {"made", "made-2"}
    assert both["fonts"] == "the text is set in DejaVu Sans"


def test_other_files_and_links_are_left_alone(run: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "main.tex").touch()
    (tmp_path / "link").symlink_to(tmp_path / "thesis")
    (tmp_path / "file").touch()
    for name, said in (("thesis", "has other files"), ("link", "is a link"), ("file", "is no folder")):
        with pytest.raises(UserError, match=said):
            write_figures([run], "icml", "pdf", tmp_path / name, latex=False)
    out = tmp_path / "figs"
    write_figures([run], "icml", "pdf", out, latex=False)
    (out / "placed.pdf").unlink()
    (out / "placed.pdf").symlink_to(tmp_path / "thesis" / "main.tex")
    with pytest.raises(UserError, match=r"placed\.pdf is a link: remove it"):
        write_figures([run], "icml", "pdf", out, latex=False)
    assert (tmp_path / "thesis" / "main.tex").read_bytes() == b""


def test_what_cannot_be_written_is_one_line(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="--to pgf needs pdflatex, which measures the text: install LaTeX, or choose"):
        write_figures([run], "icml", "pgf", tmp_path / "figs", latex=True)
    with pytest.raises(UserError, match=r"is no run folder: it has no config\.json"):
        write_figures([tmp_path / "nothing"], "icml", "pdf", tmp_path / "figs", latex=True)
    assert not (tmp_path / "figs").exists()
