"""A backbone that computes in bfloat16 where torch's autocast finds it safe (``--precision bf16``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seqsearch.backbones.base import Backbone, FromScratch, ReadsNames, ReadsTexts
from seqsearch.core.digests import digest_of

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray


class Bf16:
    """``inner`` under autocast, forwards and backwards; its weights and its features stay float32, as do heads and statistics.

    It is another backbone, with a digest and a tag of its own: nothing computed with the one is taken for the other.
    """

    def __init__(self, inner: Backbone) -> None:
        self.inner = inner
        self.name, self.dim, self.view = inner.name, inner.dim, inner.view
        self.vit, self.staged = getattr(inner, "vit", True), getattr(inner, "staged", None)
        if isinstance(inner, ReadsTexts):
            self.tokenise = inner.tokenise
        if isinstance(inner, ReadsNames):  # texts are few: their tower stays in float32
            self.text_tower, self.text_tokens = inner.text_tower, inner.text_tokens
            self.logit_scale = inner.logit_scale
        self.tag = f"{inner.tag}+bf16"
        self.digest = digest_of("bf16", inner.digest)

    def module(self) -> torch.nn.Module:
        """See `seqsearch.backbones.base.Backbone.module`: the same module, by a class of its own."""
        return _autocast(self.inner.module())

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """As without."""
        return self.inner.preprocess(images)


class Bf16FromScratch(Bf16):
    """The same of a backbone without weights."""

    def initialised(self, generator: torch.Generator) -> torch.nn.Module:
        """See `seqsearch.backbones.base.FromScratch.initialised`."""
        assert isinstance(self.inner, FromScratch)
        return _autocast(self.inner.initialised(generator))


def in_bf16(inner: Backbone) -> Bf16:
    """``inner`` in bfloat16."""
    return Bf16FromScratch(inner) if isinstance(inner, FromScratch) else Bf16(inner)


def _autocast(module: torch.nn.Module) -> torch.nn.Module:
    module.__class__ = _autocasting(module.__class__)
    return module


def _autocasting(kind: type[torch.nn.Module]) -> type[torch.nn.Module]:
    """A subclass whose forward pass is autocast. A class and no wrapper: names of parameters stay, copies are copies."""
    import torch

    def forward(self: Any, inputs: torch.Tensor | Mapping[str, torch.Tensor]) -> torch.Tensor:
        images = inputs["images"] if isinstance(inputs, Mapping) else inputs
        with torch.autocast(images.device.type, dtype=torch.bfloat16):
            features: torch.Tensor = kind.forward(self, inputs)
        return features.float()

    return type(kind.__name__, (kind,), {"forward": forward, "autocast_dtype": torch.bfloat16})
