"""How alike benchmarks rank methods: each with a reference, and which of two does it better (Tables 1 and 4 of "CLDyB: Towards
Dynamic Benchmarking for Continual Learning")."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from protocols.evaluate.compare.table import Table
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.distribution.rank_difference import RankDifference, rank_difference
from seqsearch.metrics.ranks import RankCorrelations, rank_correlations


@dataclass(frozen=True)
class ColumnAgreement:
    """A column with the reference, over the methods that have both; None where there are fewer than two of them."""

    column: str
    correlations: RankCorrelations | None


@dataclass(frozen=True)
class PairAgreement:
    """Correlation of ``first`` with the reference minus that of ``second``, over methods with all three; None below two."""

    first: str
    second: str
    difference: RankDifference | None


@dataclass(frozen=True)
class Agreement:
    reference: str
    columns: tuple[ColumnAgreement, ...]
    pairs: tuple[PairAgreement, ...]


def agreement(table: Table, reference: str = "") -> Agreement:
    """All columns with the ``reference`` (default: the last column), and all pairs of them.

    Raises:
        UserError: no such column, or no other one.
    """
    name = reference or table.columns[-1]
    if name not in table.columns:
        raise UserError(f"--reference {brief(name)}: there is no such column; choose {brief(list(table.columns))}")
    others = [c for c in table.columns if c != name]
    if not others:
        raise UserError(f"{brief(name)} is the only column: there is nothing to correlate it with")
    return Agreement(
        name,
        tuple(ColumnAgreement(c, _correlated(table, c, name)) for c in others),
        tuple(PairAgreement(a, b, _difference(table, a, b, name)) for a, b in combinations(others, 2)),
    )


def _correlated(table: Table, column: str, reference: str) -> RankCorrelations | None:
    x, y = _complete(table, column, reference)
    return rank_correlations(x, y) if len(x) > 1 else None


def _difference(table: Table, first: str, second: str, reference: str) -> RankDifference | None:
    a, b, y = _complete(table, first, second, reference)
    return rank_difference(a, b, y) if len(y) > 1 else None


def _complete(table: Table, *columns: str) -> list[np.ndarray]:
    """These columns, of the methods that were measured on all of them."""
    values = np.stack([table.column(c) for c in columns])
    return list(values[:, np.isfinite(values).all(axis=0)])
