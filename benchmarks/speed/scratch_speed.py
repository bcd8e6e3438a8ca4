"""Training from scratch beside a bare PyTorch loop, and what a task adds to the states of networks that grow.

    python -m benchmarks.speed.scratch_speed [--backbone scratch:resnet32] [--rounds 5] [--write]

For each method the processor time of one epoch, as the difference between trainings with three epochs and with one, so that the
choice of exemplars and the like drop out. It is an epoch of the second task, or of the first if only the first trains the
network. Beside it a plain loop runs over the same tensors with the same networks, batch size, augmentation, losses and
optimiser, in turns. The median of the ratios of ``--rounds`` turns and their range are printed. One thread.

Bytes: what the folder of states holds more after each of three tasks, beside the bytes of the tensors that are new.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.common.results import write_result
from seqsearch.backbones.parts.resnet import without_last_activation
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, StateKey
from seqsearch.methods.base import Method
from seqsearch.methods.parts.augmentation import policy
from seqsearch.states.folder import StateFolder
from seqsearch.storage.files import cache_root
from seqsearch.training.context import WorkerContext
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

POOL, CLASSES = "glyphs:classes=12,train=60,reward=4,test=4", 4
MEMORY, BATCH = 120, 64
METHODS = {"replay": 2, "lucir": 2, "der": 2, "acil": 1, "fetril": 1}
"""The task of each method that is measured."""
ONCE = {"lucir": ",tuning_epochs=0"}
"""Without what is trained once a task, beside the epochs."""


def key_of(world: World, name: str, backbone: str, epochs: int, tasks: int) -> StateKey:
    """Of ``tasks`` tasks, the last trained for ``epochs``."""
    params = f"epochs={epochs},batch_size={BATCH},scheduler=constant"
    if METHODS.get(name) != 1:
        params += f",first_epochs=1,memory={MEMORY}"
    spec = world.spec(parse_item(f"{name}:{params}{ONCE.get(name, '')}", "method"), backbone)
    return StateKey(spec, 0, 0, tuple(world.task(range(t * CLASSES, (t + 1) * CLASSES)) for t in range(tasks)))


def before(trainer: Trainer, key: StateKey) -> Method:
    """The method before the last task of a key."""
    tasks = len(key.prefix) - 1
    return trainer.state(key.after(tasks), [], keep=True) if tasks else trainer.fresh(key)


def of_method(trainer: Trainer, key: StateKey) -> float:
    """Processor time of learning the last task."""
    method = before(trainer, key)
    data = trainer.scenario.data(method, key)
    _ = data.train.images
    began = time.process_time()
    assert method.fit_task(data).status == "ok"
    return time.process_time() - began


def bare(trainer: Trainer, key: StateKey, name: str, epochs: int) -> float:
    """Processor time of a plain loop over what `of_method` learns from, with the networks and losses of the method."""
    method = before(trainer, key)
    source = trainer.source(key.method.backbone)
    data, context = trainer.scenario.data(method, key), WorkerContext(source, 0, 0)
    rows = torch.cat([torch.from_numpy(data.train.indices), torch.from_numpy(method.exemplars())])
    classes = len(key.prefix) * CLASSES
    images, labels = source.images(rows.numpy()), torch.arange(len(rows)) % classes
    network = context.fresh_backbone().train()
    if name == "lucir":
        without_last_activation(network)
    old = copy.deepcopy(network).eval().requires_grad_(False)
    head = nn.Linear((2 if name == "der" else 1) * context.dim, classes)
    aside = nn.Linear(context.dim, CLASSES + 1)
    optimizer = torch.optim.SGD([*network.parameters(), *head.parameters(), *aside.parameters()], 0.1, 0.9, 0, 5e-4)
    augment, draw = policy(context, "pycil"), torch.Generator().manual_seed(0)

    def loss_of(x: Tensor, y: Tensor) -> Tensor:
        new = network(x)
        if name not in ("der", "lucir"):
            return functional.cross_entropy(head(new), y)
        with torch.no_grad():
            known = old(x)
        if name == "der":
            loss = functional.cross_entropy(head(torch.cat([known, new], 1)), y)
            return loss + functional.cross_entropy(aside(new), (y - CLASSES + 1).clamp(min=0))
        cosines = functional.normalize(new) @ functional.normalize(head.weight).T
        stored = y < CLASSES
        apart = cosines[stored, CLASSES:].topk(2, dim=1).values - cosines[stored].gather(1, y[stored, None])
        loss = functional.cross_entropy(16 * cosines, y) + functional.relu(0.5 + apart).mean()
        return loss + 1 - functional.cosine_similarity(new, known).mean()

    began = time.process_time()
    for _ in range(epochs):
        for at in torch.randperm(len(rows)).split(BATCH):
            x = images[at] if augment is None else augment(images[at], draw)
            optimizer.zero_grad()
            loss = loss_of(x, labels[at])
            torch.autograd.backward(loss)
            optimizer.step()
            loss.item()
    return time.process_time() - began


def ratios(name: str, backbone: str, augment: str, rounds: int) -> list[float]:
    """Processor times of an epoch, of the method by those of the plain loop."""
    with tempfile.TemporaryDirectory() as states:
        world = World(POOL, 0, str(cache_root()), states, augment=augment)
        trainer = Trainer(world)
        keys = {epochs: key_of(world, name, backbone, epochs, METHODS[name]) for epochs in (1, 3)}

        def of_epoch(seconds: Callable[[int], float]) -> float:
            return (seconds(3) - seconds(1)) / 2

        def turn() -> float:
            ours = of_epoch(lambda n: of_method(trainer, keys[n]))
            return ours / of_epoch(lambda n: bare(trainer, keys[n], name, n))

        turn()  # the first pays for compiling and caches
        return [turn() for _ in range(rounds)]


def growth(name: str, backbone: str) -> list[tuple[int, int]]:
    """Bytes that the folder grows by with each of three tasks, and bytes of the tensors that are new in its state."""
    with tempfile.TemporaryDirectory() as states:
        world = World(POOL, 0, str(cache_root()), states)
        trainer, key = Trainer(world), key_of(world, name, backbone, 1, 3)
        folder, before, known, found = StateFolder(Path(states)), 0, dict[str, Any](), list[tuple[int, int]]()
        for t in (1, 2, 3):
            trainer.train(Edge(key.after(t)))
            state = trainer.states.cache.get(key.after(t).digest) or {}
            tensors = {n: v for n, v in state.items() if isinstance(v, Tensor)}
            new = sum(v.nbytes for n, v in tensors.items() if n not in known or not torch.equal(v, known[n]))
            found.append((folder.size() - before, new))
            before, known = folder.size(), tensors
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="scratch:resnet32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    pin_threads()
    found: dict[str, Any] = {}
    for name in METHODS:
        for augment in ("none", "published"):
            values = ratios(name, options.backbone, augment, options.rounds)
            found[f"{name}, --augment {augment}"] = values
            middle = statistics.median(values)
            print(
                f"{name}, --augment {augment}: {middle:.3f} times a plain loop ({min(values):.3f} to {max(values):.3f})"
            )
    kept = {name: growth(name, options.backbone) for name in ("der", "memo")}
    for name, tasks in kept.items():
        said = ", ".join(
            f"{grown / 1e6:.2f} MB for {new / 1e6:.2f} that are new ({grown / new:.3f})" for grown, new in tasks
        )
        print(f"{name}, by task: {said}")
    if options.write:
        write_result("scratch_speed", {"backbone": options.backbone, "pool": POOL, "ratios": found, "bytes": kept})


if __name__ == "__main__":
    main()
