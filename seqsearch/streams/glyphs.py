"""The embedded stream: glyphs in bursts of geometric length, so that the right shift is known by construction.

A burst is of one class, drawn from a Zipf prior, and of geometric length with mean ``burst``: of two samples that are ``S``
apart a share of ``(1 - 1/burst)^S`` is of the same burst, so the correlation of labels falls to ``tol`` at about
``S = burst ln(K(0) / tol)``.
"""

from __future__ import annotations

import numpy as np

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.pools.glyphs import build as glyph_pool
from seqsearch.streams.base import Stream


def build(
    samples: int = 20_000, classes: int = 40, burst: float = 8.0, zipf: float = 0.5, seed: int = 0, size: int = 32
) -> Stream:
    """The glyph stream."""
    draw = np.random.Generator(np.random.Philox(seed_of("glyph stream", seed)))
    prior = np.arange(1, classes + 1, dtype=np.float64) ** -zipf
    lengths = draw.geometric(1 / burst, size=samples)
    of = np.repeat(draw.choice(classes, size=samples, p=prior / prior.sum()), lengths)[:samples].astype(np.int32)
    most = int(np.bincount(of, minlength=classes).max())
    pool = glyph_pool(train=most, reward=1, test=1, classes=classes, size=size, seed=seed)
    by_class = np.argsort(of, kind="stable")
    counts = np.bincount(of, minlength=classes)
    within = np.arange(samples) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.empty(samples, dtype=np.int64)
    rows[by_class] = of[by_class] * np.int64(most + 2) + within
    digest = digest_of("glyph stream", pool.digest, samples, burst, zipf, seed)
    names = tuple(c.name for c in pool.classes)
    return Stream("glyphs", digest, names, of, np.arange(samples), pool, rows, known={"burst": float(burst)})
