"""Learners of streams beside the arithmetic that they cannot do without.

    python -m benchmarks.speed.learner_speed [products] [neighbours] [engine] [--stored 1000000] [--dim 512] [--write]

- ``products``: ncm, slda and fc_only at 512 features and 100 classes: a step (predict and learn), beside the matrix products
  of it alone over the same rows, which both read from memory. slda: with the inversion at every step, a part of the
  arithmetic.
- ``neighbours``: acm (HNSW) beside FAISS alone: a step at ``--stored`` vectors, the same graph to begin with. The graph is
  filled with 40 candidates for each vector, since 500 take hours; the steps that are timed use 500. Vectors are drawn about
  10000 centres.
- ``engine``: er on scratch:tiny through the engine (evaluating, reading, credit, state) beside a bare loop of the same network
  over decoded images: predict, draw, forward, backward, step.

Process time, one thread, taken in turns: the median of the ratios of the turns, and their range.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import faiss
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.common.results import write_result
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import load
from seqsearch.core.types import Segment, StateKey
from seqsearch.learners.acm import unit
from seqsearch.learners.parts.neighbours import Graph
from seqsearch.methods.config import build_config
from seqsearch.methods.data import Batch
from seqsearch.methods.parts.head import new_head
from seqsearch.storage.files import cache_root
from seqsearch.streams.playing import Playing
from seqsearch.training.context import WorkerContext
from seqsearch.training.device import pin_threads
from seqsearch.training.streaming import Credit
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

D, C = 512, 100
BATCHES = (64, 256, 1024)
ENGINE = Playing("glyphs:samples=3000,classes=20", batch=64)


class Features:
    """Rows of a matrix in memory."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def frozen(self, rows: Any) -> Tensor:
        return self.values[torch.from_numpy(rows)]


@dataclass
class Step:
    """A step over features in memory."""

    source: Any
    labels_of: Tensor
    number: int
    size: int
    credit: Credit

    def __post_init__(self) -> None:
        self.first, self.revealed = self.number * self.size, (self.number + 1) * self.size
        self.afford = self.credit.afford
        self.batch = self.samples(np.arange(self.first, self.revealed))

    def samples(self, positions: Any) -> Batch:
        return Batch(positions, self.source, self.labels_of[torch.from_numpy(positions)])

    def generator(self, phase: str) -> torch.Generator:
        return torch.Generator().manual_seed(self.number)

    def draws(self, phase: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(self.number))


def context(dim: int) -> Any:
    """Resources given to learners of frozen features."""

    def generator(phase: str) -> torch.Generator:
        return torch.Generator().manual_seed(0)

    return SimpleNamespace(
        n_classes=C, dim=dim, device=torch.device("cpu"), generator=generator, augment="none", from_scratch=False
    )


def seconds(run: Callable[[], Any]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def compared(ours: Callable[[], Any], bare: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Medians [s] of both, taken in turns, and of their ratio, with its range."""
    ours(), bare()
    pairs = [(seconds(ours), seconds(bare)) for _ in range(rounds)]
    ratios = [a / b for a, b in pairs]
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    found = {
        "seconds": a,
        "bare_seconds": b,
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
    }
    return {name: float(f"{value:.4g}") for name, value in found.items()}


def bare_products(name: str, source: Features, y: Tensor) -> Callable[[Any, Any], Any]:
    """The matrix products of a step of a learner on the rows of the batch, and of the batch trained on, which it reads."""
    weight, bias, sigma = torch.randn(C, D), torch.zeros(C), torch.eye(D)
    means, hot = weight.double().T.contiguous(), functional.one_hot(y, C).float()

    def ncm(new: Any, _: Any) -> None:
        x = source.frozen(new)
        torch.mm(x, weight.T)
        torch.mm(hot.T, x)

    def slda(new: Any, _: Any) -> None:
        x = source.frozen(new)
        torch.addmm(bias, x, weight.T)
        sigma.addmm_(x.T, x, beta=1.0, alpha=1e-6)  # positive definite: a factorisation that fails is quick
        torch.cholesky_solve(means, torch.linalg.cholesky_ex(sigma.double())[0])

    def fc_only(new: Any, drawn: Any) -> None:
        torch.addmm(bias, source.frozen(new), weight.T)  # predict
        x = source.frozen(drawn)
        torch.mm(torch.addmm(bias, x, weight.T).T, x)

    return {"ncm": ncm, "slda": slda, "fc_only": fc_only}[name]


def products(rounds: int = 15, repeats: int = 20) -> list[dict[str, Any]]:
    draw = torch.Generator().manual_seed(0)
    found = []
    for name in ("ncm", "slda", "fc_only"):
        for size in BATCHES:
            x, y = torch.randn(20 * size, D, generator=draw), torch.randint(C, (20 * size,), generator=draw)
            source, kind = Features(x), load("learner", name)
            learner, number = kind(context(D), build_config(kind, {})), iter(range(10**9))

            def ours(
                learner: Any = learner, number: Any = number, source: Any = source, y: Any = y, size: int = size
            ) -> None:
                for _ in range(repeats):
                    step = Step(source, y, next(number) % 20, size, Credit(1.0))
                    step.credit.grant()
                    with torch.no_grad():
                        learner.predict(step.batch)
                    learner.learn(step)

            plain, drawn = bare_products(name, source, y[:size]), np.random.default_rng(0)

            def bare(plain: Any = plain, drawn: Any = drawn, size: int = size) -> None:
                for n in range(repeats):
                    first = n % 20 * size
                    plain(np.arange(first, first + size), drawn.choice(first + size, size, replace=False))

            found.append({"learner": name, "batch": size, **compared(ours, bare, rounds)})
            print(found[-1], flush=True)
    return found


def neighbours(stored: int, dim: int, rounds: int = 9, size: int = 64) -> dict[str, Any]:
    kind = load("learner", "acm")
    learner = kind(context(dim), build_config(kind, {}))
    draw = np.random.default_rng(0)
    centres = draw.standard_normal((10_000, dim), dtype=np.float32)
    vectors = centres[draw.integers(0, 10_000, stored + 40 * size)]
    for first in range(0, len(vectors), 65536):
        vectors[first : first + 65536] += 0.7 * draw.standard_normal(
            vectors[first : first + 65536].shape, dtype=np.float32
        )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = torch.from_numpy(draw.integers(0, C, len(vectors)))
    coming = vectors[stored:].copy()
    began = time.process_time()
    learner.stored.index.hnsw.efConstruction = 40
    for first in range(0, stored, 4096):
        learner.stored.add(vectors[first : min(first + 4096, stored)])
    learner.stored.index.hnsw.efConstruction = learner.config.ef_construction
    learner.labels = labels[:stored].clone()
    filled = time.process_time() - began
    print("filled", round(filled), flush=True)
    del vectors
    alone = Graph(dim, learner.config.links, learner.config.ef_construction, learner.config.ef, 0)
    alone.restore(learner.stored.state())
    index, source = alone.index, Features(torch.from_numpy(coming))
    places = iter(range(10**9)), iter(range(10**9))

    def ours() -> None:
        step = Step(source, labels[stored:], next(places[0]), size, Credit(1.0))
        with torch.no_grad():
            learner.predict(step.batch)
        learner.learn(step)

    def bare() -> None:
        first = next(places[1]) * size
        batch = coming[first : first + size]
        index.search(batch, 2)
        for level in alone.levels(
            stored + first, stored + first + size
        ).tolist():  # else the two graphs would not be the same
            index.hnsw.levels.push_back(level)
        index.add(batch)

    found = {
        "stored": stored,
        "dim": dim,
        "batch": size,
        "filling_seconds": round(filled),
        **compared(ours, bare, rounds),
    }
    assert unit(Batch(np.arange(4), source)).shape == (4, dim)
    print(found, flush=True)
    return found


def engine(rounds: int = 7) -> dict[str, Any]:
    """er through `Trainer.train` and through a plain loop, each over the whole stream, images decoded before."""
    with tempfile.TemporaryDirectory() as states:
        world = World("", 0, str(cache_root()), states, scenario="stream", playing=ENGINE)
        trainer, played = Trainer(world), world.played
        spec = world.spec(parse_item("er", "learner"), "scratch:tiny")
        key = StateKey(spec, 0, 0, (Segment(played.identity(0), 0, played.steps),))
        source, lr = trainer.source("scratch:tiny"), trainer.fresh(key.after(0)).config.lr
        rows, labels = played.rows(played.main), torch.from_numpy(played.labels.astype(np.int64))
        images = source.images(rows)

        def ours() -> None:
            trainer.scenario.learn(method := trainer.fresh(key.after(0)), key)
            method.state_dict()

        def bare() -> None:
            context = WorkerContext(source, 0, 0)
            network, head = context.fresh_backbone(), nn.Linear(context.dim, played.stream_classes)
            new = new_head(played.stream_classes, context.dim, context.generator("head"), context.device)
            head.load_state_dict({"weight": new.weight.detach(), "bias": new.bias.detach()})
            descent = torch.optim.SGD([*network.parameters(), *head.parameters()], lr, momentum=0.9, weight_decay=1e-4)
            draw = np.random.default_rng(0)
            for first in range(0, len(rows), ENGINE.batch):
                last = min(first + ENGINE.batch, len(rows))
                with torch.no_grad():
                    head(network(images[first:last])).argmax(1)
                at = torch.from_numpy(draw.choice(last, min(ENGINE.batch, last), replace=False))
                network.train()
                descent.zero_grad()
                functional.cross_entropy(head(network(images[at])), labels[at]).backward()
                descent.step()
                network.eval()

        found = {"steps": played.steps, "batch": ENGINE.batch, **compared(ours, bare, rounds)}
    print(found, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["products", "neighbours", "engine"])
    parser.add_argument("--stored", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=D)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    pin_threads()
    faiss.omp_set_num_threads(1)
    made = {"products": products, "neighbours": lambda: neighbours(given.stored, given.dim), "engine": engine}
    for what in given.what:
        result = made[what]()
        if given.write:
            write_result(f"learner_speed_{what}", {what: result})


if __name__ == "__main__":
    main()
