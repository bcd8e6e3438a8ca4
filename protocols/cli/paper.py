"""Commands that take results out of runs for a paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from protocols.cli.completion import runs as runs_there
from protocols.cli.types import Choice
from protocols.report.costs import KEYS
from protocols.report.figure_files import write_figures
from protocols.report.latex import FORMS, IntervalForm
from protocols.report.paragraph import of_runs
from protocols.report.styles import FORMATS, VENUES, FormatName, VenueName
from protocols.report.table_files import FORMATS as TABLE_FORMATS
from protocols.report.table_files import TableFormat, Wanted, files, tables_of
from protocols.running.status import check_not_running
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable, counted, did_you_mean, shown, shown_lines
from seqsearch.storage.outputs import write_folder


@click.command()
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path), shell_complete=runs_there
)
@click.option(
    "--style", "venue", type=Choice(VENUES), default="icml", show_default=True, help="Whose widths and fonts they have."
)
@click.option(
    "--to",
    "kind",
    type=Choice(FORMATS),
    default="pdf",
    show_default=True,
    help="Format; pgf is text that LaTeX sets with the paper.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write them into.")
@click.option("--no-latex", is_flag=True, help="Letters of STIX, also where LaTeX is installed.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def figures(
    runs: tuple[Path, ...], venue: VenueName, kind: FormatName, out: Path, no_latex: bool, as_json: bool
) -> None:
    """Write all figures of RUNs as files for a paper or slides, readable in grey. figures.json there has their captions.

    \b
    seqsearch figures runs/mine --out figs
    seqsearch figures runs/mine --style neurips --to pgf --out figs
    """
    _check_not_running(runs)
    written = write_figures(runs, venue, kind, out, latex=not no_latex)
    if as_json:
        click.echo(json.dumps(written))
        return
    files = [figure["file"] for run in written["runs"] for figure in run["figures"]]
    click.echo(f"{counted(len(files), 'figure')} in {copyable(out)}, captions in {copyable(out / 'figures.json')}")
    click.echo(written["fonts"])


@click.command()
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path), shell_complete=runs_there
)
@click.option("--to", "kind", type=Choice(TABLE_FORMATS), default="latex", show_default=True, help="Format.")
@click.option(
    "--table",
    "names",
    multiple=True,
    metavar="NAME",
    help="Table by its name, or all; repeatable.  [default: key tables]",
)
@click.option("--columns", default="", metavar="KEY,...", help="Columns, in this order.  [default: all]")
@click.option("--costs", default="", metavar="KEY,...", help=f"Further columns on methods: {', '.join(KEYS)}.")
@click.option(
    "--intervals",
    type=Choice(FORMS),
    default="brackets",
    show_default=True,
    help="How LaTeX shows intervals; plus-minus where both bounds are as far away.",
)
@click.option("--macros", is_flag=True, help="A command of LaTeX for each figure, too.")
@click.option("--paragraph", is_flag=True, help="How the runs were made, in words with their numbers, and BibTeX, too.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder to write files into.  [default: print]"
)
def tables(
    runs: tuple[Path, ...],
    kind: TableFormat,
    names: tuple[str, ...],
    columns: str,
    costs: str,
    intervals: IntervalForm,
    macros: bool,
    paragraph: bool,
    out: Path | None,
) -> None:
    """Write tables of RUNs for a paper: LaTeX (booktabs, siunitx), CSV, Markdown or HTML. Several runs share a table.

    \b
    seqsearch tables runs/mine
    seqsearch tables runs/mine --intervals scripts --costs hours,stored --macros --paragraph --out tables
    """
    asked = _listed(costs)
    if wrong := next((key for key in asked if key not in KEYS), None):
        raise UserError(f"--costs {shown(wrong)[:80]}: {did_you_mean(wrong, KEYS)}there are {', '.join(KEYS)}")
    _check_not_running(runs)
    found, notes = tables_of(runs, Wanted(names, _listed(columns), asked))
    written = dict(files(runs, found, notes, kind, intervals, macros))
    if paragraph:
        if kind not in ("latex", "markdown"):
            raise UserError(f"--paragraph has no form for --to {kind}: choose latex or markdown")
        written |= of_runs(runs, kind)
    if out is None:
        click.echo(shown_lines("\n".join(written.values())), nl=False)
        return
    index = json.dumps({"runs": [run.resolve().name for run in runs], "files": list(written)}, indent=1)
    write_folder(out, "tables.json", {name: text.encode() for name, text in {**written, "tables.json": index}.items()})
    click.echo(f"{counted(len(written), 'file')} in {copyable(out)}: {', '.join(written)}")


def _check_not_running(runs: Sequence[Path]) -> None:
    """Raises UserError: a run is running, or a folder is no run."""
    for run in runs:
        check_not_running(run)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, text.split(",")) if part)
