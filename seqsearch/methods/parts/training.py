"""Gradient descent over the positions of one task's images: loop, optimisers and schedules of every method that trains."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.methods.base import PASSES, FitReport
from seqsearch.methods.config import Config, param
from seqsearch.methods.parts.checkpoint import Checkpoint, Live
from seqsearch.methods.parts.network import cut, in_training

SHORT_DECAY = 0.01
"""Weight decay on ``scratch:tiny``. What it takes from a weight without gradient goes with its product with the rates of all
steps together. In the 150 to 200 steps of a task there the published 2e-4 takes a hundredth, and this a third; in trainings of
published length (CIFAR-100 in ten tasks) the published values take three tenths (`replay`) and more (`der`: six)."""

NO_DROPS = "none"
_EPOCH = re.compile("[0-9]{1,5}")

Rate = Callable[[float], float]
"""Factor on the learning rate as a function of progress in [0, 1)."""


@dataclass(frozen=True)
class Training(Config):
    """Hyperparameters of a gradient descent; methods name their own defaults and search spaces by declaring a field again."""

    epochs: int = param(5, "passes over a task's images", minimum=1, maximum=10_000)
    batch_size: int = param(32, "images per step", minimum=1, maximum=100_000)
    weight_decay: float = param(5e-4, "L2 penalty on what is trained (adamw: decoupled)", minimum=0.0, maximum=1e3)
    optimizer: str = param("sgd", "how a step is made", choices=("sgd", "adam", "adamw"))
    momentum: float = param(0.9, "of optimizer=sgd", minimum=0.0, maximum=0.999)
    scheduler: str = param("cosine", "how the learning rate falls", choices=("cosine", "steplr", "constant"))
    milestones: int = param(
        2, "drops n of scheduler=steplr, after 2i/(2n+1) of the steps, i = 1..n", minimum=1, maximum=10_000
    )
    lr_decay: float = param(0.1, "factor of each drop of scheduler=steplr", minimum=0.0, maximum=1.0)

    def rate(self) -> Rate:
        """The schedule, as a factor on learning rates."""
        if self.scheduler == "cosine":
            return cosine
        if self.scheduler == "constant":
            return constant
        return steps([2 * i / (2 * self.milestones + 1) for i in range(1, self.milestones + 1)], self.lr_decay)


FIRST_DROPS = (60 / 200, 120 / 200, 170 / 200)
"""Where the rate of the first task falls with scheduler=steplr (GTEP Table 3)."""


@dataclass(frozen=True)
class FirstApart(Training):
    """Hyperparameters with which the first task may have a schedule of its own, as in PyCIL's training from scratch."""

    milestones: int = param(
        2,
        "drops n of scheduler=steplr in later tasks, after 2i/(2n+1) of the steps, i = 1..n; 0: as published",
        minimum=0,
        maximum=10_000,
        scratch=0,
        tiny=2,
    )
    drop_epochs: str = param(
        NO_DROPS,
        "epochs of a task, first or later, after which the rate falls with scheduler=steplr, as 60/120; none: by milestones",
    )
    first_epochs: int = param(
        0,
        "passes over the images of the first task, at first_lr and first_weight_decay; 0: it is trained as later ones are",
        minimum=0,
        maximum=10_000,
        scratch=200,
        tiny=0,
    )
    first_lr: float = param(0.1, "learning rate of the first task, unless first_epochs is 0", minimum=0.0, maximum=1e30)
    first_weight_decay: float = param(
        5e-4, "L2 penalty in the first task, unless first_epochs is 0", minimum=0.0, maximum=1e3
    )

    def check(self) -> None:
        drops = self._drop_epochs()
        if not all(map(_EPOCH.fullmatch, drops)) or any(int(a) >= int(b) for a, b in itertools.pairwise(["0", *drops])):
            wrong = f"drop_epochs={brief(self.drop_epochs)}"
            raise UserError(f"{wrong}: must be rising epochs with slashes between, as 60/120, or {NO_DROPS}")

    def without_effect(self) -> tuple[str, ...]:
        return () if self.first_epochs else ("first_lr", "first_weight_decay")

    def drops(self) -> Sequence[float]:
        """Where the rate of later tasks falls with scheduler=steplr and milestones=0, as published: fractions of the training."""
        return FIRST_DROPS

    def first_drops(self) -> Sequence[float]:
        """Where the rate of the first task falls with scheduler=steplr: fractions of its training."""
        return FIRST_DROPS

    def _drop_epochs(self) -> list[str]:
        return [] if self.drop_epochs == NO_DROPS else self.drop_epochs.split("/")

    def _dropped(self, epochs: int) -> list[float]:
        """`drop_epochs` as fractions of so many."""
        return [int(epoch) / epochs for epoch in self._drop_epochs()]

    def rate(self) -> Rate:
        if self.scheduler == "steplr" and (self._drop_epochs() or not self.milestones):
            return steps(self._dropped(self.epochs) or self.drops(), self.lr_decay)
        return super().rate()

    def first(self) -> Descent:
        """Settings of the first task."""
        first_rate = steps(self._dropped(self.first_epochs) or self.first_drops(), 0.1)
        rate = first_rate if self.scheduler == "steplr" else self.rate()
        return replace(self.later(), epochs=self.first_epochs, weight_decay=self.first_weight_decay, rate=rate)

    def later(self) -> Descent:
        """Settings of later tasks."""
        return Descent.of(self)

    def apart(self, depth: int) -> bool:
        """Whether a task with ``depth`` earlier tasks is a first task with a schedule of its own."""
        return not depth and self.first_epochs > 0

    def schedule(self, depth: int) -> Descent:
        """Settings of a task with ``depth`` earlier tasks."""
        return self.first() if self.apart(depth) else self.later()


def cosine(progress: float) -> float:
    """From 1 to 0 along half a cosine."""
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def constant(progress: float) -> float:
    """1 throughout."""
    return 1.0


def steps(milestones: Sequence[float], factor: float) -> Rate:
    """1, and ``factor`` times less from each of the ``milestones`` (fractions of the training) on."""
    return lambda progress: float(factor ** sum(progress >= m for m in milestones))


@dataclass(frozen=True)
class Descent:
    """Settings of a descent; learning rates come with the parameters (`Group`)."""

    epochs: int
    batch_size: int
    weight_decay: float = 0.0
    rate: Rate = cosine
    optimizer: str = "sgd"
    momentum: float = 0.9
    clip: float = math.inf
    """Largest norm of the gradient of all parameters together."""

    @classmethod
    def of(cls, config: Training) -> Descent:
        """As a method's hyperparameters say."""
        return cls(
            config.epochs, config.batch_size, config.weight_decay, config.rate(), config.optimizer, config.momentum
        )

    def optimizer_of(self, groups: Sequence[Group]) -> torch.optim.Optimizer:
        """A fresh optimiser of these parameters, with torch's defaults where nothing is set."""
        settings = [{"params": list(group.parameters), "lr": group.lr} for group in groups]
        if self.optimizer == "sgd":
            return torch.optim.SGD(settings, momentum=self.momentum, weight_decay=self.weight_decay)
        kind = torch.optim.Adam if self.optimizer == "adam" else torch.optim.AdamW
        return kind(settings, weight_decay=self.weight_decay)


@dataclass(frozen=True, eq=False)
class Group:
    """Parameters that share a learning rate."""

    parameters: Sequence[Tensor]
    lr: float


@dataclass(frozen=True)
class Hooks:
    """Functions that a method runs at moments of a descent; by default they do nothing."""

    before_epoch: Callable[[int], None] = lambda epoch: None
    """Given the number of the epoch, from 0; e.g. to draw its data."""
    before_step: Callable[[], None] = lambda: None
    """When gradients are there, clipped, and not yet used; e.g. to project them."""
    after_step: Callable[[], None] = lambda: None
    """When parameters have moved; e.g. to average them."""


def descend(
    groups: Sequence[Group],
    n: int,
    descent: Descent,
    generator: torch.Generator,
    loss_of: Callable[[Tensor], Tensor],
    hooks: Hooks = Hooks(),  # frozen, without state
    live: Live | None = None,
) -> FitReport:
    """Minimise ``loss_of`` over shuffled positions ``0 .. n - 1``, changing the parameters in place.

    Args:
        groups: what is trained, and how fast.
        n: number of training images.
        descent: epochs, batch size, optimiser, schedule.
        generator: draws the order of each epoch; a CPU generator.
        loss_of: positions ``[b]`` int64 on the CPU -> mean loss of that batch (a scalar with gradient).
        hooks: called on the way; what they keep from epoch to epoch is not in a checkpoint.
        live: networks whose batch statistics are learned, and where the descent goes on from if it was interrupted.

    Returns:
        ``diverged`` at the first loss that is not finite, or if a parameter is not finite at the end. Else the note `PASSES`.
    """
    live, parameters = live or Live(), [p for group in groups for p in group.parameters]
    run = Checkpoint(live, parameters, descent.optimizer_of(groups), generator, descent.epochs)
    run.resume()
    begun, steps_of_epoch = len(run.losses), len(batches(torch.arange(n), descent.batch_size, bool(live.networks)))
    with in_training(live.networks):
        for epoch in range(begun, descent.epochs):
            hooks.before_epoch(epoch)
            total = 0.0
            parts = batches(torch.randperm(n, generator=generator), descent.batch_size, bool(live.networks))
            for step, positions in enumerate(parts, epoch * steps_of_epoch):
                factor = descent.rate(step / (descent.epochs * steps_of_epoch))
                for setting, group in zip(run.optimizer.param_groups, groups, strict=True):
                    setting["lr"] = group.lr * factor
                value = _step(run, descent.clip, loss_of(positions), hooks)
                if not math.isfinite(value):
                    return FitReport("diverged", tuple(run.losses), {"step": float(step)})
                total += value * min(len(positions), n)
            run.losses.append(total / n)
            run.leave(last=epoch + 1 == descent.epochs)
    if not all(bool(torch.isfinite(p).all()) for p in parameters):
        return FitReport("diverged", tuple(run.losses), {"step": float(descent.epochs * steps_of_epoch)})
    return FitReport("ok", tuple(run.losses), {PASSES: float(n * descent.epochs)})


def _step(run: Checkpoint, clip: float, loss: Tensor, hooks: Hooks) -> float:
    """One step down a loss, unless it is not finite; its value."""
    value = float(loss.detach())
    if math.isfinite(value):
        run.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        if math.isfinite(clip):
            torch.nn.utils.clip_grad_norm_(run.parameters, clip)
        hooks.before_step()
        run.optimizer.step()
        hooks.after_step()
    return value


def batches(order: Tensor, size: int, statistics: bool) -> list[Tensor]:
    """Positions ``order`` ``[n]`` cut into batches of ``size``.

    Where batch ``statistics`` are learned, which a single image does not have, a last batch of one image joins the one before; an
    image that is alone in the whole task stands twice.
    """
    parts = cut(order, size)
    if statistics and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:] if len(parts) > 1 else parts * 2)]
    return parts
