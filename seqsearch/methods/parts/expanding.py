"""Methods that grow by a network, or a part of one, with every task: what is frozen is stored once, and shared when it is loaded.

A frozen network (eval mode, no gradients) will not change again, so its tensors are saved under ``frozen.K.``, K the number of
the task it was trained on, without being copied (`seqsearch.methods.base.Method.state_dict`), and a network is built around them
when the state is loaded. All states that share a prefix of tasks share them, in memory and on disk.

`Expanding` is one network a task under one head ("DER: Dynamically Expandable Representation for Class Incremental Learning",
without its masks and pruning, which no public code has): the head reads the features of all networks, one after the other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.base import FROZEN, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.head import Head, checked_finite, empty_head, load_head, uniform_head, weight_aligned
from seqsearch.methods.parts.network import embed, own_backbone, saved_under
from seqsearch.methods.parts.rehearsal import Rehearsal, RehearsalTraining

# ------------------------------------------------------------------------------------------------ frozen networks


def frozen(network: nn.Module) -> nn.Module:
    """The network, which will not change again: in eval mode, without gradients."""
    network.zero_grad(set_to_none=True)
    return network.eval().requires_grad_(False)


def frozen_state(networks: Sequence[nn.Module]) -> dict[str, Any]:
    """The tensors of networks that are `frozen`, by the number of each: their own, on the CPU not copied."""
    return {
        f"{FROZEN}{k}.{name}": tensor.detach().to("cpu")
        for k, network in enumerate(networks)
        for name, tensor in network.state_dict().items()
    }


def load_frozen(state: Mapping[str, Any], like: nn.Module, device: torch.device) -> list[nn.Module]:
    """The networks that `frozen_state` saved, around the very tensors of ``state`` (on an accelerator: copies).

    Args:
        state: of the method.
        like: a network of the same structure; it is not changed.
        device: where they are to be.
    """
    found: list[nn.Module] = []
    while weights := saved_under(state, f"{FROZEN}{len(found)}."):
        network = _structure(like)
        network.load_state_dict({name: tensor.to(device) for name, tensor in weights.items()}, assign=True)
        found.append(frozen(network))
    return found


def _structure(network: nn.Module) -> nn.Module:
    """Modules of one's own like those of ``network``, with its own tensors: what is not saved in a state stays shared."""
    tensors: list[Tensor] = [*network.parameters(), *network.buffers()]
    return copy.deepcopy(network, {id(tensor): tensor for tensor in tensors})


def bytes_of(networks: Sequence[nn.Module]) -> int:
    """Of their parameters and batch statistics as 32-bit floats."""
    tensors: list[Tensor] = [tensor for network in networks for tensor in network.state_dict().values()]
    return 4 * sum(tensor.numel() for tensor in tensors)


# ------------------------------------------------------------------------------------------------ features of all


def concatenated(networks: Sequence[Callable[[Tensor], Tensor]], images: Tensor) -> Tensor:
    """Features of ``images`` ``[n, ...]`` by all networks, one beside the other: ``[n, len(networks) * d]``."""
    return torch.cat([images.new_zeros(len(images), 0), *(network(images) for network in networks)], dim=1)


def remembered(look: Callable[[Batch], Tensor], data: Batch) -> Callable[[Batch], Tensor]:
    """``look`` for parts of ``data`` whose images stay as they are, computed now: features ``[b, d]``, found by row."""
    with torch.no_grad():
        known = look(data)
    order = np.argsort(data.indices)
    rows = data.indices[order]

    def found(part: Batch) -> Tensor:
        return known[torch.from_numpy(order[np.searchsorted(rows, part.indices)]).to(known.device)]

    return found


def widened(head: Head, classes: int, dim: int, generator: torch.Generator, crossing: bool = True) -> Head:
    """A trainable head for ``classes`` more classes and ``dim`` more features.

    Its rows of old classes begin as they were over the old features; all else is drawn as `uniform_head` draws a head of its
    width, but that old rows begin with zeros over the new features without ``crossing``.
    """
    (old, width), device = head.weight.shape, head.weight.device
    wide = uniform_head(old + classes, width + dim, generator, device).detached()
    wide.weight[:old, :width] = head.weight
    wide.bias[:old] = head.bias
    if not crossing:
        wide.weight[:old, width:] = 0
    return wide.trainable()


def auxiliary_loss(scores: Tensor, targets: Tensor, old: int) -> Tensor:
    """Cross-entropy of the auxiliary head, whose first class stands for all ``old`` ones: ``scores`` ``[n, 1 + new]``,
    ``targets`` ``[n]`` columns."""
    return functional.cross_entropy(scores, (targets - old + 1).clamp(min=0))


@dataclass(frozen=True)
class ExpandingTraining(RehearsalTraining):
    """PyCIL's settings of DER and MEMO, and GTEP's search space."""

    lamb: float = param(
        1.0, "weight of the auxiliary loss", minimum=0.0, maximum=1e6, search=gtep.DISTILLATION, later=True
    )


class Expanding(Rehearsal):
    """One network a task, frozen with the task, and a head over the features of all. A subclass says how they learn."""

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.networks: list[nn.Module] = []
        """All frozen, in the order of tasks."""
        self.head = empty_head(0, context.device)

    def new_network(self) -> nn.Module:
        """The network of the task that is to be learned: it begins as the last one ended."""
        if not self.networks:
            return own_backbone(self.context)
        return copy.deepcopy(self.networks[-1]).requires_grad_(True)

    def old_features(self, data: Batch) -> Callable[[Batch], Tensor]:
        """Features ``[b, K d]`` of parts of ``data`` by the frozen networks; computed once if images are not augmented."""

        def look(part: Batch) -> Tensor:
            with torch.no_grad():
                return concatenated(self.networks, part.images)

        return remembered(self.features, data) if self.context.augment == "none" else look

    def auxiliary_head(self, task: TaskData) -> Head:
        """For the classes of the task and one that stands for all others, over the features of the new network alone."""
        draw = task.generator("auxiliary head")
        return uniform_head(1 + len(task.columns), self.context.dim, draw, self.context.device)

    def finish(self, task: TaskData, network: nn.Module, head: Head, report: FitReport) -> FitReport:
        """Take over what was learned, new rows of the head aligned with old ones, and exemplars of it, unless it diverged."""
        if report.status != "ok":
            return report
        aligned = weight_aligned(head, task.columns.start)
        if (report := checked_finite(aligned.parameters(), report)).status != "ok":
            return report
        self.networks.append(frozen(network))
        self.head = aligned
        self.store(task)
        return report

    def head_scores(self, features: Tensor) -> Tensor:
        return self.head(features)

    def features(self, batch: Batch) -> Tensor:
        return embed(lambda images: concatenated(self.networks, images), batch)

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | frozen_state(self.networks) | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.load_networks(state)
        self.head = load_head(state, "head.", self.context.device)

    def load_networks(self, state: Mapping[str, Any]) -> None:
        """Restore the networks, the frozen ones as they are in ``state``."""
        self.networks = load_frozen(state, own_backbone(self.context), self.context.device)

    def memory_footprint(self) -> Footprint:
        return self.footprint(self.head.bytes + bytes_of(self.networks[1:]))
