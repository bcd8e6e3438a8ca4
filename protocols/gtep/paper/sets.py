"""Tables 3, 4 and 5 of "Hyperparameters in Continual Learning: A Reality Check" (GTEP).

The schedule of the first task, and the sets that settings are drawn from, with what they are called here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Value
from seqsearch.core.installation import shipped
from seqsearch.core.yaml_file import read_mapping, record

FILE = Path(__file__).parent / "sets.yaml"
SCHEMA = "seqsearch-gtep-sets/1"
LARGEST, DEEPEST = 1 << 20, 6
"""Bytes of the file; lists and mappings within each other."""


@dataclass(frozen=True)
class FirstTask:
    """Table 3: how networks from scratch learn their first task, whatever the setting.

    Attributes:
        milestones: epochs before which the learning rate falls, if the setting's schedule is stepwise.
        lr_decay: factor of each fall.
    """

    epochs: int
    lr: float
    milestones: tuple[int, ...]
    lr_decay: float
    weight_decay: float


@dataclass(frozen=True)
class PrintedSet:
    """The values of one hyperparameter of some methods.

    Attributes:
        table: 4 (from scratch) or 5 (pre-trained); 0: no row of the tables is of it.
        row: its name in the table.
        key: its name in lists of settings.
        methods: by our names.
        parameter: of these methods; empty: they have none.
        values: as printed; none: the paper prints none.
        searched: what our methods draw from in place of ``values``.
        code: what the public code draws from where that is not ``values``.
        of_all: whether the value is of all tasks together, and the parameter of one.
        why: there is no parameter, or others are searched.
    """

    table: int
    row: str
    key: str
    methods: tuple[str, ...]
    parameter: str
    values: tuple[Value, ...]
    searched: tuple[Value, ...] = ()
    code: tuple[Value, ...] = ()
    of_all: bool = False
    why: str = ""

    def ours(self, value: Value, tasks: int) -> Value:
        """A printed value as that of the parameter; shares of tasks are rounded down, as the public code of CODA-Prompt does."""
        return int(value) // tasks if self.of_all else value

    def prints(self, value: Value) -> bool:
        """Whether the printed set has a value; a number is no truth value."""
        return any(v == value and isinstance(v, bool) == isinstance(value, bool) for v in self.values)


@cache
def first_task() -> FirstTask:
    """Table 3."""
    return record(f"{FILE}: first_task", _content().get("first_task"), FirstTask)


@cache
def printed_sets() -> tuple[PrintedSet, ...]:
    """Tables 4 and 5, and what lists of settings name beside them."""
    sets = _content().get("sets")
    if not isinstance(sets, list):
        raise UserError(f"{FILE}: sets must be a list")
    return tuple(record(f"{FILE}: set {place}", each, PrintedSet) for place, each in enumerate(sets, 1))


def set_of(method: str, key: str) -> PrintedSet:
    """The set of what lists of settings call ``key``.

    Raises:
        UserError: nothing is known of such a key of the method.
    """
    found = next((s for s in printed_sets() if s.key == key and method in s.methods), None)
    if found is None:
        raise UserError(f"{FILE} says nothing of {key!r} of method {method!r}")
    return found


def sets_of(method: str) -> tuple[PrintedSet, ...]:
    """All sets of a method, by its name here; none: the paper does not have it."""
    return tuple(s for s in printed_sets() if method in s.methods)


def instead_of(method: str, tasks: int, code: bool) -> dict[str, tuple[Value, ...]]:
    """Return the values to draw from instead of a method's own search space, by parameter.

    If a printed set counts all tasks together, its values are divided by the number of tasks, rounded down, with a
    minimum of 1. With ``code``, the values of the public code replace printed ones where they differ.
    """
    found = {
        s.parameter: tuple(dict.fromkeys(max(1, int(s.ours(v, tasks))) for v in s.values))
        for s in sets_of(method)
        if s.of_all
    }
    return found | ({s.parameter: s.code for s in sets_of(method) if s.code} if code else {})


def _content() -> dict[str, object]:
    return read_mapping(shipped(FILE), LARGEST, DEEPEST, SCHEMA)
