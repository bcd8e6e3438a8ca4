"""``--fit``: a fit of accuracies on random orders by features of the orders, and the extreme orders that it predicts.

A method's accuracies on random orders, one training each, are fitted by the features that objectives are made of.
Permutation tests decide whether the fit predicts anything. The tests of several methods are corrected together (Holm).
If a fit is significant, the sequences of lowest and highest predicted accuracy are searched. The search stays within
the range of features that the random orders have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from protocols.edge.partition import Classes
from protocols.edge.settings import EdgeSettings
from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.typed import built, fits
from seqsearch.extremes.features import Features, chosen, features
from seqsearch.extremes.objective import Floats, Labels, labels_of, tasks_of
from seqsearch.extremes.region import region
from seqsearch.extremes.within_range import extremes_within
from seqsearch.results.schema import FITS
from seqsearch.similarity.matrix import Similarity
from seqsearch.stats.interval import AGREE
from seqsearch.stats.multiple import holm
from seqsearch.stats.regression import FEWEST_ORDERS, LEVEL, RidgeFit, ridge_fit
from seqsearch.storage.files import write_json
from seqsearch.storage.reading import json_object

DIGITS = 9
"""Of weights: last bits of a fit must not decide which sequence is found."""
Known = Sequence[float | None]
"""Accuracy of each random order with its own seed; None where it failed."""


@dataclass(frozen=True)
class Feature:
    """``effect``: what a standard deviation of it more adds to the predicted accuracy. ``low``, ``high``: its range seen."""

    name: str
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class Chosen:
    """A sequence, and the accuracy that the fit predicts."""

    tasks: Classes
    predicted: float


@dataclass(frozen=True)
class Fit:
    """The accuracy model fitted for one method.

    Attributes:
        orders: numbers of the random orders that the fit uses.
        left_out: accuracy of each of these orders, predicted by the fit to all others.
        features: features that the fit uses.
        unavailable: features that it does not use, each with the reason.
        penalty, r2, p: as in `RidgeFit`; None where no fit was possible.
        p_together: ``p`` after Holm's correction over the fits of all methods.
        trained: whether the fit's sequences are trained, which needs ``p_together`` of at most `LEVEL`.
        why_not: the reason for a missing fit; empty if there is a fit.
        hard, easy: sequences of lowest and of highest predicted accuracy, most extreme first; empty if not ``trained``.
        worst, best: numbers of as many random orders, of lowest and of highest accuracy, most extreme first.
    """

    method: str
    orders: tuple[int, ...]
    left_out: tuple[float, ...]
    features: tuple[Feature, ...]
    unavailable: tuple[tuple[str, str], ...]
    penalty: float | None
    r2: float | None
    p: float | None
    p_together: float | None
    trained: bool
    why_not: str
    hard: tuple[Chosen, ...]
    easy: tuple[Chosen, ...]
    worst: tuple[int, ...]
    best: tuple[int, ...]


def fit_digest(similarity: Similarity, sizes: Sequence[int], known: Mapping[str, Known], s: EdgeSettings) -> str:
    """Identity of the fits: of what they are made from."""
    return digest_of(
        "fit", similarity.digest, list(sizes), {m: list(k) for m, k in known.items()}, s.seed, s.fit_extremes
    )


def fitted(
    similarity: Similarity, sizes: Sequence[int], random: Sequence[Classes], known: Mapping[str, Known], s: EdgeSettings
) -> list[Fit]:
    """A fit for each method, by its accuracies on ``random``."""
    labels = [labels_of(tasks) for tasks in random]
    there = features(similarity.values, sizes)
    with threadpool_limits(1):  # last bits depend on the number of threads
        made = [_fit(m, there, labels, k, s) for m, k in known.items()]
        tested = [fit.p for fit, _ in made if fit.p is not None]
        together = iter(holm(tested))
        fits = [replace(f, p_together=None if f.p is None else next(together)) for f, _ in made]
        return [
            _with_extremes(f, ridge, there, labels, known[f.method], s) if ridge and _open(f) else f
            for f, (_, ridge) in zip(fits, made, strict=True)
        ]


def _open(fit: Fit) -> bool:
    return fit.p_together is not None and fit.p_together <= LEVEL * (1 + AGREE)


def _fit(
    method: str, there: Features, labels: Sequence[Labels], known: Known, s: EdgeSettings
) -> tuple[Fit, RidgeFit | None]:
    orders = tuple(i for i, a in enumerate(known) if a is not None)
    accuracy = np.array([known[i] for i in orders], dtype=np.float64)
    none = Fit(method, orders, (), (), (), None, None, None, None, False, "", (), (), (), ())
    if len(orders) < FEWEST_ORDERS:
        return replace(
            none, why_not=f"{FEWEST_ORDERS} random sequences or more are needed, {len(orders)} were evaluated"
        ), None
    mine, values = chosen(there, [labels[i] for i in orders])
    unavailable = tuple(mine.left_out.items())
    if np.ptp(accuracy) <= AGREE or not mine.problems:
        same = "accuracies" if np.ptp(accuracy) <= AGREE else "features"
        return replace(none, unavailable=unavailable, why_not=f"all random sequences have the same {same}"), None
    ridge = ridge_fit(values, accuracy, seeded_numpy("fit", s.seed, method))
    columns = zip(mine.names, ridge.coefficients, values.min(axis=0), values.max(axis=0), strict=True)
    found = tuple(Feature(name, float(effect), float(low), float(high)) for name, effect, low, high in columns)
    left_out = tuple(float(a) for a in ridge.left_out)
    return replace(
        none, left_out=left_out, features=found, unavailable=unavailable, penalty=ridge.penalty, r2=ridge.r2, p=ridge.p
    ), ridge


def _with_extremes(
    fit: Fit, ridge: RidgeFit, there: Features, labels: Sequence[Labels], known: Known, s: EdgeSettings
) -> Fit:
    mine, values = chosen(there, [labels[i] for i in fit.orders])
    weights = _rounded(ridge.coefficients / ridge.scale)
    seen, k = region(values), s.fit_extremes

    def extreme(sign: float) -> tuple[Chosen, ...]:
        found = extremes_within(mine, weights, seen, sign, k, s.seed)
        predicted = ridge.predict(mine.of(found))
        return tuple(Chosen(tasks_of(x, there.k), float(a)) for x, a in zip(found, predicted, strict=True))

    ranked = sorted(fit.orders, key=lambda i: (known[i], i))
    return replace(
        fit,
        trained=True,
        hard=extreme(1.0),
        easy=extreme(-1.0),
        worst=tuple(ranked[:k]),
        best=tuple(ranked[: -k - 1 : -1]),
    )


def _rounded(weights: Floats) -> Floats:
    largest = float(np.abs(weights).max()) or 1.0
    rounded: Floats = np.round(weights / largest, DIGITS) * largest
    return rounded


LARGEST = 1 << 28
"""Bytes of ``fit.json``."""
IN_FILE = {"unavailable": "lacking"}
"""Names of fields that the file calls otherwise."""


def write_fits(path: Path, digest: str, made: Sequence[Fit]) -> None:
    """``digest``: of what they were made from (`protocols.edge.fit.fit_digest`)."""
    said = {"digest": digest, "fits": [{IN_FILE.get(k, k): v for k, v in asdict(f).items()} for f in made]}
    write_json(path, {**said, "checksum": _checksum(said)})


def read_fits(folder: Path) -> tuple[str, tuple[Fit, ...]]:
    """Return the digest of the inputs of the fits, and the fits.

    Return an empty digest and no fits if the file is missing or empty.

    Raises:
        UserError: the file is damaged.
    """
    path = folder / FITS
    if not os.path.lexists(path) or not path.lstat().st_size:
        return "", ()
    said = json_object(path, most=LARGEST)
    found = {name: said.get(name) for name in ("digest", "fits")}
    names = {key: name for name, key in IN_FILE.items()}
    rows = [{names.get(k, k): v for k, v in f.items()} if isinstance(f, dict) else f for f in found["fits"] or ()]
    if said.get("checksum") != _checksum(found) or not fits(rows, tuple[Fit, ...]):
        raise UserError(f"{path} is not as it was written: remove it to have it fitted again")
    return str(found["digest"]), built(rows, tuple[Fit, ...])


def _checksum(said: dict[str, Any]) -> str:
    return digest_of("fit file", json.loads(json.dumps(said)))
