"""Methods of image-text pairs beside plain loops of torch that make the same steps, and attention beside attention.

    python -m benchmarks.speed.pair_speed [strategies] [prompts] [unprompted] [attention] [--write]

- ``strategies``: what `fit_task` takes to learn a second experience, beside a plain loop with the same network, loss, optimiser
  and batches over decoded images, tokens and queries in memory. Goal: 1.2.
- ``prompts``: the same trainings of mm_l2p, mm_dp and mm_dpcf beside the forward pass with prompts and the backward pass to these
  alone, without loss, head and optimiser. Goal: 1.3.
- ``unprompted``: beside the network without prompts, forward, and backward to what enters the first layer that would have one:
  what prompts cost in all. mm_l2p adds 25 tokens to each pair in the multimodal encoder, which is more work in any code.
- ``attention``: forward, and forward and backward, by torch's fused attention and by the operations of transformers.

A network of the sizes of glyph_flava with random weights, captioned glyphs. Process time, one thread, taken in turns: the median
of the ratios of the turns, and their range.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional

from benchmarks.common.results import write_result
from benchmarks.speed.learner_speed import compared
from seqsearch.backbones.glyph_flava import GlyphFlava, random_network
from seqsearch.backbones.parts.flava_network import ENCODERS, FlavaNetwork
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import StateKey
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.head import new_head
from seqsearch.methods.parts.prompts import cosines, nearest
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

POOL = "glyphs:classes=20,train=16,captions=first"
TASKS = range(5), range(5, 10)
METHODS = ("mm_lb", "mm_ub", "mm_er:share=.25", "mm_l2p", "mm_dp", "mm_dpcf")
PROMPTED = METHODS[3:]
EPOCHS = 2


class RandomFlava(GlyphFlava):
    """The sizes of glyph_flava, with other weights."""

    name = "random_flava"
    presets = ("embedded",)


def random_flava() -> RandomFlava:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return RandomFlava(save({name: value.contiguous() for name, value in random_network().state_dict().items()}))


class Bench:
    """Methods that have learned one experience, and are to learn a second one."""

    def __init__(self, folder: str) -> None:
        self.world = World(POOL, 0, str(cache_root()), folder)
        self.trainer = Trainer(self.world)
        self.backbone = f"{Path(__file__)}:random_flava"
        self.tasks = tuple(self.world.task(classes) for classes in TASKS)
        self.keys: dict[tuple[str, int], StateKey] = {}

    def key(self, text: str, count: int) -> StateKey:
        if (text, count) not in self.keys:
            item = parse_item(f"{text}{',' if ':' in text else ':'}epochs={EPOCHS}", "method")
            self.keys[text, count] = StateKey(self.world.spec(item, self.backbone), 0, 0, self.tasks[:count])
        return self.keys[text, count]

    def after_one(self, text: str) -> Any:
        method = self.trainer.fresh(self.key(text, 1))
        self.trainer.scenario.learn(method, self.key(text, 1))
        return method

    def again(self, text: str, state: dict[str, Any]) -> tuple[Any, TaskData]:
        """A method that is where `after_one` was, and what it is to learn."""
        method = self.trainer.restore(self.key(text, 1), dict(state))
        return method, self.trainer.scenario.data(method, self.key(text, 2))


class InMemory:
    """Pairs of an experience, with stored ones, as tensors: what a plain loop is given."""

    def __init__(self, method: Any, task: TaskData) -> None:
        stored = getattr(method, "stored", None)
        data = task.train if stored is None else stored.with_new(task)
        self.inputs, self.frozen, self.targets = dict(data.inputs), data.frozen, data.targets
        self.first = task.columns.start if method.config.mask == "own" else 0
        self.classes = len(task.columns) if self.first else task.columns.stop

    def batches(self, seed: int = 0) -> Iterator[tuple[dict[str, Tensor], Tensor, Tensor]]:
        """Inputs, queries and columns of the steps of all epochs."""
        draw = torch.Generator().manual_seed(seed)
        for _ in range(EPOCHS):
            for at in torch.randperm(len(self.targets), generator=draw).split(16):
                part = {name: tensor[at] for name, tensor in self.inputs.items()}
                longest = int(part["attention_mask"].sum(1).max())
                wide = -(-longest // 8) * 8
                part.update({name: part[name][:, :wide] for name in ("input_ids", "attention_mask")})
                yield part, self.frozen[at], self.targets[at] - self.first


def plain_loop(method: Any, data: InMemory) -> Callable[[], None]:
    """The steps of a method, written down; it learns from copies of what the method has."""
    name = type(method).__name__

    def run() -> None:
        draw = torch.Generator().manual_seed(0)
        whole = name in ("LowerBound", "UpperBound", "PairReplay")
        network = method.context.fresh_backbone() if whole else method.network
        head = new_head(data.classes, method.context.dim, draw, torch.device("cpu"))
        learned, features_of = _learned(method, network, draw, name)
        optimizer = torch.optim.AdamW([*learned, *head.parameters()], lr=method.config.lr, weight_decay=0.01)
        for inputs, queries, targets in data.batches():
            features, away = features_of(inputs, queries)
            loss = functional.cross_entropy(head(features), targets) + away
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    return run


def _learned(method: Any, network: FlavaNetwork, draw: torch.Generator, name: str) -> tuple[list[Tensor], Any]:
    """Return the tensors trained beside a head, and a function that returns features and a further loss."""
    if name in ("LowerBound", "UpperBound", "PairReplay"):
        return list(network.parameters()), lambda inputs, queries: (network(inputs), 0.0)
    if name == "PoolOfPrompts":
        keys, prompts = (p.clone().requires_grad_(True) for p in (method.pool["keys"], method.pool["multimodal"]))

        def picked(inputs: dict[str, Tensor], queries: Tensor) -> tuple[Tensor, Tensor]:
            near = cosines(queries, keys)
            chosen = nearest(near, 5)
            found = network.run(inputs, prompts={"multimodal": prompts[chosen].flatten(1, 2)})
            return found, 0.1 * (1 - near.gather(1, chosen)).mean()

        return [keys, prompts], picked
    general = {e: p.clone().requires_grad_(True) for e, p in method.general.items()}
    expert = {e: p[-1].clone().requires_grad_(True) for e, p in method.expert.items()}
    key = torch.rand(method.context.dim, generator=draw).requires_grad_(name == "DualPromptPairs")

    def prefixed(inputs: dict[str, Tensor], queries: Tensor) -> tuple[Tensor, Tensor | float]:
        given: Any = {}
        for e in ENCODERS:
            places = [*method.layers[e][0], *method.layers[e][1]]
            given[e] = dict(zip(places, [*general[e], *expert[e]], strict=True))
        away = (1 - cosines(queries, key[None])).mean() if key.requires_grad else 0.0
        return network.run(inputs, given), away

    return [*general.values(), *expert.values(), *([key] if key.requires_grad else [])], prefixed


def unavoidable(method: Any, data: InMemory) -> Callable[[], None]:
    """The network with prompts, forward, and backward to these."""
    prompts, features_of = _learned(method, method.network, torch.Generator(), type(method).__name__)

    def run() -> None:
        for inputs, queries, _ in data.batches():
            for prompt in prompts:
                prompt.grad = None
            features_of(inputs, queries)[0].square().sum().backward()

    return run


def unprompted(method: Any, data: InMemory) -> Callable[[], None]:
    """The network without prompts, forward, and backward as far as prompts would be."""
    network, places = method.network, _first_modules(method)

    def run() -> None:
        hooks = [place.register_forward_hook(lambda _, __, found: found.requires_grad_(True)) for place in places]
        for inputs, _, _ in data.batches():
            network(inputs).square().sum().backward()
        for hook in hooks:
            hook.remove()

    return run


def _first_modules(method: Any) -> list[torch.nn.Module]:
    """Modules whose outputs enter the first layers that have prompts."""
    network = method.network
    if type(method).__name__ == "PoolOfPrompts":
        return [network.image_projection, network.text_projection]
    return [network.image_embeddings, network.text_embeddings]


def against(bench: Bench, names: tuple[str, ...], other: Any, rounds: int) -> list[dict[str, Any]]:
    """Learning a second experience beside ``other``."""
    found = []
    for text in names:
        state = learned(bench.after_one(text))
        method, task = bench.again(text, state)
        data = InMemory(method, task)

        def ours(text: str = text, state: Any = state) -> None:
            method, task = bench.again(text, state)
            assert method.fit_task(task).status == "ok"

        found.append(
            {"method": text, "steps": sum(1 for _ in data.batches()), **compared(ours, other(method, data), rounds)}
        )
        print(found[-1], flush=True)
    return found


def attention(bench: Bench, rounds: int) -> list[dict[str, Any]]:
    """Fused beside eager; a ratio below 1 says that the fused one is quicker."""
    _, task = bench.again("mm_lb", learned(bench.after_one("mm_lb")))
    inputs, found = dict(task.train.inputs), []
    networks = {kind: bench.trainer.source(bench.backbone).backbone.module() for kind in ("sdpa", "eager")}
    networks["eager"].attention = "eager"

    def run(kind: str, backward: bool) -> None:
        with torch.set_grad_enabled(backward):
            features = networks[kind](inputs)
            if backward:
                (features * features.detach().flip(0)).sum().backward()

    for backward in (False, True):
        times = compared(lambda b=backward: run("sdpa", b), lambda b=backward: run("eager", b), rounds)
        found.append({"pairs": len(task.train), "backward": backward, **times})
        print(found[-1], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["strategies", "prompts", "unprompted", "attention"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    pin_threads()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as states:
        bench = Bench(states)
        made = {
            "strategies": lambda: against(bench, METHODS, plain_loop, given.rounds),
            "prompts": lambda: against(bench, PROMPTED, unavoidable, given.rounds),
            "unprompted": lambda: against(bench, PROMPTED, unprompted, given.rounds),
            "attention": lambda: attention(bench, given.rounds),
        }
        result = {what: made[what]() for what in given.what}
    if given.write:
        write_result("pair_speed", result)


if __name__ == "__main__":
    main()
