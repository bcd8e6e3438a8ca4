"""Rank correlation of each benchmark with a reference, over methods (Tables 1 and 4 of "CLDyB: Towards Dynamic Benchmarking
for Continual Learning")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protocols.evaluate.compare.table import Table
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.stats.ranks import RankCorrelations, rank_correlations


@dataclass(frozen=True)
class ColumnAgreement:
    """A column with the reference, over the methods that have both; None where there are fewer than two of them."""

    column: str
    correlations: RankCorrelations | None


@dataclass(frozen=True)
class Agreement:
    reference: str
    columns: tuple[ColumnAgreement, ...]


def agreement(table: Table, reference: str = "") -> Agreement:
    """All columns with the ``reference`` (default: the last column).

    Raises:
        UserError: no such column, or no other one.
    """
    name = reference or table.columns[-1]
    if name not in table.columns:
        raise UserError(f"--reference {brief(name)}: there is no such column; choose {brief(list(table.columns))}")
    others = [c for c in table.columns if c != name]
    if not others:
        raise UserError(f"{brief(name)} is the only column: there is nothing to correlate it with")
    return Agreement(name, tuple(ColumnAgreement(c, _correlated(table, c, name)) for c in others))


def _correlated(table: Table, column: str, reference: str) -> RankCorrelations | None:
    both = np.stack([table.column(column), table.column(reference)])
    x, y = both[:, np.isfinite(both).all(axis=0)]
    return rank_correlations(x, y) if len(x) > 1 else None
