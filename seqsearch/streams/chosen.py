"""Some images of a pool, one a sample, as a pool of their own: no more is drawn, decoded or extracted than a stream shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.pools.base import Pool, Rows, SplitSizes, View, checked_rows, is_captioned
from seqsearch.streams.base import Labels
from seqsearch.streams.rows import Samples, by_class, counted, rows_of

if TYPE_CHECKING:
    from seqsearch.pools.union import Union

BY_ROWS = ("texts", "drawn_texts")
"""Methods of pools with captions, which are given rows."""
FILES = "files-"
"""How the digest of a pool begins that is known by path, size and time of its files."""


class Chosen:
    """See ``seqsearch.pools.base.Pool``.

    Args:
        base: where the images are; several pools as a `Union`.
        selected: row in ``base`` of each sample ``[n]``, in order of time.
        labels: class of each sample ``[n]``.
        names: of the classes ``[C]``; some may have no sample.
        groups: of the classes ``[C]``.
    """

    def __init__(
        self, base: Pool | Union, selected: Rows, labels: Labels, names: Sequence[str], groups: Sequence[str]
    ) -> None:
        self.base, self.name, self.native_size = base, base.name, base.native_size
        self.split_sizes = SplitSizes()
        self.given: NDArray[np.uint8] | None = None
        order = by_class(labels)
        self.sample_rows: Samples = rows_of(order)
        """Row of each sample ``[n]``."""
        self._selected = selected[order]
        self.classes = counted(names, labels, groups)
        prefix = FILES if base.digest.startswith(FILES) else ""
        self.digest = prefix + digest_of("chosen", base.digest, self._selected, [c.count for c in self.classes])

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """See `Pool.images`.

        Raises:
            UserError: a row is not among the chosen ones, or ``base`` cannot read it.
        """
        return self.base.images(self.base_rows(rows), view)

    def base_rows(self, rows: Rows) -> Rows:
        """Where ``rows`` ``[n]`` lie in ``base``.

        Raises:
            UserError: a row is not among the chosen ones.
        """
        found: Rows = self._selected[checked_rows(rows, self.name, len(self._selected))]
        return found

    def __getattr__(self, name: str) -> Any:
        """Texts, and whether threads may read at once, where all of ``base`` has them."""
        if name not in (*BY_ROWS, "captioned", "concurrent") or "base" not in self.__dict__:
            raise AttributeError(name)
        parts = getattr(self.base, "parts", (self.base,))
        if name == "captioned":
            return all(map(is_captioned, parts))
        found = [getattr(p, name) for p in parts]
        if name == "concurrent":
            return all(found)
        read: Any = getattr(self.base, name)
        return lambda rows, *more: read(self.base_rows(rows), *more)
