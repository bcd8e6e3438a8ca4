"""HiDe-Prompt's first stage: a small classifier on frozen features that predicts of which task an image is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Context, FitReport
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.alignment import Alignment, align
from seqsearch.methods.parts.gaussians import fit_gaussians, load_gaussians, no_gaussians
from seqsearch.methods.parts.head import empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.training import Descent, Group, descend

WIDTH = 2
"""Width of the hidden layer, in widths of the features."""


@dataclass(frozen=True, eq=False)
class ResidualMLP:
    """``norm(x + gelu(x U^T + u) V^T + v)``; U ``[2d, d]``, V ``[d, 2d]``, norm a layer normalisation with weights."""

    up: Tensor
    up_bias: Tensor
    down: Tensor
    down_bias: Tensor
    norm: Tensor
    norm_bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """``[n, d]`` -> ``[n, d]``."""
        hidden = functional.gelu(functional.linear(x, self.up, self.up_bias))
        moved = x + functional.linear(hidden, self.down, self.down_bias)
        return functional.layer_norm(moved, x.shape[1:], self.norm, self.norm_bias, eps=1e-6)

    def parameters(self) -> list[Tensor]:
        return list(vars(self).values())

    def trainable(self) -> ResidualMLP:
        """An own copy that takes gradients."""
        return ResidualMLP(*(p.detach().clone().requires_grad_(True) for p in self.parameters()))

    def detached(self) -> ResidualMLP:
        """The same values without gradients."""
        return ResidualMLP(*(p.detach() for p in self.parameters()))

    def state(self, prefix: str) -> dict[str, Any]:
        return saved(vars(self), prefix)

    @property
    def bytes(self) -> int:
        """Size as 32-bit floats."""
        return sum(4 * p.numel() for p in self.parameters())


def new_mlp(dim: int, generator: torch.Generator, device: torch.device) -> ResidualMLP:
    """Weights N(0, 0.02^2), biases 0, as a vision transformer's own layers start."""
    up = 0.02 * torch.randn(WIDTH * dim, dim, generator=generator)
    down = 0.02 * torch.randn(dim, WIDTH * dim, generator=generator)
    rest = [torch.zeros(WIDTH * dim), torch.zeros(dim), torch.ones(dim), torch.zeros(dim)]
    tensors = [up, rest[0], down, *rest[1:]]
    return ResidualMLP(*(tensor.to(device) for tensor in tensors))


def load_mlp(state: Mapping[str, Any], prefix: str, device: torch.device) -> ResidualMLP:
    """The network that `ResidualMLP.state` saved under ``prefix``."""
    return ResidualMLP(**{name: tensor.to(device, copy=True) for name, tensor in saved_under(state, prefix).items()})


@dataclass(frozen=True)
class Settings:
    """How task inference learns, and what it keeps."""

    descent: Descent
    lr: float
    alignment: Alignment
    covariance: str
    centroids: int


class TaskInference:
    """A residual MLP and a head for all classes; statistics of the frozen features; the size of each task."""

    def __init__(self, context: Context, settings: Settings) -> None:
        self.context, self.settings = context, settings
        self.mlp = new_mlp(context.dim, context.generator("mlp"), context.device)
        self.head = empty_head(context.dim, context.device)
        self.statistics = no_gaussians(context.dim, settings.covariance)
        self.task_sizes: list[int] = []

    def __call__(self, frozen: Tensor) -> Tensor:
        """Frozen features ``[n, d]`` -> number of the task of the best class ``[n]``."""
        best = self.head(self.mlp(frozen)).argmax(1)
        return task_of_column(self.task_sizes).to(best.device)[best]

    def learn(self, task: TaskData) -> FitReport:
        """Cross-entropy among the new classes, then (from the second task on) among all on draws."""
        settings, device = self.settings, self.context.device
        frozen, targets = task.train.frozen, task.train.targets
        mlp = self.mlp.trainable()
        block = new_head(len(task.columns), self.context.dim, task.generator("tii head"), device)

        def among_new(positions: Tensor) -> Tensor:
            at = positions.to(device)
            return local_cross_entropy(block(mlp(frozen[at])), targets[at], task.columns)

        groups = [Group([*mlp.parameters(), *block.parameters()], settings.lr)]
        report = descend(groups, len(frozen), settings.descent, task.generator("tii shuffle"), among_new)
        if report.status != "ok":
            return report
        self.mlp, self.head = mlp.detached(), self.head.grown(block)
        self.task_sizes.append(len(task.columns))
        kind, clusters, seed = settings.covariance, settings.centroids, task.generator("tii centroids")
        new = fit_gaussians(frozen, targets, task.columns, kind, clusters, seed)
        self.statistics = self.statistics.joined(new)
        return self._align(task) if task.depth else report

    def _align(self, task: TaskData) -> FitReport:
        mlp, head = self.mlp.trainable(), self.head.trainable()

        def among_all(drawn: Tensor, labels: Tensor) -> Tensor:
            return functional.cross_entropy(head(mlp(drawn)), labels)

        parameters = [*mlp.parameters(), *head.parameters()]
        device = self.context.device
        report = align(self.statistics, parameters, among_all, self.settings.alignment, task, device, phase="tii ")
        self.mlp, self.head = mlp.detached(), head.detached()
        return report

    def state(self, prefix: str) -> dict[str, Any]:
        return (
            self.mlp.state(prefix + "mlp.")
            | self.head.state(prefix + "head.")
            | self.statistics.state(prefix + "statistics.")
            | {prefix + "task_sizes": torch.tensor(self.task_sizes, dtype=torch.int64)}
        )

    def load(self, state: Mapping[str, Any], prefix: str) -> None:
        """Restore the values that `state` saved under ``prefix``."""
        self.mlp = load_mlp(state, prefix + "mlp.", self.context.device)
        self.head = load_head(state, prefix + "head.", self.context.device)
        self.statistics = load_gaussians(state, prefix + "statistics.")
        self.task_sizes = state[prefix + "task_sizes"].tolist()


def task_of_column(task_sizes: list[int]) -> Tensor:
    """Number of the task of each column ``[C]``."""
    return torch.arange(len(task_sizes)).repeat_interleave(torch.tensor(task_sizes))
