"""Joint: with every task, learn all classes seen so far anew from the pre-trained weights. The upper baseline.

This method never gives up its images, so it serves as the upper baseline of continual learning. It stores the
rows of ALL images seen. After each task it fits them all together, by one of three ways or by the best of
them:

- ``finetune``: the whole network and a new head, with cross-entropy among all classes seen.
- ``ranpac``: ridge regression on ``h = relu(f W)``, with f the frozen features and W a fixed Gaussian matrix
  (see RanPAC).
- ``knn``: votes of the k most similar training images by cosine of frozen features, each weighted
  ``exp(cos / tau)``.
- ``best``: all three are fitted. The one with the highest accuracy on the validation images of all tasks
  predicts, and the first in this list if equal.

Trainable: the backbone (at ``backbone_lr``) and the head (at ``lr``); the ridge in closed form. Stored: rows
and columns of all images (`exemplars` includes the validation images), and the classifier that predicts.

There is no published method, so there are no departures. From scratch it learns all classes by the schedule
that PyCIL's methods have for their first task: 200 epochs with drops after 60, 120 and 170. Notes:

- `features` are of the fine-tuned network if there is one, also if ``best`` predicts by frozen features.
- a task costs as much as all tasks so far together, so a sequence costs the square of its length.
- the ridge chooses its penalty on the validation images, which then also help to solve it. For the choice of
  ``best`` a ridge is solved on training images alone.
- the other two, fitted for ``best``, do without validation images. As ``learner=finetune`` or ``learner=knn``
  they have nothing to choose, and learn from all images.
- RanPAC without adaptation computes task by task the same ridge as this method computes over everything at
  once. On the embedded backbone the ridge is the best of the three (0.857; neighbours 0.850, the whole
  network 0.824). There the bound is RanPAC itself.
- without training of the network (``ranpac``, ``knn``) the order of tasks does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import empty_head, first_rows, load_head
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under, statistics_of
from seqsearch.methods.parts.ridge import Dual, Primal
from seqsearch.methods.parts.training import descend
from seqsearch.methods.parts.tuned import TunedTraining, backbone_rate, epochs_of, light_decay

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows

LEARNERS = ("finetune", "ranpac", "knn")


class Joint(Method):
    """Everything at once; see the module."""

    @dataclass(frozen=True)
    class Config(TunedTraining):
        learner: str = param("best", "what is fitted", choices=("best", *LEARNERS), scratch="finetune")
        epochs: int = epochs_of(200)
        backbone_lr: float = backbone_rate(embedded=0.001)
        weight_decay: float = light_decay(scratch=5e-4)
        first_epochs: int = param(0, "always 0: every task is learned anew, by the same schedule", minimum=0, maximum=0)
        M: int = param(10000, "width of the random projection (ranpac)", minimum=1, maximum=100_000, embedded=2000)
        k: int = param(
            20, "neighbours that vote (knn)", minimum=1, maximum=1_000_000, search=(5, 10, 20, 50), embedded=10
        )
        tau: float = param(0.07, "temperature of the votes (knn)", minimum=0.001, maximum=1e6)

        @property
        def learners(self) -> tuple[str, ...]:
            """All that are fitted."""
            return LEARNERS if self.learner == "best" else (self.learner,)

    config: Config

    @classmethod
    def capabilities(cls, config: BaseConfig) -> Caps:
        learner = getattr(config, "learner", "best")
        trains = learner in ("finetune", "best")
        return Caps(
            input="images" if trains else "frozen",
            order_invariant_after=None if trains else 0,
            needs_exemplars=True,
            needs_val=learner in ("ranpac", "best"),
            trains_backbone=trains,
            pairs=True,
            augmentation="pilot" if trains else "",
            design=("exemplar", "full") if trains else ("exemplar",),
            closed_form=not trains,
        )

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.rows, self.columns = torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
        """Of all stored images ``[n]``, on the CPU."""
        self.for_val = torch.empty(0, dtype=torch.bool)
        self.backbone: nn.Module | None = None
        self.head = empty_head(context.dim, context.device)
        """Of the fine-tuned network."""
        width = self.config.M if "ranpac" in self.config.learners else 0
        self.projection = torch.zeros(context.dim, 0, device=context.device)
        if width:
            drawn = torch.randn(context.dim, width, generator=context.generator("projection"))
            self.projection = drawn.to(context.device)
        self.readout = torch.zeros(width, 0, device=context.device)
        """Of the ridge, ``[M, C]`` float32."""
        self.known = torch.zeros(0, context.dim, device=context.device)
        """Normalised frozen features of the training images ``[n, d]``, for the neighbours."""
        self.chosen = self.config.learners[0]
        """Name of the learner that predicts."""

    def fit_task(self, task: TaskData) -> FitReport:
        self._store(task)
        train, val = self._replayed(task, ~self.for_val), self._replayed(task, self.for_val)
        learners, trial, notes = self.config.learners, torch.empty(0), {}
        report = self._finetune(task, train) if "finetune" in learners else FitReport()
        if report.status != "ok":
            return report
        if "ranpac" in learners or "knn" in learners:
            self.known = functional.normalize(train.frozen)
            if not bool(torch.isfinite(self.known).all()):
                return FitReport("diverged", report.losses)
        if "ranpac" in learners:
            trial, self.readout = self._ridge(train, val, task.columns.stop)
        if len(learners) > 1:
            notes = {f"val_{learner}": self._accuracy(learner, val, trial) for learner in learners}
            self.chosen = max(learners, key=lambda learner: notes[f"val_{learner}"])
        return joined(report, FitReport(notes=notes))

    def _store(self, task: TaskData) -> None:
        """Keep the task's images, and which are for validation."""
        for part in (task.train, task.val):
            self.rows = torch.cat([self.rows, torch.from_numpy(part.indices)])
            self.columns = torch.cat([self.columns, part.targets.cpu()])
            self.for_val = torch.cat([self.for_val, torch.full((len(part),), part is task.val)])

    def _replayed(self, task: TaskData, wanted: Tensor) -> Batch:
        """Stored images where ``wanted`` ``[n]``."""
        return task.replay(self.rows[wanted].numpy(), self.columns[wanted].to(self.context.device))

    def _finetune(self, task: TaskData, train: Batch) -> FitReport:
        config, images = self.config, learned(train, self.context, "pilot", task.generator("augment"))
        network = own_backbone(self.context)
        head = first_rows(self.context, task.columns.stop, task.generator("head"))

        def loss_of(positions: Tensor) -> Tensor:
            part = images.select(positions)
            return functional.cross_entropy(head(network(part.inputs)), part.targets)

        groups = config.groups(task.depth, network, head.parameters())
        live = Live(statistics_of(self.context, network), [images.generator], task.progress)
        report = descend(groups, len(train), config.later(), task.generator("shuffle"), loss_of, live=live)
        self.backbone, self.head = network.requires_grad_(False), head.detached()
        return report

    def _ridge(self, train: Batch, val: Batch, classes: int) -> tuple[Tensor, Tensor]:
        """Readouts ``[M, C]`` float32 by training images alone, and by validation images too; one penalty for both."""
        h = torch.cat([self._expand(train.frozen), self._expand(val.frozen)]).double()
        y = functional.one_hot(torch.cat([train.targets, val.targets]), classes).double()
        dual, n = Dual(h, y, len(train)), len(train)
        fit = dual.fit() if len(h) < self.config.M else Primal.of(dual).fit()
        return ridge(h[:n], y[:n], fit.penalty).float(), fit.weights.float().contiguous()

    def _expand(self, features: Tensor) -> Tensor:
        """``[n, d]`` -> ``[n, M]``."""
        return torch.relu(features @ self.projection)

    def _accuracy(self, learner: str, val: Batch, trial: Tensor) -> float:
        """Of one learner on validation images, with the readout ``trial`` of the ridge."""
        scores = self._scores(learner, val, trial)
        return float((scores.argmax(1) == val.targets).float().mean()) if len(val) else 0.0

    def _scores(self, learner: str, batch: Batch, readout: Tensor) -> Tensor:
        if learner == "finetune":
            return self.head(self.features(batch))
        if learner == "ranpac":
            return self._expand(batch.frozen) @ readout
        columns = self.columns[~self.for_val].to(self.context.device)
        return votes(functional.normalize(batch.frozen), self.known, columns, self.config.k, self.config.tau)

    def predict(self, batch: Batch) -> Tensor:
        return self._scores(self.chosen, batch, self.readout)

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen if self.backbone is None else embed(self.backbone, batch)

    def exemplars(self) -> Rows:
        return self.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        stored = {"rows": self.rows, "columns": self.columns, "for_val": self.for_val}
        state = saved(stored | {"readout": self.readout, "known": self.known}) | {"chosen": self.chosen}
        if self.backbone is not None:
            state |= saved(self.backbone.state_dict(), "backbone.")
        return state | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        device = self.context.device
        self.rows, self.columns, self.for_val = (state[name].clone() for name in ("rows", "columns", "for_val"))
        self.readout, self.known = state["readout"].to(device, copy=True), state["known"].to(device, copy=True)
        self.head, self.chosen = load_head(state, "head.", device), str(state["chosen"])
        weights = saved_under(state, "backbone.")
        if weights:
            self.backbone = own_backbone(self.context).requires_grad_(False)
            self.backbone.load_state_dict(weights)

    def memory_footprint(self) -> Footprint:
        return Footprint(
            params=self.head.bytes + 4 * (self.projection.numel() + self.readout.numel()),
            statistics=4 * self.known.numel(),
            exemplar_images=len(self.rows) * self.context.image_bytes,
        )


def ridge(h: Tensor, y: Tensor, penalty: float) -> Tensor:
    """``(h^T h + penalty I)^-1 h^T y``, by the smaller of the two systems: h ``[n, M]``, y ``[n, C]`` -> ``[M, C]``."""
    dual = len(h) < h.shape[1]
    gram = h @ h.T if dual else h.T @ h
    shifted = gram + penalty * torch.eye(len(gram), dtype=h.dtype, device=h.device)
    weights: Tensor = h.T @ torch.linalg.solve(shifted, y) if dual else torch.linalg.solve(shifted, h.T @ y)
    return weights


def votes(queries: Tensor, known: Tensor, columns: Tensor, k: int, tau: float) -> Tensor:
    """Scores ``[B, C]`` of normalised ``queries`` ``[B, d]``: each of the k nearest of ``known`` ``[n, d]`` votes for its
    class in ``columns`` ``[n]`` with ``exp((cos - 1) / tau)``."""
    nearest = (queries @ known.T).topk(min(k, len(known)), dim=1)
    cast: Tensor = ((nearest.values - 1) / tau).exp()
    return (cast[:, :, None] * functional.one_hot(columns)[nearest.indices]).sum(1)


build = Joint
