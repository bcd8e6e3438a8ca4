"""``--encoder``: a frozen network whose features serve prototypes and kNN losses in place of those of each method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seqsearch.core.grammar import Item
from seqsearch.core.registry import located_text
from seqsearch.core.types import MethodSpec
from seqsearch.features.store import feature_space
from seqsearch.planners.settings import SearchSettings
from seqsearch.planners.step import Encoder, PoolView
from seqsearch.training.world import World


def encoder_items(settings: SearchSettings, directory: Path) -> list[Item]:
    """The method whose features are those of ``--encoder``: one that does nothing to them; none if it is not given."""
    if not settings.encoder:
        return []
    backbone = located_text(settings.encoder, "backbone", directory)
    return [Item(f"simplecil@{settings.encoder}", "simplecil", backbone, ())]


def with_encoder(view: PoolView, world: World, specs: Sequence[MethodSpec]) -> PoolView:
    """``view`` as the encoder of ``specs``, what `encoder_items` led to, sees it."""
    if not specs:
        return view
    import torch

    space = feature_space(world.backbone(specs[0].backbone), torch.device(world.device))
    return replace(view, encoder=Encoder(specs[0], space))
