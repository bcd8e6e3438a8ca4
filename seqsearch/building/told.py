"""What a file or folder says of images: their captions, as they are checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from seqsearch.building.tables import Table
from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import brief

MOST_TEXT, MOST_TEXTS = 10_000, 1000
"""Characters of a caption, captions of an image."""


@dataclass
class Told:
    """What a source says of images ``[n]``, one record each.

    Attributes:
        source: the file or folder.
        keys: the image as it is named there.
        texts: its captions; from a table, none yet.
        splits: part of a given split; None if the source says none of any.
        bound: what it is of; None if no such column was asked for.
        unit: what a record is called in messages; ``places`` its number in the source.
        table: the columns of a table whose rows are the records.
    """

    source: str
    keys: list[str] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    splits: list[str | None] | None = None
    bound: list[str | None] | None = None
    unit: str = "line"
    places: list[int] = field(default_factory=list)
    table: Table | None = None

    def where(self, number: int) -> str:
        """A record, for a message."""
        return f"{self.unit} {self.places[number]}" if self.unit else self.keys[number]


def cleaned(said: object, where: str) -> list[str]:
    """The texts of an image, with single blanks.

    Args:
        said: a text, or a list of them.

    Raises:
        UserError: it is something else, one is empty or too long, or there are too many.
    """
    texts = [said] if isinstance(said, str) else said
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise UserError(f"{where}: captions must be a text or a list of texts, not {brief(said)}")
    found = [printable(" ".join(t.split())) for t in texts]
    if not found or not all(found):
        raise UserError(f"{where}: a caption is empty: write it, or leave it out")
    if len(found) > MOST_TEXTS or max(map(len, found)) > MOST_TEXT:
        raise UserError(
            f"{where}: {len(found)} caption(s), the longest of {max(map(len, found))} characters: at most {MOST_TEXTS} of "
            f"{MOST_TEXT} are taken"
        )
    return found
