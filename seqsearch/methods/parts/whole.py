"""Fine-tuning all of a backbone on one task and freezing it: what adapters do with fewer parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from seqsearch.core.digests import digest_of
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.cosine import CosineTraining, Draws, descend_cosine
from seqsearch.methods.parts.network import embed, own_backbone, saved, statistics_of
from seqsearch.methods.parts.training import Group

if TYPE_CHECKING:
    from seqsearch.methods.base import Context, FitReport
    from seqsearch.methods.data import Batch, TaskData

FACTOR = 16.0
"""Factor on cosines: bare ones hardly give a whole network a gradient at the low rate that it bears, and a factor learned at
the classifier's rate is no better (glyphs: .857 against .863)."""


@dataclass(frozen=True, eq=False)
class Whole:
    """A network that is not trained any more; ``space`` names its weights."""

    network: nn.Module
    space: str

    def __call__(self, batch: Batch) -> Tensor:
        """Features ``[n, d]``, computed once per image."""
        return batch.through(self.space, lambda part: embed(self.network, part))

    def state(self, prefix: str) -> dict[str, Any]:
        return saved(self.network.state_dict(), prefix)

    bytes = 0
    """Beyond the backbone: it takes its place."""


def train_whole(
    task: TaskData, config: CosineTraining, rate: float, context: Context, draws: Draws
) -> tuple[Whole, FitReport]:
    """A copy of the pre-trained network, fine-tuned on one task at ``rate``."""
    train, network = learned(task.train, context, "pilot", draws("augment")), own_backbone(context)

    def features_of(positions: Tensor) -> Tensor:
        features: Tensor = network(train.select(positions).images)
        return features

    labels = task.train.targets - task.columns.start
    shape = len(task.columns), context.dim
    groups = [Group(list(network.parameters()), rate)]
    report = descend_cosine(
        features_of, groups, labels, shape, config, draws, FACTOR, Live(statistics_of(context, network))
    )
    weights = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    return Whole(network.requires_grad_(False), digest_of("whole", context.backbone_id, weights)), report


def load_whole(weights: Mapping[str, Tensor], space: str, context: Context) -> Whole:
    """The network with the weights that `Whole.state` saved."""
    network = own_backbone(context).requires_grad_(False)
    network.load_state_dict(weights)
    return Whole(network, space)
