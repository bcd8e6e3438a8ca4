"""``split.parquet``: which image is in which part, one row an image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.text import printable
from seqsearch.pools.base import PARTS, Pool, Rows
from seqsearch.results.split_schema import SPLIT
from seqsearch.results.tables import arrow_schema
from seqsearch.storage.files import atomic_path
from seqsearch.study.run_images import SplitImages


def write_split(path: Path, found: SplitImages) -> dict[str, int]:
    """Write the list, by pool and row; images of each part.

    Raises:
        UserError: a class is too small to be split, or the disk is full.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(SPLIT, found.world.split.digest)
    counts: Counter[str] = Counter()
    with atomic_path(path, durable=True) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for number in range(len(found.world.images.parts)):
            columns = _columns(found, number)
            counts.update(columns["part"])
            writer.write_table(pa.table({f.name: pa.array(columns[f.name], f.type) for f in schema}, schema=schema))
    return {part: counts[part] for part in PARTS}


def _columns(found: SplitImages, number: int) -> dict[str, Any]:
    """The columns of one pool, each ``[n]``."""
    union, split, pool = found.world.images, found.world.split.splits[number], found.world.images.parts[number]
    own = [at for at in map(union.part_of_class, found.classes) if at[0] == number]
    rows, classes, parts = _rows(found, number, [index for _, index in own])
    first = union.class_index(number, 0)
    used = found.used
    infos = [pool.classes[c] for c in classes.tolist()]
    return {
        "pool": [printable(pool.name)] * len(rows),
        "pool_digest": [pool.digest] * len(rows),
        "split_digest": [split.digest] * len(rows),
        "class_id": classes,
        "class_name": [printable(info.name) for info in infos],
        "group": [printable(info.group) for info in infos],
        "part": np.array(PARTS, dtype=object)[parts],
        "row": rows,
        "path": _paths(pool, rows),
        "in_sequences": [None] * len(rows) if used is None else np.isin(classes + first, sorted(used)),
    }


def _rows(found: SplitImages, number: int, classes: Sequence[int]) -> tuple[Rows, Rows, Rows]:
    """Rows of one pool, the index of each one's class there and the place of its part in `PARTS`, each ``[n]``, by row."""
    split, nothing = found.world.split.splits[number], np.zeros(0, dtype=np.int64)
    pieces = [(c, p, split.rows(c, part)) for c in classes for p, part in enumerate(PARTS)]
    sizes = [len(rows) for _, _, rows in pieces]
    rows = np.concatenate([nothing, *(rows for _, _, rows in pieces)])
    of, parts = (np.repeat(np.array([piece[k] for piece in pieces], dtype=np.int64), sizes) for k in (0, 1))
    order = np.argsort(rows, kind="stable")
    return rows[order], of[order], parts[order]


def _paths(pool: Pool, rows: Rows) -> list[str | None]:
    """Where each image lies, as the pool says; None where it has no files."""
    where = getattr(pool, "where", None)
    return [None if where is None else printable(where(row)) for row in rows.tolist()]
