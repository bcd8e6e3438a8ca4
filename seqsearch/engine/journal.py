"""The memory of a run: every result as it arrived, one JSON line each, fsynced. Resuming is replaying.

A line ends with a checksum of itself: one that was edited is named, not believed. Arrays (prototypes, kNN values) lie beside it
in content-addressed ``.npy`` files; the journal holds their hash. A torn last line (the process died while writing) is dropped;
a missing or altered array is computed again, and is therefore not synced.

A session may die after a state was stored and before its result is a line here. The next session finds the state and trains
nothing; it says that an earlier session trained it (``earlier``), and the training is counted with that result.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult, ProbeResult
from seqsearch.engine.evaluator import JobResult
from seqsearch.engine.journal_lines import LONGEST, Entry, understood, written
from seqsearch.storage.files import atomic_file, cannot_write, sync_folder
from seqsearch.storage.inside import Inside
from seqsearch.storage.unfinished import sweep

NAME = "journal.jsonl"
LARGEST_ARRAY = 1 << 30
"""Bytes of an array that is read again; a larger one is computed again."""


class Journal:
    """Append-only results of a run folder.

    Args:
        folder: of the run.
        check: called before a line is appended; raises where another process has taken the run over.
        added: called with each result once it is on the disk.

    Raises:
        UserError: a line other than the last is not what was written (edited by hand, other file).
    """

    def __init__(
        self,
        folder: Path,
        check: Callable[[], None] = lambda: None,
        added: Callable[[JobResult], object] = lambda _: None,
    ) -> None:
        self.folder, self._check, self._added = folder, check, added
        self.path, self._arrays = folder / NAME, Inside(folder).at("arrays")
        self._edges: dict[str, EdgeResult] = {}
        self._probes: dict[str, dict[str, Any]] = {}
        self._states: set[str] = set()
        self.trained = 0
        """Trainings done, in all sessions."""
        self.entries: list[Entry] = []
        """Everything that was journalled, in order of arrival."""
        folder.mkdir(parents=True, exist_ok=True)
        sweep(self._arrays)
        new = not os.path.lexists(self.path)
        try:
            self._file = Inside(folder).open(NAME, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            if new:
                sync_folder(folder)
        except OSError as error:
            raise UserError(f"{self.path} cannot be read ({error.strerror}): restore it") from None
        try:
            self._size = self._replay()
        except BaseException:
            self.close()
            raise
        self.replayed = len(self._edges)
        """Edges known from earlier sessions."""
        self.added = 0
        """Results that came since."""

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

    def add(self, *results: JobResult) -> None:
        """Append results, and force them to disk together.

        Raises:
            UserError: the disk is full, or a method said of itself what cannot be, e.g. a negative size.
        """
        entries: list[dict[str, Any]] = []
        counted = [self._counted(r) for r in results]
        for result in counted:
            known = {
                name: value for name, value in vars(result).items() if name not in ("values", "earlier", "traceback")
            }
            if isinstance(result, EdgeResult):
                entries.append({"edge": {**known, "classifiers": [vars(c) for c in result.classifiers]}})
            else:
                entries.append({"probe": {**known, "sha": self._store(result.values)}})
        self._append(*entries)
        self.added += len(entries)
        self.trained += sum(len(r.trained) for r in counted)
        for result, entry in zip(counted, entries, strict=True):
            if isinstance(result, EdgeResult):
                self._edges[result.digest] = result
            else:
                self._probes[result.digest] = entry["probe"]
            self._added(result)

    def _counted(self, result: JobResult) -> JobResult:
        """With the trainings of earlier sessions that no line has."""
        lost = tuple(s for s in result.earlier if s not in self._states)
        self._states.update(result.trained, lost)
        return replace(result, trained=(*lost, *result.trained), earlier=())

    def note(self, **values: Any) -> None:
        """Append a line of bookkeeping, e.g. when a session began."""
        self._append({"note": values})

    def close(self) -> None:
        os.close(self._file)

    def _append(self, *entries: Entry) -> None:
        self._check()
        self._check_untouched()
        left = b"".join(self._line(e) for e in entries)
        try:
            while left:  # unbuffered: what a full disk did not take must not turn up later
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):  # what is left of it is a torn last line
                os.ftruncate(self._file, self._size)
            raise cannot_write(error, self.path) from error
        self._size = os.fstat(self._file).st_size
        self.entries += entries

    def _check_untouched(self) -> None:
        """Raises UserError: the file is not as this process left it, so that another one writes it, too."""
        try:
            now, there = os.fstat(self._file), Inside(self.folder).stat(NAME)
        except OSError as error:
            raise UserError(f"{self.path} cannot be read ({error.strerror}): mend that, and resume") from None
        if now.st_size != self._size or there is None or there.st_ino != now.st_ino:
            raise UserError(
                f"{self.path} was changed by another process while this one was running: this one ends; look which of them "
                "is to go on, and resume"
            )

    def _line(self, entry: Entry) -> bytes:
        """Return the line of an entry, after a check that it can be read again when the run is resumed.

        Raises:
            UserError: the journal cannot hold the entry.
        """
        try:
            line = written(entry)
            understood(line)
        except (TypeError, ValueError) as error:
            raise UserError(
                f"{self.path} cannot hold a result ({error}): mend what the method says of itself"
            ) from None
        return line

    def _replay(self) -> int:
        """Bytes of the lines that were read; what is left of a torn last one is cut off."""
        whole, torn = 0, False
        try:
            with open(self._file, "rb", closefd=False) as file:
                for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                    torn = not line.endswith(b"\n")
                    if torn and len(line) <= LONGEST:
                        break
                    self._understand(number, line)
                    whole += len(line)
        except OSError as error:
            raise UserError(f"{self.path} cannot be read ({error.strerror}): restore it") from None
        if torn:  # not before all else was found to be a journal: who knows what file this is
            os.ftruncate(self._file, whole)
        return whole

    def _understand(self, number: int, line: bytes) -> None:
        try:
            entry = understood(line)
            if self._is_news(entry):
                self.entries.append(entry)
                states = (entry.get("edge") or entry.get("probe") or {}).get("trained", ())
                self._states.update(states)
                self.trained += len(states)
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

    def _store(self, values: Any) -> str:
        buffer = io.BytesIO()
        np.save(buffer, values)
        sha = hashlib.blake2b(buffer.getvalue(), digest_size=16).hexdigest()
        if self._array(sha) is None:  # not there, or damaged
            with atomic_file(self._arrays, f"{sha}.npy") as file:
                file.write(buffer.getvalue())
        return sha

    def _array(self, sha: str) -> Any:
        try:
            data = self._arrays.read(f"{sha}.npy", LARGEST_ARRAY)
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


def damaged_line(run: Path) -> str:
    """The first line of the journal that is not as it was written, and why; empty if there is none, or no journal.

    A finished run is read from its tables, so that nothing else would notice.
    """
    here = Inside(run)
    if not here.has(NAME):
        return ""
    with here.reader(NAME) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
            try:
                understood(line)
            except ValueError as error:
                return f"{run}/{NAME}, line {number}: {error}"
    return ""
