"""The sequences that make a weighted sum of features extreme without leaving the range of features that was seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from seqsearch.core.compiled import compiled
from seqsearch.core.digests import seed_of
from seqsearch.extremes import kernels
from seqsearch.extremes.anneal import COLD, HOT
from seqsearch.extremes.exact import enumerate_sequences
from seqsearch.extremes.features import SAME, Features
from seqsearch.extremes.objective import Floats, Labels, random_labels
from seqsearch.extremes.region import Region
from seqsearch.stats.sampling import number_of_sequences

FEW = 5_000
"""So many sequences are looked at one by one."""
STARTS = 2
"""Annealings for each sequence that is wanted; the best is taken."""
TRIES = 50
"""Random sequences drawn for each start, at most, until one is in the range."""


def default_moves(n: int) -> int:
    """Exchanges tried from one start: 100 N^2, at least 20,000, at most 2 million."""
    return min(2_000_000, max(20_000, 100 * n * n))


def extremes_within(
    features: Features, weights: Floats, region: Region, sign: float, count: int, seed: int, moves: int | None = None
) -> list[Labels]:
    """The ``count`` different sequences with the least ``sign`` times ``weights [P]`` . features that are found in ``region``.

    Where there are at most `FEW` sequences, the least there are; else `STARTS` annealings for each one wanted, by exchanges of
    two classes, of which those that leave the range are refused. Each starts from a random sequence in the range that is drawn
    for it alone, so that what is found depends on sequences that were trained by their fit and range only. A sequence and its
    reversal with the same features count as one. Fewer are returned where no more are found.

    Args:
        sign: 1 to make the sum small, -1 to make it large.
        seed: of all random choices; the result is a function of the arguments, bit for bit on like machines.
        moves: exchanges tried from each start; None: `default_moves`.
    """
    problem = next(iter(features.problems.values()))
    if number_of_sequences(problem.sizes) <= FEW:
        return _best(features, sign * weights, region, list(enumerate_sequences(problem.sizes)), count)
    number = default_moves(problem.n) if moves is None else moves
    found: list[Labels] = []
    for index, starts in enumerate(_starts(features, region, count, seed, sign)):
        known = np.array([turned for x in found for turned in (x, problem.k - 1 - x)]).reshape(-1, problem.n)
        seeds = (seed_of("fit", seed, sign, index, r) for r in range(len(starts)))
        ends = [
            _annealed(features, sign * weights, region, start, known, s, number)
            for start, s in zip(starts, seeds, strict=True)
        ]
        found += [x for x in _best(features, sign * weights, region, [*found, *ends], count) if not _among(x, found)][
            :1
        ]
    return _best(features, sign * weights, region, found, count)


def _best(
    features: Features, weights: Floats, region: Region, candidates: Sequence[Labels], count: int
) -> list[Labels]:
    """Different ones in the range, most extreme first."""
    values = features.of(candidates)
    inside = np.flatnonzero(region.holds(values))
    score = np.round((values[inside] - region.centre) @ weights, 12)
    found: list[int] = []
    for i in inside[np.argsort(score, kind="stable")]:
        near = [j for j in found if np.allclose(values[i], values[j], rtol=0, atol=SAME * np.abs(values[j]).max())]
        if not _among(candidates[i], [candidates[j] for j in near]):
            found.append(i)
        if len(found) == count:
            break
    return [candidates[i] for i in found]


def _among(labels: Labels, found: Sequence[Labels]) -> bool:
    """Is it, or its reversal, one of these?"""
    return any(np.array_equal(labels, x) or np.array_equal(labels.max() - labels, x) for x in found)


def _starts(features: Features, region: Region, count: int, seed: int, sign: float) -> Iterator[list[Labels]]:
    """Random sequences in the range, `STARTS` for each of ``count``, or as many as there are."""
    sizes = next(iter(features.problems.values())).sizes
    drawn = (random_labels(sizes, seed_of("fit-start", seed, sign), i) for i in range(TRIES * STARTS * count))
    inside = (labels for labels in drawn if region.holds(features.of([labels]))[0])
    for _ in range(count):
        if starts := list(islice(inside, STARTS)):
            yield starts


def _annealed(
    features: Features, weights: Floats, region: Region, start: Labels, known: Labels, seed: int, moves: int
) -> Labels:
    """The best that is seen on the way from ``start``, and is none of ``known [m, N]``."""
    problems = list(features.problems.values())
    pairs = np.array([p.pairs for p in problems])
    diagonal = np.einsum("ptt->pt", pairs)
    cross = diagonal[:, :, None] + diagonal[:, None, :] - 2 * pairs
    places = np.array([p.places for p in problems])
    labels, best = start.astype(np.int64), start.astype(np.int64)
    _search(
        np.array(problems[0].similarity),
        pairs,
        cross,
        places,
        labels,
        best,
        known,
        np.ascontiguousarray(weights, np.float64),
        np.array([region.low, region.high, region.centre]),
        np.ascontiguousarray(region.metric),
        region.most,
        np.array([seed % 2**64], np.uint64),
        moves,
        HOT,
        COLD,
    )
    return best


@compiled
def _search(
    similarity: Floats,
    pairs: Floats,
    cross: Floats,
    places: Floats,
    labels: Labels,
    best: Labels,
    known: Labels,
    weights: Floats,
    bounds: Floats,
    metric: Floats,
    most: float,
    state: kernels.State,
    moves: int,
    hot: float,
    cold: float,
) -> None:
    """``best`` becomes the sequence with the least weighted sum seen; moves before the first only set the temperature."""
    p_all, k, n = pairs.shape[0], pairs.shape[1], labels.size
    contributions, sums = np.zeros((p_all, k, n)), np.zeros((k, n))
    now, change = np.zeros(p_all), np.zeros(p_all)
    for p in range(p_all):
        sums[:] = 0.0
        now[p] = kernels.table(similarity, pairs[p], places[p], labels, sums, contributions[p])
    squares, seen, score, least = 0.0, 0, 0.0, 0.0
    warm = max(200, moves // 200)
    temperature, many = 0.0, np.uint64(n)
    for move in range(warm + moves):
        z = kernels.draw(state)
        c, d = np.int64(((z & kernels.LOW) * many) >> kernels.S32), np.int64(((z >> kernels.S32) * many) >> kernels.S32)
        i, j = labels[c], labels[d]
        if i == j:
            continue
        delta = 0.0
        for p in range(p_all):
            h = contributions[p]
            change[p] = h[j, c] - h[i, c] + h[i, d] - h[j, d] - cross[p, i, j] * similarity[c, d]
            delta += weights[p] * change[p]
        if move < warm:
            squares += delta * delta
            seen += 1
            continue
        if (move - warm) % kernels.STEPS == 0 or temperature == 0.0:
            unit = np.sqrt(squares / max(1, seen))
            temperature = unit * hot * (cold / hot) ** ((move - warm) / moves)
        if delta > 20 * temperature:
            continue
        if delta > 0 and (kernels.draw(state) >> kernels.S11) * kernels.UNIT >= np.exp(-delta / temperature):
            continue
        if not _inside(now, change, bounds, metric, most):
            continue
        _exchange(similarity, pairs, contributions, labels, c, d)
        for p in range(p_all):
            now[p] += change[p]
        score += delta
        if score < least and not _known(labels, known):
            least = score
            kernels.copy(labels, best)


@compiled
def _known(labels: Labels, known: Labels) -> bool:
    for m in range(known.shape[0]):
        same = True
        for x in range(labels.size):
            if known[m, x] != labels[x]:
                same = False
                break
        if same:
            return True
    return False


@compiled
def _inside(now: Floats, change: Floats, bounds: Floats, metric: Floats, most: float) -> bool:
    """Are the features after the change in the range?"""
    total = 0.0
    for p in range(now.size):
        x = now[p] + change[p]
        if x < bounds[0, p] or x > bounds[1, p]:
            return False
        for q in range(now.size):
            total += (x - bounds[2, p]) * metric[p, q] * (now[q] + change[q] - bounds[2, q])
    return total <= most


@compiled
def _exchange(
    similarity: Floats, pairs: Floats, contributions: Floats, labels: Labels, c: np.int64, d: np.int64
) -> None:
    """Class c goes to the task of d, and d to that of c; the tables of all features follow."""
    i, j = labels[c], labels[d]
    for p in range(pairs.shape[0]):
        for t in range(pairs.shape[1]):
            weight = pairs[p, t, i] - pairs[p, t, j]
            if weight != 0:
                for x in range(labels.size):
                    contributions[p, t, x] += weight * (similarity[d, x] - similarity[c, x])
    labels[c], labels[d] = j, i
