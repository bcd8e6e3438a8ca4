"""How far a fitted normal, or a sample, is from the true distribution of accuracies.

Definitions: section D.1.1 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?". It gives no bins
and prints nats and bits, W1 and W2. A normal with ``sigma`` 0 is all mass at ``mu``.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from seqsearch.distribution.interval import AGREE, Float64, finite

Base = Literal["nats", "bits"]


def jsd(truth: ArrayLike, mu: float, sigma: float, bins: int = 10, base: Base = "nats") -> float:
    """Jensen-Shannon divergence of ``truth [n]`` and N(``mu``, ``sigma``^2) over ``bins`` equal bins; 0 to ln 2 (1 bit).

    The bins span the truth and mu +- 3 sigma, whichever is wider; the normal's mass beyond counts to the outer bins.
    It is the divergence, not its square root (scipy's ``jensenshannon``).
    """
    x = finite(truth, "accuracies")
    _check(mu, sigma)
    edges = _edges(min(x.min(), mu - 3 * sigma), max(x.max(), mu + 3 * sigma), bins)
    if edges is None:
        return 0.0
    if sigma <= AGREE:
        return _divergence(_histogram(x, edges), _histogram(np.array([mu]), edges), base)
    below = stats.norm.cdf(edges[1:-1], mu, sigma)
    return _divergence(_histogram(x, edges), np.diff(below, prepend=0.0, append=1.0), base)


def wasserstein(truth: ArrayLike, mu: float, sigma: float, order: Literal[1, 2] = 1) -> float:
    """Wasserstein distance of ``truth [n]``, all equally likely, and N(``mu``, ``sigma``^2), in units of accuracy; exact.

    W_p^p is the integral over u of |x(u) - mu - sigma z(u)|^p, x and z the quantile functions of truth and standard normal. In
    each step of x it has a closed form: between u and v, z integrates to phi(z(u)) - phi(z(v)).
    """
    _check(mu, sigma)
    x = np.sort(finite(truth, "accuracies")) - mu
    steps = np.arange(len(x) + 1) / len(x)
    z = special.ndtri(steps)
    if _order(order) == 2:
        cross = sigma * (x * (_density(z[:-1]) - _density(z[1:]))).sum()
        return math.sqrt(max(0.0, float((x**2).mean() + sigma**2 - 2 * cross)))
    if sigma <= AGREE:
        return float(np.abs(x).mean())
    # x is above the normal's quantile up to u = Phi(x / sigma), below it from there on.
    turn = np.clip(x / sigma, z[:-1], z[1:])
    above, below = special.ndtr(turn) - steps[:-1], steps[1:] - special.ndtr(turn)
    of_normal = 2 * _density(turn) - _density(z[:-1]) - _density(z[1:])
    return float((x * (above - below) + sigma * of_normal).sum())


def _density(z: Float64) -> Float64:
    density: Float64 = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return density


def _edges(low: float, high: float, bins: int) -> Float64 | None:
    if bins < 1:
        raise ValueError(f"a histogram needs at least one bin, not {bins}")
    return np.linspace(low, high, bins + 1) if high - low > AGREE else None


def _histogram(x: Float64, edges: Float64) -> Float64:
    """Share of values in each bin; those within rounding of an inner edge count above it."""
    place = np.floor((x - edges[0]) / (edges[-1] - edges[0]) * (len(edges) - 1) + AGREE).astype(np.int64)
    counts = np.bincount(np.clip(place, 0, len(edges) - 2), minlength=len(edges) - 1)
    return counts / len(x)


def _divergence(p: Float64, q: Float64, base: Base) -> float:
    m = (p + q) / 2
    nats = float((special.rel_entr(p, m) + special.rel_entr(q, m)).sum() / 2)
    if base not in ("nats", "bits"):
        raise ValueError(f"a divergence is in nats or bits, not {base!r}")
    return max(0.0, nats if base == "nats" else nats / math.log(2))


def _check(mu: float, sigma: float) -> None:
    if not (math.isfinite(mu) and math.isfinite(sigma) and sigma >= 0):
        raise ValueError(f"a normal needs a mean and a standard deviation of 0 or more, not {mu} and {sigma}")


def _order(order: int) -> int:
    if order not in (1, 2):
        raise ValueError(f"the Wasserstein distance is of order 1 or 2, not {order}")
    return order
