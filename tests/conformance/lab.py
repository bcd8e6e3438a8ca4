"""A small world to put methods through: sixteen glyph classes, a small network, and the engine's own data path."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seqsearch.backbones.open import build_backbone
from seqsearch.check.subject import Subject
from seqsearch.check.watched import Recorder
from seqsearch.core.grammar import Item
from seqsearch.core.registry import load, names
from seqsearch.features.store import UnionFeatures
from seqsearch.methods.base import Caps, FitReport, Method
from seqsearch.methods.config import build_config, default_of
from seqsearch.methods.data import Batch, TaskData
from seqsearch.pools.base import Part
from seqsearch.training.context import PoolSource, WorkerContext, task_data
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

TEMPLATES = Path(__file__).parents[2] / "protocols" / "cli" / "templates"
EXAMPLE_REPLAY = f"{TEMPLATES / 'replay.py'}:TinyReplay"
EXAMPLE, EXAMPLE_PAIRS = f"{TEMPLATES / 'method.py'}:ShrunkenMeans", f"{TEMPLATES / 'pairs.py'}:TokenHead"

TASKS: tuple[tuple[int, ...], ...] = ((0, 5, 10, 14), (2, 7, 12), (4, 9, 11, 15))
"""Class indices of three tasks, of unequal sizes."""

HERE = Path(__file__).parent
TWO_BLOCKS, RESNET, EMBEDDED = (
    f"{HERE / 'backbones.py'}:two_blocks",
    f"{HERE / 'backbones.py'}:small_resnet",
    "glyph_vit",
)
SCRATCH = "scratch:tiny-16"
SMALL_POOL = "glyphs:classes=16,train=10,reward=4,test=8"
PAIRS = f"{HERE / 'pairs.py'}:small_flava"
CAPTIONED = f"{HERE / 'pairs.py'}:captioned"
"""A small network of image-text pairs, and a pool of such."""
CLIP = f"{HERE / 'clip.py'}:small_clip"
"""A small network of images with a text tower."""
FROM_SCRATCH = ("replay", "icarl", "wa", "bic", "lucir", "podnet", "der", "foster", "beef", "memo", "tagfex")
"""Methods for networks that begin from scratch: they are put through the contracts on one."""
WITH: dict[str, dict[str, Any]] = {
    "bic": {"memory": 40, "split_ratio": 0.3},  # less memory leaves it nothing to correct by
    "gddsg": {"group_size": 6},  # one group of all classes, or one for each task, would be the same in every order
}
"""Parameters of theirs, by name."""

QUICK: dict[str, Any] = {
    "epochs": 3,
    "head_epochs": 5,
    "first_epochs": 3,
    "memory": 12,
    "batch_size": 8,
    "M": 300,
    "buffer_size": 12,
    "align_epochs": 2,
    "draws": 32,
    "tii_epochs": 5,
    "freeze_epochs": 1,
    "learner": "finetune",  # joint's default takes whichever is best, so that it may depend on the order or not
}
"""Overrides for whatever method has a parameter of that name."""
QUICK_PAIRS = {"epochs": 2, "batch_size": 16}
"""Further ones on a network of image-text pairs: a step of its three encoders takes longer."""


@dataclass(frozen=True)
class Case:
    """A method with parameters, as the tests are parametrised by it."""

    label: str
    target: str
    params: dict[str, Any] = field(default_factory=dict)
    backbone: str = EMBEDDED
    idle: tuple[str, ...] = ()
    """Parameters without effect, the others being as they are."""

    @cached_property
    def caps(self) -> Caps:
        build = load("method", self.target)
        caps: Caps = build.capabilities(build_config(build, self.params, self.backbone))
        return caps


IDLE = {"ranpac": ("backbone_lr",), "gddsg": ("neighbours",)}
"""Parameters without effect, the others being at their defaults."""


@cache
def cases() -> list[Case]:
    """Every method there is, some with further settings, and the documented examples."""
    found = [
        Case(name, name, WITH.get(name, {}), idle=IDLE.get(name, ()))
        for name in names("method")
        if name not in FROM_SCRATCH
    ]
    found = [case for case in found if case.caps.backbones not in ("pairs", "names")]
    more = [
        Case("lae, adapters", "lae", {"module": "adapter"}),
        Case("lae, low-rank", "lae", {"module": "lora"}),
        Case("inflora, complements", "inflora", {"form": "paper", "threshold": 0.99}),
        Case("ranpac, adapters", "ranpac", {"adapt": "adapter"}, idle=("backbone_lr",)),
        Case("ranpac, whole", "ranpac", {"adapt": "full"}),
        Case("ranpac, frozen", "ranpac", {"adapt": "none"}),
        Case("ranpac, sums", "ranpac", {"M": 50, "adapt": "none"}),
        Case("gddsg, neighbours", "gddsg", {"infer": "neighbours", "M": 50, "group_size": 6}),
        Case("er, herding", "er", {"buffer": "herding"}),
        Case("lwf, aligned", "lwf", {"align": True}),
        Case("ewc, all classes", "ewc", {"classes": "all"}),
        Case("acil, frozen", "acil", {"epochs": 0}),
        Case("fetril, frozen", "fetril", {"epochs": 0}),
        Case("joint, ranpac", "joint", {"learner": "ranpac"}),
        Case("joint, knn", "joint", {"learner": "knn"}),
    ]
    return [*found, *more, Case("example", EXAMPLE), Case("example of replay", EXAMPLE_REPLAY)]


@cache
def cases_from_scratch() -> list[Case]:
    """Methods that learn a network with its batch statistics from its first values on."""
    known = [Case(name, name, WITH.get(name, {}), SCRATCH) for name in names("method") if name in FROM_SCRATCH]
    apart = Case("ewc, first task apart", "ewc", {"first_epochs": 2, "first_lr": 0.05}, SCRATCH)
    return [
        *known,
        *(Case(f"{name}, scratch", name, backbone=SCRATCH) for name in ("finetune", "er", "acil", "fetril")),
        apart,
    ]


@cache
def cases_of_pairs() -> list[Case]:
    """Methods of image-text pairs, and others that can learn from such."""
    every = [Case(name, name, backbone=PAIRS, idle=IDLE.get(name, ())) for name in names("method")]
    further = [
        Case("mm_lb, own classes", "mm_lb", {"mask": "own"}),
        Case("mm_ub, going on", "mm_ub", {"restart": False}),
        Case("mm_er, halves", "mm_er", {"mixing": "halves", "share": 0.5}),
        Case("mm_er, bytes", "mm_er", {"buffer": "dp", "mask": "own"}),
        Case("mm_l2p, everywhere", "mm_l2p", {"mounts": "image+text+multimodal", "mask": "seen"}),
        Case("mm_dp, copied", "mm_dp", {"copy_prompt": True, "mask": "seen"}),
        Case("mm_coda_prompt, orthogonal", "mm_coda_prompt", {"mu": 0.1, "mask": "seen"}),
        Case("icarl, head", "icarl", {"classifier": "head", "loss": "bce"}),
        Case("lwf, aligned", "lwf", {"align": True}),
        Case("frozen_head, seen classes", "frozen_head", {"mask": "seen"}),
        Case("ranpac, frozen", "ranpac", {"adapt": "none"}),
        Case("example", EXAMPLE_PAIRS),
    ]
    own = [c for c in every if c.caps.backbones == "pairs"]
    others = [
        replace(c, label=f"{c.label}, pairs") for c in every if c.caps.pairs or c.target in ("simplecil", "frozen_head")
    ]
    return [*own, *others, *(replace(c, label=f"{c.label}, pairs", backbone=PAIRS) for c in further)]


@cache
def cases_of_names() -> list[Case]:
    """Methods that read class names, and one that injects into the image tower."""
    own = [Case(name, name, backbone=CLIP) for name in names("method")]
    own = [case for case in own if case.caps.backbones == "names"]
    more = {"prompts": "a photo of a {}.;the {}, blurred"}
    return [
        *own,
        Case("zero_shot, prompts", "zero_shot", more, CLIP),
        *(Case(f"{name}, CLIP", name, backbone=CLIP) for name in ("l2p", "hide_prompt")),
    ]


def cases_on_small_networks() -> list[Case]:
    """Every case on a transformer of two blocks, and on a ResNet unless it injects something into transformers."""
    on_resnet = [replace(c, label=f"{c.label}, ResNet", backbone=RESNET) for c in cases()]
    on_resnet = [c for c in on_resnet if c.caps.backbones == "any"]
    others = [*cases_from_scratch(), *cases_of_pairs(), *cases_of_names()]
    return [*(replace(c, backbone=TWO_BLOCKS) for c in cases()), *on_resnet, *others]


def fitting(settings: Mapping[str, Any], method: str, backbone: str) -> dict[str, Any]:
    """Those of ``settings`` that a method has; ``first_epochs`` where its first task has a schedule of its own."""
    fields = {f.name: f for f in dataclasses.fields(load("method", method).Config)}
    if "first_epochs" in fields and default_of(fields["first_epochs"], backbone) == 0:
        del fields["first_epochs"]
    return {name: value for name, value in settings.items() if name in fields}


class Lab:
    """Makes, trains and evaluates methods; does the engine's book-keeping."""

    def __init__(self, folder: Path, backbone: str = EMBEDDED, pool: str = "") -> None:
        pool = pool or (CAPTIONED if backbone == PAIRS else SMALL_POOL)
        self.world = World(pool, 0, str(folder / "cache"), str(folder / "states"))
        device = torch.device("cpu")
        self.backbone_name, self.backbone = backbone, build_backbone(backbone)
        self.store = UnionFeatures(Path(self.world.cache), self.world.images, self.backbone, device)
        self.store.ensure(0, (0, 0))  # sixteen classes are one shard
        self.source = Recorder(PoolSource(self.world, self.backbone, self.store, device))
        self._states: dict[Any, dict[str, Any]] = {}
        self.reports: dict[Any, FitReport] = {}
        """Of `trained`: of the last of the tasks, by a case's label and the tasks."""

    def fresh(self, case: Case, seed: int = 0, **params: Any) -> Method:
        """An untrained method with quick settings."""
        build = load("method", case.target)
        context = WorkerContext(self.source.inner, seed, 0)
        config = build_config(build, {**self.quick(case), **params}, self.backbone_name)
        method: Method = build(context, config)
        return method

    def quick(self, case: Case) -> dict[str, Any]:
        """Parameters of a case: its own, and such that training is quick."""
        own = {**QUICK, **QUICK_PAIRS} if self.backbone_name == PAIRS else QUICK
        return {**fitting(own, case.target, self.backbone_name), **case.params}

    def subject(self, case: Case) -> Subject:
        """The same for `seqsearch check`."""
        item = Item(case.label, case.target, self.backbone_name, tuple(self.quick(case).items()))
        return Subject(self.world, self.world.spec(item, self.backbone_name), self.trainer)

    @cached_property
    def trainer(self) -> Trainer:
        return Trainer(self.world)

    def data(self, method: Method, classes: tuple[int, ...], seed: int = 0) -> TaskData:
        """What ``method`` would be given to learn ``classes`` next."""
        return task_data(self.world, self.source, self.world.task(classes), method, seed, 0)

    def fit(self, method: Method, *tasks: tuple[int, ...], seed: int = 0) -> FitReport:
        """Learn tasks one after the other; the last report."""
        report = FitReport()
        for classes in tasks:
            report = method.fit_task(self.data(method, classes, seed))
            assert report.status == "ok", report
            method.n_seen += len(classes)
            method.n_tasks += 1
        return report

    def restored(self, case: Case, state: dict[str, Any], *tasks: tuple[int, ...]) -> Method:
        """A fresh instance with the state it had after ``tasks``."""
        method = self.fresh(case)
        method.n_seen, method.n_tasks = sum(map(len, tasks)), len(tasks)
        method.load_state_dict(state)
        return method

    def trained(self, case: Case, *tasks: tuple[int, ...]) -> Method:
        """A method of one's own after ``tasks``; trained once, then restored."""
        key = (case.label, tasks)
        if key not in self._states:
            method = self.trained(case, *tasks[:-1]) if tasks else self.fresh(case)
            self.reports[key] = self.fit(method, *tasks[-1:])
            self._states[key] = method.state_dict() if tasks else {}
        return self.restored(case, self._states[key], *tasks) if tasks else self.fresh(case)

    def batch(self, classes: tuple[int, ...], *parts: Part) -> Batch:
        """Images of some parts of ``classes`` (default: test) to predict, in class order."""
        rows, _ = self.world.rows(self.world.class_ids(classes), *(parts or ("test",)))
        return Batch(rows, self.source)

    def accuracy(self, method: Method, tasks: tuple[tuple[int, ...], ...], t: int) -> float:
        """Test accuracy on task ``t`` of ``tasks``, all of which were learned."""
        rows, positions = self.world.rows(self.world.class_ids(tasks[t]), "test")
        scores = method.predict(Batch(rows, self.source))
        first = sum(map(len, tasks[:t]))
        return float((scores.argmax(1).numpy() == positions + first).mean())


@contextlib.contextmanager
def on_one_thread(folder: Path, backbone: str = TWO_BLOCKS) -> Iterator[Lab]:
    """A lab, with one thread while it is used: sums in another order have other bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Lab(folder, backbone)
    torch.set_num_threads(threads)


def method_of(lab: Lab, name: str, *tasks: tuple[int, ...], **params: Any) -> Any:
    """A method of the lab's backbone, with these parameters, after tasks."""
    found = lab.fresh(Case(name, name, backbone=lab.backbone_name), **params)
    if tasks:
        lab.fit(found, *tasks)
    return found


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two states agree in every bit."""
    return a.keys() == b.keys() and all(_bits(a[k]) == _bits(b[k]) for k in a)


def _bits(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        array = value.detach().cpu().contiguous().numpy()
        return str(array.dtype), array.shape, array.tobytes()
    return type(value), value


def rows_of(lab: Lab, classes: tuple[int, ...], *parts: Part) -> set[int]:
    """All rows of some parts of some classes."""
    return set(np.concatenate([lab.world.rows(lab.world.class_ids(classes), p)[0] for p in parts]).tolist())
