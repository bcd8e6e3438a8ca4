"""Near duplicates between both phases: rows of their file, a line that reports them, and a check of such a file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, shown
from seqsearch.core.typed import brief
from seqsearch.results.rows import Row

if TYPE_CHECKING:
    from protocols.gtep.plans import Plans
    from seqsearch.study.near_duplicates import NearDuplicates

DISTANCES = ("distance", "own_distance", "near_below", "median_within", "median_across")
COUNTS = ("number", "tuned_row", "judged_row", "tuned_images", "judged_images", "near_images")
WHAT = "near duplicates, or things that are like each other: look at them"


def near_duplicates_line(found: NearDuplicates, tuned: str, evaluated: str) -> str:
    """How many images are near, and which are the closest."""
    first = found.pairs[0]
    return line_of(found.near, found.evaluated, tuned, evaluated) + closest(
        first.tuned, first.tuned_row, first.evaluated, first.evaluated_row
    )


def line_of(near: int, images: int, tuned: str, evaluated: str) -> str:
    """How many of these images are near to one of the other pool."""
    return (
        f"{near:,} of {counted(images, 'image')} of {shown(evaluated)} {'is' if near == 1 else 'are'} nearer to one of "
        f"{shown(tuned)} than 99 % of the images of both pools are to another of their own{f' ({WHAT})' if near else ''}"
    )


def closest(tuned: str, tuned_row: int, evaluated: str, evaluated_row: int) -> str:
    """The closest pair, by class and place in it."""
    return f"; closest: {shown(tuned)} [{tuned_row}] and {shown(evaluated)} [{evaluated_row}]"


def near_duplicate_rows(run: Plans) -> Iterator[Row]:
    """Rows of ``look_alikes.parquet``."""
    study = run.study
    for side, found in run.near_duplicates.items():
        whole = {
            "pool": study.evaluated_on[side].text, "backbone": study.world.backbone(study.look).tag, "tuned_images": found.tuned,
            "judged_images": found.evaluated, "near_images": found.near, "near_below": found.below,
            "median_within": found.within, "median_across": found.across,
        }  # fmt: skip
        for number, p in enumerate(found.pairs):
            yield {
                **whole,
                "number": number,
                "tuned_class": p.tuned,
                "tuned_row": p.tuned_row,
                "judged_class": p.evaluated,
                "judged_row": p.evaluated_row,
                "distance": p.distance,
                "own_distance": p.own,
            }


def check_near_duplicates(file: Path, rows: Sequence[Row], pools: Sequence[str]) -> None:
    """
    Raises:
        UserError: pairs of pools that are none of the run's, distances or counts that are none.
    """
    for row in rows:
        if row["pool"] not in pools:
            raise UserError(f"{file}: pool {brief(row['pool'])} is none of the run's: restore the file")
        for name in (*DISTANCES, *COUNTS):
            value = row[name]
            if not (math.isfinite(value) and value >= 0 and (name in COUNTS or value <= 2)):
                raise UserError(f"{file}: {name} is {brief(value)} in pair {brief(row['number'])}: restore the file")
