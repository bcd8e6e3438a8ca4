"""Base of backbones: a pre-trained network, its exact weight tag and the view of images it wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.base import View

if TYPE_CHECKING:
    import torch


class Backbone(Protocol):
    """A pre-trained feature extractor. Implementations live one per file beside this one (``build(**config)``)."""

    name: str
    tag: str
    """Exact weights, e.g. ``glyph_vit.r1-3f9a2c61d0b4``: written into every result."""
    digest: str
    """Identity of architecture, weights and preprocessing."""
    dim: int
    view: View
    vit: bool
    """Whether prompts and adapters can be injected (`seqsearch.backbones.inject`). A custom backbone need not declare
    it: it is then found out when the first task is learned.

    Further attributes are optional. ``staged`` says whether there are feature maps behind its stages
    (`seqsearch.backbones.parts.resnet.stages`).

    A backbone that reads the texts of a pool beside its images has ``tokenise(texts) -> dict of tensors [n, ...]``
    (`ReadsTexts`). Its module then gets a mapping of these and of ``images`` (`seqsearch.methods.data.Batch.inputs`). A
    backbone with a text tower that reads class names is a `ReadsNames`. A backbone that begins from scratch is a `FromScratch`.

    ``presets`` of a custom backbone name the defaults of methods that hold with it. The first preset that a parameter
    has counts. With ``("tiny", "scratch")`` these are the defaults of ``scratch:tiny``, then those of all networks from
    scratch. Without ``presets``, a `FromScratch` has ``("scratch",)``, any other backbone the published defaults.
    """

    def module(self) -> torch.nn.Module:
        """A fresh copy with the pre-trained weights: preprocessed images ``[n, 3, s, s]`` -> features ``[n, dim]``.

        It is a timm model without head (``num_classes=0``), float32, on the CPU, in eval mode.
        """
        ...

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """``[n, 3, s, s]`` bytes -> normalised float32 of the same shape."""
        ...


@runtime_checkable
class ReadsTexts(Protocol):
    """A backbone of image-text pairs."""

    def tokenise(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Tokenise ``n`` texts: the inputs of its module, tensors ``[n, ...]`` by name.

        Raises:
            UserError: a text is too long.
        """
        ...


@runtime_checkable
class ReadsNames(Protocol):
    """A backbone of images with a text tower beside it, as CLIP has one: a method may compare images with class names."""

    logit_scale: float
    """Factor of the cosine between image and text features."""

    def text_tower(self) -> torch.nn.Module:
        """A fresh copy: tokens ``[n, L]`` of texts -> features ``[n, dim]`` in the space of image features."""
        ...

    def text_tokens(self, texts: Sequence[str]) -> torch.Tensor:
        """Tokens ``[n, L]`` of ``n`` texts."""
        ...


@runtime_checkable
class FromScratch(Protocol):
    """A backbone without weights: every training of a method begins from a network of its own."""

    def initialised(self, generator: torch.Generator) -> torch.nn.Module:
        """A network whose weights are drawn from ``generator`` alone; in all else like `Backbone.module`.

        What changes while it is trained in train mode, as batch statistics do, is in its buffers: a method saves them with the
        parameters.
        """
        ...


@runtime_checkable
class Staged(Protocol):
    """A network that gives what it computes on the way (of timm's ResNets `seqsearch.backbones.parts.resnet` knows it)."""

    def stage_modules(self) -> list[torch.nn.Module]:
        """Its own modules, run one after the other: the first takes images ``[n, 3, s, s]``, each gives a map
        ``[n, c, h, w]``. ``forward`` gives the mean of the last map over its points."""
        ...
