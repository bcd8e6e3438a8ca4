"""LUCIR: a cosine classifier, features that keep their direction, and a margin between exemplars and new classes.

"Learning a Unified Classifier Incrementally via Rebalancing".

The score of a class is eta times the cosine of the feature f(x) with the row of the class. Eta is learned. So new
classes cannot have larger scores because their rows are longer. New images and exemplars form one set, and the loss
is

    CE + lambda sqrt(old classes / new classes) mean (1 - cos(f(x), f_old(x))) + gamma MARGIN,

where f_old is the network before the task. MARGIN is over the exemplars of old classes. Each exemplar is compared
with the K new classes that it is nearest to:

    MARGIN = mean [ m - cos(f(x), w_y) + cos(f(x), w_k) ]_+    over exemplars x of class y and their K new classes k.

Rows of old classes are not trained. Rows of new classes start at the mean direction of their features, with the
mean length of old rows (``imprint``). After each later task the new rows and eta are trained further at ``tuning_lr`` for
``tuning_epochs``, on as many exemplars of each class, by CE and MARGIN. Features have both signs: the last block
of a residual network ends without its activation.

Trainable: the whole network, rows of the task's classes, eta. Stored: network (batch statistics too), rows and eta,
exemplars as pool rows, and the means of their features for the second classifier, ``nme``. The old network is not
stored: it is the state before the task.

Departures from the public code (Mammoth), and why (effects are not measured unless given):

- batches come from new images and exemplars together, as in PyCIL and in the authors' code.
- the last activation is removed, as in the paper. Mammoth keeps it.
- the weight of the second term depends on the numbers of classes, as in the authors' code. Mammoth's version counts
  tasks and starts one too low: in later task t = 1, 2, ... the weight is ``lambda sqrt(t - 1)``. Here it is ``lambda
  sqrt(t)`` for tasks of one size. The comparison with Mammoth sets its weight to this.
- after the first task nothing is tuned. Later, the network stays in eval mode while rows are tuned. Mammoth uses
  the statistics of each batch there.
- the first task has the schedule of the other methods from scratch. Rates fall by the step.
- weights of the first task are drawn from its seed. Rows of the first task start uniformly within +- 1 / sqrt(d).

On ``scratch:tiny`` lambda is 1. On six draws of classes it was better than the published 5.
docs/method_measurements.md has the accuracies.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.backbones.parts.resnet import has_stages, without_last_activation
from seqsearch.methods.base import Context, FitReport, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.cosine import class_means
from seqsearch.methods.parts.proxies import ProxyHead, empty_proxies, load_proxies, proxies_of
from seqsearch.methods.parts.single import DISTILLED, BalancedTuning, OneNetwork
from seqsearch.methods.parts.training import Group


class LUCIR(OneNetwork[ProxyHead]):
    """A cosine classifier, distilled directions and a margin; see the module."""

    @dataclass(frozen=True)
    class Config(BalancedTuning):
        lamb: float = param(
            5.0,
            "lambda: weight of the direction of features",
            minimum=0.0,
            maximum=1e12,
            search=(1.0, 5.0, 10.0),
            tiny=1.0,
            tiny_search=(0.5, 1.0, 5.0),
            later=True,
        )
        margin_weight: float = param(
            1.0, "gamma: weight of the margin", minimum=0.0, maximum=1e12, search=(0.5, 1.0, 2.0), later=True
        )
        margin: float = param(0.5, "m: margin between cosines", minimum=0.0, maximum=2.0, later=True)
        nearest: int = param(
            2, "K: new classes that an exemplar is compared with", minimum=1, maximum=10_000, later=True
        )
        imprint: bool = param(True, "start new rows at the mean direction of their features", later=True)
        tuning_lr: float = param(
            0.01,
            "learning rate of the passes over balanced exemplars",
            minimum=0.0,
            maximum=1e30,
            search=(0.005, 0.01, 0.05),
            later=True,
        )

    config: Config
    caps = DISTILLED

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        if has_stages(self.backbone):
            without_last_activation(self.backbone)
        self.head = empty_proxies(1, context.dim, context.device)

    def loaded_head(self, state: Mapping[str, Tensor]) -> ProxyHead:
        return load_proxies(state, "head.", self.context.device)

    def fit_task(self, task: TaskData) -> FitReport:
        config = self.config
        head = self.head.grown(self._rows(task))
        parameters = [*self.backbone.parameters(), *head.parameters()]
        loss_of = self._loss(head, task.columns)
        groups, data = [Group(parameters, self.rates(task))], self.with_exemplars(task)
        report = self.train(task, data, groups, [self.backbone], loss_of)
        if task.depth and config.tuning_epochs and report.status == "ok":
            groups, data = [Group(head.parameters(), config.tuning_lr)], self.balanced(task)

            def tuning(part: Batch) -> Tensor:
                with torch.no_grad():
                    features = self.backbone(part.images)
                return self._classified(head, features, part.targets, task.columns)

            tuned = self.train(task, data, groups, [], tuning, phase="tuning", descent=config.tuning())
            report = joined(report, tuned)
        return self.finish(task, head, report)

    def _rows(self, task: TaskData) -> Tensor:
        """First values of the rows of new classes, as proxies ``[n, 1, d]``."""
        classes, dim = len(task.columns), self.context.dim
        if not task.depth or not self.config.imprint:
            return proxies_of(classes, 1, dim, task.generator("head"), self.context.device)
        features = functional.normalize(self.features(task.train))
        means = class_means(features, task.train.targets - task.columns.start, classes)
        length = torch.cat([self.head.old, self.head.new]).norm(dim=2).mean()
        rows: Tensor = length * functional.normalize(means)[:, None]
        return rows

    def _loss(self, head: ProxyHead, columns: range) -> Callable[[Batch], Tensor]:
        """Of new images and exemplars, with the network as it is now for the old one."""
        before = copy.deepcopy(self.backbone).eval().requires_grad_(False)
        weight = self.config.lamb * math.sqrt(columns.start / len(columns))

        def loss_of(part: Batch) -> Tensor:
            features: Tensor = self.backbone(part.images)
            loss = self._classified(head, features, part.targets, columns)
            if not columns.start:
                return loss
            with torch.no_grad():
                wanted = before(part.images)
            return loss + weight * (1 - functional.cosine_similarity(features, wanted).mean())

        return loss_of

    def _classified(self, head: ProxyHead, features: Tensor, targets: Tensor, columns: range) -> Tensor:
        """Cross-entropy among all classes, and the margin."""
        scores = head(features)
        loss = functional.cross_entropy(scores, targets)
        if not columns.start:
            return loss
        config, cosines = self.config, replace(head, eta=torch.ones_like(head.eta))(features)
        return loss + config.margin_weight * margin(cosines, targets, columns, config.nearest, config.margin)


def margin(cosines: Tensor, targets: Tensor, columns: range, nearest: int, width: float) -> Tensor:
    """Mean of ``[ width - cos_y + cos_k ]_+`` over images of old classes y and the new classes k that are nearest to each.

    Args:
        cosines: of images with all classes ``[n, C]``.
        targets: columns of the images ``[n]``.
        columns: those of new classes.
        nearest: number of new classes for an image, at most all.
        width: by how much the cosine with the own class must exceed the others.
    """
    old = targets < columns.start
    if not bool(old.any()):
        return 0 * cosines.sum()
    own = cosines[old].gather(1, targets[old, None])
    others = cosines[old, columns.start :].topk(min(nearest, len(columns)), dim=1).values
    return functional.relu(width - own + others).mean()


build = LUCIR
