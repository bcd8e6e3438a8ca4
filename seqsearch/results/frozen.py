"""Frozen class orders: hard, easy and random sequences of usual data sets, by the similarity of class names.

They lie in ``frozen_orders``, a file for each data set and version, and never change: what is better is a new version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.installation import shipped
from seqsearch.core.paths import at_home
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief, built, fits
from seqsearch.results.named import NamedSequence
from seqsearch.storage.reading import json_object

PREFIX = "frozen:"
"""Before a name, or several with commas between them, wherever a file of sequences can be named."""
SCHEMA = "seqsearch-frozen/1"
FOLDER = Path(__file__).parent / "frozen_orders"
FILES = ("cifar100@1.json", "cub200@1.json", "imagenet-a@1.json", "imagenet-r@1.json")
"""All there are: one that is missing would be said to be unknown. ``croissant.json`` describes them, and is not read."""
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Of tasks, from the first; in the order that texts have."""
_NAME = re.compile(r"([a-z0-9-]+)(?:@(\d{1,6}))?", re.ASCII)


@dataclass(frozen=True)
class FrozenClass:
    """``name`` in the data set; ``reads``: comma-separated, how to read it, if that is another; ``group``: empty if none."""

    name: str
    reads: str
    group: str


@dataclass(frozen=True)
class Order:
    """Sequences of one kind and length.

    Attributes:
        scores: S of each.
        labels: of each a text of N characters, the task of each class by `LETTERS`.
    """

    name: str
    kind: Literal["hard", "easy", "random"]
    digest: str
    scores: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def tasks(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Of each sequence the classes of each task, as positions among all."""
        return tuple(
            tuple(tuple(c for c, t in enumerate(text) if t == letter) for letter in sorted(set(text)))
            for text in self.labels
        )


@dataclass(frozen=True)
class Length:
    """Orders of so many tasks.

    Attributes:
        random_mean, random_sd: of S over random sequences (the mean is exact, the standard deviation of 1,000 draws).
        lowest, highest: what no S goes beyond (certified).
    """

    tasks: int
    random_mean: float
    random_sd: float
    lowest: float
    highest: float
    orders: tuple[Order, ...]


@dataclass(frozen=True)
class FrozenFile:
    """Contents of a file: classes in the data set's own order, the similarity behind S, the orders."""

    schema: str
    data_set: str
    title: str
    version: int
    similarity: str
    similarity_digest: str
    classes: tuple[FrozenClass, ...]
    lengths: tuple[Length, ...]


@dataclass(frozen=True)
class Frozen:
    """One order with what it is part of."""

    of: FrozenFile
    length: Length
    order: Order

    @property
    def name(self) -> str:
        """With the version: what never changes."""
        return f"{self.order.name}@{self.of.version}"

    @property
    def sequences(self) -> tuple[NamedSequence, ...]:
        """With names of classes. Random ones have a number behind the name; the same in a longer list of the same draws."""
        k, random = self.length.tasks, self.order.kind == "random"
        stem = f"{self.of.data_set}-random-{k}"
        names = [f"{stem}-{i}" if random else self.order.name for i in range(len(self.order.labels))]
        return tuple(map(NamedSequence, names, named_tasks(self.of.classes, self.order.tasks)))

    @property
    def places(self) -> tuple[float, ...]:
        """Where each S lies between that of the hard (0) and of the easy (1) sequence of this length."""
        low, high = (next(o.scores[0] for o in self.length.orders if o.kind == kind) for kind in ("hard", "easy"))
        return tuple((score - low) / (high - low) for score in self.order.scores)


def is_frozen(text: str | Path) -> bool:
    """Whether it names a frozen order, not a file."""
    return str(text).startswith(PREFIX)


def source_path(directory: Path, text: str | Path) -> Path:
    """A file in a directory, or the frozen order that is named."""
    return Path(text) if is_frozen(text) else directory / at_home(text)


def pinned(text: str) -> str:
    """The text of a source with the version that a frozen order without one stands for now; any other as it is.

    Raises:
        UserError: see `several_frozen`.
    """
    return PREFIX + ",".join(f.name for f in several_frozen(text)) if is_frozen(text) else text


def several_frozen(text: str | Path) -> tuple[Frozen, ...]:
    """The orders of ``frozen:NAME,NAME,...``: of one data set, and of as many tasks as each other.

    Raises:
        UserError: see `find_frozen`; one comes twice, or they do not go together.
    """
    found = [find_frozen(name.strip()) for name in str(text).removeprefix(PREFIX).split(",")]
    first = found[0]
    for i, other in enumerate(found):
        if other in found[:i]:
            raise UserError(f"{PREFIX}{other.name} comes twice: leave one of them out")
        if other.of != first.of or other.length != first.length:
            raise UserError(
                f"{PREFIX}{first.name} and {other.name} are not of one data set, version and number of tasks: take one at a time"
            )
    return tuple(found)


def find_frozen(text: str | Path) -> Frozen:
    """The order of ``NAME`` (its newest version) or ``NAME@VERSION``, with or without ``frozen:`` before it.

    Raises:
        UserError: there is none; the error has the nearest names. A file that is not as it was frozen.
    """
    said = str(text).removeprefix(PREFIX)
    all_of_them = frozen_orders()
    versions = {(f.order.name, f.of.version): f for f in all_of_them}
    match = _NAME.fullmatch(said)
    name = match[1] if match else said
    there = [v for n, v in versions if n == name]
    if match and there and (not match[2] or int(match[2]) in there):
        return versions[name, int(match[2]) if match[2] else max(there)]
    if there:
        raise UserError(f"frozen order {brief(said)}: there is version {', '.join(map(str, there))} of {name}")
    near = nearest(name, sorted({n for n, _ in versions}))
    raise UserError(f"frozen order {brief(said)}: there is none (seqsearch sequences list){near}")


@cache
def frozen_orders() -> tuple[Frozen, ...]:
    """All there are, by data set, version and number of tasks.

    Raises:
        UserError: a file is missing, or not as it was frozen.
    """
    files = [read_frozen(shipped(FOLDER / name)) for name in FILES]
    return tuple(Frozen(f, length, order) for f in files for length in f.lengths for order in length.orders)


def read_frozen(path: Path) -> FrozenFile:
    """A file of frozen orders.

    Raises:
        UserError: it cannot be read, is of another form, or is not as it was frozen: by its checksum, by the digest of an
            order, or because a sequence does not have every class once.
    """
    said = json_object(path, links=True)
    checksum = said.pop("checksum", None)
    if not fits(said, FrozenFile) or said["schema"] != SCHEMA:
        wrong = f"it is no {SCHEMA}"
    elif checksum != checksum_of(said):
        wrong = "its checksum says that it was changed"
    else:
        found: FrozenFile = built(said, FrozenFile)
        if path.name != (right := f"{found.data_set}@{found.version}.json"):
            wrong = f"it holds what {right} must be called, and would be there twice"
        elif not (wrong := next((w for n in found.lengths for o in n.orders if (w := _wrong(found, n, o))), "")):
            return found
    raise UserError(f"{path}: {wrong}; frozen orders never change: install seqsearch again")


def checksum_of(said: dict[str, Any]) -> str:
    """Of all that a file says but its checksum."""
    return digest_of("frozen file", said)


def digest_of_order(tasks: Sequence[Sequence[Sequence[str]]]) -> str:
    """Identity of sequences: the names of their classes, task by task (in a task, their order has no meaning)."""
    return digest_of("frozen order", [[sorted(task) for task in sequence] for sequence in tasks])


def named_tasks(
    classes: Sequence[FrozenClass], sequences: Sequence[Sequence[Sequence[int]]]
) -> list[tuple[tuple[str, ...], ...]]:
    """Names for positions."""
    return [tuple(tuple(classes[c].name for c in task) for task in sequence) for sequence in sequences]


def _wrong(file: FrozenFile, length: Length, order: Order) -> str:
    """Return a message if an order is inconsistent; else an empty text."""
    wanted = dict.fromkeys(LETTERS[: length.tasks], len(file.classes) // length.tasks)
    if any(Counter(text) != wanted for text in order.labels):
        return f"{order.name} does not have every class in one of {length.tasks} equal tasks"
    if len(order.scores) != len(order.labels) or not order.labels:
        return f"{order.name} does not have one score for each of its sequences"
    if order.digest != digest_of_order(named_tasks(file.classes, order.tasks)):
        return f"the classes or tasks of {order.name} are not those of its digest"
    return ""
