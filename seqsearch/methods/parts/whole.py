"""Training all of a backbone on the first task and freezing it: under a cosine classifier, as adapters are trained, or under a
linear head, as networks from scratch are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.nn import functional

from seqsearch.core.digests import digest_of
from seqsearch.methods.config import param
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.cosine import CosineTraining, Draws, descend_cosine
from seqsearch.methods.parts.head import Head, first_rows
from seqsearch.methods.parts.network import embed, own_backbone, saved, statistics_of
from seqsearch.methods.parts.training import SHORT_DECAY, Descent, Group, Training, descend

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
    return _frozen(network, context), report


@dataclass(frozen=True)
class NetworkTraining(Training):
    """Hyperparameters of the first task's training under a linear head; published for networks from scratch."""

    epochs: int = param(
        0,
        "passes over the first task's images, which train the network; 0: it stays as it is",
        minimum=0,
        maximum=10_000,
        embedded=0,
        embedded_search=(0, 3, 5),
        scratch=200,
        tiny=15,
        tiny_search=(5, 10, 15, 20),
    )
    lr: float = param(
        0.01, "learning rate of the first task's head", minimum=0.0, maximum=1e30, embedded=0.05, scratch=0.1, tiny=0.05
    )
    backbone_lr: float = param(
        0.001, "learning rate of the network", minimum=0.0, maximum=1e30, embedded=0.005, scratch=0.1, tiny=0.05
    )
    batch_size: int = param(128, "images per step", minimum=1, maximum=100_000, embedded=32, tiny=16)
    weight_decay: float = param(
        5e-4, "L2 penalty on the network", minimum=0.0, maximum=1e3, embedded=5e-4, tiny=SHORT_DECAY
    )

    def without_effect(self) -> tuple[str, ...]:
        return () if self.epochs else ("lr", "backbone_lr", "weight_decay")


def train_network(
    task: TaskData, config: NetworkTraining, context: Context, biased: bool = True
) -> tuple[Whole, Head, FitReport]:
    """An own network, trained on the first task under a linear head.

    Args:
        task: the first task; its classes are the first columns.
        config: how it is trained.
        context: gives the network, and the recipe of augmentation.
        biased: whether the head has biases that are trained.
    """
    train, network = learned(task.train, context, "pycil", task.generator("augment")), own_backbone(context)
    head = first_rows(context, len(task.columns), task.generator("head"))

    def loss_of(positions: Tensor) -> Tensor:
        part = train.select(positions)
        return functional.cross_entropy(head(network(part.images)), part.targets)

    groups = [
        Group(list(network.parameters()), config.backbone_lr),
        Group(head.parameters() if biased else [head.weight], config.lr),
    ]
    live = Live(statistics_of(context, network), [train.generator], task.progress)
    report = descend(groups, len(train), Descent.of(config), task.generator("shuffle"), loss_of, live=live)
    return _frozen(network, context), head.detached(), report


def _frozen(network: nn.Module, context: Context) -> Whole:
    weights = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    return Whole(network.requires_grad_(False), digest_of("whole", context.backbone_id, weights))


def load_whole(weights: Mapping[str, Tensor], space: str, context: Context) -> Whole:
    """The network with the weights that `Whole.state` saved."""
    network = own_backbone(context).requires_grad_(False)
    network.load_state_dict(weights)
    return Whole(network, space)
