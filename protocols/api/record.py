"""The record that a run keeps of itself: what it is, how far it came, and its files, each read anew at each question."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.api.choice import one_of
from protocols.api.given import keywords
from protocols.running.protocol import Protocol, protocols
from protocols.running.status import State
from protocols.running.status import status as status_of
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import shown
from seqsearch.results.run import no_run, read_config
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class RunRecord:
    """Settings, status and tables of a run; `protocols.api.run.Run` adds what is computed from them."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise UserError(f"{shown(repr(path))[:80]} is no path of a run folder")
        self._path = at_home(os.fspath(path)).absolute()
        with contextlib.suppress(OSError, ValueError):  # a name that no file can have
            if Inside(self._path).has("config.json") or Inside(self._path).has("journal.jsonl"):
                return
        raise no_run(Path(os.fspath(path)))

    @property
    def path(self) -> Path:
        """Its folder, from the root of the file system."""
        return self._path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunRecord) and self.path.resolve() == other.path.resolve()

    def __hash__(self) -> int:
        return hash(self.path.resolve())

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        try:
            return f"<seqsearch {self.command or 'run'} {os.fspath(self.path)!r}, {self.status}>"
        except UserError as error:
            return f"<seqsearch run {os.fspath(self.path)!r}: {error}>"

    # ------------------------------------------------------------------------------------------------ what it is

    @property
    def config(self) -> dict[str, Any]:
        """``config.json``: settings, identities of methods and pool, versions, hyperparameters (docs/schema.md).

        Raises:
            UserError: it is damaged, or not there.
        """
        return read_config(self.path)

    @property
    def command(self) -> str:
        """The command that made it; empty if ``config.json`` does not say it."""
        return self._protocol.made_by if self._protocol else ""

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, by name: keywords of the function that makes such a run."""
        said = self.config.get("settings")
        known = keywords([self._protocol]) if self._protocol else {}
        return {n: v for n, v in (said if isinstance(said, dict) else {}).items() if n in known or not known}

    @property
    def seed(self) -> int:
        """The study seed."""
        return int(self.settings.get("seed", 0))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the libraries that decide the numbers; empty before anything was computed."""
        identity = self.config.get("identity")
        return dict((identity if isinstance(identity, dict) else {}).get("versions") or {})

    @property
    def status(self) -> State:
        """``running``, ``stopped``, ``killed`` (its process is gone) or ``finished``."""
        return status_of(self.path).state

    @property
    def progress(self) -> dict[str, Any]:
        """The figures of ``seqsearch status --json``: phase, trainings done, workers, time of the last sign of life."""
        return status_of(self.path).to_json()

    @property
    def failures(self) -> list[str]:
        """Failures of methods in its last session, a sentence each, in order of arrival."""
        return [str(t) for t in status_of(self.path).said.get("troubles") or []]

    @property
    def _protocol(self) -> Protocol | None:
        name = read_config(self.path).get("protocol") if Inside(self.path).has("config.json") else None
        return protocols().get(name) if isinstance(name, str) else None

    def _known(self) -> Protocol:
        if self._protocol is None:
            RunRecord(self.path)  # raises where the folder is gone
            raise UserError(f"{self.path}/config.json does not say what the run is of: restore it")
        return self._protocol

    @property
    def tables(self) -> list[str]:
        """Names of the Parquet files that it has, for `table` and `df`."""
        exports = self._known().exports
        return [n.removesuffix(".parquet") for n in exports if n.endswith(".parquet") and Inside(self.path).has(n)]

    def table(self, name: str) -> pa.Table:
        """One of its Parquet files; docs/schema.md explains the columns, and so does the schema's metadata.

        Raises:
            UserError: it has no such file, or the file is damaged.
        """
        import pyarrow as pa

        one_of(name, self.tables, f"run {self.path} has no table")
        path = Inside(self.path).checked(f"{name}.parquet")
        try:
            file = ParquetFile(path)
            with damage_reported():
                return pa.Table.from_batches(list(file.bounded(file.schema.names)), file.schema)
        except BadParquet as error:
            raise UserError(f"{path}: not a readable Parquet file ({error}): restore it") from None

    def df(self, name: str) -> pd.DataFrame:
        """The same as a data frame.

        Raises:
            UserError: as `table`; pandas is not installed.
        """
        if importlib.util.find_spec("pandas") is None:
            raise UserError("data frames need pandas: pip install pandas; or take run.table(...), a pyarrow table")
        frame: pd.DataFrame = self.table(name).to_pandas()
        return frame
