"""Description of a stream from its labels, times and parts, without looking at an image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.stats.labels import autocorrelation, bursts, prior
from seqsearch.streams import parts
from seqsearch.streams.base import STREAM_PARTS, Labels, Stream

LAGS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
TENTHS = 10
"""Spans of equal numbers of samples by which the class prior is listed."""
SHOWN = 5
"""Classes whose share is listed span by span: the most frequent ones."""


def described(stream: Stream) -> dict[str, Any]:
    """Samples, classes, times, parts; how labels depend on those before, how the class prior changes, and how long bursts are."""
    labels, n = np.asarray(stream.labels), len(stream)
    counts = np.bincount(labels, minlength=len(stream.classes))
    return {
        "stream": stream.name,
        "digest": stream.digest,
        "samples": n,
        "classes": len(stream.classes),
        "classes_seen": int((counts > 0).sum()),
        "majority": {"class": stream.classes[int(counts.argmax())], "share": float(counts.max() / n)},
        "content": "images" if stream.has_images else _dim(stream),
        "times": [int(stream.times[0]), int(stream.times[-1])],
        "parts": _parts(stream),
        "known": dict(stream.known),
        "agreement": agreement(labels, counts),
        "prior": _prior(stream, labels, counts),
        "runs": _lengths(bursts(labels).lengths),
        "bursts": {"gap": parts.usual_gap(labels), **_lengths(np.bincount(parts.bursts(labels)))},
    }


def agreement(labels: Labels, counts: NDArray[np.int64]) -> list[dict[str, float]]:
    """For each lag of `LAGS` that leaves half of the stream: the autocorrelation a - e (`labels.autocorrelation`), and as a
    share of what it can be at most, (a - e) / (1 - e) with e the sum of squared shares of the classes."""
    most = 1 - float(((counts / len(labels)) ** 2).sum())
    if not (lags := [lag for lag in LAGS if 2 * lag <= len(labels)]):
        return []
    _, found = autocorrelation(labels, lags)
    return [
        {"lag": lag, "autocorrelation": float(r), "kappa": float(r) / most if most > 0 else 0.0}
        for lag, r in zip(lags, found, strict=True)
    ]


def _dim(stream: Stream) -> str:
    dim = int(getattr(stream.pool, "dim", 0))
    return f"features of {dim} values" if dim else "labels alone"


def _parts(stream: Stream) -> dict[str, int] | None:
    if stream.given is None:
        return None
    counts = np.bincount(stream.given, minlength=len(STREAM_PARTS)).tolist()
    return dict(zip(STREAM_PARTS, counts, strict=True))


def _prior(stream: Stream, labels: Labels, counts: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Span by span: its beginning, its classes, new ones among them, the distance of its prior to that of the span before (total
    variation, 0 to 1; that of samples without drift is not 0), and shares of the most frequent classes."""
    most = [int(c) for c in np.argsort(-counts, kind="stable")[:SHOWN] if counts[c]]
    edges, shares = prior(labels, min(TENTHS, len(labels)), len(counts))
    found, seen, before = list[dict[str, Any]](), np.zeros(len(counts), dtype=np.bool_), None
    for first, own in zip(edges[:-1].tolist(), shares, strict=True):
        found.append(
            {
                "first": first,
                "time": int(stream.times[first]),
                "classes": int((own > 0).sum()),
                "new": int(((own > 0) & ~seen).sum()),
                "distance": None if before is None else float(np.abs(own - before).sum() / 2),
                "shares": {stream.classes[c]: float(own[c]) for c in most},
            }
        )
        seen |= own > 0
        before = own
    return found


def _lengths(lengths: NDArray[np.int64]) -> dict[str, float]:
    """How many there are, their mean, median, 90th percentile and longest."""
    median, high = np.percentile(lengths, [50, 90])
    return {
        "count": len(lengths),
        "mean": float(lengths.mean()),
        "median": float(median),
        "p90": float(high),
        "longest": int(lengths.max()),
    }
