"""``seqsearch assess``: methods of runs in several respects. Heavy imports are inside."""

from __future__ import annotations

import json
from pathlib import Path

import click

from actors.options import DEVICES
from protocols.cli.completion import POOLS
from protocols.cli.completion import runs as finished
from protocols.cli.types import Choice, Whole
from protocols.report.styles import FORMATS, VENUES, FormatName, VenueName
from protocols.report.terminal import render
from protocols.report.text import show
from seqsearch.core.settings import MOST_IMAGES
from seqsearch.core.text import copyable, shown
from seqsearch.results.run import read_config
from seqsearch.storage.outputs import check_ours, write_folder


@click.command()
@click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path), shell_complete=finished
)
@click.option("--pool", shell_complete=POOLS, help="Where the images of the RUNs lie now, if elsewhere.")
@click.option(
    "--images",
    type=Whole(0, MOST_IMAGES),
    default=20,
    show_default=True,
    help="Of a class, for the similarity of tasks and maps of tasks; 0: none, and neither of the two.",
)
@click.option(
    "--latency",
    is_flag=True,
    help="Measure passes and latency: each method learns a found sequence from few images, and predicts.",
)
@click.option(
    "--device",
    type=Choice(DEVICES),
    default="auto",
    show_default=True,
    help="Where features and latency are computed: auto is a GPU if there is one.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write a page there, and its figures.")
@click.option(
    "--style", "venue", type=Choice(VENUES), default="icml", show_default=True, help="Whose widths and fonts they have."
)
@click.option("--to", "kind", type=Choice(FORMATS), default="pdf", show_default=True, help="Format of the figures.")
@click.option("--details", is_flag=True, help="Print all notes.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def assess(
    runs: tuple[Path, ...],
    pool: str | None,
    images: int,
    latency: bool,
    device: str,
    out: Path | None,
    venue: VenueName,
    kind: FormatName,
    details: bool,
    as_json: bool,
) -> None:
    """Assess the methods of RUNs in several respects: accuracy, retention, robustness, memory, time (Figs. 3 and 4 of CLDyB).

    Name a run that searched for several methods together, one with --separate, and scores of further methods on their
    sequences. They must share pool, seed, first task and lengths.

    \b
    seqsearch assess runs/mine
    seqsearch assess runs/joint runs/separate runs/scored --latency --out assessed
    """
    if out is not None:
        check_ours(out, "assess.json")
    for run in runs:
        read_config(run)
    from protocols.evaluate.assess.assessment import Wanted
    from protocols.evaluate.assess.assessment import assess as assessed
    from protocols.evaluate.assess.images import Unavailable
    from protocols.report.assess.view import FIGURES, files, view
    from seqsearch.training.device import device_here

    wanted = Wanted(pool, images, device_here(None if device == "auto" else device), latency)
    found = assessed(runs, wanted, lambda name: click.echo(f"measuring {shown(name)}", err=True))
    if images and isinstance(found.images, Unavailable):
        click.echo(shown(f"similarity and maps of tasks are missing: {found.images.because}"), err=True)
    if out is not None:
        write_folder(out, FIGURES, files(found, venue, kind))
        click.echo(f"written: {copyable(out)}", err=True)
    if as_json:
        click.echo(json.dumps(view(found).to_json()))
    else:
        show(render(view(found), details))
