"""A certified bound on the score of every sequence: no search can find anything beyond it.

The score is a quadratic assignment problem: with X the permutation matrix that puts N classes into N places, W [N, N]
the weights V of the places' tasks, and U any diagonal matrix (it multiplies the weights of a place with itself, whose
sum is known),

    score = 1/2 tr((D + U) X W X') - 1/2 sum over c of u_c W[c's place, c's place] + sum over c of tau_c b[c's place].

Hadley, Rendl and Wolkowicz ("A new lower bound via projection for the quadratic assignment problem", 1992): X = ee'/N +
P Z P', with P [N, N - 1] an orthonormal basis of the complement of e and Z orthogonal. The part that is quadratic in Z
is at least the minimal scalar product of the eigenvalues of P'(D + U)P and P'WP; what is linear in X is a scalar
product of two vectors, whose minimum is that of their sorted entries. The bound is concave in U, and not smooth; it is
improved by a quasi-Newton method on supergradients, as Lewis and Overton ("Nonsmooth optimization via quasi-Newton
methods", 2013) suggest. It holds for tasks of any sizes: W is any symmetric matrix, and its eigenvalues are those of a K x
K matrix. The other bound is the minimal scalar product of all entries of D and W. The better of the two counts; upper
bounds are lower ones of the negated problem.

Of more than `SMALL` classes the entries are counted in bins, not sorted, and eigenvalues are those of a low-rank part of D
(`seqsearch.extremes.low_rank_bound`), with all eigenvalues up to `DENSE` classes where time allows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from seqsearch.extremes.low_rank_bound import EPS, Places, TimeIsUp, bounds, least_product, of_features
from seqsearch.extremes.objective import SMALL, Floats, Matrix, Moments, Problem
from seqsearch.extremes.on_features import FeatureProblem
from seqsearch.extremes.paper import Direction

MOST, GAIN = 40, 1e-4
"""Evaluations of the bound at most, and the share of its distance from the mean score that an iteration must gain."""

DENSE = 5_000
"""Classes of which all eigenvalues may be computed."""
SAMPLE = 400
"""Classes of an eigendecomposition that is timed to predict that of more classes."""


class _TimeIsUp(Exception):
    """No further evaluation fits into the time."""


def certified_bound(problem: Problem, direction: Direction) -> float | None:
    """No sequence scores less ("hard") or more ("easy") than this; None where there is no score.

    Rounding is allowed for: the bound is moved outwards by more than eigenvalues and sums can be wrong.
    """
    return bound_within(problem, direction)[0]


def bound_within(problem: Problem, direction: Direction, seconds: float = np.inf) -> tuple[float | None, bool]:
    """See `certified_bound`; and whether ``seconds`` cut it short. A bound that was cut short holds, but may be less tight.

    The bound from sorted entries is always computed of up to `SMALL` classes. Of all others, those that fit into the time are.
    The bound is None if none did.
    """
    if not problem.defined:
        return None, False
    until = time.perf_counter() + seconds
    sign = 1.0 if direction == "hard" else -1.0
    form = _Form.of(problem, sign)
    if isinstance(problem, FeatureProblem):
        if time.perf_counter() + _seconds_of_spectrum(problem) > until:
            return None, True
        places = Places(form.pairs, form.sizes)
        return sign * (of_features(problem.features, problem.spectrum, places) + _linear_bound(form)) + 0.0, False
    values, cut = ([_sorted_bound(form)], False) if problem.n <= SMALL else _low_rank_bounds(form, until)
    if problem.n <= DENSE:
        projected, stopped = _projected_bound(form, evaluations(problem.n), until)
        values, cut = [*values, *projected], cut or stopped
    return sign * max(values) + 0.0 if values else None, cut


def _low_rank_bounds(form: _Form, until: float) -> tuple[list[float], bool]:
    """Bounds that fit into the time, and whether there are more."""
    linear = _linear_bound(form)
    if not form.pairs.any():
        return [linear], False
    found = list[float]()
    try:
        for bound in bounds(form.similarity, form.moments, Places(form.pairs, form.sizes), until):
            found.append(bound + linear)
    except TimeIsUp:
        return found, True
    return found, False


def evaluations(n: int) -> int:
    """Evaluations for ``n`` classes, each an eigendecomposition: as many as a second or two allow, at most `MOST`."""
    return int(min(MOST, max(1, 1e10 / n**3)))


def _linear_bound(form: _Form) -> float:
    """Of what typicality counts; exact but for rounding."""
    rounding = 4 * EPS * len(form.typicality) * form.scale
    return least_product(form.typicality, np.repeat(form.slopes, form.sizes)) - rounding


@dataclass(frozen=True)
class _Form:
    """1/2 tr(D X W X') + <tau b', X>, to be bounded from below; W and b by task."""

    similarity: Matrix
    pairs: Floats
    typicality: Floats
    slopes: Floats
    sizes: NDArray[np.int64]
    moments: Moments

    @classmethod
    def of(cls, problem: Problem, sign: float) -> _Form:
        """Of a problem, or with ``sign`` -1 of the negated one."""
        return cls(
            problem.similarity,
            sign * problem.pairs,
            problem.typicality,
            sign * problem.slopes,
            np.array(problem.sizes),
            problem.moments,
        )

    @property
    def scale(self) -> float:
        """No sum of absolute values of all that is added up is larger."""
        weights = np.abs(self.pairs)
        quadratic = np.sqrt((weights**2 * np.outer(self.sizes, self.sizes)).sum()) * self.moments.norm
        return float(quadratic + np.abs(self.typicality).max() * (np.abs(self.slopes) @ self.sizes))


def _sorted_bound(form: _Form) -> float:
    n, m = len(form.similarity), form.sizes
    counts = np.outer(m, m) - np.diag(m)
    upper = np.triu(np.ones_like(counts), 1).astype(bool)
    weights = np.concatenate([form.pairs[upper], form.pairs.diagonal()])
    counts = np.concatenate([counts[upper], counts.diagonal() // 2])
    used = weights != 0
    entries = np.zeros(n * (n - 1) // 2)
    entries[: counts[used].sum()] = np.repeat(weights[used], counts[used])
    total = least_product(form.similarity[np.triu_indices(n, 1)].astype(np.float64), entries)
    total += least_product(form.typicality, np.repeat(form.slopes, m))
    return total - 4 * EPS * n * n * form.scale


def _projected_bound(form: _Form, most: int, until: float) -> tuple[list[float], bool]:
    """About ``most`` evaluations by L-BFGS, from U = 0, each a bound; and whether ``until`` (s) allowed fewer of them.

    With typicality there is only that at U = 0, where the linear part has rank one.
    """
    n = len(form.similarity)
    if n == 1:
        return [], False
    each = _seconds_of_one(form.similarity) if until < np.inf else 0.0
    if time.perf_counter() + each > until:
        return [], True
    relaxed = _Relaxed(form)
    first = relaxed.at(np.zeros(n))
    gap, steep = relaxed.middle - first[0], float(np.linalg.norm(first[1]))
    found = [first[0]]
    if form.slopes.any() or not form.pairs.any() or most == 1 or gap <= 0 or steep <= relaxed.still:
        return found, False

    def distance(x: Floats) -> tuple[float, Floats]:
        """Of the mean score from the bound, in units of that at U = 0, where its gradient has length 1."""
        if x.any() and time.perf_counter() + each > until:
            raise _TimeIsUp
        bound, slope = relaxed.at(gap / steep * x) if x.any() else first
        found.append(bound)
        return (relaxed.middle - bound) / gap, -slope / steep

    try:
        optimize.minimize(
            distance,
            np.zeros(n),
            jac=True,
            method="L-BFGS-B",
            options={"maxfun": most, "ftol": GAIN, "gtol": 0.0, "maxls": 5},
        )
    except _TimeIsUp:
        return found, True
    return found, False


def _seconds_of_spectrum(problem: FeatureProblem) -> float:
    """Predicted time of the eigenvalues of features; 0 if they are known."""
    if "spectrum" in problem.__dict__:
        return 0.0
    return _seconds_of_one(problem.products)


def _seconds_of_one(similarity: Matrix) -> float:
    """Predicted time of one evaluation, from the eigendecomposition of the first classes."""
    some = similarity[:SAMPLE, :SAMPLE]
    start = time.perf_counter()
    np.linalg.eigh(some)
    return (time.perf_counter() - start) * (len(similarity) / len(some)) ** 3


class _Relaxed:
    """The projected eigenvalue bound as a function of the diagonal U."""

    def __init__(self, form: _Form) -> None:
        self.form, self.n = form, len(form.similarity)
        self.similarity = np.asarray(form.similarity, np.float64)
        m = form.sizes.astype(float)
        root = np.sqrt(m)
        weights = form.pairs * np.outer(root, root)  # its eigenvalues are those of W, but for zeros
        self.spectrum = np.linalg.eigvalsh(_projected(weights, root)) if len(m) > 1 else np.zeros(0)
        self.rows = np.repeat(form.pairs @ m, form.sizes)  # row sums of W, by place
        self.own = np.repeat(form.pairs.diagonal(), form.sizes)
        self.linear = np.repeat(form.slopes, form.sizes)
        self.still = 1e-9 * self.n * float(np.abs(form.pairs).max())  # a slope that is rounding
        counts = np.outer(m, m) - np.diag(m)
        self.middle = float(0.5 * (form.pairs * counts).sum() * self.similarity.sum() / (self.n * (self.n - 1)))

    def at(self, shift: Floats) -> tuple[float, Floats]:
        """(bound, supergradient [N]) at U = diag(shift)."""
        n = self.n
        matrix = self.similarity + np.diag(shift)
        values, vectors = np.linalg.eigh(_projected(matrix, np.ones(n)))  # increasing
        beta = np.zeros(n - 1)
        above, below = np.sort(self.spectrum[self.spectrum > 0])[::-1], np.sort(self.spectrum[self.spectrum < 0])
        beta[: len(above)] = above
        beta[n - 1 - len(below) :] = below[::-1]
        sums = matrix.sum(axis=1)
        total, weight = float(sums.sum()), float(self.rows.sum())
        # What is linear in X: row sums times row sums / N, and typicality (only at U = 0, where it is a multiple of the
        # row sums).
        places = self.rows / n + self.linear / (n - 1)
        bound = 0.5 * float(values @ beta) - 0.5 * total * weight / n**2
        bound += least_product(sums, places) + least_product(-0.5 * shift, self.own)
        used = np.flatnonzero(beta)  # at most K of N - 1
        slope = 0.5 * _unprojected(vectors[:, used]) ** 2 @ beta[used] - 0.5 * weight / n**2
        slope += _paired(sums, places) - 0.5 * _paired(-0.5 * shift, self.own)
        size = float(np.linalg.norm(matrix))
        largest = size * float(np.abs(beta).sum() + np.abs(self.form.pairs).max() * n)
        largest += float(np.abs(sums).sum() * np.abs(places).max() + np.abs(shift).sum() * np.abs(self.own).max())
        return bound - 32 * EPS * n * largest, slope


def _mirror(vector: Floats) -> Floats:
    """The unit vector v of the reflection I - 2 vv' that takes ``vector`` to a multiple of the first axis."""
    v = vector / np.linalg.norm(vector)
    v[0] += 1.0
    return np.asarray(v / np.linalg.norm(v))


def _projected(matrix: Floats, vector: Floats) -> Floats:
    """P' matrix P, with P an orthonormal basis of the complement of ``vector`` (positive entries)."""
    v = _mirror(vector)
    product = matrix @ v
    turned = matrix - 2 * np.outer(v, product) - 2 * np.outer(product, v) + 4 * (v @ product) * np.outer(v, v)
    return np.asarray(turned[1:, 1:])


def _unprojected(vectors: Floats) -> Floats:
    """P vectors [N, columns], P being that of the vector of ones."""
    v = _mirror(np.ones(len(vectors) + 1))
    whole = np.vstack([np.zeros(vectors.shape[1]), vectors])
    return np.asarray(whole - 2 * np.outer(v, v @ whole))


def _paired(a: Floats, b: Floats) -> Floats:
    """For each entry of ``a`` the entry of ``b`` that it meets in `least_product`."""
    met = np.empty(len(a))
    met[np.argsort(a, kind="stable")] = np.sort(b)[::-1]
    return met
