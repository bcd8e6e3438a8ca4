"""Folders with a text file for each image, a caption in each line, as the captions of Reed et al. (2016)."""

from __future__ import annotations

import os
from pathlib import Path

from seqsearch.building.caption_records import CaptionRecords, cleaned, empty
from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.storage.inside import Inside

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
