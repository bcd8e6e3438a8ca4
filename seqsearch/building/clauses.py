"""Rows of a table as sentences, "the [variable] is [value]" ("Multimodal class-incremental learning benchmark", DVM-CAR).

The paper names neither the 13 variables nor the form of their values: both are ours (docs/captions.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.tables import Table
from seqsearch.building.writing import strings
from seqsearch.core.errors import UserError
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief

DEFAULT = (
    "Color", "Reg_year", "Bodytype", "Runned_Miles", "Engin_size", "Gearbox", "Fuel_type", "Price", "Seat_num", "Door_num",
    "Adv_year", "Adv_month", "Predicted_viewpoint",
)  # fmt: skip
"""Columns of DVM-CAR that are told, in this order."""
EXCLUDED = ("Maker", "Genmodel", "Genmodel_ID", "Adv_ID", "Image_ID", "Image_name")
"""Columns that name the class or the image; they are told if they are asked for by name."""
MISSING = frozenset({"", "nan", "na", "n/a", "null"})
"""Values that are none, whatever their case."""
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d{1,2})?")

Coded = tuple[NDArray[np.int64], list[str]]
"""A column: codes ``[n]``, -1 where there is no value, into its distinct values."""


def columns_of(table: Table, asked: str, others: Sequence[str]) -> tuple[list[str], bool]:
    """The columns that are told, and whether they were named one by one.

    Args:
        asked: ``default`` (those of `DEFAULT` that are there), ``all``, or names with commas.
        others: columns that are something else (image, split, what is bound together); ``all`` leaves them out.

    Raises:
        UserError: there is no such column.
    """
    if asked == "default":
        found = [n for n in DEFAULT if n in table.names]
        if not found:
            raise UserError(
                f"{table.path} has none of the columns of DVM-CAR; it has {brief(', '.join(table.names))}: name those "
                "to use, or all: --caption-columns NAME,NAME"
            )
        return found, False
    if asked == "all":
        left = {n.lower() for n in (*others, *EXCLUDED)}
        found = [n for n in table.names if n.lower() not in left]
        if not found:
            raise UserError(f"{table.path} has no columns beside {', '.join(table.names)}: name those to use")
        return found, False
    names = [n.strip() for n in asked.split(",")]
    for name in names:
        if name not in table.names:
            raise UserError(f"{table.path} has no column {brief(name)} (--caption-columns){nearest(name, table.names)}")
        if names.count(name) > 1:
            raise UserError(f"--caption-columns names {brief(name)} twice")
    return names, True


def read_coded(table: Table, name: str) -> Coded:
    """A column, its missing values as such, its numbers as they are told: whole ones without decimals, others with one."""
    codes, values = table.coded(name)
    bare = [" ".join(v.split()) for v in values]
    there = [v for v in bare if v.lower() not in MISSING]
    numeric = all(_NUMBER.fullmatch(v) for v in there)
    whole = numeric and all(float(v).is_integer() for v in there)
    told = [_number(v, whole) if numeric and v.lower() not in MISSING else v for v in bare]
    distinct = sorted({t for t in told if t.lower() not in MISSING})
    place = {t: i for i, t in enumerate(distinct)}
    return np.array([*(place.get(t, -1) for t in told), -1], dtype=np.int64)[codes], distinct


def _number(text: str, whole: bool) -> str:
    if whole:
        return text.lstrip("+") if text.lstrip("+-").isdigit() else f"{float(text):.0f}"
    return f"{float(text):.1f}"


def sentences(columns: dict[str, Coded]) -> list[str]:
    """A sentence for each row ``[n]``: clauses joined by commas, values that are missing left out; empty if all are.

    >>> sentences({"Fuel_type": (np.array([0, -1]), ["Diesel"]), "Price": (np.array([0, 0]), ["900"])})
    ['the fuel type is Diesel, the price is 900.', 'the price is 900.']
    """
    import pyarrow.compute as pc

    clauses: list[Any] = []
    for name, (codes, values) in columns.items():
        said = " ".join(name.replace("_", " ").lower().split())
        told = strings([*(f", the {said} is {v}" for v in values), ""])
        clauses.append(taken(told, np.where(codes < 0, len(values), codes)))
    # Commas are in the clauses: with nulls to be skipped, Arrow 26 leaves out rows that have nothing else.
    joined = pc.binary_join_element_wise(*clauses, "")
    return [f"{text[2:]}." if text else "" for text in joined.to_pylist()]


def taken(values: Any, places: NDArray[np.int64]) -> Any:
    """The values of an Arrow array at ``places`` ``[n]``."""
    import pyarrow as pa

    at = np.ascontiguousarray(places, dtype=np.int64)
    return values.take(pa.Array.from_buffers(pa.int64(), len(at), [None, pa.py_buffer(at)]))
