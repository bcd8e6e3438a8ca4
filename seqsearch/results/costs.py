"""What the methods of a run took: time, memory and sizes, from its Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqsearch.results.rows import Row, model_bytes, stored_bytes
from seqsearch.results.run import read_config
from seqsearch.results.schema import RESULTS, SEQUENCES, TRAININGS
from seqsearch.results.tables import read_rows
from seqsearch.storage.inside import Inside


@dataclass(frozen=True)
class MethodCost:
    """What a method took in a run; None where a run does not say it.

    Attributes:
        seconds: of all its trainings together, each on one device.
        peak_bytes: the largest memory of a training: of the GPU, or of the worker's process so far.
        stored_bytes: largest over sequences; see `seqsearch.results.rows.stored_bytes`.
        parameters: of the model at the end, backbone included, trained or not; largest over sequences.
        images: training images of a sequence, each counted once; largest over sequences. Where classes have different numbers,
            each counts as their mean.
    """

    seconds: float | None = None
    peak_bytes: int | None = None
    stored_bytes: int | None = None
    parameters: int | None = None
    images: int | None = None


def method_costs(run: Path) -> dict[str, MethodCost]:
    """What each method of a run took, by its label.

    Raises:
        UserError: a file of the run is damaged.
    """
    trainings, results = (_rows(run, layout) for layout in (TRAININGS, RESULTS))
    images = _images(read_config(run), _rows(run, SEQUENCES))
    found = {}
    for method in dict.fromkeys(r["method_id"] for r in (*results, *trainings)):
        own = [r for r in trainings if r["method_id"] == method]
        ends = [r for r in results if r["method_id"] == method and r["status"] == "ok" and r["role"] == "rescore"]
        sizes = [n for r in ends if (n := model_bytes(r)) is not None]
        found[method] = MethodCost(
            sum(r["seconds"] for r in own) if own else None,
            max((r["peak_bytes"] for r in own if r["peak_bytes"] is not None), default=None),
            max((n for r in ends if (n := stored_bytes(r)) is not None), default=None),
            max(sizes) // 4 if sizes else None,
            max((n for r in ends if (n := images.get(r["sequence_id"])) is not None), default=None),
        )
    return found


def _rows(run: Path, layout: Any) -> list[Row]:
    return read_rows(run / layout.file, layout) if Inside(run).has(layout.file) else []


def _images(config: Mapping[str, Any], sequences: list[Row]) -> dict[str, int]:
    """Training images of each sequence, by its id; nothing where the run does not say how many a class has."""
    identity = config.get("identity")
    of_class = (identity.get("images") or {}).get("trained") if isinstance(identity, dict) else None
    if not isinstance(of_class, int | float):
        return {}
    classes = Counter(row["sequence_id"] for row in sequences)
    return {name: round(of_class * n) for name, n in classes.items()}
