"""``--leave-one-out``: accuracy of each method on sequences that were found without it.

It is compared with that on sequences that the method was searched with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.cldyb.compared import Evaluated, Pair, evaluated, places
from seqsearch.core.types import ClassId
from seqsearch.results.run import Matrix, RunResults
from seqsearch.stats.difference import HeldOut, held_out
from seqsearch.stats.drop import Drop, drop

Cells = dict[tuple[str, str], Evaluated]
"""By the method left out and the method scored: one sequence for each of the ``--searches``, the same seeds everywhere."""


@dataclass(frozen=True)
class Searched:
    """A method, or the mean over all, on the sequences that it was searched for: mean final Acc, and the drop."""

    acc: float
    drop: Drop | None


@dataclass(frozen=True)
class LeftOut:
    """Accuracy that a method loses if the search trained it, ``by_method`` and as the mean over methods.

    See `seqsearch.stats.difference`.
    """

    by_method: dict[str, Searched]
    mean: Searched
    held_out: HeldOut


def left_out(data: RunResults, pairs: Sequence[Pair], troubles: list[str]) -> LeftOut | None:
    """None, and why, unless every method was scored on every sequence found; ``pairs`` hold the random ones, by method."""
    cells = _cells(data)
    if cells is None:
        troubles.append("No difference of held-out and searched: not every method was scored on every sequence found.")
        return None
    methods = data.methods
    final = np.array([[cells[out, m].final for m in methods] for out in methods])  # [left out, method, search, seed]
    shares = _image_shares(cells, methods)
    together = {m: np.mean([final[j, i] for j in range(len(methods)) if j != i], axis=0) for i, m in enumerate(methods)}
    random = {m: _random(data, m, p, cells) for m, p in zip(methods, pairs, strict=True)}
    return LeftOut(
        {m: _searched([together[m]], [random[m]]) for m in methods},
        _searched(list(together.values()), list(random.values())),
        held_out(final.transpose(2, 0, 1, 3), *(shares or (None, None))),
    )


def _cells(data: RunResults) -> Cells | None:
    methods = data.methods
    sequences = {m: [s for s in data.without(m) if set(s.method_ids) == set(methods) - {m}] for m in methods}
    every = [s for of_method in sequences.values() for s in of_method]
    seeds = set.intersection(*(data.complete(m, every) for m in methods))
    if len({len(found) for found in sequences.values()}) != 1 or not seeds:
        return None
    return {(out, m): evaluated(data, m, sequences[out], seeds) for out in methods for m in methods}


def _random(data: RunResults, method: str, compared: Pair, cells: Cells) -> Matrix | None:
    """Final Acc ``[L, Q]`` on random sequences, with the first seeds of the cells; None where some are missing."""
    seeds, sequences = next(iter(cells.values())).seeds, compared.random.sequences
    shared = data.complete(method, sequences) & set(seeds)
    if not shared or set(seeds[: len(shared)]) != shared:
        return None
    return evaluated(data, method, sequences, shared).final


def _searched(found: Sequence[Matrix], random: Sequence[Matrix | None]) -> Searched:
    """``found`` ``[S, R]`` and ``random`` ``[L, R]`` of each method; the unit of the drop is the search."""
    there = [r for r in random if r is not None]
    mean = np.mean(found, axis=0)
    whole = len(there) == len(random) and len({r.shape for r in there}) == 1
    return Searched(float(mean.mean()), drop(mean, np.mean(there, axis=0)) if whole else None)


def _image_shares(cells: Cells, methods: Sequence[str]) -> tuple[Matrix, Matrix] | None:
    """Return each test image's share in the difference ``[S, R, I]`` and the number of its class ``[I]``.

    Return None if per-image correctness is unknown.
    """
    found: dict[ClassId, Matrix] = {}
    for (out, method), side in cells.items():
        weight = 1 / len(methods) if out == method else -1 / (len(methods) * (len(methods) - 1))
        for place in places([side]):
            if place is None:
                return None
            shape = len(side.sequences), len(side.seeds), len(place.right)
            known = found.setdefault(place.class_id, np.zeros(shape))
            if known.shape != shape:
                return None
            known[place.at] += weight * place.weight * place.right
    sizes = [v.shape[2] for v in found.values()]
    return np.concatenate(list(found.values()), axis=2), np.repeat(np.arange(len(found)), sizes)
