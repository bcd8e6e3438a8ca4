"""A paper of two columns with all tables and figures, compiled: nothing is missing, and nothing is wider than its column."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import seqsearch as ss
from protocols.report.costs import KEYS
from protocols.report.figure_files import PGF_PREAMBLE, write_figures
from protocols.report.latex import PREAMBLE, floating, tabular
from protocols.report.paragraph import of_runs
from protocols.report.table import Column, Layout, table
from protocols.report.table_files import Wanted, files, tables_of
from tests.programs import LATEX, needs
from tests.unit.api.small import SMALL
from tests.unit.report.test_latex import HOSTILE, made

pytestmark = [pytest.mark.long, needs("pdflatex", "dvipng", "bibtex", packages=LATEX)]
TWO_COLUMNS = r"\documentclass[twocolumn]{article}\setlength{\textwidth}{6.75in}\setlength{\columnsep}{0.25in}"
ONE_COLUMN = r"\documentclass{article}\setlength{\textwidth}{5.5in}"
PAPER = r"""%s
\usepackage[T1]{fontenc}
\usepackage{times,graphicx}
%s
\begin{document}
%s
\end{document}
"""


def compiled(folder: Path, head: str, body: str, paper: str = TWO_COLUMNS) -> str:
    """What LaTeX has printed of a paper."""
    (folder / "paper.tex").write_text(PAPER % (paper, head, body), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def test_all_tables_and_figures_of_runs_fit(tmp_path: Path) -> None:
    methods = "simplecil,ranpac:M=64"
    small = {"methods": methods, "pool": SMALL["pool"], "tasks": 3, "workers": 0, "quiet": True}
    edge = ss.edge(**small, classes=6, random_sequences=5, out=tmp_path / "edge")
    runs = [ss.cldyb(**{**SMALL, "methods": methods}, out=tmp_path / "cldyb").path, edge.path]
    body, head = list[str](), PREAMBLE + PGF_PREAMBLE.decode()
    for run in runs:
        found, notes = tables_of([run], Wanted(("all",)))
        for form in ("brackets", "scripts", "plus-minus", "none"):
            body += [
                t
                for name, t in files([run], found, notes[:2], "latex", form, with_macros=False)
                if name != "preamble.tex"
            ]
        for kind in ("pdf", "png", "pgf"):
            index = write_figures([run], "icml", kind, tmp_path / f"{run.name}-{kind}", latex=True)
            assert "by LaTeX" in index["fonts"]
            include = r"\input{%s}" if kind == "pgf" else r"\includegraphics{%s}"
            paths = (f"{run.name}-{kind}/{f['file']}" for f in index["runs"][0]["figures"])
            body += [r"\begin{figure}%s\end{figure}\clearpage" % (include % path) for path in paths]
    found = of_runs(runs, "latex")
    (tmp_path / "references.bib").write_text(found["references.bib"], encoding="utf-8")
    body += [found["paragraph.tex"], r"\bibliographystyle{plain}\bibliography{references}"]
    compiled(tmp_path, head, "\n".join(body[-2:]))
    done = subprocess.run(["bibtex", "paper"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Warning" in done.stdout) == (0, False), done.stdout
    said = compiled(tmp_path, head, "\n".join(body).replace(r"\end{table}", r"\end{table}\clearpage"))
    wide = [line for line in said.splitlines() if line.startswith("Overfull")]
    assert not wide, wide


def test_tables_of_two_runs_fit_a_page_of_one_column(tmp_path: Path) -> None:
    body = []
    for name in ("one", "two"):
        run = ss.cldyb(**{**SMALL, "methods": "simplecil,ranpac:M=64"}, out=tmp_path / name).path
        found, notes = tables_of([run], Wanted(costs=KEYS))
        body += [
            text for file, text in files([run], found, notes, "latex", "brackets", False) if file != "preamble.tex"
        ]
    compiled(tmp_path, PREAMBLE, "\n".join(body), ONE_COLUMN)
    said = compiled(tmp_path, PREAMBLE, "\n".join(body), ONE_COLUMN)
    assert not [line for line in said.splitlines() if line.startswith("Overfull") or "multiply defined" in line]


def test_names_of_runs_are_text(tmp_path: Path) -> None:
    named = table(Layout(HOSTILE, HOSTILE, (Column("a", HOSTILE), Column("b", HOSTILE))), HOSTILE, [(HOSTILE, HOSTILE)])
    body = [tabular(made()), tabular(named), floating(named, "brackets", [HOSTILE])]
    said = compiled(tmp_path, PREAMBLE, "\n\n".join(body))
    assert "/etc/passwd" not in said
