"""CLS-ER: experience replay, with a fast and a slow average of the network as teachers for stored images.

"Learning Fast, Learning Slow: A General Continual Learning Method based on Complementary Learning System".

The working network replays as in ER, and stays consistent with two averages of its weights. For each stored
image, the average that gives its true class more probability provides the target scores. The loss is

    CE(new and stored images, all classes seen) + w mean (z(x) - z_target(x))^2    over stored images x.

After step s, the plastic average moves with probability r_p, and the stable average with probability r_s:
``average <- a average + (1 - a) working`` with ``a = min(1 - 1 / (s + 1), decay)``. The count s runs over all
tasks. The stable average predicts.

Trainable: the working backbone (at ``backbone_lr``) and all its head rows (at ``lr``). Stored: three
backbones and heads, the number of steps, and the buffer (a reservoir) as pool rows and head columns.

Departures from the public code, and why (effects are not measured unless given):

- an image enters the reservoir once, when its task ends (see ER). So consistency begins with the second task.
- a head grows with the classes. New rows start with the same values in all three networks.
- averages cover parameters, not the running statistics of batch normalisation. In the code the statistics of
  the averages follow forward passes on stored images. Here all networks are in eval mode and share the
  pre-trained statistics.
- the two draws of a step come from a generator of the task.
- the backbone has its own rate. It has momentum only from scratch, where the schedules are ER's.
- weight, frequencies and decays are the defaults of the public code, and all else is as in ER. A decay of
  0.999 remembers a thousand steps. Where a task has less than a hundred, as on the glyphs, the average would
  learn little of new classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.ema import move_average, warmed
from seqsearch.methods.parts.head import Head, empty_head, first_rows, load_head
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under, statistics_of
from seqsearch.methods.parts.replaying import ReplayTraining, restored, state_of, stored_images
from seqsearch.methods.parts.reservoir import empty_reservoir
from seqsearch.methods.parts.training import Hooks, descend
from seqsearch.methods.parts.tuned import backbone_rate

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows


class CLSER(Method):
    """Replay and consistency with two moving averages; see the module."""

    @dataclass(frozen=True)
    class Config(ReplayTraining):
        backbone_lr: float = backbone_rate(embedded=0.002)
        weight_decay: float = param(
            5e-4, "L2 penalty on what is trained", minimum=0.0, maximum=1e3, scratch=2e-4, tiny=5e-4
        )
        momentum: float = param(0.0, "of optimizer=sgd", minimum=0.0, maximum=0.999, scratch=0.9, tiny=0.0)
        reg_weight: float = param(
            0.1, "w: weight of the consistency", minimum=0.0, maximum=1e6, search=LogUniform(0.01, 1.0)
        )
        stable_freq: float = param(0.7, "r_s: how often the stable average moves", minimum=0.0, maximum=1.0)
        stable_decay: float = param(
            0.999,
            "of the stable average",
            minimum=0.0,
            maximum=1.0,
            search=(0.99, 0.999),
            embedded=0.95,
            embedded_search=(0.9, 0.95, 0.97),
        )
        plastic_freq: float = param(0.9, "r_p: how often the plastic average moves", minimum=0.0, maximum=1.0)
        plastic_decay: float = param(
            0.999,
            "of the plastic average",
            minimum=0.0,
            maximum=1.0,
            search=(0.99, 0.999),
            embedded=0.9,
            embedded_search=(0.8, 0.9, 0.95),
        )

    config: Config
    caps = Caps(needs_exemplars=True, augmentation="mammoth", design=("exemplar", "full", "functional", "ensemble"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        head = empty_head(context.dim, context.device)
        self.working = _Model(own_backbone(context), head)
        self.plastic = _Model(own_backbone(context).requires_grad_(False), head)
        self.stable = _Model(own_backbone(context).requires_grad_(False), head)
        self.steps = 0
        self.buffer = empty_reservoir(self.config.buffer_size)

    def fit_task(self, task: TaskData) -> FitReport:
        config, context = self.config, self.context
        train = learned(task.train, context, "mammoth", task.generator("augment"))
        stored = stored_images(task, self.buffer, context)
        block = first_rows(context, len(task.columns), task.generator("head"))
        for model in (self.working, self.plastic, self.stable):
            model.head = model.head.grown(block)
        self.working.head = self.working.head.trainable()
        moves = task.generator("averages")
        learning = statistics_of(context, self.working.backbone)

        def loss_of(positions: Tensor) -> Tensor:
            new = train.select(positions)
            if stored is None:
                return functional.cross_entropy(self.working(new.images), new.targets)
            old = stored.drawn(len(new))
            scores = self.working(torch.cat([new.images, old.images]))
            loss = functional.cross_entropy(scores, torch.cat([new.targets, old.targets]))
            with torch.no_grad():
                target = better_of(self.stable(old.images), self.plastic(old.images), old.targets)
            return loss + config.reg_weight * functional.mse_loss(scores[len(new) :], target)

        def move() -> None:
            self.steps += 1
            plastic_moves, stable_moves = (torch.rand(2, generator=moves) < self._frequencies).tolist()
            for model, decay, moved in (
                (self.plastic, config.plastic_decay, plastic_moves),
                (self.stable, config.stable_decay, stable_moves),
            ):
                if moved:
                    of_all, current = (m.averaged(bool(learning)) for m in (model, self.working))
                    move_average(of_all, current, warmed(decay, self.steps))

        groups = config.groups(task.depth, self.working.backbone, self.working.head.parameters())
        hooks, shuffle, live = Hooks(after_step=move), task.generator("shuffle"), Live(learning)
        report = descend(groups, len(train), config.schedule(task.depth), shuffle, loss_of, hooks, live)
        self.working.head = self.working.head.detached()
        rows = torch.from_numpy(task.train.indices)
        self.buffer = self.buffer.offer(rows, task.train.targets.cpu(), task.generator("reservoir"))
        return report

    @property
    def _frequencies(self) -> Tensor:
        return torch.tensor([self.config.plastic_freq, self.config.stable_freq])

    def predict(self, batch: Batch) -> Tensor:
        return self.stable.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        return embed(self.stable.backbone, batch)

    def exemplars(self) -> Rows:
        return self.buffer.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        models = self.working.state("working.") | self.plastic.state("plastic.") | self.stable.state("stable.")
        return models | state_of(self.buffer) | {"steps": self.steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name in ("working", "plastic", "stable"):
            getattr(self, name).load(state, f"{name}.", self.context.device)
        self.buffer = restored(self.buffer, state)
        self.steps = int(state["steps"])

    def memory_footprint(self) -> Footprint:
        replicas = 2 * sum(p.numel() for p in self.stable.backbone.parameters()) if self.n_tasks else 0
        params = 4 * replicas + 3 * self.stable.head.bytes
        return Footprint(params=params, exemplar_images=len(self.buffer) * self.context.image_bytes)


class _Model:
    """A backbone with its head."""

    def __init__(self, backbone: nn.Module, head: Head) -> None:
        self.backbone, self.head = backbone, head

    def __call__(self, images: Tensor) -> Tensor:
        return self.head(self.backbone(images))

    def parameters(self) -> list[Tensor]:
        return [*self.backbone.parameters(), *self.head.parameters()]

    def averaged(self, statistics: bool) -> list[Tensor]:
        """Parameters, and batch statistics where these are learned."""
        return self.parameters() + [b for b in self.backbone.buffers() if statistics and b.is_floating_point()]

    def state(self, prefix: str) -> dict[str, Any]:
        return saved(self.backbone.state_dict(), f"{prefix}backbone.") | self.head.state(f"{prefix}head.")

    def load(self, state: Mapping[str, Any], prefix: str, device: torch.device) -> None:
        self.backbone.load_state_dict(saved_under(state, f"{prefix}backbone."))
        self.head = load_head(state, f"{prefix}head.", device)


def better_of(stable: Tensor, plastic: Tensor, columns: Tensor) -> Tensor:
    """Of two score tables ``[n, C]``, each row from the one whose softmax gives ``columns`` ``[n]`` more; plastic if equal."""
    at = columns[:, None]
    stable_wins = functional.softmax(stable, 1).gather(1, at) > functional.softmax(plastic, 1).gather(1, at)
    return torch.where(stable_wins, stable, plastic)


build = CLSER
