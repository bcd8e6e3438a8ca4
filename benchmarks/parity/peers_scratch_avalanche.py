"""The side of Avalanche in `benchmarks.parity.peers_scratch`: its Replay and ICaRL, set to do as ``replay`` and ``icarl`` here.

Set for both: the rate by step and no momentum left over at the beginning of a task, as here (`Descent`); a head that grows,
whose new rows begin as ours do (uniform, standard deviation ``1 / sqrt(d)``, no bias).

Left in Replay: a batch has 10 new and 3 stored images always, here 13 of both in whatever mixture; exemplars are herded by
features that are not divided by their norms; old classes are herded anew among those stored, by the features of now.

Set in ICaRL: the old network, which Avalanche leaves in train mode, so that it normalises by the statistics of the batch, is in
eval mode; it is copied anew after each task (loading into a copy fails if the head has grown); class means are of exemplars as
they are, not averaged with their mirror images. Left: Avalanche's herding, which sums residuals. `icarl_as_it_comes` sets none
of these three, and has the head of all classes from the beginning that Avalanche wants, so that its loss is a mean over twelve
classes in every task.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.parity.peers_scratch_settings import CLASSES, DECAY, EPOCHS, LR, LR_BCE, MEMORY, MOMENTUM, NEW, STORED
from tests.peers.second import Labelled

with warnings.catch_warnings():  # of what it imports, not of what is used here
    warnings.simplefilter("ignore")
    from avalanche.benchmarks import nc_benchmark
    from avalanche.evaluation.metrics import accuracy_metrics
    from avalanche.models import IncrementalClassifier
    from avalanche.training.plugins import EvaluationPlugin, ReplayPlugin, SupervisedPlugin
    from avalanche.training.storage_policy import HerdingSelectionStrategy, ParametricBuffer
    from avalanche.training.supervised import ICaRL, Naive

CHUNK = 256
"""Images of one forward pass without gradients."""
EVALUATION = "Top1_Acc_Stream/eval_phase/test_stream/Task000"


class Tensors(torch.utils.data.Dataset[tuple[Tensor, int]]):
    """Images and labels, as Avalanche reads data sets."""

    def __init__(self, parts: Sequence[Labelled]) -> None:
        self.images = torch.cat([part.images for part in parts])
        self.targets = torch.cat([part.labels for part in parts]).tolist()

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.images[index], self.targets[index]


class Head(IncrementalClassifier):
    """Avalanche's growing head, its new rows begun as ours are."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim, initial_out_features=CLASSES)
        begin(self.classifier, 0)

    def adaptation(self, experience: Any) -> None:
        known = self.classifier.out_features
        super().adaptation(experience)
        if self.classifier.out_features > known:
            begin(self.classifier, known)


@torch.no_grad()
def begin(layer: nn.Linear, first: int) -> None:
    """First values of the rows from ``first`` on."""
    bound = math.sqrt(3 / layer.in_features)
    nn.init.uniform_(layer.weight[first:], -bound, bound)
    nn.init.zeros_(layer.bias[first:])


class Schedule(SupervisedPlugin):
    """Every task begins without momentum; rates fall along half a cosine, step by step."""

    def __init__(self, lr: float) -> None:
        super().__init__()
        self.lr, self.step, self.steps = lr, 0, 0

    def before_training_epoch(self, strategy: Any, **_: Any) -> None:
        if strategy.clock.train_exp_epochs == 0:
            strategy.optimizer.state.clear()
            self.step, self.steps = 0, EPOCHS * len(strategy.dataloader)

    def before_training_iteration(self, strategy: Any, **_: Any) -> None:
        for group in strategy.optimizer.param_groups:
            group["lr"] = self.lr * (1 + math.cos(math.pi * self.step / self.steps)) / 2
        self.step += 1

    def after_training_epoch(self, strategy: Any, **_: Any) -> None:
        if strategy.clock.train_exp_epochs + 1 == EPOCHS and self.step != self.steps:
            raise RuntimeError(f"{self.step} steps were made, not {self.steps}")


class OldNetworkStill(SupervisedPlugin):
    """The teacher is copied anew after each task, and its network is in eval mode; its head stays the one that is trained."""

    criterion: Any = None

    def after_training_exp(self, strategy: Any, **_: Any) -> None:
        self.criterion.old_model = None  # before that of the criterion, which then copies

    def before_training_epoch(self, strategy: Any, **_: Any) -> None:
        if self.criterion.old_model is not None:
            self.criterion.old_model.feature_extractor.eval()


@torch.no_grad()
def plain_means(strategy: Any, exemplars: Sequence[Tensor], labels: Sequence[Sequence[int]]) -> None:
    """Class means of exemplars as they are, in place of Avalanche's."""
    strategy.model.eval()
    means = {}
    for images, own in zip(exemplars, labels, strict=True):
        mean = functional.normalize(strategy.model.feature_extractor(images)).mean(0)
        means[own[0]] = mean / mean.norm()
    strategy.model.eval_classifier.replace_class_means_dict(means)


def begun(backbone: Any, seed: int) -> nn.Module:
    """A network of this seed; all later draws follow from it, too."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    network: nn.Module = backbone.initialised(torch.Generator().manual_seed(seed))
    return network.requires_grad_(True)


def common(train: Sequence[Labelled], test: Sequence[Labelled]) -> tuple[Any, dict[str, Any]]:
    """The benchmark, and settings of both strategies."""
    tasks = len(train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        benchmark = nc_benchmark(
            Tensors(train),
            Tensors(test),
            tasks,
            task_labels=False,
            shuffle=False,
            fixed_class_order=list(range(tasks * CLASSES)),
            class_ids_from_zero_from_first_exp=True,
        )
    evaluator = EvaluationPlugin(accuracy_metrics(stream=True), loggers=[])
    return benchmark, {"train_epochs": EPOCHS, "eval_mb_size": CHUNK, "evaluator": evaluator}


def descent(modules: Sequence[nn.Module], lr: float) -> torch.optim.Optimizer:
    return torch.optim.SGD(nn.ModuleList(modules).parameters(), lr=lr, momentum=MOMENTUM, weight_decay=DECAY)


def accuracy(strategy: Any, benchmark: Any) -> float:
    """Over all test images, as Avalanche evaluates."""
    return float(strategy.eval(benchmark.test_stream)[EVALUATION])


def replay(backbone: Any, train: Sequence[Labelled], test: Sequence[Labelled], seed: int) -> dict[str, float]:
    """Avalanche's Replay: `ReplayPlugin` with a buffer of herded images, equally many of every class."""
    body = begun(backbone, seed)
    model = nn.Sequential(body, Head(backbone.dim))
    benchmark, settings = common(train, test)
    policy = ParametricBuffer(MEMORY, groupby="class", selection_strategy=HerdingSelectionStrategy(model, "0"))
    plugins = [ReplayPlugin(MEMORY, NEW, STORED, storage_policy=policy), Schedule(LR)]
    strategy = Naive(
        model=model,
        optimizer=descent([model], LR),
        criterion=nn.CrossEntropyLoss(),
        train_mb_size=NEW + STORED,
        plugins=plugins,
        **settings,
    )
    for experience in benchmark.train_stream:
        strategy.train(experience)
    if len(policy.buffer) != MEMORY:
        raise RuntimeError(f"Avalanche keeps {len(policy.buffer)} images, not {MEMORY}")
    return {"predicts": accuracy(strategy, benchmark)}


def icarl(
    backbone: Any, train: Sequence[Labelled], test: Sequence[Labelled], seed: int, as_it_comes: bool = False
) -> dict[str, float]:
    """Avalanche's ICaRL, evaluated by nearest means, and by its trained head beside."""
    body = begun(backbone, seed)
    head: nn.Module = Head(backbone.dim)
    if as_it_comes:
        head = nn.Linear(backbone.dim, CLASSES * len(train))
        begin(head, 0)
    benchmark, settings = common(train, test)
    still = OldNetworkStill()
    strategy = ICaRL(
        feature_extractor=body,
        classifier=head,
        optimizer=descent([body, head], LR_BCE),
        memory_size=MEMORY,
        buffer_transform=None,
        fixed_memory=True,
        train_mb_size=NEW + STORED,
        plugins=[Schedule(LR_BCE), *([] if as_it_comes else [still])],
        **settings,
    )
    still.criterion = strategy._criterion
    [memory] = [plugin for plugin in strategy.plugins if hasattr(plugin, "x_memory")]
    for experience in benchmark.train_stream:
        strategy.train(experience)
    if sum(map(len, memory.x_memory)) != MEMORY:
        raise RuntimeError(f"Avalanche keeps {sum(map(len, memory.x_memory))} images, not {MEMORY}")
    if not as_it_comes:
        plain_means(strategy, memory.x_memory, memory.y_memory)
    found = {"predicts": accuracy(strategy, benchmark)}
    strategy.model.eval()
    data = Tensors(test)
    with torch.no_grad():
        scores = strategy.model.train_classifier(strategy.model.feature_extractor(data.images))
    return found | {"head": float((scores.argmax(1) == torch.tensor(data.targets)).double().mean())}


def icarl_as_it_comes(
    backbone: Any, train: Sequence[Labelled], test: Sequence[Labelled], seed: int
) -> dict[str, float]:
    """See the module."""
    return icarl(backbone, train, test, seed, as_it_comes=True)
