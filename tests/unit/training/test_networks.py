"""A network that begins from scratch, with batch statistics in its state; a batch with texts, augmented; decoding ahead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.backbones.base import FromScratch, Staged
from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.parts.resnet import maps, stages
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import REPRESENTATION_DRIFT
from seqsearch.core.types import Edge, StateKey, Task
from seqsearch.methods.data import Batch
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

OWN = '''
import numpy as np
import torch
from torch import nn

from seqsearch.methods.base import Caps, FitReport, Footprint, Method
from seqsearch.pools.base import ClassInfo, SplitSizes, View


class Small(nn.Module):
    """Two convolutions with batch statistics."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, stride=4), nn.BatchNorm2d(8), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(8, 12, 3), nn.BatchNorm2d(12), nn.ReLU())

    def stage_modules(self):
        return [self.first, self.second]

    def forward(self, images):
        return self.second(self.first(images)).mean((2, 3))


class Scratch:
    """A backbone without weights; it reads the texts of a pool, too."""

    name = tag = "small.scratch"
    digest = "small-scratch-1"
    dim, view, vit = 12, View(32), False

    def module(self):
        return self.initialised(torch.Generator().manual_seed(0)).eval()

    def initialised(self, generator):
        with torch.random.fork_rng():
            torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
            return Small()

    def preprocess(self, images):
        return torch.from_numpy(images).float() / 255

    def tokenise(self, texts):
        return {"tokens": torch.tensor([[len(t), ord(t[0])] for t in texts])}


def build(**_):
    return Scratch()


class Pairs:
    """Noise of a colour for each class, and a text for each image."""

    name, digest, native_size, given = "pairs", "pairs-1", 32, None
    split_sizes = SplitSizes()
    classes = tuple(ClassInfo(n, "colours", 24) for n in ("red", "green", "blue", "grey"))

    def images(self, rows, view):
        out = np.empty((len(rows), 3, view.size, view.size), np.uint8)
        for i, row in enumerate(rows):
            noise = np.random.default_rng(int(row)).integers(0, 90, (3, view.size, view.size))
            noise[row // 24 % 3 if row < 72 else slice(None)] += 120
            out[i] = noise
        return out

    def texts(self, rows):
        return [f"{self.classes[r // 24].name} number {r % 24}" for r in rows]


class Trained(Method):
    """The whole network in train mode, batch statistics and all, and class means of its features."""

    caps = Caps(pairs=True, trains_backbone=True)

    def __init__(self, context, config):
        super().__init__(context, config)
        self.network = context.fresh_backbone().eval()
        self.means = torch.zeros(0, context.dim)

    def fit_task(self, task):
        head = nn.Linear(self.context.dim, len(task.columns))
        with torch.no_grad():
            head.weight.copy_(torch.randn(head.weight.shape, generator=task.generator("head")) / 10)
            head.bias.zero_()
        steps = torch.optim.SGD([*self.network.parameters(), *head.parameters()], 0.05)
        self.network.train()
        for _ in range(6):
            loss = nn.functional.cross_entropy(head(self.network(task.train.images)), task.train.targets - task.columns.start)
            steps.zero_grad()
            loss.backward()
            steps.step()
        self.network.eval()
        with torch.no_grad():
            x = self.network(task.train.images)
        self.means = torch.cat([self.means, torch.stack([x[task.train.targets == c].mean(0) for c in task.columns])])
        return FitReport(losses=(float(loss.detach()),))

    @torch.no_grad()
    def predict(self, batch):
        return -torch.cdist(self.network(batch.images), self.means)

    @torch.no_grad()
    def features(self, batch):
        return self.network(batch.images)

    def state_dict(self):
        return {"means": self.means.clone(), **{f"n.{k}": v.clone() for k, v in self.network.state_dict().items()}}

    def load_state_dict(self, state):
        self.means = state["means"]
        self.network.load_state_dict({k[2:]: v for k, v in state.items() if k.startswith("n.")})

    def memory_footprint(self):
        return Footprint(params=4 * sum(p.numel() for p in self.network.parameters()))
'''


@pytest.fixture
def own(tmp_path: Path) -> str:
    (tmp_path / "own.py").write_text(OWN)
    return f"{tmp_path}/own.py"


def made(own: str, states: str = "states") -> tuple[Trainer, StateKey]:
    folder = Path(own).parent
    world = World(f"{own}:Pairs", 0, str(folder / "cache"), str(folder / states))
    spec = world.spec(parse_item(f"{own}:Trained@{own}:build", "method"), "glyph_vit")
    return Trainer(world), StateKey(spec, 0, 0, (world.task([0, 1]), world.task([2, 3])))


def test_a_network_from_a_seed_is_trained_with_its_batch_statistics_and_restored(own: str) -> None:
    trainer, key = made(own)
    first, second = trainer.train(Edge(key.after(1))), trainer.train(Edge(key))
    assert (first.status, second.status) == ("ok", "ok"), (first.message, second.message)
    assert not any(REPRESENTATION_DRIFT in dict(r.notes) for r in (first, second)), (
        "it has no frozen network to drift from"
    )
    state = trainer.states.cache.get(key.digest)
    assert state is not None
    names = {n for n in state if "running_mean" in n or "num_batches_tracked" in n}
    assert len(names) == 4
    assert int(state["n.first.1.num_batches_tracked"]) == 12, "six steps on each of two tasks: statistics go on"
    restored = trainer.restore(key, state)
    source = trainer.source(key.method.backbone)
    task = key.prefix[0]
    assert isinstance(task, Task)
    rows, _ = trainer.world.rows(task.classes, "test")
    again, _ = made(own, "elsewhere")
    assert again.train(Edge(key)).correct == second.correct, "trained from nothing, on another worker"
    other = again.restore(key, again.states.cache.get(key.digest) or {})
    assert torch.equal(restored.predict(Batch(rows, source)), other.predict(Batch(rows, source)))


def test_its_weights_follow_from_seed_and_replicate(own: str) -> None:
    trainer, key = made(own)

    def weights(seed: int, replicate: int) -> torch.Tensor:
        method = trainer.fresh(StateKey(key.method, seed, replicate, ()))
        return method.state_dict()["n.first.0.weight"]

    assert torch.equal(weights(0, 0), weights(0, 0))
    assert not torch.equal(weights(0, 0), weights(0, 1))
    assert not torch.equal(weights(0, 0), weights(1, 0))


def test_it_gives_what_it_computes_on_the_way(own: str) -> None:
    backbone = build_backbone(f"{own}:build")
    assert isinstance(backbone, FromScratch)
    assert not isinstance(build_backbone("glyph_vit"), FromScratch)
    network = backbone.initialised(torch.Generator().manual_seed(1))
    assert isinstance(network, Staged)
    images = torch.rand(2, 3, 32, 32)
    found = maps(stages(network), images)
    assert [tuple(m.shape[:2]) for m in found] == [(2, 8), (2, 12)]


def test_a_method_that_does_not_train_it_is_refused(own: str) -> None:
    world = World(f"{own}:Pairs", 0, "", "")
    with pytest.raises(UserError, match=r"does not train its backbone, and '.*own.py:build' begins from scratch"):
        world.spec(parse_item(f"simplecil@{own}:build", "method"), "glyph_vit")


# ------------------------------------------------------------------------------------------------ batches


def batch_of(own: str, rows: list[int]) -> Batch:
    trainer, key = made(own)
    return Batch(np.array(rows), trainer.source(key.method.backbone), torch.arange(len(rows)))


def test_a_batch_with_texts(own: str) -> None:
    batch = batch_of(own, [0, 30, 95])
    assert batch.texts == ["red number 0", "green number 6", "grey number 23"]
    inputs = batch.inputs
    assert isinstance(inputs, dict)
    assert set(inputs) == {"images", "tokens"}
    assert inputs["tokens"].tolist() == [[12, ord("r")], [14, ord("g")], [14, ord("g")]]
    part = batch.select(torch.tensor([2, 0]))
    parts = part.inputs
    assert isinstance(parts, dict)
    assert parts["tokens"].tolist() == [[14, ord("g")], [12, ord("r")]]
    assert torch.equal(part.images, batch.images[[2, 0]])


def test_a_pool_of_images_alone_has_no_texts(own: str) -> None:
    world = World("glyphs:classes=4,train=4,reward=2,test=2", 0, "", "")
    with pytest.raises(UserError, match="has images alone, and a backbone asks for their texts"):
        world.images.texts(np.array([0]))


def test_a_batch_is_augmented_by_its_generator_alone(own: str) -> None:
    batch = batch_of(own, [0, 1, 50])

    def flipped(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        flip = torch.rand(len(images), generator=generator) < 0.5
        return torch.where(flip[:, None, None, None], images.flip(3), images)

    one, two = (batch.augmented(flipped, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one.images, two.images)
    assert not torch.equal(one.images, batch.images)
    inputs = one.inputs
    assert isinstance(inputs, dict)
    assert torch.equal(inputs["images"], one.images)
    assert one.labels is batch.labels
    assert torch.equal(one.select(torch.tensor([1])).images, one.images[1:2])


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_parts_that_are_decoded_ahead_are_those_of_the_batch(own: str, size: int) -> None:
    batch = batch_of(own, [3, 1, 4, 15, 92])
    parts = list(batch.decoded(size))
    assert [len(p) for p in parts] == [min(size, 5 - i) for i in range(0, 5, size)]
    assert torch.equal(torch.cat([p.images for p in parts]), batch.images)
    assert torch.equal(torch.cat([p.targets for p in parts]), batch.targets)
