"""What a file or folder says of images: their captions, as they are checked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from seqsearch.building.tables import Table
from seqsearch.core.errors import UserError
from seqsearch.core.text import shows
from seqsearch.core.typed import brief

NUL = "a caption holds a NUL, which no text does: mend it, or leave it out"
MOST_TEXT, MOST_TEXTS = 10_000, 1000
"""Characters of a caption, captions of an image."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class CaptionRecords:
    """What a source says of images ``[n]``, one record each.

    Attributes:
        source: the file or folder.
        keys: the image as it is named there.
        texts: its captions; from a table, none yet.
        splits: part of a predefined split; None if the source says none of any.
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


def empty(text: str) -> bool:
    """Whether there is nothing to be read: blanks, control and format characters alone. A NUL is something, to be refused.

    >>> empty(" \\u200b\\ufeff"), empty("a"), empty("\\0")
    (True, False, False)
    """
    return all(c != "\0" and _shows_nothing(c) for c in text)


def _shows_nothing(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf") or _is_blank(character)


def _is_blank(character: str) -> bool:
    """Printable by its category, and nothing to look at all the same, as a filler."""
    return character.isprintable() and not shows(character)


def cleaned(said: object, where: str) -> list[str]:
    """The texts of an image, with single blanks.

    Args:
        said: a text, or a list of them.

    Raises:
        UserError: it is something else, one is empty, too long or no text, or there are too many.
    """
    texts = [said] if isinstance(said, str) else said
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise UserError(f"{where}: captions must be a text or a list of texts, not {brief(said)}")
    if any("\0" in t for t in texts):
        raise UserError(f"{where}: {NUL}")
    if any(_SURROGATE.search(t) for t in texts):
        raise UserError(f"{where}: a caption holds half of a character (\\ud800 to \\udfff), which is no text: mend it")
    found = [" ".join(t.split()) for t in texts]
    if not found or any(map(empty, found)):
        raise UserError(f"{where}: a caption is empty: write it, or leave it out")
    if len(found) > MOST_TEXTS or max(map(len, found)) > MOST_TEXT:
        raise UserError(
            f"{where}: {len(found)} caption(s), the longest of {max(map(len, found))} characters: at most {MOST_TEXTS} of "
            f"{MOST_TEXT} are taken"
        )
    return found
