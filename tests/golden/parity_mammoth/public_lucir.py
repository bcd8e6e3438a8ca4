"""Run the steps of Mammoth's LUCIR from the common starts (`tests.golden.parity_mammoth.public`).

Mammoth's own classifier, loss and imprinting are run. Replaced from outside, each time with the reason:

- the network is the common one without its last activation, as in the paper and in this package.
- `CustomClassifier` has rows for all tasks; it is told how many tasks there were so far, because heads grow here.
- the weight of the features' direction is that of the paper: Mammoth counts tasks and sets it when a task ends.
- exemplars are chosen by this package's herding, and rows are not tuned afterwards (``fitting_epochs`` is 0).
"""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seqsearch.backbones.parts.resnet import without_last_activation
from seqsearch.methods.parts.herding import none_herded
from tests.golden.parity.cases import Case
from tests.golden.parity.starts import TRAIN
from tests.golden.parity_mammoth.ours import BATCH, DECAY, EPOCHS, MEMORY, MOMENTUM, RATE
from tests.golden.parity_scratch.ours import START, Source
from tests.golden.parity_scratch.starts import DIM


class Network(nn.Module):
    """The common network with Mammoth's classifier."""

    def __init__(self, source: Source, classifier: nn.Module) -> None:
        super().__init__()
        self.body, self.classifier = without_last_activation(source.started()), classifier

    def forward(self, images: Tensor, returnt: str = "out") -> Tensor:
        features: Tensor = self.body(images)
        return features if returnt == "features" else self.classifier(features)


class Images:
    """A set of images as Mammoth cuts it by class."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        self.data, self.targets = images.numpy(), labels.numpy()


def in_one(args: Any, data: Images, **_: Any) -> list[tuple[Tensor]]:
    """A loader whose only batch holds all images."""
    return [(torch.from_numpy(data.data),)]


def run(case: Case, module: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Train on all tasks by `Lucir.observe`; the scores of test images after each."""
    from tests.golden.parity_mammoth.public import test_images, training_rows

    module.create_seeded_dataloader = in_one
    size, source = len(case.tasks[0]), Source()
    network = Network(source, module.CustomClassifier(DIM, size, len(case.tasks)))
    stored, arrived, found = none_herded(MEMORY), list[int](), {}
    for task, classes in enumerate(case.tasks):
        done = len(arrived)
        arrived += classes
        rows, labels = training_rows(classes), torch.arange(done, len(arrived)).repeat_interleave(TRAIN)
        learner: Any = module.Lucir.__new__(module.Lucir)
        settings = SimpleNamespace(dataset="", batch_size=len(rows), **case.public)
        vars(learner).update(
            net=network, args=settings, device="cpu", current_task=task, old_net=copy.deepcopy(network).eval()
        )
        learner.dataset = SimpleNamespace(N_CLASSES_PER_TASK=size)
        learner.classes_so_far, learner.register_buffer = labels, lambda *_: None
        learner.lamda_cos_sim = case.public["lamda_base"] * (done / size) ** 0.5
        network.classifier.n_tasks = task + 1
        if task:
            network.classifier.reset_weight(task)
        network.classifier.weights[task].data.copy_(START["head"][done : len(arrived), :DIM] / DIM**0.5)
        if task and case.public["imprint_weights"]:
            images = Images(source.pixels[rows], labels)
            with torch.no_grad():
                learner.imprint_weights(SimpleNamespace(train_loader=SimpleNamespace(dataset=images)))
        fixed = [network.classifier.weights[t] for t in range(task)]
        moving = [*network.body.parameters(), network.classifier.weights[task], network.classifier.sigma]
        groups = [{"params": moving}, {"params": fixed, "lr": 0.0, "weight_decay": 0.0}]
        learner.opt = torch.optim.SGD(groups[: 1 + min(task, 1)], lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
        data = torch.cat([rows, stored.rows])
        wanted = torch.cat([labels, stored.columns])
        network.train()
        for epoch in range(EPOCHS):
            for at in START[f"order.{len(data)}"][epoch].split(BATCH):
                learner.observe(source.pixels[data[at]], wanted[at], None)
        network.eval()
        with torch.no_grad():
            stored = stored.offer(rows, labels, network.body(source.pixels[rows]), range(done, len(arrived)))
            scores: Tensor = network(test_images(source, arrived))
        found[f"scores.{task}"] = scores.numpy().astype(np.float32)
    return found
