"""The side of Avalanche in `benchmarks.parity.peers`: its Replay on an exported sequence, set to do what `er` does here."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from benchmarks.parity.peers_settings import Outcome, Schedule
from seqsearch.backbones.base import Backbone

with warnings.catch_warnings():  # of what it imports, not of what is used here
    warnings.simplefilter("ignore")
    from avalanche.evaluation.metrics import accuracy_metrics
    from avalanche.models import IncrementalClassifier
    from avalanche.training.plugins import EvaluationPlugin, LRSchedulerPlugin, ReplayPlugin
    from avalanche.training.storage_policy import ReservoirSamplingBuffer
    from avalanche.training.supervised import Naive

CHUNK = 256
"""Images of one forward pass without gradients, as here."""


class Exported:
    """A folder that ``seqsearch export --to avalanche`` made, read by the loader that lies in it.

    Attributes:
        record: ``sequence.json``.
        benchmark: what the loader gives Avalanche; images are read from their files whenever they are needed.
        held: the same with images that are read once, now.
        images: by split ``[n, 3, s, s]``, as the backbone reads them, in the manifest's order.
    """

    def __init__(self, folder: Path, backbone: Backbone) -> None:
        loader, found = _module(folder / "seqsearch_avalanche.py"), dict[str, Tensor]()

        def preprocess(image: Image.Image) -> Tensor:
            return backbone.preprocess(np.asarray(image).transpose(2, 0, 1)[None])[0]

        class Held(loader.Images):
            def __init__(self, folder: Path, split: str, transform: Any) -> None:
                super().__init__(folder, split, transform)
                read = super().__getitem__
                self.held = found[split] = torch.stack([read(index)[0] for index in range(len(self))])

            def __getitem__(self, index: int) -> tuple[Tensor, int]:
                return self.held[index], self.targets[index]

        self.record: dict[str, Any] = loader.sequence(folder)
        self.benchmark = loader.benchmark(folder, preprocess, preprocess)
        loader.Images = Held
        self.held = loader.benchmark(folder, preprocess, preprocess)
        self.images = found


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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

    def __init__(self, benchmark: Any, backbone: Backbone, schedule: Schedule) -> None:
        self.benchmark, self.backbone, self.schedule = benchmark, backbone, schedule

    def run(self, seed: int) -> Outcome:
        """Learn the tasks one by one, and evaluate all so far after each."""
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
            model=nn.Sequential(body, head),
            optimizer=optimizer,
            criterion=nn.CrossEntropyLoss(),
            train_mb_size=s.batch,
            train_epochs=s.epochs,
            eval_mb_size=CHUNK,
            plugins=[replay, LRSchedulerPlugin(falls, step_granularity="iteration")],
            evaluator=EvaluationPlugin(accuracy_metrics(experience=True), loggers=[]),
        )


def _accuracies(found: dict[str, float]) -> Sequence[float]:
    """Of each task evaluated, in order."""
    return [found[name] for name in sorted(found) if name.startswith("Top1_Acc_Exp/")]
