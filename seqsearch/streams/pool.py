"""Any pool played as a stream, ``pool:POOL``: each of its images once, in bursts of one class and of geometric length.

The images of a class come in a drawn order and are cut into bursts; the bursts of all classes come in a drawn order. A class
has its last burst cut short, and bursts of one class may meet, so the mean length is not quite ``burst``.
"""

from __future__ import annotations

import math

import numpy as np

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import LARGEST, brief
from seqsearch.pools.base import Rows, row_offsets
from seqsearch.pools.open import build_pool
from seqsearch.pools.union import Union, class_names
from seqsearch.streams.base import Stream
from seqsearch.streams.chosen import Chosen
from seqsearch.streams.rows import narrow

OPTIONS = ("burst", "order_seed", "samples")
"""Options of ``pool:POOL`` beside those of the pool."""


def build(pool: str, burst: float = 8.0, order_seed: int = 0, samples: int | None = None) -> Stream:
    """The stream of a pool. Times are positions; a split that the pool brings plays no part.

    Args:
        pool: item of the pool.
        burst: mean length of a burst [samples], from 1.
        order_seed: of the order.
        samples: keep the first so many; all when None.

    Raises:
        UserError: the pool cannot be opened, an option is out of range, or the pool has fewer images than ``samples``.
    """
    _check(burst, order_seed)
    base = build_pool(pool)
    offsets = row_offsets(base.classes)
    total = int(offsets[-1])
    if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= total):
        raise UserError(
            f"stream 'pool:{pool}': samples={brief(samples)} must be a whole number from 1 to {total}, its images"
        )
    selected = _order(offsets, burst, order_seed)[:samples]
    names = class_names(Union([base]))
    labels = narrow(np.searchsorted(offsets, selected, side="right") - 1, len(names))
    chosen = Chosen(base, selected, labels, names, [c.group for c in base.classes])
    digest = digest_of("pool stream", chosen.digest, labels)
    known = {"burst": float(burst)}
    return Stream(
        f"pool:{base.name}", digest, names, labels, np.arange(len(labels)), chosen, chosen.sample_rows, known=known
    )


def _order(offsets: Rows, burst: float, seed: int) -> Rows:
    """All rows ``[n]`` in the order in which they are played."""
    draw = np.random.Generator(np.random.Philox(seed_of("pool stream", seed)))
    total = int(offsets[-1])
    rows = np.argsort(draw.random(total) + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), kind="stable")
    begins = draw.random(total) < 1 / burst
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    place = draw.permutation(int(begins.sum()))
    played: Rows = rows[np.argsort(place[np.cumsum(begins) - 1], kind="stable")].astype(np.int64)
    return played


def _check(burst: object, seed: object) -> None:
    """Raises UserError: an option is out of range."""
    if isinstance(burst, bool) or not isinstance(burst, (int, float)) or not 1 <= burst < math.inf:
        raise UserError(f"a pool as a stream: burst={brief(burst)} must be a number from 1")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST:
        raise UserError(f"a pool as a stream: order_seed={brief(seed)} must be a whole number from 0 to {LARGEST}")
