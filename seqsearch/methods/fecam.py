"""FeCAM: the nearest class in frozen features, by a distance that uses the covariance of each class.

"FeCAM: Exploiting the Heterogeneity of Class Distributions in Exemplar-Free Continual Learning".

Idea: the features of a class spread further in some directions than in others. With f the frozen features divided by
their norm, class c has the mean m_c and the covariance S_c of its training images. With v the mean variance of a
feature and o the mean covariance of two features, S_c is shrunk and turned into a correlation matrix:

    S'_c = S_c + alpha1 v I + alpha2 o (1 - I),    R_c = D S'_c D,    D = diag(S'_c)^-1/2.

The score of an image is ``-(f - m_c)^T R_c^-1 (f - m_c)``.

Trainable: nothing. Stored: the mean of each class and a root of its covariance (`Gaussians`), which has at most as many
rows as the class has images. The final scores do not depend on the order of the tasks.

Departures from the public code, and why (effects are not measured unless given):

- the frozen network is the pre-trained one. For networks from scratch the paper trains the first task and transforms
  features by Tukey's power. Both are left out.
- R_c is never inverted as a matrix of d x d. The root gives the same distances by solving a system of one unknown for
  each image of the class. Sums are in double precision.
- alpha2 must not exceed alpha1: R_c is then certain to be positive definite.
- a class of one image, or of equal images, has R_c = I. The public code divides by zero there.

It has nothing to validate, so it learns from all images of a task but test images.

On the embedded backbones alpha1 is 10: the best of 0.1, 1 and 10 on reward images of three glyph sequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Additive, Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import Conflict, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.gaussians import Gaussians, fit_gaussians, load_gaussians, no_gaussians
from seqsearch.methods.parts.network import cut


class FeCAM(Additive):
    """Mahalanobis distances by class; see the module."""

    @dataclass(frozen=True)
    class Config(BaseConfig):
        alpha1: float = param(
            1.0,
            "shrinkage: added to variances, in mean variances",
            minimum=1e-6,
            maximum=1e6,
            search=(0.1, 1.0, 10.0),
            embedded=10.0,
            embedded_search=(1.0, 10.0, 100.0),
        )
        alpha2: float = param(0.0, "shrinkage: added to covariances, in mean covariances", minimum=0.0, maximum=1e6)

        def check(self) -> None:
            if self.alpha2 > self.alpha1:
                raise Conflict(f"alpha2={self.alpha2}: must be at most alpha1={self.alpha1}")

    config: Config
    caps = Caps(input="frozen", order_invariant_after=0, trains_backbone=False, design=("statistic",), closed_form=True)

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self._know(no_gaussians(context.dim))

    def _know(self, known: Any) -> None:
        self.known: Gaussians = known
        """Means and roots of covariances of all classes."""
        device, each = self.context.device, zip(known.means, cut(known.roots, known.ranks.tolist()), strict=True)
        self.distances = [Distance.of(m.to(device).double(), r.to(device).double(), self.config) for m, r in each]

    def learn(self, task: TaskData) -> tuple[dict[str, Any], FitReport]:
        features = functional.normalize(task.train.frozen)
        found = fit_gaussians(features, task.train.targets - task.columns.start, range(len(task.columns)))
        finite = bool(torch.isfinite(features).all())
        return found.state(""), FitReport("ok" if finite else "diverged")

    def absorb(self, part: Mapping[str, Any], task: TaskData) -> FitReport:
        new: Any = load_gaussians(part, "")
        self._know(self.known.joined(new))
        return FitReport()

    def predict(self, batch: Batch) -> Tensor:
        features = functional.normalize(batch.frozen).double()
        return -torch.stack([distance(features) for distance in self.distances], 1).float()

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen

    def state_dict(self) -> dict[str, Any]:
        return self.known.state("known.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._know(load_gaussians(state, "known."))

    def memory_footprint(self) -> Footprint:
        return Footprint(statistics=self.known.bytes)


@dataclass(frozen=True, eq=False)
class Distance:
    """``(f - m)^T R^-1 (f - m)`` for the correlation matrix R of a class, in double precision.

    With A the root of its covariance, S' = A^T A + g I + h 1 1^T. By Woodbury's formula, z^T (A^T A + g I)^-1 z is
    ``(|z|^2 - |W z|^2) / g`` with ``W = L^-1 A`` and ``L L^T = A A^T + g I``. Adding ``h 1 1^T`` takes ``k (q^T z)^2`` away.

    Attributes:
        mean: m ``[d]``.
        spread: standard deviations ``[d]``: the roots of the diagonal of S'.
        white: W ``[r, d]``.
        ones: q ``[d]``.
        level: g.
        factor: k.
    """

    mean: Tensor
    spread: Tensor
    white: Tensor
    ones: Tensor
    level: float
    factor: float

    @classmethod
    def of(cls, mean: Tensor, root: Tensor, config: FeCAM.Config) -> Distance:
        """Of a class with a mean ``[d]`` and a root ``[r, d]`` of its covariance."""
        d = len(mean)
        variances, total = root.square().sum(0), float(root.sum(1).square().sum())
        v = float(variances.mean())
        if v == 0:
            one = torch.ones_like(mean)
            return cls(mean, one, root[:0], 0 * one, 1.0, 0.0)
        h = config.alpha2 * (total - d * v) / max(d * (d - 1), 1)
        g = config.alpha1 * v - h
        factor, _ = torch.linalg.cholesky_ex(root @ root.T + g * torch.eye(len(root)).to(root))
        white = torch.linalg.solve_triangular(factor, root, upper=False)
        one = torch.ones_like(mean)
        q = (one - white.T @ (white @ one)) / g
        return cls(mean, (variances + g + h).sqrt(), white, q, g, h / (1 + h * float(q.sum())))

    def __call__(self, features: Tensor) -> Tensor:
        """Of ``features`` ``[n, d]``: ``[n]``."""
        z = (features - self.mean) * self.spread
        bare = (z.square().sum(1) - (z @ self.white.T).square().sum(1)) / self.level
        return bare - self.factor * (z @ self.ones).square()


build = FeCAM
