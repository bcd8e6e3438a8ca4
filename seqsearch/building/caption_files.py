"""Captions of images from JSONL, CSV and Parquet files, and from folders with a text file for each image (Reed et al., 2016).

A file is read whole and checked before any image is read. An error is one line that names the place.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqsearch.building.caption_tables import Table, open_table
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, nearest, printable, shows
from seqsearch.core.typed import brief
from seqsearch.pools.parts.split_file import IMAGE_COLUMNS
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import open_regular, parsed

TEXTS = ("texts", "captions", "text", "caption")
TEXT_COLUMN = re.compile(r"(texts?|captions?)(_?\d+)?")
MOST_LINE = 1 << 20
"""Bytes of a line."""


def read_captions(path: Path, bound: str | None, as_table: bool) -> CaptionRecords:
    """Read the captions of images from a file or folder.

    Args:
        bound: name of the field or column that names the subject of an image.
        as_table: captions are made of columns afterwards (`seqsearch.building.caption_tables`): there need be no text.

    Raises:
        UserError: it is not there, cannot be read, is no UTF-8, or a record is not as it should be.
    """
    kind = path.suffix.lower()
    if path.is_dir():
        if bound or as_table:
            raise UserError(f"--captions {path} is a folder of texts: it has no columns (--bound, --caption-columns)")
        return read_folder(path)
    if kind in (".csv", ".parquet"):
        return _table(path, bound, as_table)
    if kind not in (".jsonl", ".json", ".ndjson"):
        raise UserError(f"--captions {path} must be a .jsonl, .csv or .parquet file, or a folder of .txt files")
    if as_table:
        raise UserError(f"--captions {path}: columns are those of a .csv or .parquet file (--caption-columns)")
    return _jsonl(path, bound)


# ------------------------------------------------------------------------------------------------ JSONL


def _jsonl(path: Path, bound: str | None) -> CaptionRecords:
    records = CaptionRecords(str(path), bound=[] if bound else None)
    splits: list[str | None] = []
    for number, line in enumerate(_lines(path), start=1):
        where = f"{path}: line {number}"
        if not line.strip():
            continue
        try:
            record = parsed(line.decode(), unique=True)
        except ValueError as error:
            said = (
                "no UTF-8"
                if isinstance(error, UnicodeDecodeError)
                else f"no JSON ({' '.join(str(error).split())[:80]})"
            )
            raise UserError(f"{where} is {said}: mend it, or leave it out") from None
        if not isinstance(record, dict):
            raise UserError(f"{where} is {brief(record)}, must be an object like {{'image': ..., 'texts': [...]}}")
        lower = {k.lower(): v for k, v in record.items()}
        if len(lower) < len(record):
            raise UserError(f"{where} has a field twice (capitals do not matter): {brief(', '.join(record))}: keep one")
        records.keys.append(_key(lower, where))
        records.texts.append(cleaned(lower[_text_name(list(record), where)], where))
        records.places.append(number)
        splits.append(_plain(lower.get("split"), where, "split"))
        if records.bound is not None:
            records.bound.append(_plain(record.get(str(bound)), where, str(bound)))
    if not records.keys:
        raise UserError(f"{path} has no records: a line for each image, like {{'image': ..., 'texts': [...]}}")
    if records.bound is not None and not any(records.bound):
        raise UserError(f"{path}: no record has a field {bound!r} (--bound)")
    records.splits = splits if any(splits) else None
    return records


def _text_name(names: list[str], where: str) -> str:
    """The one of ``names`` that holds captions, in small letters.

    Raises:
        UserError: none does, or several do.
    """
    found = [n for n in names if n.lower() in TEXTS]
    if not found:
        raise UserError(f"{where} has none of {', '.join(TEXTS)}; it has {brief(', '.join(names))}")
    if len(found) > 1:
        raise UserError(f"{where} has captions twice, {' and '.join(map(brief, found))}: put all of them into one")
    return found[0].lower()


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with open(open_regular(path), "rb") as file:
            while line := file.readline(MOST_LINE + 1):
                if len(line) > MOST_LINE:
                    raise UserError(f"{path} has a line of more than {MOST_LINE >> 20} MB: is it JSONL?")
                yield line
    except OSError as error:
        raise UserError(
            f"--captions {path} cannot be read ({error.strerror}): name a file or folder of captions"
        ) from None


def _key(record: dict[str, Any], where: str) -> str:
    said = next((record[n] for n in IMAGE_COLUMNS if n in record), None)
    if not isinstance(said, str) or not said.strip():
        raise UserError(f"{where} must name its image by one of {', '.join(IMAGE_COLUMNS)}")
    return said


def _plain(said: object, where: str, name: str) -> str | None:
    if said is None or (isinstance(said, str) and not said.strip()):
        return None
    if isinstance(said, bool) or not isinstance(said, str | int):
        raise UserError(f"{where}: {name} is {brief(said)}, must be a text or a whole number")
    return printable(str(said).strip())


# ------------------------------------------------------------------------------------------------ tables


def _table(path: Path, bound: str | None, as_table: bool) -> CaptionRecords:
    table = open_table(path)
    image = next((c for n in IMAGE_COLUMNS for c in table.names if c.lower() == n), None)
    if image is None:
        raise UserError(f"{path} has no column {', '.join(IMAGE_COLUMNS)}; it has {brief(', '.join(table.names))}")
    if bound and bound not in table.names:
        raise UserError(f"{path} has no column {brief(bound)} (--bound){nearest(bound, table.names)}")
    texts = [c for c in table.names if TEXT_COLUMN.fullmatch(c.lower())]
    if not texts and not as_table:
        raise UserError(
            f"{path} has no column {', '.join(TEXTS)}; it has {brief(', '.join(table.names))}: make text of its columns with "
            "--caption-columns"
        )
    if not as_table and sum(c.lower() in TEXTS for c in texts) > 1:
        _text_name(texts, str(path))
    records = CaptionRecords(str(path), unit="row", table=table)
    keys = table.values(image)
    if (blank := next((i for i, k in enumerate(keys) if not isinstance(k, str) or not k.strip()), None)) is not None:
        raise UserError(f"{path}: row {blank + 1} names no image in column {image!r}")
    records.keys, records.places = [str(k).strip() for k in keys], list(range(1, len(keys) + 1))
    if not records.keys:
        raise UserError(f"{path} has no rows")
    if not as_table:
        records.texts = _texts_of_columns(path, table, texts)
    split = next((c for c in table.names if c.lower() == "split"), None)
    for name in (n for n in (split, bound) if n):
        said = [_plain(v, f"{path}: row {i}", name) for i, v in enumerate(table.values(name), start=1)]
        if name == split and any(said):
            records.splits = said
        if name == bound:
            records.bound = said
    return records


def _texts_of_columns(path: Path, table: Table, columns: list[str]) -> list[list[str]]:
    """Captions of each row: all that its columns of text hold, in their order."""
    found = []
    for row, values in enumerate(zip(*(table.values(c) for c in columns), strict=True), start=1):
        said = [t for v in values if v is not None for t in (v if isinstance(v, list) else [v])]
        if len(columns) > 1:  # images need not have equally many
            said = [t for t in said if not isinstance(t, str) or not empty(t)]
        found.append(cleaned(said, f"{path}: row {row}"))
    return found


NUL = "a caption holds a NUL, which no text does: mend it, or leave it out"
MOST_TEXT, MOST_TEXTS = 10_000, 1000
"""Characters of a caption, captions of an image."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class CaptionRecords:
    """Records about images ``[n]`` from one source, one record an image.

    Attributes:
        source: the file or folder.
        keys: the image as it is named there.
        texts: its captions; from a table, none yet.
        splits: part of a predefined split; None if the source has none.
        bound: the subject of the image; None if no such column was asked for.
        unit: the name of a record in messages; ``places`` its number in the source.
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
            f"{where}: {counted(len(found), 'caption')}, the longest of {max(map(len, found))} characters: at most "
            f"{MOST_TEXTS} of {MOST_TEXT} are taken"
        )
    return found


MOST_BYTES = 1 << 20
"""Of a text file."""
DEEPEST = 3
"""Folders above a text file: split, group and class."""


def read_folder(root: Path) -> CaptionRecords:
    """The ``.txt`` files below a folder.

    Raises:
        UserError: there are none, one cannot be read, is no UTF-8 or empty, or is a link.
    """
    records, todo = CaptionRecords(str(root), unit=""), [(Inside(root), "")]
    while todo:
        folder, prefix = todo.pop()
        files, folders = _listed(folder)
        if folders and len(folder.parts) >= DEEPEST:
            raise UserError(
                f"{folder.path} has folders within it: text files must lie as the images do, in class folders"
            )
        todo += [(folder.at(name), f"{prefix}{name}/") for name in reversed(folders)]
        for name in files:
            where = printable(str(folder.path / name))
            try:
                lines = folder.read(name, MOST_BYTES).decode("utf-8-sig").splitlines()
            except UnicodeDecodeError:
                raise UserError(f"{where} is no UTF-8: mend it, or leave it out") from None
            except OSError as error:
                raise UserError(f"{where} cannot be read ({error.strerror}): mend it, or leave it out") from None
            records.keys.append(prefix + name.removesuffix(".txt"))
            records.texts.append(cleaned([line for line in lines if not empty(line)], where))
    records.places = [0] * len(records.keys)
    if not records.keys:
        raise UserError(f"--captions {root} has no .txt files: one for each image, a caption in each line")
    return records


def _listed(folder: Inside) -> tuple[list[str], list[str]]:
    """Names of text files and of folders in a folder, sorted.

    Raises:
        UserError: it cannot be listed, or one of them is a link.
    """
    try:
        with folder.opened() as opened, os.scandir(opened) as entries:
            there = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
            kinds = [(e.name, e.is_symlink(), e.is_dir(follow_symlinks=False)) for e in there]
    except OSError as error:
        raise UserError(f"{printable(str(folder.path))} cannot be listed ({error.strerror}): allow it") from None
    if link := next((name for name, is_link, _ in kinds if is_link), None):
        raise UserError(
            f"{printable(str(folder.path / link))} is a link: put what is meant there, links are not followed"
        )
    return [n for n, _, is_dir in kinds if not is_dir and n.endswith(".txt")], [n for n, _, is_dir in kinds if is_dir]
