"""The side of Avalanche in `benchmarks.peers`: its Replay on an exported sequence, set to do what `er` does here."""

from __future__ import annotations

import csv
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from benchmarks.peers_settings import Outcome, Schedule
from seqsearch.backbones.base import Backbone

with warnings.catch_warnings():  # of what it imports, not of what is used here
    warnings.simplefilter("ignore")
    from avalanche.benchmarks import class_incremental_benchmark
    from avalanche.evaluation.metrics import accuracy_metrics
    from avalanche.models import IncrementalClassifier
    from avalanche.training.plugins import EvaluationPlugin, LRSchedulerPlugin, ReplayPlugin
    from avalanche.training.storage_policy import ReservoirSamplingBuffer
    from avalanche.training.supervised import Naive

CHUNK = 256
"""Images of one forward pass without gradients, as here."""


@dataclass(frozen=True, eq=False)
class Exported:
    """An exported sequence, decoded: images ``[n, 3, s, s]`` as the backbone reads them, in the manifest's order.

    ``learned [n]`` says which are learned from; ``record`` is ``sequence.json``.
    """

    record: dict[str, Any]
    images: Tensor
    labels: Tensor
    learned: Tensor

    @property
    def sizes(self) -> list[int]:
        """Classes of each task."""
        return list(self.record["task_sizes"])

    def dataset(self, learned: bool) -> TensorDataset:
        """One split as Avalanche wants it."""
        at = self.learned == learned
        dataset = TensorDataset(self.images[at], self.labels[at])
        dataset.targets = self.labels[at].tolist()
        return dataset


def read_exported(folder: Path, backbone: Backbone) -> Exported:
    """What lies in the folder of a sequence."""
    with (folder / "manifest.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    pixels = np.stack([np.asarray(Image.open(folder / row["path"]).convert("RGB")) for row in rows])
    return Exported(
        json.loads((folder / "sequence.json").read_text()),
        backbone.preprocess(pixels.transpose(0, 3, 1, 2)),
        torch.tensor([int(row["label"]) for row in rows]),
        torch.tensor([row["split"] == "train" for row in rows]),
    )


class Head(IncrementalClassifier):
    """Avalanche's growing head, its new rows begun as ours are: weights N(0, 0.01^2), bias 0."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim, initial_out_features=1)
        self._begin(0)

    def adaptation(self, experience: Any) -> None:
        known = self.classifier.out_features
        super().adaptation(experience)
        if self.training:
            self._begin(known if known > 1 else 0)

    @torch.no_grad()
    def _begin(self, first: int) -> None:
        nn.init.normal_(self.classifier.weight[first:], std=0.01)
        nn.init.zeros_(self.classifier.bias[first:])


class OnAvalanche:
    """Trainings of one sequence, whose tasks are of one size: what falls there falls over as many steps in every task."""

    def __init__(self, exported: Exported, backbone: Backbone, schedule: Schedule) -> None:
        self.exported, self.backbone, self.schedule = exported, backbone, schedule
        self.benchmark = class_incremental_benchmark(
            {"train": exported.dataset(True), "test": exported.dataset(False)},
            class_order=list(range(sum(exported.sizes))), num_classes_per_exp=exported.sizes,
        )  # fmt: skip

    def run(self, seed: int) -> Outcome:
        """Learn the tasks one by one, and judge all so far after each."""
        torch.manual_seed(seed)
        strategy, matrix = self.strategy(), []
        wall, cpu = time.perf_counter(), time.process_time()
        for number, experience in enumerate(self.benchmark.train_stream):
            strategy.train(experience)
            matrix.append(_accuracies(strategy.eval(self.benchmark.test_stream[: number + 1])))
        return Outcome(seed, tuple(matrix[-1]), time.perf_counter() - wall, time.process_time() - cpu)

    def strategy(self) -> Any:
        """Replay about to learn the first task."""
        s = self.schedule
        body, head = self.backbone.module(), Head(self.backbone.dim)
        groups = [
            {"params": list(body.parameters()), "lr": s.backbone_lr},
            {"params": list(head.parameters()), "lr": s.lr},
        ]
        optimizer = torch.optim.SGD(groups, momentum=0.0, weight_decay=s.weight_decay)
        [learned] = {len(experience.dataset) for experience in self.benchmark.train_stream}
        falls = torch.optim.lr_scheduler.LambdaLR(optimizer, s.factor(learned))
        replay = ReplayPlugin(
            s.buffer, batch_size_mem=s.batch, storage_policy=ReservoirSamplingBuffer(s.buffer)
        )  # as `avalanche.training.supervised.Replay` makes it, with another policy
        return Naive(
            model=nn.Sequential(body, head), optimizer=optimizer, criterion=nn.CrossEntropyLoss(),
            train_mb_size=s.batch, train_epochs=s.epochs, eval_mb_size=CHUNK,
            plugins=[replay, LRSchedulerPlugin(falls, step_granularity="iteration")],
            evaluator=EvaluationPlugin(accuracy_metrics(experience=True), loggers=[]),
        )  # fmt: skip


def _accuracies(found: dict[str, float]) -> Sequence[float]:
    """Of each task judged, in order."""
    return [found[name] for name in sorted(found) if name.startswith("Top1_Acc_Exp/")]
