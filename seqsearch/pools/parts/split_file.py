"""A predefined split from a file: a CSV file with the columns ``path`` and ``split``, or the two lists of CUB-200-2011."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import counted
from seqsearch.core.typed import brief
from seqsearch.pools.parts.class_names import text_of
from seqsearch.pools.parts.layout import SPLITS
from seqsearch.pools.parts.scan import Listing, below

Codes = NDArray[np.uint8]
IMAGE_COLUMNS = ("image", "image_path", "path", "file_name", "image_name")
"""Names of the field or column that names an image, whatever their case."""
SPLIT_WORDS = ("auto", "given", "random")
"""Values of the option ``split`` that are no file."""
NUMBERED = "images.txt"
"""The file beside a split by numbers that has the path of each number."""
TRAINED = {"1": SPLITS["train"], "0": SPLITS["test"]}
"""Values of CUB's ``train_test_split.txt``."""


def split_of(pool: str, file: str, listings: Sequence[Listing]) -> tuple[dict[tuple[str, ...], Codes], tuple[str, ...]]:
    """The part of each image, positions ``[n]`` in `seqsearch.pools.base.GIVEN` by the folders of a listing; and a note if lines
    are of images that are not there.

    Args:
        pool: name of the pool, for messages.
        file: a CSV file with a path below the pool's folder and a part in each row; or a text file of numbers of images and 0
            (test) or 1 (training), with ``images.txt`` beside it, as CUB-200-2011 and NABirds have them.

    Raises:
        UserError: the file cannot be read, has an image twice, an unknown part, one part only, or no line for an image.
    """
    said = f"pool {pool!r}: split={file}"
    parts = _of_csv(said, file) if file.lower().endswith(".csv") else _of_numbers(said, file)
    codes, missing, there = dict[tuple[str, ...], Codes](), list[str](), set[str]()
    for listing in listings:
        names = listing.names
        there.update(names)
        missing += [path for path in names if path not in parts]
        codes[listing.above] = np.array([parts.get(path, 0) for path in names], dtype=np.uint8)
    if missing:
        example = next(iter(parts))
        raise UserError(
            f"{said} has no line for {counted(len(missing), 'image')}, the first is {brief(missing[0])} (a line is of "
            f"{brief(example)}): add lines, or remove the images; paths are those below the pool's folder"
        )
    if len(np.unique(np.concatenate([*codes.values()]))) < 2:
        raise UserError(f"{said} puts all images into one part: it must name images to train and to test on")
    strange = [path for path in parts if path not in there]
    lines = f"{file} has {counted(len(strange), 'line')} of images that are not there"
    return codes, (f"{lines}, the first is {brief(strange[0])}",) if strange else ()


def _of_csv(said: str, file: str) -> dict[str, int]:
    """Parts by path."""
    rows = csv.reader(io.StringIO(text_of(said, file), newline=""), strict=True)
    try:
        head = [name.strip().lower() for name in next(rows, [])]
        image = next((head.index(name) for name in IMAGE_COLUMNS if name in head), None)
        if image is None or "split" not in head:
            raise UserError(
                f"{said} begins with {brief(','.join(head))}, must begin with the names of its columns: path,split"
            )
        split, found = head.index("split"), dict[str, int]()
        for row in rows:
            if not row:
                continue
            where = f"{said}: line {rows.line_num}"
            if len(row) != len(head):
                raise UserError(f"{where} has {counted(len(row), 'cell')}, the first line has {len(head)}: mend it")
            part = SPLITS.get(row[split].strip().lower())
            if part is None:
                raise UserError(f"{where} names part {brief(row[split])}, must be train, validation or test")
            _note(found, below(row[image].strip()), part, where)
    except csv.Error as error:
        raise UserError(f"{said} is no CSV (line {rows.line_num}: {error}): mend it") from None
    return _any(found, said)


def _of_numbers(said: str, file: str) -> dict[str, int]:
    """Parts by path, from lines of a number and 0 or 1."""
    beside = str(Path(file).parent / NUMBERED)
    lines = _pairs(said, file, "an image's number, and 1 (training) or 0 (test); or name a .csv file of path,split")
    if not os.path.isfile(at_home(beside)):
        raise UserError(f"{said} names images by numbers, and {beside} with their paths is not there: copy it there")
    paths = _pairs(f"{said}: {beside}", beside, "an image's number and its path")
    found = dict[str, int]()
    for number, (part, line) in lines.items():
        where = f"{said}: line {line}"
        if part not in TRAINED:
            raise UserError(f"{where} has {brief(part)}, must be 1 (training) or 0 (test)")
        if number not in paths:
            raise UserError(
                f"{where} is of image {brief(number)}, which {NUMBERED} does not name: take both of one data set"
            )
        _note(found, below(paths[number][0]), TRAINED[part], where)
    if len(paths) > len(lines):
        number = next(n for n in paths if n not in lines)
        raise UserError(f"{said} has no line for image {brief(number)} of {NUMBERED}: take both of one data set")
    return _any(found, said)


def _pairs(said: str, file: str, form: str) -> dict[str, tuple[str, int]]:
    """The second word of each line, and the number of the line, by the first word."""
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text_of(said, file).split("\n"), start=1):
        words = line.split(maxsplit=1)
        if not words:
            continue
        if len(words) == 1:
            raise UserError(f"{said}: line {number} is {brief(line.strip())}, must be {form}")
        if words[0] in found:
            raise UserError(f"{said}: line {number} is of image {brief(words[0])} a second time: keep one of the lines")
        found[words[0]] = words[1].strip(), number
    return found


def _note(found: dict[str, int], path: str, part: int, where: str) -> None:
    if path in found:
        raise UserError(f"{where} is of image {brief(path)} a second time: keep one of the lines")
    found[path] = part


def _any(found: dict[str, int], said: str) -> dict[str, int]:
    if not found:
        raise UserError(f"{said} has no lines: it must name the part of each image")
    return found
