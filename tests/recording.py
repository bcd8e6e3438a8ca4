"""A pool of one's own that notes which images were asked for: what says that nobody looked is that nothing is noted.

    --pool tests/recording.py:Recording:log=FILE[,options of glyphs]

A line is added to the file for each call, by whatever process it is made in: the rows and the view.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.base import Rows, View
from seqsearch.pools.glyphs import build


def recording(log: Path, **options: Any) -> str:
    """The text of such a pool; ``options`` are those of glyphs, and ``half``."""
    return f"{Path(__file__).resolve()}:Recording:log={log}" + "".join(f",{k}={v}" for k, v in options.items())


def noted(log: Path, but: View | None = None) -> set[int]:
    """Rows that were asked for, those asked for in this one view left out."""
    lines = map(json.loads, log.read_text().splitlines()) if log.exists() else ()
    return {row for line in lines if but is None or line["view"] != repr(but) for row in line["rows"]}


class Recording:
    """Glyphs; see ``seqsearch.pools.base.Pool``."""

    def __init__(self, log: str, **options: Any) -> None:
        self._glyphs, self._log = build(**options), log
        self.name = recording(Path(log), **options)
        self.digest = f"recorded-{self._glyphs.digest}"
        self.classes, self.native_size = self._glyphs.classes, self._glyphs.native_size
        self.split_sizes, self.given = self._glyphs.split_sizes, self._glyphs.given

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Note ``rows``, then draw them."""
        line = json.dumps({"rows": np.asarray(rows).tolist(), "view": repr(view)}) + "\n"
        file = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())  # at once: several processes may write
        finally:
            os.close(file)
        return self._glyphs.images(rows, view)
