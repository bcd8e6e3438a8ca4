"""The Parquet layout of a pool: what ``seqsearch pool build`` writes, and ``--pool FILE.parquet`` reads.

It is the layout of image data sets on the Hugging Face hub, so that ``datasets`` loads it as it is, with three liberties that
let a pool of millions of images open in seconds and give any image without reading its neighbours: images lie verbatim,
neither compressed nor dictionary-encoded, one page to a row group; ``image_bytes`` says how long each is; rows of a class are
adjacent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_ROWS = 1000
"""Rows in a row group, at most."""
MAX_BYTES = 64 << 20
"""Image bytes in a row group, at most (one image may be larger)."""
METADATA = b"seqsearch.pool"
"""Key of our own metadata: JSON with ``version``, ``content`` (digest of images, labels, texts), ``end`` and ``classes``."""
VERSION = 1
SPLITS = {
    "train": 0, "training": 0,
    "reward": 1, "validation": 1, "valid": 1, "val": 1, "dev": 1,
    "test": 2, "testing": 2,
}  # fmt: skip
"""Names that a split column may hold, and what they mean: positions in `seqsearch.pools.base.GIVEN`."""


def with_test(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Parts ``[n]`` of a data set's own split. Where it has no test images, those of validation are the test images, as papers
    report them of ImageNet."""
    validation, test = SPLITS["validation"], SPLITS["test"]
    return codes if (codes == test).any() else np.where(codes == validation, np.uint8(test), codes)


def schema(*, captioned: bool = False, bound: bool = False) -> Any:
    """The ``pyarrow.Schema``; ``captions`` (all texts of an image) and ``bound`` (what it is of) are there if they are wanted."""
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            pa.field("image", pa.struct([pa.field("bytes", pa.binary()), pa.field("path", text)])),
            pa.field("label", pa.int64()),
            pa.field("class_name", text),
            pa.field("group", text),
            pa.field("split", text),
            *([pa.field("captions", pa.list_(text))] if captioned else []),
            *([pa.field("bound", text)] if bound else []),
            pa.field("image_bytes", pa.int32()),
        ]
    )


def metadata(classes: Sequence[tuple[str, str, int]], content: str, end: int, columns: Sequence[str]) -> dict[str, str]:
    """Return the metadata that the file gets when all is written. ``classes`` are (group, name, images), ``content`` is
    the digest of the content. ``end`` is the place where images and texts end in the file. A program that writes them
    anew, some of them edited perhaps, ends at another place.

    In the entry ``huggingface``, ``datasets`` finds that ``image`` is an Image and ``label`` a ClassLabel, whose names
    must be distinct. A name that occurs in several groups is ``group/name``.
    """
    names = Counter(name for _, name, _ in classes)
    labels = [name if names[name] == 1 else f"{group}/{name}" for group, name, _ in classes]
    text = {"dtype": "string", "_type": "Value"}
    features = {
        "image": {"_type": "Image"},
        "label": {"names": labels, "_type": "ClassLabel"},
        **{name: text for name in columns if name in ("class_name", "group", "split", "bound")},
        **({"captions": {"feature": text, "_type": "Sequence"}} if "captions" in columns else {}),
        "image_bytes": {"dtype": "int32", "_type": "Value"},
    }
    own = {"version": VERSION, "content": content, "end": end, "classes": [list(c) for c in classes]}
    return {"huggingface": json.dumps({"info": {"features": features}}), METADATA.decode(): json.dumps(own)}
