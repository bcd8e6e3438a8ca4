"""Ridge regression on a random expansion of features, in closed form: what RanPAC and ACIL share.

With f the features ``[d]``, W a fixed random matrix ``[d, M]`` and ``h = relu(f W)``, all images seen so far give one ridge
regression onto one-hot labels. Sums over images do not depend on the order of the tasks, and neither does the classifier.

While there are fewer images than M, their features ``[n, d]`` are stored, and H is rebuilt from them. Later the float64 sums
are stored. W is never stored, because its seed is enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Additive, Context, FitReport, Footprint
from seqsearch.methods.config import Config
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.ridge import Dual, Primal
from seqsearch.methods.parts.whole import load_whole

if TYPE_CHECKING:
    from seqsearch.methods.data import Batch, TaskData


class Network(Protocol):
    """A network that the first task trained: `Whole`, `seqsearch.methods.parts.adapters.Adapted`."""

    @property
    def space(self) -> str:
        """Name of its weights."""
        ...

    def __call__(self, batch: Batch) -> Tensor:
        """Features ``[n, d]``."""
        ...

    def state(self, prefix: str) -> dict[str, Any]:
        """Copies of its tensors by name."""
        ...

    @property
    def bytes(self) -> int:
        """Beyond the backbone."""
        ...


class Projected(Additive):
    """Ridge on ``relu(f W)``. A subclass says how W is drawn and, in `begin`, how the first task trains the network.

    Its config has M, the width of the projection, and ``ridge``, the penalty; 0: chosen on the validation images of all tasks.
    """

    config: Any

    def __init__(self, context: Context, config: Config) -> None:
        super().__init__(context, config)
        self.projection = self.drawn_projection(context.generator("projection")).to(context.device)
        self.adapted: Network | None = None
        """Backbone as trained by the first task; None if it stays as it is."""
        self.samples = _no_samples(context.dim)
        """While n < M, on the CPU: features ``[n, d]``, columns ``[n]`` int64 and whether for validation ``[n]``."""
        self.sums: Primal | None = None
        """The sums over all samples, once there were M."""
        self.readout = torch.zeros(self.config.M, 0, device=context.device)
        """V ``[M, C]`` float32."""

    def drawn_projection(self, generator: torch.Generator) -> Tensor:
        """W ``[d, M]`` on the CPU: standard normal."""
        return torch.randn(self.context.dim, self.config.M, generator=generator)

    def learn(self, task: TaskData) -> tuple[dict[str, Any], FitReport]:
        """Features of the task's images ``[n, d]``, labels from 0 and whether for validation."""
        part = {
            "features": torch.cat([self.features(images) for images in (task.train, task.val) if len(images)]),
            "columns": torch.cat([task.train.targets, task.val.targets]) - task.columns.start,
            "val": torch.arange(len(task.train) + len(task.val)) >= len(task.train),
        }
        finite = bool(torch.isfinite(part["features"]).all())
        return saved(part), FitReport("ok" if finite else "diverged")

    def absorb(self, part: Mapping[str, Any], task: TaskData) -> FitReport:
        new = {**part, "columns": part["columns"] + task.columns.start}
        fit = self._extend(new, task.columns.stop).fit(self.config.ridge)
        self.readout = fit.weights.float().contiguous()
        notes = {"lambda": fit.penalty} | ({} if math.isnan(fit.condition) else {"condition": fit.condition})
        return FitReport("ok" if bool(torch.isfinite(self.readout).all()) else "diverged", (), notes)

    def _extend(self, new: dict[str, Tensor], classes: int) -> Dual | Primal:
        """Take in new samples; what is then to be solved."""
        if self.sums is not None:
            self.sums = self.sums.plus(Primal.of(self._dual(new, classes)))
            return self.sums
        merged = {name: torch.cat([self.samples[name], new[name]]) for name in self.samples}
        dual = self._dual(merged, classes)
        if len(merged["columns"]) < self.config.M:
            self.samples = merged
            return dual
        self.samples, self.sums = _no_samples(self.context.dim), Primal.of(dual)
        return self.sums

    def _dual(self, samples: dict[str, Tensor], classes: int) -> Dual:
        """Expanded samples, training rows first."""
        order = torch.argsort(samples["val"].int(), stable=True)
        h = self._expand(samples["features"][order].to(self.context.device))
        y = functional.one_hot(samples["columns"][order], classes).to(h.device)
        return Dual(h.double(), y.double(), int((~samples["val"]).sum()))

    def _expand(self, features: Tensor) -> Tensor:
        """``[n, d]`` -> ``[n, M]``."""
        return torch.relu(features @ self.projection)

    def predict(self, batch: Batch) -> Tensor:
        return self._expand(self.features(batch)) @ self.readout

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen if self.adapted is None else self.adapted(batch)

    def feature_space(self) -> str:
        return self.context.backbone_id if self.adapted is None else self.adapted.space

    def state_dict(self) -> dict[str, Any]:
        state = saved(self.samples, "samples.") | saved({"readout": self.readout}) | {"space": self.feature_space()}
        if self.sums is not None:
            state |= saved(vars(self.sums), "sums.")
        if self.adapted is not None:
            state |= self.adapted.state("adapted.")
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        device = self.context.device
        self.samples = {name: tensor.clone() for name, tensor in saved_under(state, "samples.").items()}
        self.readout = state["readout"].to(device, copy=True)
        sums = {name: tensor.to(device, copy=True) for name, tensor in saved_under(state, "sums.").items()}
        self.sums = Primal(**sums) if sums else None
        weights = saved_under(state, "adapted.")
        self.adapted = self.loaded_network(weights, str(state["space"])) if weights else None

    def loaded_network(self, weights: Mapping[str, Tensor], space: str) -> Network:
        """The network that the first task trained, from its saved weights."""
        return load_whole(weights, space, self.context)

    def memory_footprint(self) -> Footprint:
        sums = [] if self.sums is None else list(vars(self.sums).values())
        statistics = sum(tensor.numel() for tensor in [self.samples["features"], *sums])
        adapted = 0 if self.adapted is None else self.adapted.bytes
        return Footprint(4 * (self.projection.numel() + self.readout.numel()) + adapted, 4 * statistics)


def _no_samples(dim: int) -> dict[str, Tensor]:
    return {
        "features": torch.zeros(0, dim),
        "columns": torch.zeros(0, dtype=torch.int64),
        "val": torch.zeros(0, dtype=torch.bool),
    }
