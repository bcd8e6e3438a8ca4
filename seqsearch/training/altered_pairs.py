"""Image-text pairs that are evaluated with other images or texts than their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from seqsearch.features.inputs import moved_to
from seqsearch.methods.data import Batch
from seqsearch.training.context import PoolSource

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows

GREY = 127
CHUNK = 256
"""Pairs whose frozen features are computed together."""


class AlteredPairs:
    """Pairs with other images or texts than their own (`seqsearch.methods.data.ImageSource`).

    Frozen features of such pairs are computed when they are asked for, and not stored.

    Args:
        inner: where images and texts come from.
        image_of: which row's image stands with a row; None: a blank one.
        texts_of: the text that stands with each row; None: an empty one.
    """

    def __init__(
        self,
        inner: PoolSource,
        image_of: Callable[[Rows], Rows] | None,
        texts_of: Callable[[Rows], list[str]] | None,
    ) -> None:
        self._inner, self._image_of, self._texts_of = inner, image_of, texts_of

    def images(self, rows: Rows) -> torch.Tensor:
        if self._image_of is not None:
            return self._inner.images(self._image_of(rows))
        return self._blank.expand(len(rows), -1, -1, -1)

    @cached_property
    def _blank(self) -> torch.Tensor:
        side = self._inner.backbone.view.size
        return self._inner.backbone.preprocess(np.full((1, 3, side, side), GREY, np.uint8)).to(self._inner.device)

    def texts(self, rows: Rows) -> list[str]:
        return [""] * len(rows) if self._texts_of is None else self._texts_of(rows)

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        return self._inner.tokens_of(self.texts(rows))

    def frozen(self, rows: Rows) -> torch.Tensor:
        device, network = self._inner.device, self._inner.features.network
        parts = (rows[first : first + CHUNK] for first in range(0, len(rows), CHUNK))
        found = [network.of(moved_to(device, Batch(part, self).inputs)) for part in parts]
        return torch.cat(found).to(device)

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        return look(Batch(rows, self))


def same(rows: Rows) -> Rows:
    """The rows themselves, for `AlteredPairs`."""
    return rows
