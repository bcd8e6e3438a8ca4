"""Class orders in numbers or names, as others wrote them, checked: nothing that a file says is taken on trust."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief, fits
from seqsearch.formats.base import Given, Order, Read
from seqsearch.results.named import MOST_ROWS, NamedSequence


def values(given: Given, said: Any, key: str) -> tuple[Any, ...]:
    """A list of numbers or names.

    Raises:
        UserError: it is none, or an empty or a very long one.
    """
    if not (isinstance(said, list) and said and all(fits(v, int | str) for v in said)):
        raise UserError(f"{given.path}: {key} is {brief(said)}, must be a list of class numbers (or names)")
    if len(said) > MOST_ROWS:
        raise UserError(f"{given.path}: {key} has {len(said):,} classes, more than {MOST_ROWS:,} are not read")
    return tuple(said)


def whole(given: Given, said: Any, key: str, least: int = 1) -> int:
    """A whole number from ``least`` on.

    Raises:
        UserError: it is none.
    """
    if not (fits(said, int) and least <= said <= MOST_ROWS):
        raise UserError(f"{given.path}: {key} is {brief(said)}, must be a whole number from {least} to {MOST_ROWS:,}")
    return int(said)


def sizes_of(given: Given, said: Any, key: str, classes: int) -> tuple[int, ...]:
    """Sizes of the tasks: those that the user gave, else a list, else one size for all.

    Raises:
        UserError: none of them, or they do not sum to ``classes``.
    """
    if given.sizes:
        found, where = given.sizes, "--task-sizes"
    elif isinstance(said, list):
        found, where = tuple(whole(given, v, key) for v in said), f"{given.path}: {key}"
    elif said is not None:
        size = whole(given, said, key)
        found, where = stepped(size, size, classes), f"{given.path}: {key}"
        if classes % size:
            raise UserError(f"{where} is {size}, which does not divide {classes} classes: give --task-sizes")
    else:
        raise UserError(
            f"{given.path} does not say how many classes a task has: give --task-sizes, e.g. 10 or 50,10,10"
        )
    if sum(found) != classes:
        raise UserError(
            f"{where}: tasks of {brief(list(found))} classes are {sum(found)} in all, the order has {classes}"
        )
    return found


def stepped(first: int, step: int, classes: int) -> tuple[int, ...]:
    """Sizes of tasks by the rule of PILOT, PyCIL and LAE: ``first``, then ``step`` each; the last has what is left.

    >>> stepped(50, 20, 100), stepped(10, 10, 25)
    ((50, 20, 20, 10), (10, 10, 5))
    """
    sizes = [min(first, classes)]
    while sum(sizes) < classes:
        sizes.append(min(step, classes - sum(sizes)))
    return tuple(sizes)


def uninverted(given: Given, said: tuple[Any, ...], key: str) -> tuple[int, ...]:
    """Class ids by arrival from ``key[class_id] = label``; a label of -1 is a class that the sequence has not.

    Raises:
        UserError: it has another length than there are classes, or its labels are not 0 to n - 1, each once.
    """
    if len(said) != given.classes:
        raise UserError(
            f"{given.path}: {key} has {len(said)} entries and there are {given.classes} classes: it must say the label of "
            "each class (an order of few classes cannot be of this toolbox)"
        )
    kept = [v for v in said if v != -1]
    if not kept or not all(fits(v, int) for v in kept) or sorted(kept) != list(range(len(kept))):
        twice = [v for v, times in Counter(kept).items() if times > 1]
        wrong = f"label {brief(twice[0])} stands twice" if twice else "they are others"
        raise UserError(f"{given.path}: labels in {key} must be 0 to n - 1, each once: {wrong}")
    return tuple(sorted((c for c, v in enumerate(said) if v != -1), key=lambda c: said[c]))


def named(given: Given, read: Read, names: Sequence[str]) -> NamedSequence:
    """The sequence with the names of its classes.

    Raises:
        UserError: a class that is not there, or twice; sizes that are none of this many classes.
    """
    where, known = f"{given.path}: {read.name}", set(names)
    found = [_name(where, c, names, known, read.classes) for c in read.classes]
    if twice := next((c for c, times in Counter(found).items() if times > 1), None):
        raise UserError(f"{where}: class {brief(twice)} stands twice; every class belongs to one task")
    if sum(read.sizes) != len(found):
        raise UserError(f"{where}: tasks of {brief(list(read.sizes))} classes, and {len(found)} classes in the order")
    ends = [sum(read.sizes[: t + 1]) for t in range(len(read.sizes))]
    return NamedSequence(read.name, tuple(tuple(found[e - size : e]) for e, size in zip(ends, read.sizes, strict=True)))


def _name(where: str, said: Any, names: Sequence[str], known: set[str], all_said: tuple[Any, ...]) -> str:
    if isinstance(said, str):
        if said not in known:
            raise UserError(f"{where}: there is no class {brief(said)}{nearest(said, names)}")
        return str(said)
    if not 0 <= said < len(names):
        numbers = [v for v in all_said if isinstance(v, int)]
        from_one = " (this order counts from 1)" if min(numbers) == 1 and max(numbers) == len(names) else ""
        raise UserError(f"{where}: class {brief(said)} is not there, they are 0 to {len(names) - 1}{from_one}")
    return names[int(said)]


def check_counted(given: Given, form: str, read: Read, names: Sequence[str]) -> None:
    """An order of an export says how many classes its numbers count, and what those that it has are called.

    Raises:
        UserError: ``names`` are others.
    """
    said = given.said if isinstance(given.said, dict) and given.said.get("toolbox") == form else {}
    if "classes" in said and said["classes"] != len(names):
        raise UserError(
            f"{given.path}: its class ids count {brief(said['classes'])} classes, and there are {len(names)}: give the "
            "--pool or --names that it was exported with"
        )
    if "class_names" not in said:
        return
    called = values(given, said["class_names"], "class_names")
    if len(called) != len(read.classes):
        raise UserError(
            f"{given.path}: class_names has {len(called)} names, and the order has {len(read.classes)} classes"
        )
    for label, (own, c) in enumerate(zip(called, read.classes, strict=True)):
        if isinstance(c, int) and 0 <= c < len(names) and own != names[c]:
            raise UserError(
                f"{given.path}: class {c} (label {label}) is {brief(own)} there, and {brief(names[c])} here: give the --pool "
                "or --names that it was exported with, or take class_names out of the file if they are the same classes"
            )


def numbers_in(text: str) -> list[int] | None:
    """Numbers between commas or blanks, or, if there are neither, between dashes; None if it has others than numbers.

    >>> numbers_in("5-2-9"), numbers_in("0,-1, 2"), numbers_in("0 -1"), numbers_in("a-1")
    ([5, 2, 9], [0, -1, 2], [0, -1], None)

    Raises:
        ValueError: a number has ten digits or more.
    """
    pieces = text.replace(",", " ").split()
    if len(pieces) == 1 and "," not in text and re.fullmatch(r"\d+(-\d+)+", pieces[0]):
        pieces = pieces[0].split("-")
    if not pieces or not all(re.fullmatch(r"-?\d+", p) for p in pieces):
        return None
    if any(len(p.lstrip("-")) > 9 for p in pieces):
        raise ValueError("a number of ten digits or more")
    return [int(p) for p in pieces]


def order_of(record: dict[str, Any]) -> Order:
    """The numbers of what `seqsearch.training.sequence_folder.record_of` says."""
    names = tuple(c["name"] for task in record["tasks"] for c in task["classes"])
    return Order(tuple(record["class_order"]), tuple(record["task_sizes"]), record["pool"]["classes"], names)
