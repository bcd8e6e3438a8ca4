"""A share that is looked at after every draw: bounds that hold at all times at once, so that one may stop whenever one likes."""

from __future__ import annotations

import math

from scipy import optimize, special

from seqsearch.distribution.interval import Interval, tail

SMALLEST = 1e-12
"""Shares nearer to 0 or 1 are not told from them."""


def running_share(count: int, n: int, level: float = 0.95) -> Interval:
    """``count`` of ``n`` independent draws, with bounds that hold for ALL n together with probability ``level``.

    The lower bound is the share p that the draws speak against by 2 / (1 - ``level``): M_n(p), the mean over all shares above p
    of the likelihood ratio to p, is a supermartingale wherever the true share is at most p, and exceeds that at any time with
    half of 1 - ``level`` (Ville's inequality; "Statistical Methods Related to the Law of the Iterated Logarithm", Robbins, 1970).
    The upper bound is that of the others. Exact for any share; wider than Clopper and Pearson's, which hold for one n that was
    fixed beforehand.

    Raises:
        ValueError: not 0 to n of n draws, of which there is one at least.
    """
    if not 0 <= count <= n or n < 1:
        raise ValueError(f"{count} of {n} draws")
    return Interval(count / n, _lower(count, n, tail(level)), 1 - _lower(n - count, n, tail(level)))


def _lower(count: int, n: int, beyond: float) -> float:
    wanted = -math.log(beyond)
    if count == 0 or _log_evidence(SMALLEST, count, n) < wanted:
        return 0.0
    most = min(count / n, 1 - SMALLEST)
    return float(optimize.brentq(lambda p: _log_evidence(p, count, n) - wanted, SMALLEST, most, xtol=1e-9))


def _log_evidence(p: float, count: int, n: int) -> float:
    """Log of M_n(p): of shares above ``p``, uniform, against ``p``."""
    a, b = count + 1, n - count + 1
    above = float(special.betainc(b, a, 1 - p))  # the part of the Beta distribution above p
    if above <= 0:
        return -math.inf
    mean = math.log(above) + float(special.betaln(a, b)) - math.log1p(-p)
    return mean - count * math.log(p) - (n - count) * math.log1p(-p)
