"""Reads the files and settings of an online run, and checks them as untrusted input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.running.protocol import check_exported
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable
from seqsearch.core.typed import brief, fits
from seqsearch.results.rows import Row
from seqsearch.results.run import read_config
from seqsearch.results.schema import STATS
from seqsearch.results.stats import read_stats
from seqsearch.results.stream_schema import BLIND, CURVES, FIGURES, SHIFT
from seqsearch.results.tables import read_rows
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import json_object

MOST_LABELS = 10_000
"""Learners of a run."""
IN_BATCHES, BY_SAMPLE = "blind (k chosen)", "blind by sample (k chosen)"
"""Names of the blind baseline.

It is evaluated in batches, as learners are, and by sample, as the paper defines it.
"""


@dataclass(frozen=True)
class OnlineResults:
    """Rows of the files of a run, whoever wrote them; ``shift``: what ``shift.json`` says."""

    config: dict[str, Any]
    stats: dict[str, Any] | None
    figures: tuple[Row, ...]
    curves: tuple[Row, ...]
    blind: tuple[Row, ...]
    shift: dict[str, Any]
    resume: str = ""
    """The command that goes on, where the folder of the run is known."""

    @property
    def finished(self) -> bool:
        """The run came to its end; else its files hold what was known when it stopped."""
        return (self.stats or {}).get("complete") is not False

    def identity(self, name: str) -> dict[str, Any]:
        """A mapping of what the names of the settings stood for; empty if there is none."""
        identity = self.config.get("identity")
        said = identity.get(name) if isinstance(identity, dict) else None
        return said if isinstance(said, dict) else {}


def read_run(run: Path) -> OnlineResults:
    """The files of a run that is finished, or was stopped by its time budget.

    Raises:
        UserError: no run folder, a run that has exported nothing yet, or a damaged file.
    """
    config, here = read_config(run), Inside(run)
    check_exported(run, f"seqsearch online --resume {copyable(run)}", (FIGURES.file, CURVES.file, BLIND.file, SHIFT))
    stats = read_stats(run / STATS) if here.has(STATS) else None
    figures, curves, blind = (tuple(read_rows(run / layout.file, layout)) for layout in (FIGURES, CURVES, BLIND))
    said = json_object(run / SHIFT)
    if not (fits(said.get("shift"), int) and said["shift"] >= 0):
        raise UserError(f"{run / SHIFT}: shift is {brief(said.get('shift'))}: restore the file")
    _check(run, figures)
    return OnlineResults(config, stats, figures, curves, blind, said, f"seqsearch online --resume {copyable(run)}")


def _check(run: Path, figures: Sequence[Row]) -> None:
    """Raises UserError: counts that cannot be."""
    if len({row["method_id"] for row in figures}) > MOST_LABELS:
        raise UserError(f"{run / FIGURES.file}: more than {MOST_LABELS:,} learners: restore the file")
    for row in figures:
        n, right = row["block_n"] or [], row["block_correct"] or []
        whole = len(n) == len(right) and all(0 <= r <= m for m, r in zip(n, right, strict=False))
        if not (whole and sum(n) == row["n"] and sum(right) == row["correct"] and row["block"] > 0):
            raise UserError(
                f"{run / FIGURES.file}: counts of {brief(row['method_id'])} are not whole: restore the file"
            )
