"""The sequences of any run as its file has them: task by task, with names and groups of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqsearch.core.text import shown
from seqsearch.results.rows import Row, SequenceKind, TaskSequence
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_rows, sequences_of


@dataclass(frozen=True)
class NamedClass:
    """A class by its index in the pool of this digest; ``name`` and ``group`` are None where the run did not know them."""

    index: int
    pool: str
    name: str | None
    group: str | None


@dataclass(frozen=True, repr=False)
class InNames:
    """A sequence, and the classes of each of its tasks in order of arrival."""

    sequence: TaskSequence
    tasks: tuple[tuple[NamedClass, ...], ...]

    def __repr__(self) -> str:
        named = (", ".join(shown(c.name or f"class {c.index}") for c in task) for task in self.tasks)
        return f"<{self.sequence_id} ({self.kind}): {' | '.join(named)}>"

    @property
    def sequence_id(self) -> str:
        """Its id, as in all tables."""
        return self.sequence.sequence_id

    @property
    def kind(self) -> SequenceKind:
        """How it came about, as ``kind`` in all tables."""
        return self.sequence.kind


def read_in_names(path: Path) -> list[InNames]:
    """The sequences of a ``sequences.parquet``, in its order.

    Raises:
        UserError: as `seqsearch.results.tables.read_sequences`.
    """
    return in_names(path, read_rows(path, SEQUENCES))


def in_names(path: Path, rows: Sequence[Row]) -> list[InNames]:
    """The same of rows that were read, or written, already; ``path`` is named in messages."""
    named = {(r["sequence_id"], r["pool_digest"], r["class_id"]): (r["class_name"], r["group"]) for r in rows}
    return [
        InNames(
            s,
            tuple(
                tuple(NamedClass(c.index, c.pool, *named[s.sequence_id, c.pool, c.index]) for c in t.classes)
                for t in s.tasks
            ),
        )
        for s in sequences_of(path, rows)
    ]
