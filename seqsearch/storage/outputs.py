"""Files and folders that are to be made: checks before any work is spent on them, and folders that are written anew."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from seqsearch.core.errors import CannotWrite, UserError
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside

_NAME = re.compile(r"[\w@%+=,()-][\w@%+=,(). -]*")
"""Of a file or folder in an index, without a leading dot."""


def check_output(out: Path, suffix: str, force: bool, hint: str = "") -> None:
    """
    Args:
        suffix: the ending that the name must have, with its dot.
        force: an existing file may be replaced.
        hint: follows the line on a wrong ending.

    Raises:
        UserError: ``out`` has another ending, is a folder, a link or an existing file, or its folder does not exist.
    """
    if out.suffix != suffix:
        raise UserError(f"{out} must end in {suffix}{hint}")
    if out.is_dir():
        raise UserError(f"{out} is a folder: name a file to be made, as in {out / out.name}")
    if out.is_symlink():
        raise UserError(f"{out} is a link: remove it, or choose another name")
    if out.exists() and not force:
        raise UserError(f"{out} is there already: choose another name, or replace it with --force")
    check_folder(out)


def check_folder(out: Path) -> None:
    """Raises UserError: the folder of ``out`` does not exist."""
    if not out.parent.is_dir():
        raise UserError(f"folder {out.parent} of {out} does not exist: make it first")


def check_ours(out: Path, index: str) -> None:
    """
    Args:
        index: a file that each folder of this kind has.

    Raises:
        UserError: ``out`` is a link or a file, or a folder with other files.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is {'a link' if out.is_symlink() else 'no folder'}: choose another name")
    if (above := next(p for p in out.absolute().parents if p.exists())) and not above.is_dir():
        raise UserError(f"{above} of {out} is no folder: choose another name")
    if out.is_dir() and not Inside.below(out.absolute()).has(index) and any(out.iterdir()):
        raise UserError(f"{out} has other files: name a folder to be made")


WRITTEN = (".pdf", ".svg", ".pgf", ".png", ".tex", ".bib", ".csv", ".md", ".html")
"""Endings of figures and tables. A file of another ending that an index lists is never removed."""
MOST_INDEX = 8 << 20
"""Bytes of an index that is read."""


def write_folder(out: Path, index: str, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, ``index`` last, in place of those that the index of an earlier call lists.

    Args:
        files: contents by name; a name may begin with that of a folder and a slash.
        index: name of a JSON file among ``files``, which lists files under the keys ``file`` or ``files``.

    Raises:
        UserError: see `check_ours`; the disk is full, or a file is a link.
    """
    check_ours(out, index)
    folder = Inside.below(out.absolute())
    before = _listed(folder, index)
    try:
        for name in sorted(files, key=lambda name: name == index):
            *folders, file_name = name.split("/")
            with atomic_file(folder.at(*folders), file_name) as file:
                file.write(files[name])
    except CannotWrite as error:
        raise UserError(str(error).removesuffix("resume") + "run the command again") from None
    for name in before - files.keys():
        *folders, file_name = name.split("/")
        folder.at(*folders).remove(file_name)


def _listed(folder: Inside, index: str) -> set[str]:
    """Names below a folder that its index lists; none if there is no index, or it is damaged."""
    try:
        found = json.loads(folder.read(index, MOST_INDEX))
    except (OSError, ValueError, RecursionError):
        return set()
    names, rest = set[str](), [found]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            listed = [value.get("file"), *(v if isinstance(v := value.get("files"), list) else ())]
            names |= {name for name in listed if isinstance(name, str)}
            rest += value.values()
        elif isinstance(value, list):
            rest += value
    return {n for n in names if n.endswith(WRITTEN) and all(_NAME.fullmatch(part) for part in n.split("/"))}
