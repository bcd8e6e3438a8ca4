"""Reads the files and settings of an MCIL run, and checks them as untrusted input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.mcil.counted import accuracies, by_run, figures
from protocols.mcil.evaluated import COSTS
from protocols.running.protocol import check_exported
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable
from seqsearch.core.typed import brief
from seqsearch.results.experience_schema import EXPERIENCES, RUN_FIGURES
from seqsearch.results.rows import Row
from seqsearch.results.run import ROUNDING, read_config
from seqsearch.results.schema import STATS
from seqsearch.results.stats import read_stats
from seqsearch.results.tables import read_rows
from seqsearch.storage.inside import Inside

MOST_LABELS = 1_000
"""Methods of a run, and classifiers of a method."""


@dataclass(frozen=True)
class McilResults:
    """Rows of the files of a run, whoever wrote them."""

    config: dict[str, Any]
    stats: dict[str, Any] | None
    experiences: tuple[Row, ...]
    figures: tuple[Row, ...]
    resume: str = ""
    """The command that goes on, where the folder of the run is known."""

    @property
    def finished(self) -> bool:
        """The run came to its end; else its files hold what was known when it stopped."""
        return (self.stats or {}).get("complete") is not False

    def setting(self, name: str) -> Any:
        """A setting of the run, None if it has none of that name."""
        return _mapping(self.config.get("settings")).get(name)

    @property
    def text_at_test(self) -> str:
        """Texts of the test images, as ``--text-at-test`` names them; runs of older versions have them as they are."""
        return str(self.setting("text_at_test") or "full")

    @property
    def identity(self) -> dict[str, Any]:
        """Return the recorded meanings of the names in the settings."""
        return _mapping(self.config.get("identity"))

    @property
    def failures(self) -> dict[str, str]:
        """Why the first run of a method that did not end well did not, by label; older runs do not say it."""
        return {str(m): str(why) for m, why in _mapping((self.stats or {}).get("failures")).items()}

    @property
    def methods(self) -> tuple[str, ...]:
        """Labels, as they were named; those that have results at least."""
        named = tuple(map(str, _mapping(self.identity.get("methods"))))
        return tuple(dict.fromkeys((*named, *(r["method_id"] for r in self.figures))))


def read_run(run: Path) -> McilResults:
    """The files of a run that is finished, or was stopped by its time budget.

    Raises:
        UserError: no run folder, a run that has exported nothing yet, or a damaged file.
    """
    config, here = read_config(run), Inside(run)
    check_exported(run, f"seqsearch mcil --resume {copyable(run)}", (EXPERIENCES.file, RUN_FIGURES.file))
    stats = read_stats(run / STATS) if here.has(STATS) else None
    experiences, found = (tuple(read_rows(run / layout.file, layout)) for layout in (EXPERIENCES, RUN_FIGURES))
    results = McilResults(config, stats, experiences, found, f"seqsearch mcil --resume {copyable(run)}")
    _check_texts(run, results)
    _check_experiences(run / EXPERIENCES.file, experiences)
    _check_figures(run / RUN_FIGURES.file, experiences, found)
    return results


def _check_texts(run: Path, results: McilResults) -> None:
    """Raises UserError: rows that were evaluated with other test texts than the run's."""
    for layout, rows in ((EXPERIENCES, results.experiences), (RUN_FIGURES, results.figures)):
        for said in {row["text_at_test"] or "full" for row in rows} - {results.text_at_test}:
            raise UserError(
                f"{run / layout.file}: its rows are of --text-at-test {brief(said)}, and the run is of "
                f"{brief(results.text_at_test)}: restore the file"
            )


def _check_experiences(path: Path, rows: Sequence[Row]) -> None:
    """Raises UserError: counts that cannot be, or accuracies that are not those of the counts."""
    for row in rows:
        n, right, sizes = row["class_n"], row["class_correct"], row["sizes"]
        try:
            said = accuracies(sizes, n, right)
            whole = (len(sizes), len(n), sum(n), sum(right)) == tuple(
                row[name] for name in ("experience", "classes", "images", "correct")
            )
            flat = [*said["by_experience"], said["balanced"], said["pooled"]]
            own = [*row["by_experience"], row["balanced"], row["pooled"]]
            whole = (
                whole and len(flat) == len(own) and all(abs(a - b) <= ROUNDING for a, b in zip(flat, own, strict=True))
            )
        except (ValueError, TypeError):  # a null among them
            whole = False
        if not whole:
            raise UserError(f"{path}: counts of {brief(row['method_id'])} are not whole: restore the file")


def _check_figures(path: Path, experiences: Sequence[Row], rows: Sequence[Row]) -> None:
    """Raises UserError: figures that are not those of the experiences, or costs that cannot be."""
    own = {_key(row): row for row in rows}
    if len({r["method_id"] for r in rows}) > MOST_LABELS or len({r["classifier"] for r in rows}) > MOST_LABELS:
        raise UserError(f"{path}: more than {MOST_LABELS:,} methods or classifiers: restore the file")
    runs = by_run(experiences)
    if len(own) != len(rows) or own.keys() != {_key(run[0]) for run in runs}:
        raise UserError(f"{path}: its runs are not those of {EXPERIENCES.file}: restore the file")
    for run in runs:
        row, there = own[_key(run[0])], [r["experience"] for r in run]
        said = figures(run) if there == list(range(1, len(run) + 1)) else {}
        alike = all(_close(row[name], value) for name, value in said.items()) and row["order"] == run[0]["order"]
        costs = [row[name] for name in COSTS if row[name] is not None]
        if not said or not alike or not all(math.isfinite(c) and c >= 0 for c in costs):
            raise UserError(
                f"{path}: figures of {brief(row['method_id'])} are not those of its experiences: restore the file"
            )


def _close(a: Any, b: Any) -> bool:
    return a is not None and abs(a - b) <= ROUNDING * max(1.0, abs(b))


def _key(row: Row) -> tuple[str, str, int, str]:
    return row["sequence_id"], row["method_id"], row["seed"], row["classifier"]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
