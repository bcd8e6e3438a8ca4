"""Class orders that a user brings along: "were my three seeds lucky?"."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.core.typed import brief
from seqsearch.results.class_aliases import called
from seqsearch.results.frozen import is_frozen, several_frozen
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_rows
from seqsearch.storage.reading import content

LARGEST = 16 << 20
"""Bytes of a file of orders."""
MOST = 1000
"""Orders in it."""


@dataclass(frozen=True)
class Order:
    """``tasks`` hold positions among the classes in play, as in class-order lists of toolboxes."""

    name: str
    tasks: tuple[tuple[int, ...], ...]


def read_orders(path: Path, names: Sequence[str], sizes: Sequence[int]) -> tuple[Order, ...]:
    """Orders of the classes ``names``, cut into tasks of these ``sizes``; of a file, or frozen ones (``frozen:NAME,...``).

    A line of text, or a list in JSON, is one order: the classes' names, or their numbers from 0 in the order of the pool, as
    ``class_order`` of the toolboxes has them; an object in JSON has orders by name. ``sequences.parquet`` of a run brings its
    sequences, which are cut already.

    Raises:
        UserError: it cannot be read; an order lacks a class, has one twice, or one that is not in play; tasks of other sizes.
    """
    places: dict[str, str] = {}
    try:
        if is_frozen(path):
            found = _frozen(path, names)
        elif path.suffix == ".parquet":
            found = _sequences(path)
        else:
            text = content(path, LARGEST).decode("utf-8-sig")
            lines = {} if path.suffix == ".json" else _lines(path, text)
            lists = json.loads(text) if path.suffix == ".json" else list(lines.values())
            named = lists.items() if isinstance(lists, dict) and lists else None
            lists = lists if named is None else [order for _, order in named]
            if not isinstance(lists, list) or not all(isinstance(order, list) for order in lists):
                raise UserError(
                    f"--orders {path}: must hold a list of orders, each a list of classes, or orders by name"
                )
            found = list(named or ((f"order-{i}", order) for i, order in enumerate(lists)))
            places = {f"order-{i}": f"line {line}" for i, line in enumerate(lines)}
    except UserError:
        raise
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UserError(f"--orders {path}: cannot be read ({shown(said)[:200]})") from None
    if not 0 < len(found) <= MOST:
        raise UserError(f"--orders {path}: holds {len(found)} orders, must be from 1 to {MOST}")
    known = {n: i for i, n in enumerate(names)}
    orders = tuple(
        _order(f"--orders {path}, {places.get(name, name)}", name, order, known, sizes) for name, order in found
    )
    first: dict[tuple[tuple[int, ...], ...], Order] = {}
    for o in orders:
        if (
            first.setdefault(o.tasks, o) is not o and path.suffix != ".parquet"
        ):  # of a run, which may have drawn one twice
            raise UserError(
                f"--orders {path}: {first[o.tasks].name} and {o.name} have the same tasks: leave one of them out"
            )
    return tuple(first.values())


def _sequences(path: Path) -> list[tuple[str, list[Any]]]:
    """Names of the classes of each sequence, task by task."""
    by_id: dict[str, dict[int, list[Any]]] = {}
    for row in read_rows(path, SEQUENCES, links=True):
        by_id.setdefault(row["sequence_id"], {}).setdefault(row["step"], []).append(row["class_name"])
    return [(name, [steps[step] for step in sorted(steps)]) for name, steps in by_id.items()]


def _frozen(path: Path, names: Sequence[str]) -> list[tuple[str, list[Any]]]:
    """As the classes are called here, where they are."""
    orders = several_frozen(path)
    here = called(orders[0].of.classes, names, f"--orders {path}")
    return [(s.name, [[here.get(c, c) for c in task] for task in s.tasks]) for o in orders for s in o.sequences]


def _lines(path: Path, text: str) -> dict[int, list[str]]:
    """Classes of each line by its number, between commas (quoted as in CSV files) or, where there are none, between spaces.

    Raises:
        UserError: a line is none of a CSV file.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = next(csv.reader([line], skipinitialspace=True)) if "," in line else line.split()
        except csv.Error as error:
            raise UserError(f"--orders {path}, line {number}: cannot be read ({shown(str(error))[:200]})") from None
        if parts := [part.strip() for part in row if part.strip()]:
            found[number] = parts
    return found


def _order(where: str, name: str, order: list[Any], known: dict[str, int], sizes: Sequence[int]) -> Order:
    nested = bool(order) and all(isinstance(task, list) for task in order)
    if nested and [len(task) for task in order] != list(sizes):
        raise UserError(
            f"{where}: has tasks of {brief([len(t) for t in order])} classes, the run of {brief(list(sizes))}"
        )
    flat = [c for task in order for c in task] if nested else order
    classes = [_class(where, c, known) for c in flat]
    if sorted(classes) != list(range(len(known))):
        twice = next((n for n, i in known.items() if classes.count(i) > 1), None)
        missing = next((n for n, i in known.items() if i not in classes), None)
        wrong = f"has class {twice!r} twice" if twice else f"lacks class {missing!r}"
        raise UserError(f"{where}: {wrong}; an order has each of the {len(known)} classes in play once")
    ends = [sum(sizes[: t + 1]) for t in range(len(sizes))]
    return Order(name, tuple(tuple(sorted(classes[e - m : e])) for e, m in zip(ends, sizes, strict=True)))


def _class(where: str, said: Any, known: dict[str, int]) -> int:
    if isinstance(said, str) and said in known:
        return known[said]
    number = int(said) if isinstance(said, str) and said.isdecimal() and len(said) < 10 else said
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(known):
        return number
    raise UserError(f"{where}: {brief(said)} is no class in play; write names, or numbers from 0 to {len(known) - 1}")
