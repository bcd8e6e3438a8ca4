"""``seqsearch stream build | show``: make a stream of one's own samples, and look at any stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from protocols.cli.completion import named
from protocols.cli.ending import last_words
from protocols.cli.grouped import Commands
from protocols.cli.pool import check_out
from protocols.report.commands.streams import build_lines, render
from protocols.report.text import show as print_shown
from seqsearch.building import stream_lists as lists
from seqsearch.building import stream_sources as kinds
from seqsearch.building.stream_sources import of_parquet
from seqsearch.core.errors import UserError
from seqsearch.streams.described import described
from seqsearch.streams.open import build_stream

if TYPE_CHECKING:
    from seqsearch.building.stream_sources import Source
    from seqsearch.streams.base import StreamPart

_FILE = click.Path(path_type=Path)


@click.group(cls=Commands)
def stream() -> None:
    """Make a stream of your own samples (build), or look at one (show).

    \b
    seqsearch stream show glyphs
    """


@stream.command()
@click.argument("src", type=_FILE)
@click.argument("out", type=_FILE, metavar="OUT.parquet")
@click.option("--images", type=_FILE, metavar="DIR", help="Folder that paths lead down from.  [default: that of SRC]")
@click.option("--labels", type=_FILE, metavar="FILE.npy", help="Labels of features.")
@click.option("--times", type=_FILE, metavar="FILE.npy", help="Times of features.  [default: their order]")
@click.option("--search", type=_FILE, metavar="SRC", help="Samples of the search part, which come first.")
@click.option("--holdout", type=_FILE, metavar="SRC", help="Samples of the holdout.")
@click.option("--sort", is_flag=True, help="Sort by time what is not.")
@click.option("--embed", is_flag=True, help="Put the bytes of images into the file, not their paths.")
@click.option("--skip-missing", is_flag=True, help="Leave samples out whose image is not there.")
@click.option("--force", is_flag=True, help="Replace OUT.parquet if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def build(
    src: Path,
    out: Path,
    images: Path | None,
    labels: Path | None,
    times: Path | None,
    search: Path | None,
    holdout: Path | None,
    sort: bool,
    embed: bool,
    skip_missing: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Make one Parquet file of SRC, whose samples are in order of time.

    \b
    SRC is one of
      FILE.txt, FILE.tsv   lines of label<TAB>path, further columns ignored; order is time
      FILE.csv             a header and path,time[,label]
      FOLDER               root/class/image; a file's time of change is its time
      FILE.npy             features [n, d], with --labels FILE.npy
      FILE.parquet         columns label and perhaps time, part, and image, path or features
    seqsearch pool build glyphs:classes=20 letters.parquet && seqsearch stream build letters.parquet stream.parquet
    seqsearch stream build cloc_train.txt cloc.parquet --images photos/ --search cloc_pretrain.txt --holdout cloc_test.txt
    """
    from seqsearch.building.stream import build_stream_file

    last_words("stopped; nothing half-made is left")
    check_out(out, force, None)
    if (labels or times) and (search or holdout or src.suffix != ".npy"):
        raise UserError(
            "--labels and --times are of one FILE.npy, without --search and --holdout: put parts into a Parquet file"
        )
    given: dict[StreamPart, Path | None] = {"search": search, "main": src, "holdout": holdout}
    sources = {part: _source(path, images, labels, times).sorted(sort) for part, path in given.items() if path}
    report = build_stream_file(sources, out, embed, skip_missing)
    made = build_stream(str(out))
    record = {
        "stream": str(out), "digest": made.digest, "bytes": out.stat().st_size, "samples": report.samples,
        "classes": report.classes, "missing": report.missing,
    }  # fmt: skip
    click.echo(json.dumps(record) if as_json else "\n".join(build_lines(record, out)))


def _source(path: Path, images: Path | None, labels: Path | None, times: Path | None) -> Source:
    """Open the stream source at a path: a folder, a list, a CSV, features or a Parquet file.

    Raises:
        UserError: the path does not exist, or is of no known kind.
    """
    if images is not None and not images.is_dir():
        raise UserError(f"--images {images} is no folder")
    root = (images or path.parent).absolute()
    if path.is_dir():
        return kinds.of_folder(path.absolute())
    if path.suffix in (".txt", ".tsv"):
        return lists.of_list(path, root)
    if path.suffix == ".csv":
        return lists.of_csv(path, root)
    if path.suffix == ".npy":
        return kinds.of_features(path, labels, times)
    if path.suffix == ".parquet":
        return of_parquet(path)
    if path.suffix in (".hdf5", ".h5"):
        raise UserError(
            f"{path}: HDF5 lists are not read; write label<TAB>path lines first (docs/streams.md has the code)"
        )
    raise UserError(f"{path} is neither a folder nor a .txt, .tsv, .csv, .npy or .parquet file")


@stream.command()
@click.argument("name", metavar="STREAM", shell_complete=named("stream"))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Print what STREAM holds: samples, classes, times, parts, how labels depend on those before, bursts, drift of the prior.

    \b
    STREAM is glyphs, a .parquet file (seqsearch stream build), pool:POOL, or FILE.py:OBJECT.
    seqsearch stream show glyphs
    """
    record = described(build_stream(name))
    if as_json:
        click.echo(json.dumps(record))
    else:
        print_shown(render(record))
