"""SLDA: streaming linear discriminant analysis of frozen features.

"Lifelong Machine Learning with Deep Streaming Linear Discriminant Analysis". Sample by sample, with ``n`` seen before and
``mu_y`` the mean of its class before it (0 for the first)::

    Sigma <- (n Sigma + n / (n + 1) (x - mu_y)(x - mu_y)^T) / (n + 1)

and ``mu_y`` is the running mean. With ``Lambda = ((1 - s) Sigma + s I)^-1`` the score of class ``c`` is
``x Lambda mu_c - mu_c Lambda mu_c / 2``. A batch is learned by one product of the residuals that these formulas give one by
one: the same up to rounding. The value that Sigma begins with (ones in the public code) has no weight in the formula. The
authors' code can also begin with the means and an OAS estimate of the covariance of a first part of the data (``fit_base``); here
learning begins at the first sample. Effect: not measured.

``refresh=r`` inverts at every r-th step, by Cholesky in double precision; in between means move and Lambda stays. It costs no
update. Classes that were not seen are never said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqsearch.core.errors import Diverged
from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.methods.base import Caps
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch


class StreamingDiscriminant(Learner):
    """Means ``[C, d]``, counts ``[C]``, covariance ``[d, d]``; see the module."""

    @dataclass(frozen=True)
    class Config(BaseConfig):
        shrinkage: float = param(
            1e-4, "weight s of the unit matrix", minimum=1e-8, maximum=1.0, search=(1e-4, 1e-3, 1e-2)
        )
        refresh: int = param(1, "steps from one inversion to the next", minimum=1, maximum=1_000_000)

    config: Config
    caps = Caps(input="frozen", trains_backbone=False, design=("statistic",))

    @classmethod
    def seeded(cls, config: BaseConfig) -> bool:
        return False

    def __init__(self, context: LearnerContext, config: BaseConfig) -> None:
        super().__init__(context, config)
        d, classes, device = context.dim, context.n_classes, context.device
        self.n = 0
        self.sigma, self.means = torch.zeros(d, d, device=device), torch.zeros(classes, d, device=device)
        self.counts = torch.zeros(classes, dtype=torch.int64, device=device)
        self.factor: Tensor = torch.zeros(0, dtype=torch.float64, device=device)
        """Of Cholesky ``[d, d]``, the upper one, as of the last inversion."""
        self.weight, self.bias = (
            torch.zeros(classes, d, device=device),
            torch.full((classes,), -torch.inf, device=device),
        )

    def predict(self, batch: Batch) -> Tensor:
        if not self.n:
            return torch.full((len(batch),), -1)
        return torch.addmm(self.bias, batch.frozen, self.weight.T).argmax(1)

    def learn(self, step: Step) -> None:
        x, y = step.batch.frozen, step.batch.targets
        self._accumulate(x, y)
        if step.number % self.config.refresh == 0:
            self.factor = self._cholesky()
            touched = torch.nonzero(self.counts)[:, 0]
        else:
            touched = torch.unique_consecutive(y.sort().values)
        means = self.means[touched].double()
        weight = torch.cholesky_solve(means.T, self.factor.mT).T
        self.weight[touched] = weight.float()
        self.bias[touched] = (-0.5 * (weight * means).sum(1)).float()

    def _accumulate(self, x: Tensor, y: Tensor) -> None:
        """Samples ``[m, d]`` of classes ``[m]``, as if one came after the other."""
        m = len(x)
        z = x - self.means[y]
        order = torch.argsort(y, stable=True)
        classes, of, sizes = torch.unique_consecutive(y[order], return_inverse=True, return_counts=True)
        begins = sizes.cumsum(0) - sizes
        rank = torch.arange(m, device=x.device) - begins[of]
        zs = z[order]
        residuals = zs.clone()
        if len(classes) < m:  # means that moved within the batch
            before = zs.cumsum(0) - zs
            before -= before[begins][of]
            residuals -= before / (self.counts[y[order]] + rank).clamp(min=1)[:, None]
        weights = self.n + order.double()
        residuals *= (weights / (weights + 1)).sqrt().float()[:, None]
        total = self.n + m
        self.sigma.addmm_(residuals.T, residuals, beta=self.n / total, alpha=1 / total)
        self.counts[classes] += sizes
        self.means.index_add_(0, y, z / self.counts[y][:, None])
        self.n = total

    def _cholesky(self) -> Tensor:
        """Of the shrunk covariance; more is added to its diagonal where rounding has left it indefinite."""
        s = self.config.shrinkage
        shrunk = self.sigma.double().mul_(1 - s)
        shrunk.diagonal().add_(s)
        factor, wrong = torch.linalg.cholesky_ex(shrunk)
        more = s
        while int(wrong):
            if not bool(torch.isfinite(shrunk).all()):
                raise Diverged("features or their covariance are not finite")
            shrunk.diagonal().add_(more)
            more *= 10
            factor, wrong = torch.linalg.cholesky_ex(shrunk)
        upper: Tensor = factor.mT.contiguous()
        return upper

    def state_dict(self) -> dict[str, Any]:
        tensors = {name: getattr(self, name) for name in ("sigma", "means", "counts", "factor", "weight", "bias")}
        return {name: t.to("cpu", copy=True) for name, t in tensors.items()} | {"n": self.n}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.n = int(state["n"])
        for name in ("sigma", "means", "counts", "factor", "weight", "bias"):
            setattr(self, name, state[name].to(self.context.device).contiguous())


build = StreamingDiscriminant
