"""Training throughput of methods for pre-trained networks beside the bare network, peak memory, and bytes of state.

    python -m benchmarks.speed.methods [--methods a b] [--device cpu] [--rounds 5] [--sizes] [--write]

Throughput: images per second of an epoch on the embedded ViT, one thread on a CPU. An epoch's seconds are the difference
between a task learned with more and with fewer epochs, so that what is done once per task is left out (it has a column of its
own); the task is the second, or the first where only that is trained on. Beside it a bare timm loop over the same images in
batches of the same size, timed in turn: for methods that train the whole network its forward and backward pass and SGD step; for
those that inject, the forward pass and the backward pass down to the first block that holds something, with as many further
input tokens as they have. `NEEDS` says how often a step needs it.
Ratios are medians over rounds; each method runs in a process of its own, whose peak memory is given.

``--sizes``: bytes of state after ten tasks of twenty classes on a ViT-B/16 (the real widths, images of 32 pixels, random
weights), and the footprint by the rules of CLDyB B.3.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.common.results import RESULTS, write_result
from benchmarks.speed.costs import PRETRAINED, setting_of
from seqsearch.backbones.inject import Transformer
from seqsearch.core.grammar import Item, Value, parse_item
from seqsearch.core.registry import load, names
from seqsearch.core.types import StateKey
from seqsearch.methods.base import Additive, FitReport, Method
from seqsearch.methods.config import build_config
from seqsearch.methods.data import TaskData
from seqsearch.storage.files import cache_root
from seqsearch.training.context import task_data
from seqsearch.training.device import pin_threads
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


@dataclass(frozen=True)
class Needs:
    """Network passes of a method's step on a batch.

    Attributes:
        full: forward and backward passes of the whole network, with as many images in one batch.
        apart: forward passes of such a batch before each backward pass.
        forward: forward passes alone.
        injected: forward passes with a backward pass down to block ``block``, with ``tokens`` further input tokens.
    """

    full: float = 0.0
    apart: int = 1
    forward: float = 0.0
    injected: float = 0.0
    block: int = 0
    tokens: int = 0


PROMPTS = Needs(injected=1)
NEEDS = {
    "finetune": Needs(full=1),
    "slca": Needs(full=1),
    "ewc": Needs(full=1),
    "lwf": Needs(full=1),
    "er": Needs(full=2),
    "derpp": Needs(full=1, apart=3),
    "er_ace": Needs(full=1, apart=2),
    "clser": Needs(full=2, forward=2),
    "afec": Needs(full=3),
    "l2p": Needs(injected=1, tokens=10),
}
"""By method; all others inject prefixes or adapters, from block 0 on."""
EPOCHS = 2, 6


def stepwise(task: TaskData, batch_size: int, step: Callable[[Tensor, Tensor], None]) -> float:
    """Seconds of one epoch of bare steps over decoded images, in batches."""
    images, targets = task.train.images, task.train.targets - task.columns.start
    start = time.perf_counter()
    for at in torch.randperm(len(images)).split(batch_size):
        step(images[at.to(images.device)], targets[at.to(images.device)])
    _finish(images.device)
    return time.perf_counter() - start


def bare_full(trainer: Trainer, backbone: str, task: TaskData, batch_size: int, apart: int) -> float:
    """A plain timm training loop, with ``apart`` forward passes a step."""
    model = trainer.world.backbone(backbone).module().to(trainer.device)
    head = nn.Linear(trainer.world.backbone(backbone).dim, len(task.columns)).to(trainer.device)
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=1e-4, momentum=0.9)

    def step(images: Tensor, targets: Tensor) -> None:
        loss = torch.stack([nn.functional.cross_entropy(head(model(images)), targets) for _ in range(apart)]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return stepwise(task, batch_size, step)


def bare_forward(trainer: Trainer, backbone: str, task: TaskData, batch_size: int) -> float:
    """Forward passes alone."""
    model = trainer.source(backbone).features.network.module
    with torch.no_grad():
        return stepwise(task, batch_size, lambda images, _: model(images))


def bare_injected(trainer: Trainer, backbone: str, task: TaskData, batch_size: int, needs: Needs) -> float:
    """timm's own parts, a trainable vector at the input of a block: forward, and backward as far as that block."""
    model = Transformer(trainer.source(backbone).features.network.module).module
    vector = torch.zeros(model.embed_dim, device=trainer.device, requires_grad=True)
    head = nn.Linear(trainer.world.backbone(backbone).dim, len(task.columns)).to(trainer.device)
    more = torch.zeros(1, needs.tokens, model.embed_dim, device=trainer.device)
    optimizer = torch.optim.SGD([vector, *head.parameters()], lr=1e-4, momentum=0.9)

    def step(images: Tensor, targets: Tensor) -> None:
        x = model.norm_pre(model._pos_embed(model.patch_embed(images)))
        x = torch.cat([x, more.expand(len(x), -1, -1)], 1)
        for number, block in enumerate(model.blocks):
            x = block(x + vector if number == needs.block else x)
        loss = nn.functional.cross_entropy(head(model.forward_head(model.norm(x), pre_logits=True)), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return stepwise(task, batch_size, step)


class Subject:
    """A method on the embedded ViT with one task of ten classes behind it and one before it."""

    def __init__(self, item: Item, backbone: str, device: str, states: str) -> None:
        self.item, self.backbone = item, backbone
        world = World("glyphs:classes=64", 0, str(cache_root()), states, device)
        self.trainer, self.world = Trainer(world), world
        self.tasks = world.task(range(10)), world.task(range(10, 20))
        self.needs = NEEDS.get(item.target, PROMPTS)
        self.kind: type[Method] = load("method", item.target)
        self.config: Any = build_config(self.kind, dict(item.params), backbone)
        self.state = learned(self._after_one())

    def _method(self, epochs: int) -> Method:
        quick: dict[str, Value] = {"epochs": epochs, "freeze_epochs": 0}
        params = {**dict(self.item.params), **{k: v for k, v in quick.items() if k in _fields(self.kind)}}
        spec = self.world.spec(Item("x", self.item.target, None, tuple(params.items())), self.backbone)
        return self.trainer.fresh(StateKey(spec, 0, 0, ()))

    @property
    def trains(self) -> bool:
        return "epochs" in _fields(self.kind) and self.kind.capabilities(self.config).trains_backbone

    @property
    def at(self) -> int:
        """The task that is measured: the second, or the first if it is the only one that is trained on."""
        additive = issubclass(self.kind, Additive) and self.kind.anchor(self.config) > 0
        return 0 if additive else 1

    def _after_one(self) -> Method:
        method = self._method(1)
        assert self._fit(method, 0)[1].status == "ok"
        method.n_seen, method.n_tasks = 10, 1
        return method

    def _data(self, method: Method, number: int) -> TaskData:
        return task_data(self.world, self.trainer.source(self.backbone), self.tasks[number], method, 0, 0)

    def _fit(self, method: Method, number: int) -> tuple[float, FitReport]:
        data = self._data(method, number)
        start = time.perf_counter()
        report = method.fit_task(data)
        _finish(self.trainer.device)
        return time.perf_counter() - start, report

    def learning(self, epochs: int) -> float:
        """Seconds of learning the task that is measured."""
        method = self._method(epochs)
        if self.at:
            own = {k: v.clone() if isinstance(v, Tensor) else v for k, v in self.state.items()}
            method.n_seen, method.n_tasks = int(own.pop("_n_seen")), int(own.pop("_n_tasks"))
            method.load_state_dict(own)
        seconds, report = self._fit(method, self.at)
        assert report.status == "ok", report
        return seconds

    def bare(self) -> float:
        """Seconds of one epoch that the method needs of the network."""
        needs, size = self.needs, self.config.batch_size
        method = self._method(1)
        data = self._data(method, self.at)
        seconds = 0.0
        if needs.full:
            images = math.ceil(size * needs.full)
            seconds += bare_full(self.trainer, self.backbone, data, images, needs.apart) * needs.full
        if needs.forward:
            seconds += needs.forward * bare_forward(self.trainer, self.backbone, data, size)
        if needs.injected:
            seconds += needs.injected * bare_injected(self.trainer, self.backbone, data, size, needs)
        return seconds

    def measured(self, rounds: int) -> dict[str, float]:
        low, high = EPOCHS
        self.learning(low)
        if not self.trains:
            return {"once": statistics.median(self.learning(low) for _ in range(rounds))}
        self.bare()
        found = [(self.learning(low), self.learning(high), self.bare()) for _ in range(rounds)]
        epochs = [(b - a) / (high - low) for a, b, _ in found]
        images = len(self._data(self._method(1), self.at).train)
        epoch = statistics.median(epochs)
        return {
            "images_per_second": images / epoch,
            "bare_images_per_second": images / statistics.median(c for _, _, c in found),
            "ratio": statistics.median(e / c for e, (_, _, c) in zip(epochs, found, strict=True)),
            "once": statistics.median(a for a, _, _ in found) - low * epoch,
        }


def _fields(kind: type[Method]) -> set[str]:
    return {f.name for f in dataclasses.fields(kind.Config)}


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


NOT_TRAINED = "joint", "zero_shot"
"""`joint` is finetune on more images."""


def made_for_this() -> list[str]:
    """All methods that are made for a pre-trained network of images."""
    found = [name for name in names("method") if name not in NOT_TRAINED and setting_of(name) == PRETRAINED]
    return [*found, "ranpac:adapt=adapter"]


def throughput(text: str, backbone: str, device: str, rounds: int) -> dict[str, float]:
    """One method, in this process."""
    if device == "cpu":
        pin_threads()
    with tempfile.TemporaryDirectory() as states:
        found = Subject(parse_item(text, "method"), backbone, device, states).measured(rounds)
    peak = (
        torch.cuda.max_memory_allocated()
        if device == "cuda"
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    )
    return {**found, "peak_bytes": peak}


# ------------------------------------------------------------------------------------------------ sizes


VIT_B = str(Path(__file__).parents[2] / "tests" / "conformance" / "backbones.py") + ":vit_base"
PUBLISHED = {
    "simplecil": 0.6, "finetune": 344, "lwf": 344, "er": 344, "l2p": 0.8, "dualprompt": 1.6, "coda_prompt": 16, "lae": 1.2,
    "aper_adapter": 6, "ranpac": 413, "ease": 54, "mos": 488, "slca": 817, "hide_prompt": 42, "pgp": 14, "ewc": 687,
    "afec": 1030, "clser": 1031,
}  # fmt: skip
"""MB that the public code has to save after ten tasks of twenty classes, by its authors' defaults and dense statistics."""


def size(text: str) -> dict[str, float]:
    """Bytes of state and footprint after ten tasks of twenty classes on a ViT-B."""
    item = parse_item(text, "method")
    kind: type[Method] = load("method", item.target)
    quick = {"epochs": 1, "batch_size": 64, "draws": 4, "align_epochs": 1, "tii_epochs": 1, "freeze_epochs": 0}
    params = {k: v for k, v in quick.items() if k in _fields(kind)} | dict(item.params)
    with tempfile.TemporaryDirectory() as states:
        world = World("glyphs:classes=200,train=3,reward=1,test=1", 0, str(cache_root()), states)
        trainer = Trainer(world)
        spec = world.spec(Item("x", item.target, None, tuple(params.items())), VIT_B)
        whole = StateKey(spec, 0, 0, tuple(world.task(range(20 * t, 20 * t + 20)) for t in range(10)))
        method = trainer.fresh(whole)
        for t in range(10):
            trainer.scenario.learn(method, whole.after(t + 1))
        state = sum(v.nbytes for v in method.state_dict().values() if isinstance(v, Tensor))
        published = PUBLISHED.get(item.target, math.nan) * 1e6
        return {
            "state_bytes": state,
            "published_bytes": published,
            **{f"{k}_bytes": v for k, v in vars(method.memory_footprint()).items()},
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="*", default=made_for_this())
    parser.add_argument("--backbone", default="glyph_vit")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one = (
            size(options.one)
            if options.sizes
            else throughput(options.one, options.backbone, options.device, options.rounds)
        )
        print(json.dumps(one))
        return
    found = {}
    for text in options.methods:
        arguments = ["--device", options.device, "--backbone", options.backbone, "--rounds", str(options.rounds)]
        command = [sys.executable, "-m", "benchmarks.speed.methods", "--one", text, *arguments]
        done = subprocess.run(
            [*command, *(["--sizes"] if options.sizes else [])], check=True, stdout=subprocess.PIPE, text=True
        )
        found[text] = json.loads(done.stdout.splitlines()[-1])
        print(f"{text:24s} {_row(found[text])}", flush=True)
    if options.write:
        name = "methods_sizes" if options.sizes else f"methods_{options.device}"
        before = (
            json.loads((RESULTS / f"{name}.json").read_text())["methods"] if (RESULTS / f"{name}.json").exists() else {}
        )
        write_result(name, {"methods": {**before, **found}})


def _row(r: dict[str, float]) -> str:
    if "state_bytes" in r:
        return "  ".join(f"{k.removesuffix('_bytes')} {v / 1e6:8.2f} MB" for k, v in r.items())
    once, peak = f"{r['once']:6.2f} s once per task", f"{r['peak_bytes'] / 1e9:5.2f} GB at most"
    if "ratio" not in r:
        return f"{'':45s}  {once}  {peak}"
    speed = (
        f"{r['images_per_second']:6.0f} of {r['bare_images_per_second']:6.0f} images/s, {r['ratio']:5.2f} x the time"
    )
    return f"{speed}  {once}  {peak}"


if __name__ == "__main__":
    main()
