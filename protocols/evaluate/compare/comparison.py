"""The comparison that ``seqsearch compare RUN...`` shows, computed from the files of runs.

Nothing is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protocols.evaluate.compare.agreement import Agreement, agreement
from protocols.evaluate.compare.figures import (
    MEAN,
    Difference,
    Side,
    differences,
    same_values,
    shared_methods,
    sides_of,
)
from protocols.evaluate.compare.groups import GroupRewards, group_rewards
from protocols.evaluate.compare.growth import NewShare, first_growth, new_shares
from protocols.evaluate.compare.methods import unlike
from protocols.evaluate.compare.runs import SIDES, ComparedRun, are_studies, read_runs
from protocols.evaluate.compare.studies import Studies, studies_of
from protocols.evaluate.compare.table import Table
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_rows


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs in figures.

    Attributes:
        sides: every method of every run on every side, then the means over ``shared`` methods (method `MEAN`).
        differences: to the first run.
        start: step at which the first pool grew; None if none did.
        table: final Acc of the methods (Tables 1 and 4), a column for each run's found sequences, the random and the held-out
            ones; ``reach [M, C]`` is half the width of each cell's interval, not cut at 0 or 1, NaN where it has none.
        ranks: agreement of its columns with the reference; None where there is no reference.
        random_shared: all runs were evaluated on the same random sequences, with the same result: same methods, same seeds.
        unlike: labels that do not stand for the same method in a run, by its name, as in the first.
        new: how often found tasks took classes that had come with ``--grow``.
        groups: rewards by group, by run.
        troubles: what is missing, or cannot be compared.
        studies: of runs that differ in their seed alone; then there are no ``differences``. None otherwise.
    """

    runs: tuple[ComparedRun, ...]
    shared: tuple[str, ...]
    sides: tuple[Side, ...]
    differences: tuple[Difference, ...]
    start: int | None
    table: Table
    reach: NDArray[np.float64]
    ranks: Agreement | None
    random_shared: bool
    unlike: dict[str, tuple[str, ...]]
    new: tuple[NewShare, ...]
    groups: dict[str, GroupRewards]
    troubles: tuple[str, ...]
    studies: Studies | None = None

    def of(self, side: str, method: str = MEAN) -> list[Side]:
        """Run by run."""
        return [s for s in self.sides if (s.side, s.method) == (side, method)]


def compare(paths: Sequence[Path], reference: str = "") -> Comparison:
    """Read and compare runs; ``reference`` is the column of the table that others are correlated with (default: the held-out
    one).

    Raises:
        UserError: runs that cannot be read or compared, no such column, or nothing that was evaluated to its end.
    """
    runs = read_runs(paths)
    troubles: list[str] = []
    start = first_growth(runs)
    sides = sides_of(runs, start, troubles)
    if not sides:
        raise UserError(
            f"run {runs[0].path}: no method was evaluated to the end on any sequence: nothing can be compared"
        )
    table, reach, held_out = _table(runs, sides)
    studies = studies_of(runs, sides) if are_studies(runs) else None
    changes = () if studies else tuple(differences(runs, sides, troubles))
    return Comparison(
        runs,
        shared_methods(sides, runs),
        tuple(sides),
        changes,
        start,
        table,
        reach,
        _ranks(table, reference or held_out),
        same_values(runs, sides, "random"),
        {r.name: labels for r in runs[1:] if (labels := unlike(runs[0].data, r.data))},
        tuple(share for r in runs for share in new_shares(r)),
        {r.name: rewards for r in runs if (rewards := group_rewards(r, _group_names(r))).classes},
        tuple(troubles),
        studies,
    )


def _table(runs: Sequence[ComparedRun], sides: Sequence[Side]) -> tuple[Table, NDArray[np.float64], str]:
    """Final Acc, methods in rows; half the width of each interval, in the same shape; the held-out column if there is one."""
    at = {(s.run, s.side, s.method): s for s in sides if s.method != MEAN}
    methods = tuple(dict.fromkeys(m for _, _, m in at))
    columns: dict[str, list[tuple[str, str]]] = {}
    for side in SIDES:
        of = [r for r in runs if any((r.name, side, m) in at for m in methods)]
        alike = [r for r in of if side in ("random", "held-out") and same_values([of[0], r], sides, side)]
        if len(alike) > 1 or (alike and len(of) == 1):
            columns[_free(side, columns)] = [(r.name, side) for r in alike]
        for run in of:
            if run not in alike or len(alike) < min(2, len(of)):
                columns[_free(run.name if side == "found" else f"{run.name}: {side}", columns)] = [(run.name, side)]
    values, reach = (np.full((len(methods), len(columns)), np.nan) for _ in range(2))
    for c, sources in enumerate(columns.values()):
        for m, method in enumerate(methods):
            found = next((at[run, side, method] for run, side in sources if (run, side, method) in at), None)
            if found is not None:
                estimate = found.estimates["acc"].value
                values[m, c], reach[m, c] = estimate.value, estimate.half_width
    held_out = [name for name, sources in columns.items() if sources[0][1] == "held-out"]
    return Table(methods, tuple(columns), values), reach, held_out[0] if len(held_out) == 1 else ""


def _free(name: str, taken: dict[str, list[tuple[str, str]]]) -> str:
    """A run may be called ``random``, and another one ``random (2)``."""
    return next(n for n in (name, *(f"{name} ({i})" for i in range(2, len(taken) + 3))) if n not in taken)


def _ranks(table: Table, reference: str) -> Agreement | None:
    if reference and reference not in table.columns:
        raise UserError(
            f"--reference {brief(reference)}: there is no such column; choose one of {'; '.join(table.columns)}"
        )
    return agreement(table, reference) if reference and len(table.columns) > 1 else None


def _group_names(run: ComparedRun) -> dict[tuple[str, int], str]:
    """Groups of the classes that come in the run's sequences."""
    rows = read_rows(run.path / SEQUENCES.file, SEQUENCES) if run.data.trace else []
    return {(r["pool_digest"], r["class_id"]): r["group"] or "" for r in rows}
