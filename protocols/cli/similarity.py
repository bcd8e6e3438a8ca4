"""``seqsearch similarity``: how similar the classes are, by their names, to a model, or as a file says; written and plotted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from actors.options import DEVICES
from protocols.cli.completion import POOLS, named
from protocols.cli.options import given, weights_of
from protocols.cli.types import Choice, Whole
from protocols.report.heatmap import ENDINGS, write_heatmap
from seqsearch.core.errors import UserError
from seqsearch.core.settings import MOST_IMAGES
from seqsearch.core.text import counted, shown
from seqsearch.pools.union import class_names
from seqsearch.similarity.files import check_target, read, read_confusion, write
from seqsearch.similarity.matrix import Similarity, positions
from seqsearch.similarity.names import from_names
from seqsearch.storage.reading import content
from seqsearch.study.named import CHECKS

LOOKS: dict[str, Literal["prototypes", "confusion"]] = {"prototypes": "prototypes", "confusion": "confusion"}
"""Sources that a model is asked for."""
MOST_NAMES = 8 << 20
"""Bytes of a file of names."""


@click.command()
@click.argument("source")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Where to write it: .parquet or .csv with names, .npy without.",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Clustered heat map: .png, .svg or .pdf.")
@click.option(
    "--pool",
    shell_complete=POOLS,
    help="Pool with the classes.  [default: glyphs, or none if --names or a FILE has them]",
)
@click.option(
    "--names",
    "names_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Class names, one a line: all that `names` compares, else the classes to keep.",
)
@click.option(
    "--encoder",
    default="",
    metavar="MODEL",
    help="For `names`: sentence-transformers or CLIP model, a folder or hub name.  [default: n-grams]",
)
@click.option("--template", default="{}", metavar="TEXT", help="For --encoder, e.g. 'a photo of a {}'.  [default: {}]")
@click.option(
    "--backbone",
    default="glyph_vit",
    show_default=True,
    shell_complete=named("backbone"),
    help="For `prototypes` and `confusion`.",
)
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model.")
@click.option(
    "--method",
    default="",
    shell_complete=named("method"),
    help="A method trained on all classes at once, not the frozen backbone.",
)
@click.option(
    "--images",
    type=Whole(0, MOST_IMAGES),
    default=20,
    show_default=True,
    help="Of a prototype; 0: all training images.",
)
@click.option("--seed", type=Whole(0, 2**63 - 1), default=0, show_default=True, help="Of the split and of training.")
@click.option(
    "--device",
    type=Choice(DEVICES),
    default="auto",
    show_default=True,
    help="Where encoder, backbone and method compute: auto is a GPU if there is one.",
)
@click.option("--counts", is_flag=True, help="FILE holds confusion counts or rates: rows true, columns predicted.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def similarity(
    source: str,
    out: Path,
    plot: Path | None,
    pool: str | None,
    names_file: Path | None,
    encoder: str,
    template: str,
    backbone: str,
    weights: str | None,
    method: str,
    images: int,
    seed: int,
    device: str,
    counts: bool,
    as_json: bool,
) -> None:
    """Compare classes, and write how similar they are.

    SOURCE is `names`, `prototypes` (class means of features), `confusion` (what a classifier confuses), or a FILE (.npy, .csv,
    .parquet).

    \b
    seqsearch similarity prototypes --pool glyphs:classes=20 --out prototypes.parquet
    seqsearch similarity names --pool photos/ --out names.parquet --plot names.png
    seqsearch similarity names --names cifar.txt --encoder sentence-transformers/all-MiniLM-L6-v2 --out cifar.parquet
    seqsearch similarity prototypes --pool photos/ --backbone resnet50 --out resnet50.parquet
    seqsearch similarity confusion --method ranpac --out confusion.parquet
    seqsearch similarity counts.csv --counts --out confusion.parquet
    """
    _fitting(click.get_current_context(), source)
    check_target(out, "the matrix", (".parquet", ".csv", ".npy"))
    if plot is not None:
        check_target(plot, "a plot", ENDINGS)
    for what, text in (("pools", pool), ("methods", method), ("backbone", backbone)):
        if text:
            CHECKS[what](text, backbone)
    names = None if names_file is None else read_names(names_file)
    if source == "names":
        device = _device(device) if encoder else "cpu"
        found = from_names(_pool_names(pool, names) if pool or names is None else names, encoder, device, template)
    elif kind := LOOKS.get(source):
        files = weights_of(backbone, weights)
        found = _to_model(kind, pool or "glyphs", names, method, backbone, files, images, seed, _device(device))
    else:
        own = _pool_names(pool, names) if pool else names
        found = (read_confusion if counts else read)(Path(source), own)
    write(out, found)
    if plot is not None:
        write_heatmap(found, plot)
    record = {"file": str(out), "plot": None if plot is None else str(plot), **found.summary()}
    click.echo(json.dumps(record) if as_json else "\n".join(_lines(record)))


OPTIONS = {
    "encoder": ("names",),
    "template": ("names",),
    "backbone": ("prototypes", "confusion"),
    "weights": ("prototypes", "confusion"),
    "method": ("prototypes", "confusion"),
    "images": ("prototypes",),
    "seed": ("prototypes", "confusion"),
    "device": ("names", "prototypes", "confusion"),
    "counts": ("FILE",),
}
"""Which sources an option is for."""


def _fitting(context: click.Context, source: str) -> None:
    """Raises UserError: an unknown source, or an option that would have no effect."""
    kind = source if source in ("names", "prototypes", "confusion") else "FILE"
    if kind == "FILE" and not Path(source).suffix:
        raise UserError(f"unknown source {source!r}: names, prototypes, confusion, or a .npy, .csv or .parquet file")
    for option in sorted(given(context, set(OPTIONS))):
        if kind not in OPTIONS[option]:
            raise UserError(f"--{option} is for {', '.join(OPTIONS[option])}, not for {source}: leave it out")


def _device(asked: str) -> str:
    """Raises UserError: a GPU is asked for, and this machine has none."""
    from seqsearch.training.device import device_here

    return device_here(asked)


def read_names(path: Path) -> tuple[str, ...]:
    """The names in a text file, one a line; empty lines do not count.

    Raises:
        UserError: it cannot be read.
    """
    try:
        lines = content(path, MOST_NAMES).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UserError(f"--names {path}: cannot be read ({said}): give a text file with one name a line") from None
    return tuple(line.strip() for line in lines if line.strip())


def _pool_names(pool: str | None, names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of a pool's classes; of those that were asked for."""
    from seqsearch.study.class_similarity import open_pools

    found = class_names(open_pools(pool or "glyphs"))
    if names is None:
        return found
    positions(names, found, f"--names: pool {pool!r}")
    return tuple(names)


def _to_model(
    kind: Literal["prototypes", "confusion"],
    pool: str,
    names: Sequence[str] | None,
    method: str,
    backbone: str,
    weights: Mapping[str, str] | None,
    images: int,
    seed: int,
    device: str,
) -> Similarity:
    from seqsearch.study.class_similarity import FROZEN, learned_similarity, open_pools

    classes = None
    if names is not None:
        classes = positions(names, class_names(open_pools(pool)), f"--names: pool {pool!r}")
    return learned_similarity(
        kind,
        pool,
        method or FROZEN,
        backbone,
        seed=seed,
        images=images,
        weights=weights,
        classes=classes,
        device=device,
    )


def _lines(record: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{record['file']}: {record['classes']} classes, digest {record['digest'][:12]}; {record['source']}",
        f"mean {record['mean']:.4f}, sd {record['sd']:.4f} over {counted(math.comb(record['classes'], 2), 'pair')}",
        *(f"{end} {record[end]:.4f}: {' and '.join(record[f'{end}_pair'])}" for end in ("min", "max")),
    ]
    if record["file"].lower().endswith(".npy"):
        lines.append("names are not in a .npy file: give --names or --pool where it is read")
    if record["plot"]:
        lines.append(f"plot: {record['plot']}")
    return [shown(line) for line in lines]
