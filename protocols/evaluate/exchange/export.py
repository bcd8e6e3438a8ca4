"""``seqsearch export``: sequences as folders that a toolbox runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from protocols.evaluate.exchange.selection import Chosen, Images, Wanted, chosen
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.formats.base import Order, Toolbox, toolbox
from seqsearch.formats.folder import (
    IMAGES,
    README,
    check_place,
    folder_names,
    replacing_folder,
    write_mark,
    write_texts,
)
from seqsearch.formats.numbers import order_of
from seqsearch.formats.readme import readme
from seqsearch.pools.base import PARTS, Rows
from seqsearch.pools.image_files import ImageFiles, own_paths
from seqsearch.storage.inside import Inside
from seqsearch.training.sequence_folder import manifest, write_sequence_folder
from seqsearch.training.world import World

LARGE = 1 << 30
"""Number of bytes above which the size of the output is announced."""
SAMPLED = 32
"""Number of images from whose sizes the size of all is estimated."""


def export(wanted: Wanted, to: str, images: Images | None, out: Path, notice: Callable[[str], None]) -> dict[str, Any]:
    """Write sequences as folders in ``out``. Returns a record of the folders that were written.

    Args:
        wanted: the sequences to export, and the run or pool that they come from.
        to: name of the toolbox.
        images: None (default): ``copy``, except for JSON and CSV, where it is ``none`` (`seqsearch score` finds classes by name).
        out: the folder to write; one of an earlier export is replaced.
        notice: called with a line of text before more than `LARGE` bytes are written.

    Raises:
        UserError: see `chosen`; an unknown toolbox, or one that cannot express a sequence; ``out`` is no earlier export; not
            enough disk space.
    """
    found = toolbox(to, written=True)
    images = images or ("none" if found.together else "copy")  # the neutral forms write all sequences to one file
    check_place(out)
    world, sequences = chosen(wanted, images)
    places = folder_names([s.name for s in sequences])
    orders = {places[s.name]: (s.name, order_of(s.record)) for s in sequences}
    for name, order in orders.values():
        _check_expressible(found, name, order, images)
    together = found.together({s.name: s.named_tasks for s in sequences}) if found.together else {}
    if world is not None and images == "copy":
        _check_disk(world, sequences, out, notice)
    with replacing_folder(out) as root:
        for s in sequences:
            _write(root, root.at(places[s.name]), found, s, world, images)
        write_texts(root, {**together, README: readme(found, orders, images, world.images.native_size if world else 0)})
        folders = [{"folder": folder, "sequence_id": name} for folder, (name, _) in orders.items()]
        write_mark(root, {"to": to, "images": images, "sequences": folders})
    return {"out": str(out), "to": to, "images": images, "sequences": folders}


def _check_expressible(found: Toolbox, name: str, order: Order, images: Images) -> None:
    """
    Raises:
        UserError: the toolbox cannot take the order.
    """
    if images == "none" and found.needs_all and not order.complete:
        raise UserError(
            f"sequence {brief(name)} has {len(order.class_order)} of {order.classes} classes, and an order alone must have "
            f"all in {found.title}: export the images, too (--images copy or paths)"
        )


def _write(root: Inside, folder: Inside, found: Toolbox, s: Chosen, world: World | None, images: Images) -> None:
    texts = dict(found.files(order_of(s.record), images != "none")) if found.files else {}
    if world is None or s.tasks is None or images == "none":
        write_sequence_folder(folder, s.record, None)
    else:
        write_sequence_folder(folder, s.record, manifest(world, s.tasks, _paths(world, root, images)))
    write_texts(folder, texts)


def _paths(world: World, root: Inside, images: Images) -> Callable[[Rows], Sequence[str]]:
    if images == "paths":
        return lambda rows: [_written_out(p) for p in own_paths(world.images, rows)]
    files = ImageFiles(world.images, root.at(IMAGES))
    return lambda rows: [f"../{IMAGES}/{path}" for path in files.write(rows)]


def _written_out(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UserError(f"{brief(path)} is no UTF-8, which a manifest must be: --images copy") from None
    return path


def _check_disk(world: World, sequences: Sequence[Chosen], out: Path, notice: Callable[[str], None]) -> None:
    """
    Raises:
        UserError: the images will not fit onto the disk.
    """
    classes = tuple(dict.fromkeys(c for s in sequences for task in s.tasks or () for c in task.classes))
    rows = world.rows(classes, *PARTS)[0]
    sample = rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLED).astype(np.int64))]
    needed = int(np.mean([_bytes(world, int(row)) for row in sample]) * len(rows))
    above = next(p for p in (out.absolute(), *out.absolute().parents) if p.exists())
    free = shutil.disk_usage(above).free
    size = f"{len(rows):,} images, about {needed / 1e9:.1f} GB"
    if needed > free:
        raise UserError(
            f"--out {out}: {size}, and the disk has {free / 1e9:.1f} GB: free some space, or --images paths"
        )
    if needed > LARGE:
        notice(f"{size} are written to {out}")


def _bytes(world: World, row: int) -> int:
    """Estimated size of the file of an image, in bytes."""
    part, own = world.images.part_of_row(row)
    pool = world.images.parts[part]
    encoded = getattr(pool, "encoded", None)
    return 3 * pool.native_size**2 if encoded is None else len(encoded(np.array([own], dtype=np.int64))[0])
