"""The three parts of a stream: a search prefix, what is played, and a holdout of whole bursts.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?" measures retention on an unseen stream like the
training stream; how it was parted is not printed. Neighbours in a burst are often of one event: a holdout of single samples
would leak, so whole bursts go there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import seed_of
from seqsearch.core.errors import UserError
from seqsearch.streams.base import STREAM_PARTS, Labels, Stream
from seqsearch.streams.rows import by_class

SEARCH, MAIN, HOLDOUT = range(len(STREAM_PARTS))
GAP, BY_CHANCE = 16, 0.1
"""Samples of a class that are at most so many positions apart are of one burst, since uploads of several people interleave;
and at most so many that another of the class is among them by chance this often."""


def usual_gap(labels: Labels) -> int:
    """Positions within which samples of a class are taken for one burst: `GAP`, fewer where classes are few."""
    shares = np.bincount(labels) / len(labels)
    return int(np.clip(BY_CHANCE / (shares**2).sum(), 1, GAP))


def bursts(labels: Labels, gap: int | None = None) -> NDArray[np.signedinteger[Any]]:
    """Number of the burst ``[n]`` that each sample is of, by first sample: samples of one class, each at most ``gap`` positions
    after the one before (`usual_gap` if None). With ``gap=1`` bursts are runs of equal labels."""
    gap = usual_gap(labels) if gap is None else gap
    n, order = len(labels), by_class(labels)
    classes = labels[order]
    begins = np.ones(n, dtype=np.bool_)
    begins[1:] = (classes[1:] != classes[:-1]) | (np.diff(order) > gap)
    firsts = order[begins]  # the first sample of each burst
    kind: type[np.signedinteger[Any]] = np.int32 if n < 1 << 31 else np.int64
    number = np.empty(len(firsts), dtype=kind)
    number[np.argsort(firsts)] = np.arange(len(firsts))
    found = np.empty(n, dtype=kind)
    found[order] = number[np.cumsum(begins, dtype=kind) - kind(1)]
    return found


def parts_of(stream: Stream, search: float, holdout: float, seed: int) -> NDArray[np.uint8]:
    """Part of each sample ``[n]``: as the stream says. What it does not say is drawn of the main part: the first ``search`` (a
    share) for choices, and of the rest bursts drawn by ``seed`` until a share of ``holdout`` is reached.

    Raises:
        UserError: a part would be empty.
    """
    parts = np.full(len(stream), MAIN, dtype=np.uint8) if stream.given is None else np.array(stream.given)
    shares = {SEARCH: search, MAIN: 1.0, HOLDOUT: holdout}
    if not (parts == SEARCH).any():
        main = parts == MAIN
        parts[main & (np.cumsum(main, dtype=np.int64) <= round(search * int(main.sum())))] = SEARCH
    if not (parts == HOLDOUT).any():
        main = parts == MAIN
        held = _held_out(np.asarray(stream.labels[main]), holdout, seed)
        parts[main] = np.where(held, np.uint8(HOLDOUT), np.uint8(MAIN))
    for code, name in enumerate(STREAM_PARTS):
        if shares[code] > 0 and not (parts == code).any():
            raise UserError(
                f"stream {stream.name!r} ({len(stream)} samples) leaves its {name} part empty: take a longer one"
            )
    return parts


def _held_out(labels: Labels, share: float, seed: int) -> NDArray[np.bool_]:
    """Which samples ``[n]`` are held out: whole bursts, drawn until they are nearest to the share."""
    of = bursts(labels)
    sizes = np.bincount(of)
    drawn = np.random.Generator(np.random.Philox(seed_of("holdout", seed))).permutation(len(sizes))
    total = np.cumsum(sizes[drawn])
    enough = int(np.searchsorted(total, share * len(labels), side="right"))
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[drawn[: max(enough, 1) if share else 0]] = True
    found: NDArray[np.bool_] = chosen[of]
    return found
