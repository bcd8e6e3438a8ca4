"""Reads the files and settings of a GTEP run, and checks them as untrusted input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.gtep.near_duplicates import check_near_duplicates
from protocols.gtep.unshared import by_class
from protocols.running.protocol import check_exported
from seqsearch.core.errors import UserError
from seqsearch.core.settings import MOST_TASKS
from seqsearch.core.text import copyable
from seqsearch.core.typed import brief, fits
from seqsearch.results.rows import Row
from seqsearch.results.run import ROUNDING, read_config
from seqsearch.results.schema import NEAR_DUPLICATES, RESULTS, SEQUENCES, STATS, TRIALS
from seqsearch.results.stats import read_stats
from seqsearch.results.tables import read_rows
from seqsearch.storage.inside import Inside

SETTINGS: dict[str, Any] = {
    "tune_pool": str, "pool": tuple[str, ...], "tasks": int, "orders": int, "eval_orders": int, "params": str,
    "allow_overlap": tuple[str, ...], "searcher": str, "scheduler": str,
}  # fmt: skip
"""Settings that are read from ``config.json``, with their types."""
LEAST = {"eval_orders": 0}


@dataclass(frozen=True)
class GtepResults:
    """Rows of the files of a run, whoever wrote them."""

    config: dict[str, Any]
    stats: dict[str, Any] | None
    sequences: tuple[Row, ...]
    results: tuple[Row, ...]
    trials: tuple[Row, ...]
    resume: str = ""
    """The command that goes on, where the folder of the run is known."""
    near_duplicates: tuple[Row, ...] = ()

    @property
    def finished(self) -> bool:
        """The run came to its end; else its files hold what was known when it stopped."""
        return (self.stats or {}).get("complete") is not False

    @property
    def pools(self) -> list[str]:
        """Evaluation pools, as the user named them."""
        return [str(p) for p in self.setting("pool") or ()]

    @property
    def methods(self) -> list[str]:
        return list(self.identity("methods"))

    def identity(self, name: str) -> dict[str, Any]:
        """A mapping of what the names of the settings stood for; empty if there is none."""
        identity = self.config.get("identity")
        said = identity.get(name) if isinstance(identity, dict) else None
        return said if isinstance(said, dict) else {}

    def fixed(self, method: str) -> dict[str, Any]:
        """Parameters of a method that the user gave."""
        said = self.identity("methods").get(method)
        params = said.get("params") if isinstance(said, dict) else None
        return dict(params) if isinstance(params, dict) else {}

    def setting(self, name: str) -> Any:
        """A setting of the run, None if it has none of that name."""
        settings = self.config.get("settings")
        return settings.get(name) if isinstance(settings, dict) else None


def read_run(run: Path) -> GtepResults:
    """The files of a run that is finished, or was stopped by its time budget.

    Raises:
        UserError: no run folder, a run that has exported nothing yet, or a damaged file.
    """
    config, here = read_config(run), Inside(run)
    _check(run, config)
    check_exported(run, f"seqsearch gtep --resume {copyable(run)}", (SEQUENCES.file, RESULTS.file, TRIALS.file))
    stats = read_stats(run / STATS) if here.has(STATS) else None
    sequences, results, trials = (
        tuple(read_rows(run / layout.file, layout)) for layout in (SEQUENCES, RESULTS, TRIALS)
    )
    _check_trials(run, config, trials)
    _check_results(run / RESULTS.file, config["settings"]["tasks"], sequences, results)
    near_duplicates = (
        tuple(read_rows(run / NEAR_DUPLICATES.file, NEAR_DUPLICATES)) if here.has(NEAR_DUPLICATES.file) else ()
    )
    check_near_duplicates(run / NEAR_DUPLICATES.file, near_duplicates, config["settings"]["pool"])
    return GtepResults(
        config, stats, sequences, results, trials, f"seqsearch gtep --resume {copyable(run)}", near_duplicates
    )


def _check(run: Path, config: Mapping[str, Any]) -> None:
    """Raises UserError: settings are not as they were written."""
    settings = config.get("settings")
    for name, kind in SETTINGS.items():
        value: Any = settings.get(name) if isinstance(settings, dict) else None
        if not fits(value, kind) or (kind is int and not LEAST.get(name, 1) <= value <= MOST_TASKS):
            raise UserError(f"{run / 'config.json'}: setting {name} is {brief(value)}: restore the file")


def _check_results(path: Path, tasks: int, sequences: Sequence[Row], rows: Sequence[Row]) -> None:
    """Raises UserError: rows of no sequence or task of the run, or counts that cannot be."""
    there = {row["sequence_id"] for row in sequences}
    evaluated: dict[tuple[str, int], tuple[int, list[int] | None]] = {}
    by_classes: dict[str, bool] = {}
    for row in rows:
        name, task = row["sequence_id"], row["evaluated_step"]
        whole = name in there and 1 <= task <= row["trained_step"] <= tasks
        if whole and (row["n"], row["correct"]) != (None, None):
            counted = row["class_correct"] is not None
            n = row["n"], row["class_n"] if counted else None
            alike = evaluated.setdefault((name, task), n) == n and by_classes.setdefault(name, counted) == counted
            whole = _counts(row) and (alike or row["role"] != "rescore")
        if not whole:
            where = f"{brief(row['method_id'])}, {brief(name)}, task {task} after task {row['trained_step']}"
            raise UserError(
                f"{path}: counts of {where} cannot be, or are not those of the other rows: restore the file"
            )


def _counts(row: Row) -> bool:
    """Whether what a row counts goes together."""
    n, right, share = row["n"], row["correct"], row["accuracy"]
    if n is None or right is None or share is None or not 0 <= right <= n or not n > 0:
        return False
    if not abs(share * n - right) <= 0.5 + ROUNDING * n:  # not where it is NaN
        return False
    return row["class_correct"] is None or by_class(row) is not None


def _check_trials(run: Path, config: Mapping[str, Any], trials: Sequence[Row]) -> None:
    """Raises UserError: settings on pools that are none of the run's, or of which several were chosen."""
    pools = {config["settings"]["tune_pool"], *config["settings"]["pool"]}
    for row in trials:
        if row["pool"] not in pools or row["trial"] < 0:
            where = f"setting {row['trial']} on pool {brief(row['pool'])}"
            raise UserError(f"{run / TRIALS.file}: has {where}, which is none of the run's: restore the file")
    chosen = Counter((row["pool"], row["method_id"]) for row in trials if row["chosen"])
    if twice := next((method for (_, method), times in chosen.items() if times > 1), None):
        raise UserError(
            f"{run / TRIALS.file}: several settings of {brief(twice)} are said to be chosen: restore the file"
        )
