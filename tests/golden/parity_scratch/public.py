"""Run PyCIL from the common starts: ``python -m tests.golden.parity_scratch.public FOLDER`` writes ``public.npz``.

FOLDER holds PyCIL, which is no part of this repository; docs/parity.md says which commit. What has to be otherwise than there
is put in its place from here, each time with the reason:

- `convnet`: the network is that of `starts`; that PyCIL's own networks compute the same is recorded apart (`networks`).
- `Data` and `Ordered`: images come from memory, in the common orders; images put aside are the common ones.
- `place_heads`, `place_additions`: heads, proxies and what TagFex adds have the common first values.
- `ByPass`: a cosine schedule lowers its rate by step, not by epoch, as this package does.
- `per_image`: EWC squares gradients of single images, in eval mode, of the loss that is trained, as this package does.
- `Data.getlen`: FOSTER counts the images of a new class; the public code adds up their positions.
- TagFex: batch statistics of a new network begin as the last network's, and old rows of the head with zeros over new features, as
  in this package (`place_additions`).
- BEEF asks for an accelerator (``.cuda``), and draws noise: `place_draws`.
- ACIL: see `place_analytic`. FeTrIL: no support vector machine is trained.
- accuracies are not computed: they are printed and change nothing.

Written are ``features.KIND`` (`features_of`); ``CASE/scores.T`` ``[n, classes seen]``, of the test images of all classes seen
after task T, and of methods with exemplars ``CASE/nme.T``, cosines with class means, and ``CASE/rows.T``, the exemplars;
``CASE/prints`` of the weights at the end (`tests.golden.parity_scratch.prints`).
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import torch
from scipy.spatial.distance import cdist

from tests.golden.parity import public
from tests.golden.parity.cases import Case
from tests.golden.parity.public import ByStep, scaled
from tests.golden.parity.starts import TEST, TRAIN, Array, digest
from tests.golden.parity_scratch.cases import CASES, DIFFERENT
from tests.golden.parity_scratch.networks import features_of
from tests.golden.parity_scratch.ours import START, Round
from tests.golden.parity_scratch.placed import convnet, place_additions, place_analytic, place_draws, place_heads
from tests.golden.parity_scratch.prints import prints
from tests.golden.parity_scratch.starts import MEMORY, starts

FILE = Path(__file__).with_name("public.npz")
PIXELS = {part: scaled(START[f"images.{part}"].flatten(0, 1)) for part in ("train", "test")}


class Images:
    """Images by row, with labels; PyCIL stores rows in place of images."""

    def __init__(self, rows: list[Array], labels: list[Array], part: str = "train") -> None:
        self.rows, self.labels = np.concatenate(rows), np.concatenate(labels)
        self.images = PIXELS[part][torch.from_numpy(self.rows)]

    def __len__(self) -> int:
        return len(self.rows)


class Features:
    """Features in place of images (FeTrIL)."""

    def __init__(self, features: Array, labels: Array) -> None:
        self.images, self.labels = torch.from_numpy(features), labels


class Data:
    """What PyCIL asks for its data; classes are known by their place in the order of arrival."""

    def __init__(self, tasks: tuple[tuple[int, ...], ...]) -> None:
        self.tasks, self.arrival = tasks, [c for task in tasks for c in task]

    def get_task_size(self, task: int) -> int:
        return len(self.tasks[task])

    def get_accumulate_tasksize(self, task: int) -> int:
        return sum(map(len, self.tasks[: task + 1]))

    def getlen(self, column: int) -> int:
        """Training images of a class."""
        return TRAIN

    def get_dataset(self, columns: Array, source: str, mode: str, appendent: Any = None, ret_data: bool = False) -> Any:
        count = TRAIN if source == "train" else TEST
        rows = [np.arange(count) + self.arrival[k] * count for k in columns]
        labels = [np.full(count, k) for k in columns]
        if appendent is not None:
            rows, labels = [*rows, appendent[0]], [*labels, appendent[1]]
        found = Images(rows, labels, source)
        return (found.rows, found.labels, found) if ret_data else found

    def get_dataset_with_split(
        self, columns: Array, source: str, mode: str, appendent: Any, val_samples_per_class: int
    ) -> tuple[Images, Images]:
        """Images to learn from, and those put aside: of each class so many, new classes first."""
        new, (rows, labels) = self.get_dataset(columns, source, mode), appendent
        of_classes = [(new.rows[new.labels == k], k) for k in columns] + [
            (rows[labels == k], k) for k in range(labels.max() + 1)
        ]
        parts: tuple[list[tuple[Array, Array]], list[tuple[Array, Array]]] = [], []
        for mine, k in of_classes:
            aside = aside_of(len(mine), val_samples_per_class)
            for part, places in zip(parts, (np.setdiff1d(np.arange(len(mine)), aside), aside), strict=True):
                part.append((mine[places], np.full(len(places), k)))
        kept, put = ([list(column) for column in zip(*part, strict=True)] for part in parts)
        return Images(*kept), Images(*put)


def aside_of(n: int, count: int) -> Array:
    """Places of those that are put aside of n images of a class."""
    return START[f"picks.{n}"][0, :count].numpy() if count < n else np.arange(n)


class Ordered(public.Ordered):
    """Batches in the common orders of this package."""

    starts = START
    done = 0.0
    """Of the pass that is under way over shuffled images, the share that was given out."""

    def __iter__(self) -> Iterator[tuple[torch.Tensor, ...]]:
        for count, batch in enumerate(super().__iter__(), 1):
            if self.shuffle:
                Ordered.done = count / len(self)
            yield batch


class TwoViews(Ordered):
    """The same for TagFex: an image that is learned from comes with its mirror image."""

    def batch(self, part: torch.Tensor) -> tuple[torch.Tensor, ...]:
        numbers, images, labels = super().batch(part)
        return (numbers, images, images.flip(3), labels) if self.shuffle else (numbers, images, labels)


class ByPass(ByStep):
    """A cosine from 1 to 0 over the steps of a training."""

    def __init__(self, optimizer: torch.optim.Optimizer, T_max: int) -> None:
        super().__init__(optimizer, T_max)
        self.epochs, self.over = T_max, 0

    def after(self, *_: Any) -> None:
        progress = (self.over + Ordered.done) / self.epochs
        self.group["lr"] = self.top * 0.5 * (1 + math.cos(math.pi * progress))

    def step(self) -> None:
        """At the end of an epoch."""
        self.over += 1


def learner_of(module: Any) -> type:
    """The one class of a file of PyCIL that learns."""
    base = importlib.import_module("models.base").BaseLearner
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    (found,) = [v for v in own if issubclass(v, base)]
    return found


def per_image(learner: Any) -> None:
    """Let EWC's Fisher information be that of this package."""
    public_fisher = learner.getFisherDiagonal

    def fisher(loader: Ordered) -> Any:
        first, loss, network = learner._known_classes, torch.nn.functional.cross_entropy, learner._network
        network.eval()
        with (
            mock.patch.object(torch.nn.functional, "cross_entropy", lambda z, y: loss(z[:, first:], y - first)),
            mock.patch.object(network, "train"),
        ):
            return public_fisher(Ordered(loader.data, 1, shuffle=False))

    learner.getFisherDiagonal = fisher


def built(case: Case, module: Any) -> Any:
    """A learner with the settings of a case: constants of its module, and arguments."""
    for name, value in case.public.items():
        if hasattr(module, name):
            setattr(module, name, value)
    common = {
        "device": ["cpu"],
        "memory_size": MEMORY,
        "convnet_type": "",
        "dataset": "starts",
        "num_workers": 0,
    }
    learner = learner_of(module)(common | case.public)
    learner._compute_accuracy = lambda *_: 0.0
    learner._evaluate = lambda *_: {"top1": 0.0, "top5": 0.0}
    learner.topk = 1  # there are fewer classes than five
    if case.method == "ewc":
        per_image(learner)
    learner._train_svm = lambda *_: None
    return learner


@torch.no_grad()
def compared(learner: Any) -> dict[str, torch.Tensor]:
    """What is kept after a task."""
    learner._network.eval()
    found = {"scores": torch.cat([learner._network(images)["logits"] for _, images, _ in learner.test_loader])}
    if getattr(learner, "_class_means", None) is not None:
        vectors, _ = learner._extract_vectors(learner.test_loader)
        normal = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found["nme"] = torch.from_numpy(1 - cdist(normal, learner._class_means, "sqeuclidean") / 2)
        found["rows"] = torch.from_numpy(learner._data_memory)
    return found


def _tensors(*modules: Any) -> list[torch.Tensor]:
    return [tensor for module in modules for tensor in module.state_dict().values()]


def _one(learner: Any) -> list[torch.Tensor]:
    """One network and a head."""
    return _tensors(learner._network.convnet, learner._network.fc)


def _grown(learner: Any) -> list[torch.Tensor]:
    """A network a task, and a head."""
    return _tensors(*learner._network.convnets, learner._network.fc)


def _proxies(learner: Any) -> list[torch.Tensor]:
    fc = learner._network.fc
    return [*_tensors(learner._network.convnet), torch.cat([fc.fc1.weight, fc.fc2.weight]), fc.sigma]


def _corrections(learner: Any) -> list[torch.Tensor]:
    sizes, layers = learner._network.task_sizes, learner._network.bias_layers
    each = [torch.cat([layer.alpha, layer.beta]).expand(n, 2) for n, layer in zip(sizes, layers, strict=True)]
    return [*_one(learner), torch.cat(each)]


STORED: dict[str, Callable[[Any], list[torch.Tensor]]] = {
    "ewc": lambda learner: [*_one(learner), *learner.fisher.values()],
    "bic": _corrections,
    "podnet": _proxies,
    "der": _grown,
    "foster": lambda learner: [
        *_tensors(*learner._network.convnets, *learner._snet.convnets, learner._network.fc, learner._snet.fc)
    ],
    "beef": lambda learner: _tensors(learner._network.old_fc, *learner._network.convnets),
    "acil": lambda learner: [learner._network.fc.weight, *_tensors(learner._network.convnet)],
    "memo": lambda learner: _tensors(
        *learner._network.AdaptiveExtractors, learner._network.fc, learner._network.TaskAgnosticExtractor
    ),
    "tagfex": lambda learner: [
        *_grown(learner),
        *_tensors(learner._network.ta_net, learner._network.projector, learner._network.predictor),
    ],
}
"""The weights of a trained learner, in the order in which this package stores them, where they are not one network and a head."""


def run(case: Case, module: Any, noise: Round) -> dict[str, Array]:
    """Train on all tasks; everything that is kept, by name."""
    learner, found, data = built(case, module), {}, Data(case.tasks)
    for task in range(len(case.tasks)):
        noise.at = 0
        learner.incremental_train(data)
        found |= {f"{name}.{task}": value for name, value in compared(learner).items()}
        learner.after_task()
    found["prints"] = prints(STORED.get(case.method, _one)(learner))
    whole = {name: value.numpy().astype(np.int16) for name, value in found.items() if name.startswith("rows")}
    return {name: value.detach().numpy().astype(np.float32) for name, value in found.items()} | whole


def main(folder: str) -> None:
    """Run every case with PyCIL in ``folder`` and write what came of it."""
    sys.path.insert(0, folder)
    torch.set_num_threads(1)
    modules = {case.module: importlib.import_module(f"models.{case.module}") for case in CASES.values()}
    importlib.import_module("utils.inc_net").get_convnet = convnet
    place_heads()
    place_additions()
    place_analytic(modules["acil"])
    modules["fetril"].FeatureDataset = Features
    for name, module in [*modules.items(), ("base", importlib.import_module("models.base"))]:
        module.DataLoader = TwoViews if name == "tagfex" else Ordered
        schedules = SimpleNamespace(MultiStepLR=torch.optim.lr_scheduler.MultiStepLR, CosineAnnealingLR=ByPass)
        module.optim = SimpleNamespace(SGD=torch.optim.SGD, lr_scheduler=schedules)
    noise, kept = place_draws(), {"digest": np.array(digest(starts()))}
    kept |= {f"features.{kind}": features_of(kind).numpy() for kind in ("plain", "cosine")}
    for name, case in [*CASES.items(), *DIFFERENT.items()]:
        kept |= {f"{name}/{key}": value for key, value in run(case, modules[case.module], noise).items()}
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
