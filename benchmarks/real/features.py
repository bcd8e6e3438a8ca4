"""Frozen features of a pool as a pool of their own, on which whole networks are trained in a second.

    seqsearch cldyb --pool benchmarks/real/features.py:pool:of=clipart.parquet --backbone benchmarks/real/features.py:layers \\
        --methods er,ewc,simplecil@benchmarks/real/features.py:themselves

An image of this pool is not a picture. Its 21 x 21 x 3 bytes are the 1,280 features of EfficientNet-Lite0 at 224 pixels, each
rounded to 1/42 of its unit, and zeros. So methods that train a network train one of two layers on top of frozen features, as in
"Latent Replay for Real-Time Continual Learning".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from benchmarks.real.lite0 import at_224
from seqsearch.core.digests import digest_of
from seqsearch.features.store import FeatureStore
from seqsearch.pools.base import Rows, View
from seqsearch.pools.open import build_pool
from seqsearch.storage.files import cache_root

if TYPE_CHECKING:
    from seqsearch.pools.base import Pool

SIDE = 21
LARGEST = 6.0
"""Of a feature: the mean of activations that end at 6."""
HIDDEN = 256


class Features:
    """See `seqsearch.pools.base.Pool`: classes, groups and images of another pool."""

    def __init__(self, pool: Pool) -> None:
        self._store = FeatureStore(cache_root(), pool, at_224(), torch.device("cpu"))
        self.name, self.classes = f"features of {pool.name}", pool.classes
        self.split_sizes, self.given, self.native_size = pool.split_sizes, pool.given, SIDE
        self.digest = digest_of("features as images", pool.digest, self._store.space, SIDE, LARGEST)
        if (bound := getattr(pool, "bound", None)) is not None:
            self.bound = bound

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """``[n, 3, 21, 21]``; in another size, as who compares images asks for, by the nearest pixel."""
        found = np.zeros((len(rows), 3 * SIDE * SIDE), np.uint8)
        features = self._store.rows(rows)
        found[:, : features.shape[1]] = np.rint(features * (255 / LARGEST)).clip(0, 255)
        at = np.arange(view.size) * SIDE // view.size
        return np.ascontiguousarray(found.reshape(-1, 3, SIDE, SIDE)[:, :, at][..., at])


class Themselves:
    """See `seqsearch.backbones.base.Backbone`: the features as they are."""

    view, vit, staged = View(SIDE), False, False
    name = tag = "features"
    dim = 1280
    digest = digest_of("features as they are", SIDE, LARGEST, dim)

    def module(self) -> nn.Module:
        """``[n, 3, 21, 21]`` -> ``[n, 1280]``."""
        return First().eval()

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """``[n, 3, 21, 21]`` bytes -> features and zeros, float32."""
        return torch.from_numpy(np.ascontiguousarray(images)).float() * (LARGEST / 255)


class Layers(Themselves):
    """See `seqsearch.backbones.base.FromScratch`: two layers on top of the features."""

    name = tag = "layers"
    dim = HIDDEN
    digest = digest_of("layers on features", SIDE, LARGEST, Themselves.dim, HIDDEN)
    presets = ("tiny", "scratch")

    def module(self) -> nn.Module:
        """One of a fixed seed: ``[n, 3, 21, 21]`` -> ``[n, 256]``."""
        return self.initialised(torch.Generator().manual_seed(0))

    def initialised(self, generator: torch.Generator) -> nn.Module:
        """Weights as He et al. (2015) draw them, biases 0."""
        made = nn.Sequential(
            First(), nn.Linear(Themselves.dim, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU()
        )
        for layer in made:
            if isinstance(layer, nn.Linear):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
                nn.init.zeros_(layer.bias)
        return made.eval()


class First(nn.Module):
    """The features, without the zeros behind them."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return images.flatten(1)[:, : Themselves.dim]


def pool(of: str) -> Features:
    """The pool of the features of the pool ``of``."""
    return Features(build_pool(of))


themselves, layers = Themselves, Layers
