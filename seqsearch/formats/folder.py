"""The folder of an export: a folder a sequence, images once for all, ``export.json`` (which says what is ours) and a README.

It is written beside its place and renamed, so that it is whole or not there. Names of sequences and classes never become paths:
folders are called by what of a name is plain, and its digest.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.pools.image_files import NAME
from seqsearch.storage.files import atomic_file, cannot_write
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import json_object
from seqsearch.storage.unfinished import host

SCHEMA, MARK, README, IMAGES = "seqsearch-export/1", "export.json", "README.md", "images"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OURS = re.compile(
    r"README\.md|export\.json|sequences\.(?:json|csv)"
    r"|[A-Za-z0-9][A-Za-z0-9._-]{0,63}/(?:sequence\.json|manifest\.csv|seqsearch_\w+\.(?:py|json)|\w+_order\.json)"
)
"""Names of files of an export but images: whatever an ``export.json`` says, no other is ever removed."""
_TAKEN = {"images", "export-json", "readme-md", "sequences-json", "sequences-csv"}
"""Names in an export that are no folders of sequences, as `alike` has them."""
_IMAGE = re.compile(rf"[0-9a-zA-Z_.-]{{1,32}}/\d{{7}}/{NAME.pattern}")


def folder_names(sequences: Sequence[str]) -> dict[str, str]:
    """Of each sequence: its id where that is a plain name, else what is plain in it and a digest.

    No two are alike in their letters and figures: file systems may ignore case, and toolboxes what is between.

    >>> list(folder_names(["sequence-3", "a_b", "../../x"]).values())
    ['sequence-3', 'a_b', 'x-6ce541']
    >>> list(folder_names(["a_b", "a-b"]).values())
    ['a_b-d4ef9bddfd201e45', 'a-b-6fbb78a8eccd62e4']

    Raises:
        UserError: two would have one folder.
    """
    first = {s: s if _is_plain(s) else _with_digest(s, 6) for s in sequences}
    times = Counter(map(alike, first.values()))
    found = {s: name if times[alike(name)] == 1 else _with_digest(s, 16) for s, name in first.items()}
    owners: dict[str, str] = {}
    for s in sequences:
        if (other := owners.get(alike(found[s]))) is not None:
            raise UserError(
                f"sequences {brief(other)} and {brief(s)} would be one folder, {found[s]}: rename one of them"
            )
        owners[alike(found[s])] = s
    return found


def alike(name: str) -> str:
    """Return the form in which a file system or toolbox may take two names for one: lower case, dashes between.

    >>> alike("A__b.c-")
    'a-b-c'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _is_plain(sequence: str) -> bool:
    return _PLAIN.fullmatch(sequence) is not None and alike(sequence) not in _TAKEN


def _with_digest(sequence: str, digits: int) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", sequence).strip("-")[:40]
    return f"{plain or 'sequence'}-{digest_of('folder', sequence)[:digits]}"


@contextlib.contextmanager
def replacing_folder(out: Path) -> Iterator[Inside]:
    """A new folder beside ``out`` that takes its name when the block ends well, and is removed when it does not.

    Raises:
        UserError: see `check_place`; the disk is full, or the folder above cannot be written.
    """
    check_place(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Inside.below(out.parent / f".{out.name[:100]}.{host()}-{uuid.uuid4().hex[:12]}.part")
        fresh.make()
        try:
            yield fresh
            check_place(out)
            _rename(fresh.path, out)
        finally:
            shutil.rmtree(fresh.path, ignore_errors=True)
    except OSError as error:
        raise cannot_write(error, out) from error


def _rename(fresh: Path, out: Path) -> None:
    if not out.exists():
        os.rename(fresh, out)
        return
    old = fresh.with_name(fresh.name + ".old")
    os.rename(out, old)
    try:
        os.rename(fresh, out)
    except OSError:
        os.rename(old, out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def check_place(out: Path) -> None:
    """
    Raises:
        UserError: something is there that is no export, or an export with files in it that none wrote.
    """
    if out.name in ("", ".", "..") or out.is_symlink():
        raise UserError(
            f"--out {out} is {'a link' if out.is_symlink() else 'no name of a folder'}: name another folder"
        )
    if not out.exists():
        return
    if not out.is_dir():
        raise UserError(f"--out {out} is a file: name another folder")
    if not os.listdir(out):
        return
    if not Inside(out).has(MARK):
        raise UserError(f"--out {out} is there and is no export: name another folder, or remove it")
    said = json_object(out / MARK)
    ours = said.get("files")
    if said.get("schema") != SCHEMA or not isinstance(ours, list):
        raise UserError(f"--out {out} is there and is no export of this version: name another folder, or remove it")
    known = {name for name in ours if isinstance(name, str) and _OURS.fullmatch(name)} | {MARK}
    if others := next((name for name in _files(out) if not (name in known or _is_image(name))), None):
        raise UserError(
            f"--out {out} holds {brief(others)}, which no export wrote: move it away, or name another folder"
        )


def _files(root: Path) -> Iterator[str]:
    """Names below a folder of all that is no folder (links included), but for Python's caches."""
    for folder, below, names in os.walk(root):
        here = Path(folder)
        links = [n for n in below if (here / n).is_symlink()]
        below[:] = [n for n in below if n not in links and n != "__pycache__"]
        yield from (str((here / n).relative_to(root)) for n in sorted([*names, *links]))


def _is_image(name: str) -> bool:
    head, _, tail = name.partition("/")
    return head == IMAGES and _IMAGE.fullmatch(tail) is not None


def write_texts(folder: Inside, texts: Mapping[str, str]) -> None:
    """Write text files.

    Raises:
        UserError: the disk is full.
    """
    for name, text in texts.items():
        with atomic_file(folder, name) as file:
            file.write(text.encode())


def write_mark(root: Inside, said: Mapping[str, Any]) -> None:
    """Write ``export.json``: what was asked for, and the names of all files but images.

    Raises:
        UserError: the disk is full.
    """
    names = sorted(n for n in _files(root.path) if not _is_image(n))
    write_texts(root, {MARK: json.dumps({"schema": SCHEMA, **said, "files": names}, indent=1) + "\n"})
