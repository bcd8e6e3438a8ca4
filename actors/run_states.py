"""The folder of a run's states, as the driver keeps it: marked for workers that see it, swept, within its size."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import IO, Any

from actors.node import marker
from actors.options import EngineOptions
from seqsearch.core.errors import UserError
from seqsearch.states.folder import StateFolder
from seqsearch.states.shared import StateStore
from seqsearch.storage.files import cannot_write
from seqsearch.storage.inside import Inside
from seqsearch.storage.unfinished import held_mark

FREE_EVERY = 60.0
"""Seconds between looks at the bytes of shared states."""


class RunStates:
    """States of one run in the driver's folder, and in a store that other runs share.

    Args:
        path: of the folder.
        token: names the run.
        keeps: states that nothing extends stay on the disk, for other runs.
        needed: states that the search may still extend.
        check: raises `UserError` where the run is another process' by now: nothing is removed then.

    Raises:
        UserError: the folder cannot be written.
    """

    def __init__(
        self,
        path: Path,
        token: str,
        engine: EngineOptions,
        *,
        keeps: bool,
        events: Callable[[str, dict[str, Any]], None],
        needed: Callable[[], Collection[str]],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._engine = StateFolder(path), engine
        self._keeps, self._events, self._needed, self._check = keeps, events, needed, check
        self._store = StateStore(engine.state_store) if engine.remote_store else None
        self._freed_at = 0.0
        self._here = Inside.below(path)
        self._mark: IO[bytes] | None = None
        try:
            self._here.make()
            self._folder.sweep_unfinished()
            self._mark = held_mark(self._here, marker(token))
        except OSError as error:
            raise cannot_write(error, path) from None

    def drop(self, states: Iterable[str]) -> None:
        """These will not be extended any more."""
        if not self._keeps and self._is_mine():
            self._folder.remove(states)

    def free_space(self) -> None:
        """Keep the states that other runs may use within ``state_cache``; those that this run needs stay."""
        if time.monotonic() - self._freed_at < FREE_EVERY:
            return
        self._freed_at = time.monotonic()
        if self._mark is not None and not self._mark.closed:
            os.utime(self._mark.fileno())  # where locks are not shared, its time says that it is held
        if not self._engine.state_store or not self._is_mine():
            return
        keeper = self._store or self._folder
        if gone := keeper.evict(self._engine.state_cache, frozenset(self._needed())):
            self._events("states-evicted", {"count": len(gone)})

    def close(self) -> None:
        """Leave nothing behind that is of no use."""
        if self._mark is not None:
            self._mark.close()
        self._folder.sweep_unfinished()  # the mark, too, unless another run has it
        if not self._keeps and self._is_mine():
            self._folder.sweep(grace=0.0)
        self._freed_at = -FREE_EVERY
        self.free_space()

    def _is_mine(self) -> bool:
        with contextlib.suppress(UserError):
            self._check()
            return True
        return False
