"""The task sequences of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from protocols.api.choice import at_place, one_of
from protocols.report.commands.sequences import to_json
from seqsearch.core.notices import notice
from seqsearch.core.paths import at_home
from seqsearch.core.text import counted
from seqsearch.results.in_names import InNames

SHOWN = 5
"""Sequences that are named."""


def sequence_id(given: Any, ids: Iterable[str], run: Path) -> str:
    """The id of a sequence of a run, by its id, its place or itself.

    Raises:
        UserError: the run has no such sequence.
    """
    return at_place(given.sequence_id if isinstance(given, InNames) else given, ids, f"run {run} has no sequence")


class Sequences(Sequence[InNames]):
    """Task sequences of a run, with the names of their classes."""

    def __init__(self, run: Path, found: list[InNames]) -> None:
        self._run, self._found = run, found

    def __repr__(self) -> str:
        named = [*(s.sequence.sequence_id for s in self._found[:SHOWN]), *["..."] * (len(self) > SHOWN)]
        return f"<{counted(len(self), 'task sequence')}: {', '.join(named)}>"

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, index: Any) -> Any:
        """A sequence by its place or its id."""
        if isinstance(index, str):
            by_id = {s.sequence.sequence_id: s for s in self._found}
            return by_id[one_of(index, by_id, "there is no sequence")]
        return self._found[index]

    def __iter__(self) -> Iterator[InNames]:
        return iter(self._found)

    def to_json(self) -> list[dict[str, Any]]:
        """All of them, in plain values."""
        return to_json(self._found)

    def export(self, to: str, out: str | Path, images: Any = None, **wanted: Any) -> Path:
        """Write them such that another toolbox runs them.

        Args:
            to: ``avalanche``, ``pilot``, ``pycil``, ``mammoth``, ``json`` or ``csv``.
            out: folder to make.
            images: ``copy``, ``paths`` or ``none``.
            wanted: ``sequences``, ``which``, ``pool``, ``seed`` and ``by_name``, as of ``seqsearch export``.

        Raises:
            UserError: no such toolbox, or one that cannot express a sequence; no disk space.
        """
        from protocols.evaluate.exchange.export import export
        from protocols.evaluate.exchange.selection import Wanted

        export(Wanted(os.fspath(self._run), **wanted), str(to), images, at_home(out), notice)
        return at_home(out)
