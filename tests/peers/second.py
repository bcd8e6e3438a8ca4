"""WA and DER a second time, written from what the papers say by somebody who had not read `seqsearch/methods/wa.py` and `der.py`.

Sources: "Maintaining Discrimination and Fairness in Class Incremental Learning" (WA) and "DER: Dynamically Expandable
Representation for Class Incremental Learning", the latter without masks, and with WA's alignment behind it, as PyCIL and GTEP run
it. Nothing of the package takes part: plain PyTorch, random draws and herding of its own. What both share comes from outside: the
network, the images and the settings. (Its author had seen what the package's methods share, `parts/head.py` among them.)

Images are ``[n, 3, s, s]`` float32, labels ``[n]`` int64 are numbered in order of arrival, so that a task's classes follow on
those before. No augmentation.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Phase:
    """Gradient descent of a task: passes, rate at the start, L2 penalty."""

    epochs: int
    lr: float
    decay: float


@dataclass(frozen=True)
class Settings:
    """What both implementations are told. Rates fall along half a cosine, step by step, in every task."""

    first: Phase
    later: Phase
    batch: int
    momentum: float
    memory: int
    temperature: float = 2.0
    auxiliary: float = 1.0


@dataclass(frozen=True)
class Labelled:
    """Images and their labels."""

    images: Tensor
    labels: Tensor

    def __add__(self, other: Labelled) -> Labelled:
        return Labelled(torch.cat([self.images, other.images]), torch.cat([self.labels, other.labels]))


Make = Callable[[torch.Generator], nn.Module]
"""A network with first values drawn from a generator: images -> features ``[n, d]``."""


class Learner(ABC):
    """What WA and DER have in common: memory, descent, a linear classifier over features that grows with the classes."""

    def __init__(self, make: Make, dim: int, settings: Settings, seed: int) -> None:
        self.draws = torch.Generator().manual_seed(seed)
        self.settings, self.dim, self.seen, self.tasks = settings, dim, 0, 0
        self.extractor = make(self.draws).eval()
        self.classifier = nn.utils.skip_init(nn.Linear, dim, 0)
        self.kept: list[Tensor] = []
        """Exemplars of each class, best first."""

    def learn(self, data: Labelled) -> None:
        """Learn one task; its labels are those after the classes seen."""
        total = int(data.labels.max()) + 1
        union = data
        for label, images in enumerate(self.kept):
            union = union + Labelled(images, torch.full((len(images),), label))
        self.fit(union, total)
        self.remember(data, total)
        self.seen, self.tasks = total, self.tasks + 1

    @abstractmethod
    def fit(self, union: Labelled, total: int) -> None:
        """Train on new images and exemplars, of ``total`` classes."""

    def features(self, images: Tensor) -> Tensor:
        """Of networks in eval mode."""
        with torch.no_grad():
            return self.extractor(images)

    def scores(self, images: Tensor) -> Tensor:
        """``[n, C]``, without gradient."""
        with torch.no_grad():
            return self.classifier(self.features(images))

    def accuracy(self, data: Labelled) -> float:
        return float((self.scores(data.images).argmax(1) == data.labels).double().mean())

    def linear(self, width: int, classes: int) -> nn.Linear:
        """Weights uniform with standard deviation ``1 / sqrt(width)``, no bias at the start."""
        layer = nn.utils.skip_init(nn.Linear, width, classes)
        with torch.no_grad():
            layer.weight.uniform_(-math.sqrt(3 / width), math.sqrt(3 / width), generator=self.draws)
            layer.bias.zero_()
        return layer

    def widened(self, width: int, total: int) -> nn.Linear:
        """A classifier of ``total`` classes over ``width`` features that says of old classes what it did from old features."""
        layer, old = self.linear(width, total), self.classifier
        with torch.no_grad():
            layer.weight[: old.out_features, : old.in_features] = old.weight
            layer.bias[: old.out_features] = old.bias
        return layer

    def descend(self, union: Labelled, trained: Sequence[nn.Module], loss: Callable[[Tensor, Tensor], Tensor]) -> None:
        """Stochastic gradient descent with momentum; batch statistics are learned in ``trained`` alone."""
        s = self.settings
        phase = s.later if self.tasks else s.first
        values = [p for module in trained for p in module.parameters()]
        optimizer = torch.optim.SGD(values, lr=phase.lr, momentum=s.momentum, weight_decay=phase.decay)
        n, step = len(union.labels), 0
        per_epoch = math.ceil(n / s.batch) - (
            n % s.batch == 1
        )  # an image that is left alone goes with the batch before
        for module in trained:
            module.train()
        for _ in range(phase.epochs):
            order = torch.randperm(n, generator=self.draws)
            for k in range(per_epoch):
                at = order[k * s.batch : n if k == per_epoch - 1 else (k + 1) * s.batch]
                for group in optimizer.param_groups:
                    group["lr"] = phase.lr * (1 + math.cos(math.pi * step / (phase.epochs * per_epoch))) / 2
                optimizer.zero_grad()
                loss(union.images[at], union.labels[at]).backward()
                optimizer.step()
                step += 1
        for module in trained:
            module.eval()

    def remember(self, data: Labelled, total: int) -> None:
        """Herd equally many exemplars of each class; old classes give up their last."""
        share = self.settings.memory // total
        self.kept = [images[:share] for images in self.kept]
        for label in range(self.seen, total):
            images = data.images[data.labels == label]
            self.kept.append(images[herded(self.features(images), share)])


def herded(features: Tensor, count: int) -> list[int]:
    """Positions of the images whose running mean of unit features stays closest to the class's mean, as iCaRL chooses them."""
    unit = (features / features.norm(dim=1, keepdim=True)).double()
    centre, chosen = unit.mean(0), list[int]()
    while len(chosen) < min(count, len(unit)):
        candidates = (unit[chosen].sum(0) + unit) / (len(chosen) + 1)
        gaps = (centre - candidates).norm(dim=1)
        gaps[chosen] = math.inf
        chosen.append(int(gaps.argmin()))
    return chosen


def wa_loss(scores: Tensor, labels: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """``(1 - k) CE + k KD`` with k = old classes / all classes; ``teacher`` ``[n, old]`` are the old network's scores."""
    old, total = teacher.shape[1], scores.shape[1]
    wanted = (teacher / temperature).softmax(1)
    distilled = -(wanted * (scores[:, :old] / temperature).log_softmax(1)).sum(1).mean()
    k = old / total
    return (1 - k) * functional.cross_entropy(scores, labels) + k * distilled


@torch.no_grad()
def align(classifier: nn.Linear, old: int) -> None:
    """Scale the rows of new classes such that their mean norm is that of old ones; biases stay."""
    norms = classifier.weight.norm(dim=1)
    classifier.weight[old:] *= norms[:old].mean() / norms[old:].mean()


class WA(Learner):
    """One network that is distilled, and aligned after each task; the teacher is the aligned one."""

    def fit(self, union: Labelled, total: int) -> None:
        teacher, said = copy.deepcopy(self.extractor).eval(), self.classifier
        self.classifier = self.widened(self.dim, total)

        def loss(images: Tensor, labels: Tensor) -> Tensor:
            scores = self.classifier(self.extractor(images))
            if not self.tasks:
                return functional.cross_entropy(scores, labels)
            with torch.no_grad():
                before = said(teacher(images))
            return wa_loss(scores, labels, before, self.settings.temperature)

        self.descend(union, [self.extractor, self.classifier], loss)
        if self.tasks:
            align(self.classifier, self.seen)


class DER(Learner):
    """A network more for each task, begun from the one before; those before are frozen, the classifier reads all."""

    def __init__(self, make: Make, dim: int, settings: Settings, seed: int) -> None:
        super().__init__(make, dim, settings, seed)
        self.frozen: list[nn.Module] = []

    def features(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            return torch.cat([network(images) for network in (*self.frozen, self.extractor)], 1)

    def expand(self, total: int) -> nn.Linear:
        """Make room for a task; gives the auxiliary classifier of its classes and "any old one", which is its first."""
        if self.tasks:
            self.frozen.append(self.extractor.eval().requires_grad_(False))
            self.extractor = copy.deepcopy(self.extractor).requires_grad_(True)
        self.classifier = self.widened(self.dim * (self.tasks + 1), total)
        return self.linear(self.dim, total - self.seen + 1)

    def loss(self, images: Tensor, labels: Tensor, auxiliary: nn.Linear) -> Tensor:
        """Cross-entropy over all features, and of the auxiliary classifier over the new ones."""
        with torch.no_grad():
            before = [network(images) for network in self.frozen]
        new = self.extractor(images)
        loss = functional.cross_entropy(self.classifier(torch.cat([*before, new], 1)), labels)
        if not self.tasks:
            return loss
        among_new = torch.where(labels < self.seen, 0, labels - self.seen + 1)
        return loss + self.settings.auxiliary * functional.cross_entropy(auxiliary(new), among_new)

    def fit(self, union: Labelled, total: int) -> None:
        auxiliary = self.expand(total)
        trained = [self.extractor, self.classifier, *([auxiliary] if self.tasks else [])]
        self.descend(union, trained, lambda images, labels: self.loss(images, labels, auxiliary))
        if self.tasks:
            align(self.classifier, self.seen)
