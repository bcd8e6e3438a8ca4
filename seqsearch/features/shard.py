"""A shard of features as a file: ``.npy``, and behind it a hash of all its bytes, which numpy does not read.

The hash shows damage, not forgery: whoever can write into the cache of features can write a matching one.
"""

from __future__ import annotations

import io
import os
from typing import IO

import numpy as np
import xxhash
from numpy.typing import NDArray

from seqsearch.storage.inside import Inside

HASH_BYTES = 16


def write_shard(file: IO[bytes], features: NDArray[np.float32]) -> None:
    """Write features ``[n, d]``."""
    whole = np.ascontiguousarray(features, dtype="<f4")
    head, said = _head(whole.shape), xxhash.xxh3_128()
    for part in (head, whole.data):
        said.update(part)
        file.write(part)
    file.write(said.digest())


def mapped_shard(folder: Inside, name: str, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    """Features of this ``shape``, mapped; None if there is no such file, or anything else is in it than was written.

    All of it is read once, for its hash.
    """
    head = _head(shape)
    length = len(head) + 4 * shape[0] * shape[1]
    try:
        with folder.reader(name) as file:
            if os.fstat(file.fileno()).st_size != length + HASH_BYTES or not shape[0]:
                return None
            whole = np.memmap(file, np.uint8, "r", shape=(length + HASH_BYTES,))
    except OSError:
        return None
    if xxhash.xxh3_128_digest(whole[:length].data) != whole[length:].tobytes() or whole[: len(head)].tobytes() != head:
        return None
    features: NDArray[np.float32] = whole[len(head) : length].view("<f4").reshape(shape)
    return features


def _head(shape: tuple[int, ...]) -> bytes:
    """Return the header of a ``.npy`` file with an array of this shape."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return head.getvalue()
