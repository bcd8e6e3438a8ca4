"""A column of a table: what it is, how it is computed, how it is read, where it is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

CLDYB = "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models"
EDGE = "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"
GTEP = "Hyperparameters in Continual Learning: A Reality Check"
SIZES = (
    "Stored: what a method keeps beyond the backbone at the end (parameters, statistics, exemplars). Size: all parameters of the "
    "model, backbone included."
)
MCIL = "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks"
NEAR_FUTURE = "Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?"
OURS = "this program"


class Scale(NamedTuple):
    """A unit, and from where to where values go."""

    unit: str
    bounds: str


PERCENT = Scale("%", "0 to 100")
POINTS = Scale("points", "-100 to 100")
SPREAD = Scale("points", "from 0")
SHARE = Scale("%", "at most 100")
COUNT = Scale("count", "from 0")
PLACE = Scale("place", "from 1")
NUMBER = Scale("number", "from 0")
P_VALUE = Scale("1", "0 to 1")
CORRELATION = Scale("1", "-1 to 1")
SIMILARITY = Scale("that of the similarity", "any")
SECONDS = Scale("s", "from 0")
TEXT = Scale("-", "-")

UP, DOWN, NEITHER = "higher is better", "lower is better", "neither is better"
"""Directions: which way a figure is better for a method."""


@dataclass(frozen=True)
class Column:
    """One or more columns that are read alike.

    Attributes:
        headings: as printed, ``...`` where they hold what a run says, as a method or a pool.
        about: what it is.
        formula: how it is computed, in the letters of docs/metrics.md; empty where ``about`` says it, as of counts and times.
        scale: unit and range of what is printed.
        direction: `UP`, `DOWN`, `NEITHER`, or what a higher value says where it is of sequences and not of a method.
        source: title and equation, table or section of a paper; where it is ours, the page of the docs.
        over: what its interval is over; empty where it has none.
        table: title of the table that it stands in, where others with this heading mean something else; may be a beginning.
        told_in: where it is told instead, if no table has it.
        below: what stands in a second line of the heading, as ``found`` below ``Acc``.
    """

    headings: tuple[str, ...]
    about: str
    formula: str
    scale: Scale
    direction: str
    source: str
    over: str = ""
    table: str = ""
    told_in: str = ""
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """The tables of a command.

    Attributes:
        rows: columns that name a row, or say how it ended.
        columns: all others.
        measured: what rows are of where that changes what their figures mean, and what it is.
    """

    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    measured: tuple[tuple[str, str], ...] = ()


def sizes(stored: tuple[str, ...], size: tuple[str, ...], below: tuple[str, ...] = ()) -> tuple[Column, Column]:
    """The two columns that every protocol has: what is stored beyond the backbone, and how large the model is."""
    mean = "mean over trainings at the end (gtep: the largest)"
    megabytes = Scale("MB", "from 0")
    return (
        Column(
            stored,
            "what a method keeps beyond the backbone at the end: parameters, statistics, and stored images with their "
            "texts (exemplars)",
            f"bytes / 10^6, {mean}; 32-bit floats, 8-bit images",
            megabytes,
            DOWN,
            f"{CLDYB}, appendix B.3",
            below=below,
        ),
        Column(
            size,
            "all parameters of the model at the end, backbone included, trained or not",
            f"4 bytes x parameters / 10^6, {mean}",
            megabytes,
            DOWN,
            f"{GTEP}, section 4.1, Fig. 6(b)",
            below=below,
        ),
    )
