"""Avalanche: both of its constructors of class-incremental benchmarks take an order, in arrival order, and unequal tasks.

The current one wants data sets that hold all classes, numbered from 0, so that a sequence of few classes needs labels by arrival;
the classic one (``nc_benchmark``) takes few classes of many, and numbers them by arrival only on request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, fits
from seqsearch.formats.base import Given, Order, Read, Toolbox
from seqsearch.formats.numbers import sizes_of, values, whole

STUB = '''"""Sequences as benchmarks of Avalanche; it needs avalanche-lib and the files of a sequence's folder, nothing else.

    import seqsearch_avalanche as found
    scenario = found.benchmark(folder, train_transform, eval_transform)          # the current constructor
    scenario = found.classic_benchmark(folder, train_transform, eval_transform)  # nc_benchmark, for older code
    scenario = found.of_datasets(folder, train, test)                            # your own data, whose targets are class ids

`folder` is that of the sequence. This file is the same in all of them: Python imports it once, and it loads any of them.
Labels count from 0 in order of arrival; class_order[label] = class_id in sequence.json says what they were.
"""

import csv
import json
import os

from PIL import Image
from torch.utils.data import Dataset

from avalanche.benchmarks import class_incremental_benchmark, nc_benchmark


def sequence(folder):
    with open(os.path.join(folder, "sequence.json"), encoding="utf-8") as file:
        return json.load(file)


class Images(Dataset):
    """The images of a split ("train" or "test"): `paths`, `targets` and `tasks` are beside each other."""

    def __init__(self, folder, split, transform=None):
        folder = os.path.abspath(folder)
        with open(os.path.join(folder, "manifest.csv"), newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["split"] == split]
        self.paths = [os.path.normpath(os.path.join(folder, row["path"])) for row in rows]
        self.targets = [int(row["label"]) for row in rows]
        self.tasks = [int(row["task"]) for row in rows]
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with Image.open(self.paths[index]) as file:
            image = file.convert("RGB")
        return (self.transform(image) if self.transform else image), self.targets[index]


def benchmark(folder, train_transform=None, eval_transform=None):
    sizes = sequence(folder)["task_sizes"]
    data = {"train": Images(folder, "train", train_transform), "test": Images(folder, "test", eval_transform)}
    return class_incremental_benchmark(data, class_order=list(range(sum(sizes))), num_classes_per_exp=sizes)


def classic_benchmark(folder, train_transform=None, eval_transform=None):
    train, test = Images(folder, "train", train_transform), Images(folder, "test", eval_transform)
    sizes = sequence(folder)["task_sizes"]
    return _classic(train, test, list(range(sum(sizes))), sizes)


def of_datasets(folder, train, test):
    """Data sets whose targets are class ids; classes that the sequence has not are left out."""
    said = sequence(folder)
    return _classic(train, test, said["class_order"], said["task_sizes"])


def _classic(train, test, order, sizes):
    return nc_benchmark(
        train, test, n_experiences=len(sizes), task_labels=False, fixed_class_order=order,
        per_exp_classes=dict(enumerate(sizes)), class_ids_from_zero_from_first_exp=True,
    )
'''

USAGE = """    import sys; sys.path.insert(0, "DIR/{folder}")
    import seqsearch_avalanche as found   # the same for all sequences
    scenario = found.benchmark("DIR/{folder}", train_transform, eval_transform)
    for experience in scenario.train_stream: ..."""

USAGE_WITHOUT = """    import sys; sys.path.insert(0, "DIR/{folder}")
    import seqsearch_avalanche as found   # the same for all sequences
    scenario = found.of_datasets("DIR/{folder}", train, test)   # your data; targets are the class ids of sequence.json"""

EXAMPLE = """import sys
from avalanche.models import SimpleCNN
from avalanche.training import Replay
from torch.nn import CrossEntropyLoss
from torch.optim import SGD
from torchvision.transforms import Compose, Resize, ToTensor

sys.path.insert(0, "DIR/{folder}")
import seqsearch_avalanche as found

transform = Compose([Resize(({size}, {size})), ToTensor()])
scenario = found.benchmark("DIR/{folder}", transform, transform)
model = SimpleCNN(num_classes={classes})
optimizer, criterion = SGD(model.parameters(), lr=0.01), CrossEntropyLoss()
strategy = Replay(model=model, optimizer=optimizer, criterion=criterion, mem_size=200, train_mb_size=32, train_epochs=1)
for experience in scenario.train_stream:
    strategy.train(experience)
    strategy.eval(scenario.test_stream)"""


def build() -> Toolbox:
    return Toolbox(
        "Avalanche",
        tried="avalanche-lib 0.6.0, both constructors and its Replay strategy, by the tests of seqsearch",
        direction="class_order[label] = class_id, in order of arrival (Avalanche's class_order and fixed_class_order)",
        read=read,
        limits=(
            "Unequal tasks, few of many classes and more than 100 classes are kept.",
            "class_incremental_benchmark takes no subset by itself: the manifest is labelled by arrival, so that it is complete.",
            "nc_benchmark numbers labels by arrival only with class_ids_from_zero_from_first_exp=True, as in the loader.",
            "seqsearch_avalanche.py is the same in all folders; its argument is the sequence to load.",
            "Within an experience images come in another order than in the manifest; which ones they are is the same.",
        ),
        usage={True: USAGE, False: USAGE_WITHOUT},
        example=EXAMPLE,
        files=files,
        marks=frozenset({"num_classes_per_exp", "fixed_class_order", "per_exp_classes", "n_experiences"}),
    )


def files(order: Order, images: bool) -> Mapping[str, str]:
    """The loader, and the order as arguments of the current constructor."""
    said = {
        "toolbox": "avalanche",
        "class_order": list(order.class_order),
        "num_classes_per_exp": list(order.task_sizes),
        **order.counted,
    }
    return {"seqsearch_avalanche.py": STUB, "avalanche_order.json": json.dumps(said) + "\n"}


def read(given: Given) -> tuple[Read, ...]:
    """``class_order`` or ``fixed_class_order`` with ``num_classes_per_exp``, or ``n_experiences`` and ``per_exp_classes``.

    A list is an order, too.
    """
    said = given.said if isinstance(given.said, dict) else {"class_order": given.said}
    key = "fixed_class_order" if "fixed_class_order" in said else "class_order"
    classes = values(given, said.get(key), key)
    if (steps := said.get("n_experiences", said.get("num_experiences"))) is not None and not given.sizes:
        return (Read("order-0", classes, _by_steps(given, said, len(classes), steps)),)
    return (
        Read("order-0", classes, sizes_of(given, said.get("num_classes_per_exp"), "num_classes_per_exp", len(classes))),
    )


def _by_steps(given: Given, said: dict[str, object], classes: int, steps: object) -> tuple[int, ...]:
    """By the rule of ``nc_benchmark``: experiences of ``per_exp_classes``, all others alike."""
    number, fixed = whole(given, steps, "n_experiences"), said.get("per_exp_classes") or {}
    if not isinstance(fixed, dict) or not all(_counts(k, number) and fits(v, int) and v > 0 for k, v in fixed.items()):
        raise UserError(
            f"{given.path}: per_exp_classes must say how many classes some experiences have, e.g. {{'0': 50}}"
        )
    own = {int(k): int(v) for k, v in fixed.items()}
    if len(own) < len(fixed):
        raise UserError(f"{given.path}: per_exp_classes has an experience twice ({brief(list(fixed))}): leave one out")
    rest, left = number - len(own), classes - sum(own.values())
    if (rest and (left < rest or left % rest)) or (not rest and left):
        raise UserError(
            f"{given.path}: {classes} classes are not {number} experiences ({left} classes for the {rest} that are not in "
            "per_exp_classes): give --task-sizes"
        )
    return tuple(own.get(t, left // max(rest, 1)) for t in range(number))


def _counts(key: object, number: int) -> bool:
    """A key is one of ``number`` experiences, as a text of JSON or a number of YAML."""
    if isinstance(key, str) and key.isdecimal() and len(key) < 10:
        key = int(key)
    return fits(key, int) and isinstance(key, int) and 0 <= key < number
