"""The embedded stream: glyphs in bursts of geometric length, so that the right shift is known by construction.

Each of ``sources`` (uploaders) shows bursts: of one class, drawn from a prior, of geometric length with mean L = ``burst``. At
every position one of the m sources is drawn. With T(S) the chance that samples i - 1 - S and i are of one burst,

    T(S) = (1/m) (1 - 1/L) (1 - 1/(m L))^S

and the chance-corrected accuracy of repeating the label that was revealed S + 1 samples ago is T(S): other pairs are
independent. It falls to ``tol`` at S = ln(T(0) / tol) / -ln(1 - 1/(m L)), about m L ln(T(0) / tol).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import LARGEST, brief
from seqsearch.pools.glyphs import MAX_STRENGTH, GlyphPool
from seqsearch.pools.glyphs import build as glyph_pool
from seqsearch.pools.union import Union
from seqsearch.streams.base import Stream
from seqsearch.streams.chosen import Chosen
from seqsearch.streams.parts import MAIN, SEARCH
from seqsearch.streams.rows import narrow

BANDS = 8
"""Steps in which the looks of images change over a stream."""
MOST = 1_000_000
"""Samples, at most."""


def build(
    samples: int = 20_000,
    classes: int = 40,
    burst: float = 8.0,
    zipf: float = 0.5,
    drift: float = 0.0,
    looks: float = 0.0,
    sources: int = 1,
    strength: float = 1.4,
    seed: int = 0,
    size: int = 32,
    ahead: int = 0,
) -> Stream:
    """The glyph stream. Times are positions.

    Args:
        samples: from 1 to 1,000,000.
        classes: of the pool ``glyphs``.
        burst: mean length L of a burst of one source [samples], from 1 (no correlation).
        zipf: exponent of the class prior, p(rank r) ~ r^-zipf; 0: all classes alike.
        drift: of the prior, from 0 to 1: it moves linearly from Zipf's towards that with ranks reversed, by this share.
        looks: how much ``strength``, the distortion of images, has grown at the end; in 8 equal steps.
        sources: m, which interleave, from 1.
        strength, size: as in the pool ``glyphs``.
        seed: of labels and images.
        ahead: further samples at the beginning, which are the search part: of these only labels are drawn.

    Raises:
        UserError: an option is out of range.
    """
    _check(samples, burst, zipf, drift, looks, sources, strength, seed, ahead)
    given = np.repeat([SEARCH, MAIN], [ahead, samples]).astype(np.uint8) if ahead else None
    samples += ahead
    draw = np.random.Generator(np.random.Philox(seed_of("glyph stream", seed)))
    pools = [_glyphs(samples, classes, size, strength + looks * k / (BANDS - 1), seed) for k in _bands(looks)]
    names = tuple(c.name for c in pools[0].classes)
    labels = narrow(_labels(draw, samples, len(names), burst, zipf, drift, sources), len(names))
    band = np.arange(samples) * len(pools) // samples
    own = np.arange(samples, dtype=np.int64)  # which image of its class a sample is: one that no other sample shows
    per_class = pools[0].classes[0].count
    selected = (band * len(names) + labels) * per_class + own
    pool = Chosen(Union(pools), selected, labels, names, [c.group for c in pools[0].classes])
    parts = () if given is None else (given,)  # streams without `ahead` keep their digests
    digest = digest_of("glyph stream", pool.digest, labels, *parts)
    known = _known(burst, sources, zipf, drift, len(names))
    return Stream("glyphs", digest, names, labels, np.arange(samples), pool, pool.sample_rows, given, known)


def _bands(looks: float) -> range:
    return range(BANDS if looks else 1)


def _glyphs(samples: int, classes: int, size: int, strength: float, seed: int) -> GlyphPool:
    return glyph_pool(train=max(2, samples), reward=1, test=1, classes=classes, size=size, strength=strength, seed=seed)


def _labels(
    draw: np.random.Generator, samples: int, classes: int, burst: float, zipf: float, drift: float, sources: int
) -> NDArray[np.int64]:
    """Class ``[n]`` of each sample."""
    prior = _prior(classes, zipf)
    source = draw.integers(sources, size=samples) if sources > 1 else np.zeros(samples, dtype=np.int64)
    order = np.argsort(source, kind="stable")  # the samples of each source, one source after the other
    begins = draw.random(samples) < 1 / burst
    begins[0] = True
    begins[1:] |= source[order][1:] != source[order][:-1]
    first = order[begins]  # position in time at which each burst begins
    late = draw.random(len(first)) < drift * first / samples
    of = draw.choice(classes, size=len(first), p=prior)
    of[late] = classes - 1 - of[late]
    labels = np.empty(samples, dtype=np.int64)
    labels[order] = of[np.cumsum(begins) - 1]
    return labels


def _prior(classes: int, zipf: float) -> NDArray[np.float64]:
    weights = np.arange(1, classes + 1, dtype=np.float64) ** -zipf
    return np.asarray(weights / weights.sum())


def _known(burst: float, sources: int, zipf: float, drift: float, classes: int) -> dict[str, float]:
    """``burst`` and ``sources``; ``kappa``: T(0); ``decay``: T falls by a factor of exp(-decay) a sample; at the beginning,
    ``majority``: share of the commonest class, and ``chance``: sum of squared shares."""
    prior = _prior(classes, zipf)
    kept = 1 - 1 / (sources * burst)
    decay = -math.log(kept) if kept else math.inf
    return {
        "burst": float(burst),
        "sources": float(sources),
        "kappa": (1 - 1 / burst) / sources,
        "decay": decay,
        "majority": float(prior[0]),
        "chance": float((prior**2).sum()),
        "drift": float(drift),
    }


def _check(
    samples: int,
    burst: float,
    zipf: float,
    drift: float,
    looks: float,
    sources: int,
    strength: float,
    seed: int,
    ahead: int,
) -> None:
    """Raises UserError: an option is out of range."""
    whole = {
        "samples": (samples, 1, MOST),
        "sources": (sources, 1, 10_000),
        "seed": (seed, 0, LARGEST),
        "ahead": (ahead, 0, MOST - 1),
    }
    for option, (value, low, high) in whole.items():
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise UserError(f"stream 'glyphs': {option}={brief(value)} must be a whole number from {low} to {high}")
    ranges = {
        "burst": (burst, 1, MOST), "zipf": (zipf, 0, 10), "drift": (drift, 0, 1),
        "strength": (strength, 0, MAX_STRENGTH), "looks": (looks, 0, MAX_STRENGTH),
    }  # fmt: skip
    for option, (number, least, most) in ranges.items():
        if isinstance(number, (bool, str)) or not least <= number <= most:
            raise UserError(f"stream 'glyphs': {option}={brief(number)} must be a number from {least} to {most:g}")
    if samples + ahead > MOST:
        raise UserError(
            f"stream 'glyphs': samples={samples} and ahead={ahead} are more than {MOST} together: lower one"
        )
    if strength + looks > MAX_STRENGTH:
        raise UserError(
            f"stream 'glyphs': strength={strength:g} and looks={looks:g} are more than {MAX_STRENGTH:g} together: lower one"
        )
