"""The memory of a run: every result as it arrived, one JSON line each, fsynced. Resuming is replaying.

Arrays (prototypes, kNN values) lie beside it in content-addressed ``.npy`` files; the journal holds their hash. A torn last line
(the process died while writing) is dropped; a missing or altered array is computed again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.errors import UserError
from seqsearch.files import atomic_path, cannot_write
from seqsearch.types import EdgeResult, ProbeResult


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
        self.entries: list[dict[str, Any]] = []
        """Everything that was journalled, in order of arrival."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._replay()
        self.replayed = len(self._edges)
        """Edges known from earlier sessions."""
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def edge(self, digest: str) -> EdgeResult | None:
        return self._edges.get(digest)

    def probe(self, digest: str) -> ProbeResult | None:
        """A known answer whose array is still there, unaltered."""
        entry = self._probes.get(digest)
        if entry is None:
            return None
        values = self._array(entry["sha"])
        return (
            None
            if values is None
            else ProbeResult(digest, values, entry["seconds"], tuple(entry["trained"]), entry["worker"])
        )

    def add(self, *results: EdgeResult | ProbeResult) -> None:
        """Append results, and force them to disk together.

        Raises:
            UserError: the disk is full.
        """
        entries: list[dict[str, Any]] = []
        for result in results:
            if isinstance(result, EdgeResult):
                entries.append({"edge": dataclasses.asdict(result)})
            else:
                values = {f.name: getattr(result, f.name) for f in dataclasses.fields(result) if f.name != "values"}
                entries.append({"probe": {**values, "sha": self._store(result.values)}})
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

    def _append(self, *entries: dict[str, Any]) -> None:
        size = os.fstat(self._file).st_size
        left = b"".join(json.dumps(e, separators=(",", ":")).encode() + b"\n" for e in entries)
        try:
            while left:  # unbuffered: what a full disk did not take must not turn up later
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            os.truncate(self.path, size)
            raise cannot_write(error, self.path) from error
        self.entries += entries

    def _replay(self) -> None:
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self.path, whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                entry = json.loads(line)
                self._take(entry)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise UserError(
                    f"{self.path}, line {number}: not a line of a journal; restore the file, or delete that line "
                    "(its result is then computed again)"
                ) from None
            self.entries.append(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        if "edge" in entry:
            values = entry["edge"]
            result = EdgeResult(**{name: _tuples(value) for name, value in values.items()})
            if result.status in ("ok", "diverged"):  # failures may have been mended: they are tried again
                self._edges[result.digest] = result
        elif "probe" in entry:
            self._probes[entry["probe"]["digest"]] = entry["probe"]
            float(entry["probe"]["seconds"]), str(entry["probe"]["sha"])
        else:
            dict(entry["note"])

    def _array_path(self, sha: str) -> Path:
        return self.folder / "arrays" / f"{sha}.npy"

    def _store(self, values: Any) -> str:
        buffer = io.BytesIO()
        np.save(buffer, values)
        sha = hashlib.blake2b(buffer.getvalue(), digest_size=16).hexdigest()
        path = self._array_path(sha)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            with atomic_path(path) as temporary:
                temporary.write_bytes(buffer.getvalue())
        return sha

    def _array(self, sha: str) -> Any:
        try:
            content = self._array_path(sha).read_bytes()
        except OSError:
            return None
        if hashlib.blake2b(content, digest_size=16).hexdigest() != sha:
            return None
        return np.load(io.BytesIO(content), allow_pickle=False)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value
