"""The memory of a run: every result as it arrived, one JSON line each, fsynced. Resuming is replaying.

A line ends with a checksum of itself: one that was edited is named, not believed. Arrays (prototypes, kNN values) lie beside it
in content-addressed ``.npy`` files; the journal holds their hash. A torn last line (the process died while writing) is dropped;
a missing or altered array is computed again.
"""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult, ProbeResult
from seqsearch.engine.journal_lines import LONGEST, Entry, understood, written
from seqsearch.storage.files import atomic_path, cannot_write
from seqsearch.storage.reading import content, open_regular

LARGEST_ARRAY = 1 << 30
"""Bytes of an array that is read again; a larger one is computed again."""


class Journal:
    """Append-only results of a run folder.

    Raises:
        UserError: a line other than the last is not what was written (edited by hand, other file).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "journal.jsonl"
        self._edges: dict[str, EdgeResult] = {}
        self._probes: dict[str, dict[str, Any]] = {}
        self.entries: list[Entry] = []
        """Everything that was journalled, in order of arrival."""
        folder.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(self.path):
            self._replay()
        self.replayed = len(self._edges)
        """Edges known from earlier sessions."""
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    @property
    def trained(self) -> int:
        """Trainings done, in all sessions."""
        results = (e.get("edge") or e.get("probe") for e in self.entries)
        return sum(len(r["trained"]) for r in results if r)

    def edge(self, digest: str) -> EdgeResult | None:
        return self._edges.get(digest)

    def probe(self, digest: str) -> ProbeResult | None:
        """A known answer whose array is still there, unaltered."""
        entry = self._probes.get(digest)
        if entry is None:
            return None
        values = self._array(entry["sha"])
        known = {name: value for name, value in entry.items() if name != "sha"}
        return None if values is None else ProbeResult(**known, values=values)

    def add(self, *results: EdgeResult | ProbeResult) -> None:
        """Append results, and force them to disk together.

        Raises:
            UserError: the disk is full, or a method said of itself what cannot be, e.g. a negative size.
        """
        entries: list[dict[str, Any]] = []
        for result in results:
            if isinstance(result, EdgeResult):
                entries.append({"edge": {**vars(result), "classifiers": [vars(c) for c in result.classifiers]}})
            else:
                known = {name: value for name, value in vars(result).items() if name != "values"}
                entries.append({"probe": {**known, "sha": self._store(result.values)}})
        self._append(*entries)
        for result, entry in zip(results, entries, strict=True):
            if isinstance(result, EdgeResult):
                self._edges[result.digest] = result
            else:
                self._probes[result.digest] = entry["probe"]

    def note(self, **values: Any) -> None:
        """Append a line of bookkeeping, e.g. when a session began."""
        self._append({"note": values})

    def close(self) -> None:
        os.close(self._file)

    def _append(self, *entries: Entry) -> None:
        size = os.fstat(self._file).st_size
        left = b"".join(self._line(e) for e in entries)
        try:
            while left:  # unbuffered: what a full disk did not take must not turn up later
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            os.truncate(self.path, size)
            raise cannot_write(error, self.path) from error
        self.entries += entries

    def _line(self, entry: Entry) -> bytes:
        """What is written must be understood when the run is resumed."""
        try:
            line = written(entry)
            understood(line)
        except (TypeError, ValueError) as error:
            raise UserError(
                f"{self.path} cannot hold a result ({error}): mend what the method says of itself"
            ) from None
        return line

    def _replay(self) -> None:
        whole, torn = 0, False
        try:
            if self.path.is_symlink():
                raise OSError(0, "it is a link, and would be written through")
            with open(open_regular(self.path), "rb") as file:
                for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                    torn = not line.endswith(b"\n")
                    if torn and len(line) <= LONGEST:
                        break
                    self._understand(number, line)
                    whole += len(line)
        except OSError as error:
            raise UserError(f"{self.path} cannot be read ({error.strerror}): restore it") from None
        if torn:  # not before all else was found to be a journal: who knows what file this is
            os.truncate(self.path, whole)

    def _understand(self, number: int, line: bytes) -> None:
        try:
            entry = understood(line)
            if self._is_news(entry):
                self.entries.append(entry)
        except ValueError as error:
            raise UserError(
                f"{self.path}, line {number}: not a line of a journal ({error}); restore the file, or delete that line "
                "(its result is then computed again)"
            ) from None

    def _is_news(self, entry: Entry) -> bool:
        """Remember an entry; a second line on the same training says nothing new.

        Raises:
            ValueError: it contradicts one that was.
        """
        if "probe" in entry:
            self._probes[entry["probe"]["digest"]] = entry["probe"]
        if "edge" not in entry:
            return True
        result = EdgeResult(**entry["edge"])
        if result.status not in ("ok", "diverged"):  # failures may have been mended: they are tried again
            return True
        known = self._edges.setdefault(result.digest, result)
        if (known.status, known.judged, known.classifiers) != (result.status, result.judged, result.classifiers):
            raise ValueError("it contradicts an earlier line on the same training")
        return known is result

    def _array_path(self, sha: str) -> Path:
        return self.folder / "arrays" / f"{sha}.npy"

    def _store(self, values: Any) -> str:
        buffer = io.BytesIO()
        np.save(buffer, values)
        sha = hashlib.blake2b(buffer.getvalue(), digest_size=16).hexdigest()
        path = self._array_path(sha)
        if self._array(sha) is None:  # not there, or damaged
            try:
                path.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise cannot_write(error, path) from error
            with atomic_path(path) as temporary:
                temporary.write_bytes(buffer.getvalue())
        return sha

    def _array(self, sha: str) -> Any:
        try:
            data = content(self._array_path(sha), LARGEST_ARRAY)
        except OSError:
            return None
        return _array_in(data) if hashlib.blake2b(data, digest_size=16).hexdigest() == sha else None


def _array_in(data: bytes) -> Any:
    """The array of numbers in a ``.npy`` file; None if there is none."""
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:  # the header is a Python expression: it may be wrong in any way
        return None
    return found if isinstance(found, np.ndarray) and found.dtype.kind == "f" else None
