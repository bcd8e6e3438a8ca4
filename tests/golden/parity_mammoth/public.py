"""Run Mammoth's steps from the common starts: ``python -m tests.golden.parity_mammoth.public FOLDER`` writes ``public.npz``.

FOLDER holds Mammoth, which is no part of this repository; docs/parity_setup.md says which commit. Each step of a training is
the method ``observe`` of Mammoth's class. Around it, the rest of Mammoth is replaced, each time with the reason:

- `loaded`: modules that the files import and that ``observe`` does not use are empty, because they need further packages.
- `Network`: the common network, with a head that grows. A last column of minus a billion stands for a class that never comes,
  because ER-ACE always adds the class with the highest number (`ErAce`).
- `Buffer`: images enter a reservoir once: when their task ends, with the scores of the network as it is then, in eval mode
  (DER++), or when it begins (ER-ACE).
- `among_known`: squared differences of DER++ are averaged over the classes that the stored scores cover.

Written are ``CASE/scores.T`` ``[n, classes seen]``, of the test images of all classes seen after task T.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor, nn

from seqsearch.methods.parts.reservoir import empty_reservoir
from tests.golden.parity.cases import Case
from tests.golden.parity.ours import substituted
from tests.golden.parity.starts import CLASSES, TEST, TRAIN, digest
from tests.golden.parity_mammoth import public_lucir as lucir
from tests.golden.parity_mammoth.ours import BATCH, CASES, DECAY, EPOCHS, MEMORY, MOMENTUM, RATE, Replays, places
from tests.golden.parity_scratch.ours import START, Source
from tests.golden.parity_scratch.starts import DIM, starts

FILE = Path(__file__).with_name("public.npz")
NEVER = -1e9


def loaded(folder: str, name: str) -> Any:
    """A file of Mammoth's ``models``, without the packages that only its set-up needs."""
    names = (
        "datasets",
        "utils",
        "utils.args",
        "utils.batch_norm",
        "utils.buffer",
        "utils.conf",
        "models",
        "models.utils",
    )
    empty = {module: mock.MagicMock() for module in names}
    base = ModuleType("models.utils.continual_model")
    base.__dict__["ContinualModel"] = object
    with mock.patch.dict(sys.modules, {**empty, "models.utils.continual_model": base}):
        spec = importlib.util.spec_from_file_location(name, Path(folder, "models", f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


class Network(nn.Module):
    """The common network under a linear head, whose last column scores a class that never comes."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.body = source.started()
        self.weight, self.bias = nn.Parameter(torch.zeros(0, DIM)), nn.Parameter(torch.zeros(0))

    def grow(self, classes: int) -> None:
        first = START["head"][len(self.weight) : classes, :DIM] * (3 / DIM) ** 0.5
        self.weight = nn.Parameter(torch.cat([self.weight.detach(), first]))
        self.bias = nn.Parameter(torch.cat([self.bias.detach(), torch.zeros(len(first))]))

    def forward(self, images: Tensor) -> Tensor:
        scores = nn.functional.linear(self.body(images), self.weight, self.bias)
        return torch.cat([scores, torch.full((len(scores), 1), NEVER)], 1)

    @torch.no_grad()
    def scored(self, images: Tensor) -> Tensor:
        self.eval()
        found: Tensor = self(images)[:, :-1]
        self.train()
        return found


class Buffer:
    """Mammoth's interface to a reservoir that takes images when a task ends. The kept images change only then, so that stored
    scores are computed for all that were just offered."""

    def __init__(self, source: Source) -> None:
        self.source, self.reservoir, self.scores = source, empty_reservoir(MEMORY), dict[int, Tensor]()
        self.draw = Replays(0)

    def __len__(self) -> int:
        return len(self.reservoir)

    def is_empty(self) -> bool:
        return not len(self)

    def add_data(self, **_: Any) -> None:
        """Nothing: see `offer`."""

    def offer(self, network: Network, rows: Tensor, columns: Tensor, task: int) -> None:
        self.reservoir = self.reservoir.offer(rows, columns, places(task, 100))
        self.scores |= dict(zip(rows.tolist(), network.scored(self.source.pixels[rows]), strict=True))

    def get_data(self, size: int, **_: Any) -> tuple[Tensor, ...]:
        at = self.draw.order(len(self))[:size]
        rows = self.reservoir.rows[at]
        known = [self.scores[row] for row in rows.tolist()]
        found = self.source.pixels[rows], self.reservoir.columns[at]
        return (
            (*found, nn.utils.rnn.pad_sequence(known, batch_first=True, padding_value=torch.nan))
            if self.both
            else found
        )

    both = True
    """Whether scores are asked for."""


def among_known(scores: Tensor, stored: Tensor) -> Tensor:
    """Mean squared difference where there are stored scores."""
    squares = (scores[:, : stored.shape[1]] - stored.nan_to_num()).square()
    return squares[~stored.isnan()].mean()


def training_rows(classes: Sequence[int]) -> Tensor:
    """Rows of the training images of some classes."""
    return torch.cat([torch.arange(c * TRAIN, (c + 1) * TRAIN) for c in classes])


def test_images(source: Source, classes: Sequence[int]) -> Tensor:
    """The test images of some classes."""
    first = CLASSES * TRAIN
    return source.pixels[torch.cat([torch.arange(first + c * TEST, first + (c + 1) * TEST) for c in classes])]


def run(case: Case, module: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Train on all tasks by the class's ``observe``; the scores after each."""
    (kind,) = (v for v in vars(module).values() if isinstance(v, type) and "observe" in vars(v))
    source = Source()
    network, buffer = Network(source), Buffer(source)
    buffer.both, arrived, found = case.method == "derpp", [], {}
    for task, classes in enumerate(case.tasks):
        done = len(arrived)
        arrived += classes
        network.grow(len(arrived))
        rows = training_rows(classes)
        labels = torch.arange(done, len(arrived)).repeat_interleave(TRAIN)
        learner: Any = SimpleNamespace(
            net=network,
            buffer=buffer,
            loss=nn.functional.cross_entropy,
            transform=None,
            device="cpu",
            current_task=task,
            opt=torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY),
            args=SimpleNamespace(minibatch_size=0, **case.public),
            seen_so_far=torch.tensor([len(arrived)]),
        )
        buffer.draw = Replays(task)
        if case.method == "er_ace":
            buffer.offer(network, rows, labels, task)
        for epoch in range(EPOCHS):
            for at in START[f"order.{len(rows)}"][epoch].split(BATCH):
                learner.args.minibatch_size = len(at)
                kind.observe(learner, source.pixels[rows[at]], labels[at], None)
        if case.method == "derpp":
            buffer.offer(network, rows, labels, task)
        found[f"scores.{task}"] = network.scored(test_images(source, arrived)).numpy().astype(np.float32)
    return found


def main(folder: str) -> None:
    """Run every case with Mammoth in ``folder`` and write what came of it."""
    torch.set_num_threads(1)
    kept = {"digest": np.array(digest(starts()))}
    with substituted():
        for name, case in CASES.items():
            module = loaded(folder, case.module)
            if name == "derpp":
                module.F = SimpleNamespace(mse_loss=among_known)
            found = lucir.run(case, module) if case.method == "lucir" else run(case, module)
            kept |= {f"{name}/{key}": value for key, value in found.items()}
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
