"""What a text of a note is."""

from __future__ import annotations

from typing import NamedTuple


class Text(NamedTuple):
    """What a code says, and how important that is.

    Attributes:
        level: one of `protocols.report.notes.LEVELS`.
        text: the sentence; ``{name}`` and ``{name:way}`` stand for a value, as `protocols.report.notes.Sentence` has it.
    """

    level: str
    text: str


TEXTS: dict[str, Text] = {}
