"""A site as a folder: ``index.html``, a page for each run, and ``entries`` with the file of each entry.

``site.json``, written last, lists what it has: a later call replaces these files and removes those of entries that it does not
have any more. Other files in the folder stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from protocols.report.site.command import absolute_folders
from protocols.report.site.entry import Entry, entry_of, read_entry
from protocols.report.site.index import Listed, index, listed
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown_lines
from seqsearch.core.typed import built, fits
from seqsearch.results.run import read_config
from seqsearch.storage.inside import Inside
from seqsearch.storage.outputs import check_folder, check_ours, write_folder
from seqsearch.storage.reading import json_object

SITE, ENTRIES = "site.json", "entries"
MOST = 1000
"""Entries of a site."""
LARGEST_PAGE = 64 << 20
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True)
class Kept:
    """An entry of a site in its ``site.json``: the name of its files without their endings, and whether it has a page."""

    file: str
    digest: str
    page: bool


def write_site(sources: Sequence[Path], out: Path) -> list[Listed]:
    """Write the site of runs, files of entries and the entries of sites. An entry that ``out`` had with a page keeps it.

    Raises:
        UserError: a source is no finished run and no entry, two are the same, or ``out`` has other files.
    """
    check_folder(out)
    check_ours(out, SITE)
    paths = [path for source in sources for path in _named(source)]
    if len(paths) > MOST:
        raise UserError(f"{len(paths):,} entries: a site has at most {MOST:,}")
    before = _before(out)
    pages = {k.digest: k.file for k in before if k.page}
    named: dict[str, Path] = {}
    found = []
    for path in paths:
        entry, page = _read(path)
        if (other := named.setdefault(entry.digest, path)) is not path:
            raise UserError(f"{other} and {path} are the same entry: name one of them")
        if page is None and entry.digest in pages:
            page = _page(out, pages[entry.digest])
        found.append((entry, page))
    there = listed(found)
    write_folder(out, SITE, dict(_files(there)))
    here = Inside.below(out.absolute())
    for file in {k.file for k in before if k.page} - {e.file for e in there if e.page is not None}:
        here.remove(f"{file}.html")
    for file in {k.file for k in before} - {e.file for e in there}:
        here.at(ENTRIES).remove(f"{file}.json")
    return there


def _named(source: Path) -> list[Path]:
    """A run or a file of an entry; of a site its entries."""
    return [source / ENTRIES / f"{k.file}.json" for k in _before(source)] or [source]


def _read(path: Path) -> tuple[Entry, bytes | None]:
    """An entry, and the page of one that is a run."""
    if not path.is_dir():
        return read_entry(path), None
    from protocols.report.page import html

    entry, view = entry_of(path)
    text = html(view, f"seqsearch run {view.name}")
    for folder in sorted(absolute_folders(read_config(path)), key=len, reverse=True):
        text = text.replace(
            escape(folder), ""
        )  # of paths in names: no markup has two slashes without < > or quotes between
    return entry, shown_lines(text).encode("utf-8", "backslashreplace")


def _files(there: Sequence[Listed]) -> Iterator[tuple[str, bytes]]:
    for e in there:
        yield f"{ENTRIES}/{e.file}.json", e.entry.text().encode()
        if e.page is not None:
            yield f"{e.file}.html", e.page
    yield "index.html", index(there)
    kept = [asdict(Kept(e.file, e.entry.digest, e.page is not None)) for e in there]
    yield SITE, (json.dumps({"entries": kept}, indent=1) + "\n").encode()


def _before(out: Path) -> tuple[Kept, ...]:
    """The entries that a site had.

    Raises:
        UserError: ``site.json`` is not as it was written.
    """
    if not Inside.below(out.absolute()).has(SITE):
        return ()
    said: Any = json_object(out / SITE).get("entries")
    if not fits(said, tuple[Kept, ...]) or not all(_FILE.fullmatch(k["file"]) for k in said):
        raise UserError(f"{out / SITE} is not as it was written: remove it, or name another folder")
    found: tuple[Kept, ...] = built(said, tuple[Kept, ...])
    return found


def _page(out: Path, file: str) -> bytes | None:
    """The page that an entry had; None if it is not there any more."""
    try:
        return Inside.below(out.absolute()).read(f"{file}.html", LARGEST_PAGE)
    except OSError:
        return None
