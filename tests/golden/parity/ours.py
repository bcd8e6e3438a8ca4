"""Run the methods of this package from the common starts, in the common orders.

What they compute is left as it is, but for the root of SLCA's covariances (`other_root`). What they draw is replaced: a `Tape`
stands for each generator, and `substituted` lets ``torch.rand``, ``torch.randn`` and ``torch.randperm`` read from it. A tape is
given the values that a start shall have, and knows which draws lead there.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from timm.models.vision_transformer import VisionTransformer

from seqsearch.core.registry import load
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.config import build_config
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.gaussians import JITTER, Gaussians
from seqsearch.pools.base import Rows
from tests.golden.parity.cases import Case
from tests.golden.parity.starts import CLASSES, DEPTH, HEADS, PATCH, SIDE, TEST, TRAIN, WIDTH, starts

START = {name: torch.from_numpy(array) for name, array in starts().items()}

Drawn = Callable[[torch.Tensor], torch.Tensor]
"""From values that are wanted to the numbers that a method would have to draw for them."""


class Tape(torch.Generator):
    """A generator that gives known numbers, from the first on.

    Args:
        wanted: the values a start shall have, or orders ``[epochs, n]``.
        normal: their standard normal numbers.
        even: their numbers between 0 and 1.
    """

    def __new__(cls, *_: Any, **__: Any) -> Tape:
        made: Tape = super().__new__(cls)
        return made

    def __init__(self, wanted: torch.Tensor, normal: Drawn | None = None, even: Drawn | None = None) -> None:
        self.wanted, self.ways, self.at = wanted, {"randn": normal, "rand": even}, 0

    def next(self, kind: str, shape: tuple[int, ...]) -> torch.Tensor:
        way, count = self.ways[kind], math.prod(shape)
        assert way is not None, f"a start that was not expected to be drawn by {kind}"
        taken = self.wanted.flatten()[self.at : self.at + count]
        assert len(taken) == count, "more numbers than there are"
        self.at += count
        return way(taken).reshape(shape)

    def order(self, n: int) -> torch.Tensor:
        self.at += 1
        found = self.wanted[self.at - 1]
        assert len(found) == n
        return found


@contextmanager
def substituted() -> Iterator[None]:
    """Draws from tapes within; those from other generators, or from none, are refused."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("rand", "randn"):

            def draw(*shape: Any, generator: Tape, kind: str = kind, **_: Any) -> torch.Tensor:
                return generator.next(kind, shape if isinstance(shape[0], int) else tuple(shape[0]))

            patch.setattr(torch, kind, draw)
        patch.setattr(torch, "randperm", lambda n, generator: generator.order(n))
        patch.setattr(Gaussians, "sample", other_root)
        yield


def other_root(bank: Gaussians, count: int, scale: torch.Tensor, generator: Tape) -> torch.Tensor:
    """`Gaussians.sample` by the root of the same covariances that public code takes, the Cholesky one, on the common numbers."""
    found = []
    for k, mean in enumerate(bank.means):
        root = torch.linalg.cholesky((bank.covariance(k) + JITTER * torch.eye(WIDTH)).float())
        found.append(mean * scale[k] + generator.next("randn", (count, WIDTH)) @ root.T)
    return torch.stack(found)


def same(values: torch.Tensor) -> torch.Tensor:
    return values


def tape(phase: str, case: Case, task: int) -> Tape:
    """What stands for the generator of ``phase`` while ``task`` is learned."""
    linear = case.method in ("slca", "l2p", "dualprompt", "coda_prompt")
    if phase == "head":
        done = sum(map(len, case.tasks[:task])) if linear else 0
        rows, spread = START["head" if linear else "cosine"][done:], WIDTH**-0.5
        return Tape(rows, lambda w: w / 0.01, lambda w: (w / spread + 1) / 2)
    if phase == "shuffle":
        return Tape(START[f"order.{TRAIN * len(case.tasks[task])}"])
    if phase == "align":
        return Tape(START[f"order.draws.{task}"])
    if phase == "draws":
        return Tape(START[f"draws.{task}"], normal=same)
    if phase == "projection":
        return Tape(START["projection"], normal=same)
    if phase == "adapters":
        return Tape(START["adapters.down"], even=lambda w: (w * WIDTH**0.5 + 1) / 2)
    if phase == "augment":
        return Tape(torch.zeros(0))  # nothing is drawn: images are as they are
    known = {"keys": "keys", "prompts": "tokens", "g": "g", "e": "e"}
    return Tape(START[known[phase]] if phase in known else torch.zeros(0), even=lambda w: (w + 1) / 2)


class Source:
    """`seqsearch.methods.data.ImageSource` of the common images; rows: training images class by class, then test images."""

    def __init__(self) -> None:
        pixels = torch.cat([START[f"images.{part}"].flatten(0, 1) for part in ("train", "test")])
        self.pixels = pixels.float() / 127.5 - 1
        self.network = self.started().eval().requires_grad_(False)
        self.looked()

    def started(self) -> torch.nn.Module:
        """The network with the common weights."""
        network = VisionTransformer(SIDE, PATCH, embed_dim=WIDTH, depth=DEPTH, num_heads=HEADS, num_classes=0)
        network.load_state_dict({name.removeprefix("vit."): w for name, w in START.items() if name.startswith("vit.")})
        return network

    @torch.no_grad()
    def looked(self) -> Source:
        """Itself, with the frozen features of what it holds now."""
        self.features: torch.Tensor = self.network(self.pixels)
        return self

    def images(self, rows: Rows) -> torch.Tensor:
        return self.pixels[torch.from_numpy(rows)]

    def texts(self, rows: Rows) -> list[str]:
        raise AssertionError("the common images have no texts")

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        return {}

    def frozen(self, rows: Rows) -> torch.Tensor:
        return self.features[torch.from_numpy(rows)]

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        return look(Batch(rows, self)) if len(rows) else torch.zeros(0, WIDTH)


class SharedResources:
    """`seqsearch.methods.base.Context` for one training of a case."""

    device, dim, backbone_id, image_bytes = torch.device("cpu"), WIDTH, "starts", 3 * SIDE**2
    augment, from_scratch, levels = "none", False, (-torch.ones(3), torch.ones(3))

    def __init__(self, source: Source, case: Case) -> None:
        self.source, self.case, self.task = source, case, 0

    def fresh_backbone(self) -> torch.nn.Module:
        return copy.deepcopy(self.source.network).requires_grad_(True)

    def frozen_backbone(self) -> torch.nn.Module:
        return self.source.network

    def generator(self, phase: str) -> torch.Generator:
        return tape(phase, self.case, self.task)


@dataclass(frozen=True, eq=False)
class Learned(TaskData):
    """A task whose generators are the tapes of its context."""

    context: SharedResources = field(kw_only=True)

    def generator(self, phase: str) -> torch.Generator:
        return self.context.generator(phase)


def begun(kind: type[Method], components: Mapping[str, torch.Tensor]) -> type[Method]:
    """CODA-Prompt whose new components are given: ``k``, ``a`` and ``p`` ``[tasks, B, m, width]``."""

    def initial_prompts(self: Method, task: TaskData) -> dict[str, torch.Tensor]:
        return {name: components[name][task.depth] for name in "kap"}

    return type("Begun", (kind,), {"initial_prompts": initial_prompts})


class Bench:
    """Trains a case and scores test images.

    Args:
        source: the common images and network.
        case: what is trained.
        components: what CODA-Prompt's components start from (`begun`); other methods have none.
        params: in place of those of the case.
    """

    shared = SharedResources
    """What it lends to methods."""

    def __init__(
        self, source: Source, case: Case, components: Mapping[str, torch.Tensor] | None = None, **params: Any
    ) -> None:
        self.source, self.case = source, case
        self.context = self.shared(source, case)
        build = load("method", case.method)
        build = begun(build, components) if components else build
        with substituted():
            self.method: Method = build(self.context, build_config(build, {**case.params, **params}))

    def learn(self) -> FitReport:
        """The next task."""
        method, at = self.method, self.method.n_tasks
        classes = self.case.tasks[at]
        rows = np.concatenate([np.arange(c * TRAIN, (c + 1) * TRAIN) for c in classes])
        columns = range(method.n_seen, method.n_seen + len(classes))
        labels = torch.arange(columns.start, columns.stop).repeat_interleave(TRAIN)
        nothing = Batch(rows[:0], self.source, labels[:0])
        train = Batch(rows, self.source, labels)
        self.context.task = at
        readable = frozenset([*rows.tolist(), *method.exemplars().tolist()])
        task = Learned(train, nothing, columns, at, 0, 0, readable, context=self.context)
        with substituted():
            report = method.fit_task(task)
        method.n_seen, method.n_tasks = columns.stop, at + 1
        return report

    def evaluated(self) -> Batch:
        """Test images of all classes seen, in the order of arrival."""
        first = CLASSES * TRAIN
        seen = [c for classes in self.case.tasks[: self.method.n_tasks] for c in classes]
        rows = np.concatenate([np.arange(first + c * TEST, first + (c + 1) * TEST) for c in seen])
        return Batch(rows, self.source)

    def scores(self) -> torch.Tensor:
        """Of `evaluated`, ``[n, classes seen]``."""
        with substituted(), torch.no_grad():
            return self.method.predict(self.evaluated())
