"""Base of the formats of continual-learning toolboxes: writing sequences in a toolbox's format, and reading its files.

Directions are written out, since toolboxes disagree. *Arrival order*: ``class_order[label] = class_id``, the class that
comes first stands first (Avalanche, PILOT, PyCIL, LAE). *Inverse*: ``class_order[class_id] = label`` (Mammoth).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.registry import load, names
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief


@dataclass(frozen=True)
class Order:
    """A sequence in numbers.

    Attributes:
        class_order: class id ``[n]`` by arrival label: ``class_order[label] = class_id``.
        task_sizes: classes of each task ``[T]``; they sum to ``n``.
        classes: how many classes there are to take from; ids are below it, and ``n`` may be smaller.
        names: names of the classes ``[n]`` by arrival label; empty if they are unknown.
    """

    class_order: tuple[int, ...]
    task_sizes: tuple[int, ...]
    classes: int
    names: tuple[str, ...] = ()

    @property
    def inverse(self) -> tuple[int, ...]:
        """``inverse[class_id] = label`` for all ``classes``; -1 for those that the sequence has not."""
        found = [-1] * self.classes
        for label, class_id in enumerate(self.class_order):
            found[class_id] = label
        return tuple(found)

    @property
    def counted(self) -> dict[str, Any]:
        """The number of classes and their names, by which a file that is read back is checked: see
        `seqsearch.formats.numbers.check_counted`."""
        return {"classes": self.classes} | ({"class_names": list(self.names)} if self.names else {})

    @property
    def complete(self) -> bool:
        """Whether the sequence has every class of the data set."""
        return len(self.class_order) == self.classes


@dataclass(frozen=True)
class Given:
    """Contents of a file of a toolbox.

    Attributes:
        said: parsed JSON or YAML; for a text file the list of its numbers; for CSV its rows.
        classes: number of classes of the data set.
        sizes: task sizes that the user gave; empty if none were given.
    """

    path: Path
    said: Any
    classes: int
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Read:
    """A sequence that was read from a file: classes in order of arrival, each an id or a name, and the task sizes."""

    name: str
    classes: tuple[Any, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Toolbox:
    """A toolbox, or a neutral form.

    Attributes:
        title: its name as people write it.
        tried: versions of the toolbox (or commands) that exports were tested with, and how.
        direction: direction of its class order, in words.
        read: returns the sequences in one of its files.
        limits: limitations that its users must know, a sentence each.
        usage: Markdown lines that run an export in it, by whether images are exported. ``{folder}`` is the folder of a sequence,
            ``{module}`` and ``{dataset}`` are unique names made from it.
        example: a script of Python that trains and evaluates on an export with images; empty if there is none. ``{folder}`` as in
            ``usage``, ``{size}`` of the images in pixels, ``{classes}`` of the sequence.
        files: returns the text of its own files by name, for a sequence and whether images are exported; None if the toolbox can
            only be read.
        together: returns the text by name of files that hold all sequences, from the class names of their tasks; None if there
            are no such files.
        marks: keys by which a file is recognised: files of this toolbox have them, files of others do not.
        shared: keys that only files of this toolbox and of related ones have.
        needs_all: an order without images must have all classes of the data set.
    """

    title: str
    tried: str
    direction: str
    read: Callable[[Given], tuple[Read, ...]]
    limits: tuple[str, ...] = ()
    usage: Mapping[bool, str] = field(default_factory=dict)
    example: str = ""
    files: Callable[[Order, bool], Mapping[str, str]] | None = None
    together: Callable[[Mapping[str, Sequence[Sequence[str]]]], Mapping[str, str]] | None = None
    marks: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    needs_all: bool = False


def toolboxes(*, written: bool = False) -> dict[str, Toolbox]:
    """All toolboxes by name, or only those that can be ``written``."""
    found = {name: _build(name) for name in names("format")}
    return {name: t for name, t in found.items() if t.files is not None or not written}


def toolbox(name: str, *, written: bool = False) -> Toolbox:
    """A toolbox by its name.

    Raises:
        UserError: there is none of this name.
    """
    known, flag = toolboxes(written=written), "--to" if written else "--from"
    if name not in known:
        raise UserError(f"{flag} {brief(name)}: there are {', '.join(known)}{nearest(name, known)}")
    return known[name]


def foreign(given: Given, name: str) -> None:
    """
    Raises:
        UserError: the file says, or its keys show, that it is of another toolbox than the one called ``name``.
    """
    if not isinstance(given.said, dict):
        return
    known = toolboxes()
    own = given.said.get("toolbox")
    if isinstance(own, str) and own in known and own != name:
        raise UserError(
            f"{given.path} says that it is of {known[own].title}: its order runs as there, give --from {own}"
        )
    keys = {k for k, v in given.said.items() if isinstance(k, str) and not (name == "json" and _is_sequence(v))}
    for other, found in known.items():
        marks = sorted(keys & (found.marks | (found.shared - known[name].shared)))
        if marks and other != name and not keys & known[name].marks:
            raise UserError(f"{given.path} is a file of {found.title} ({marks[0]!r} is in it): give --from {other}")


def _is_sequence(said: Any) -> bool:
    """A list of lists: whatever it is called, it is a sequence and no key of a toolbox."""
    return isinstance(said, list) and bool(said) and all(isinstance(v, list) for v in said)


def _build(name: str) -> Toolbox:
    found: Toolbox = load("format", name)()
    return found
