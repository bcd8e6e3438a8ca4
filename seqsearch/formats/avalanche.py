"""Avalanche: both of its constructors of class-incremental benchmarks take an order, in arrival order, and unequal tasks.

The current one wants data sets that hold all classes, numbered from 0, so that a sequence of few classes needs labels by arrival;
the classic one (``nc_benchmark``) takes few classes of many, and numbers them by arrival only when it is told to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from seqsearch.core.errors import UserError
from seqsearch.core.typed import fits
from seqsearch.formats.base import Given, Order, Read, Toolbox
from seqsearch.formats.numbers import sizes_of, values, whole

STUB = '''"""This sequence as a benchmark of Avalanche; it needs avalanche-lib and the files beside it, nothing else.

    import seqsearch_avalanche as found
    scenario = found.benchmark(train_transform, eval_transform)          # the current constructor
    scenario = found.classic_benchmark(train_transform, eval_transform)  # nc_benchmark, for older code
    scenario = found.of_datasets(train, test)                            # your own data, whose targets are class ids

Labels count from 0 in order of arrival; class_order[label] = class_id in sequence.json says what they were.
"""

import csv
import json
import os

from PIL import Image
from torch.utils.data import Dataset

from avalanche.benchmarks import class_incremental_benchmark, nc_benchmark

HERE = os.path.dirname(os.path.abspath(__file__))


def sequence():
    with open(os.path.join(HERE, "sequence.json"), encoding="utf-8") as file:
        return json.load(file)


class Images(Dataset):
    """The images of a split ("train" or "test"): `paths`, `targets` and `tasks` are beside each other."""

    def __init__(self, split, transform=None):
        with open(os.path.join(HERE, "manifest.csv"), newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["split"] == split]
        self.paths = [os.path.normpath(os.path.join(HERE, row["path"])) for row in rows]
        self.targets = [int(row["label"]) for row in rows]
        self.tasks = [int(row["task"]) for row in rows]
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with Image.open(self.paths[index]) as file:
            image = file.convert("RGB")
        return (self.transform(image) if self.transform else image), self.targets[index]


def benchmark(train_transform=None, eval_transform=None):
    sizes = sequence()["task_sizes"]
    data = {"train": Images("train", train_transform), "test": Images("test", eval_transform)}
    return class_incremental_benchmark(data, class_order=list(range(sum(sizes))), num_classes_per_exp=sizes)


def classic_benchmark(train_transform=None, eval_transform=None):
    train, test = Images("train", train_transform), Images("test", eval_transform)
    return _classic(train, test, list(range(sum(sequence()["task_sizes"]))))


def of_datasets(train, test):
    """Data sets whose targets are class ids; classes that the sequence has not are left out."""
    return _classic(train, test, sequence()["class_order"])


def _classic(train, test, order):
    sizes = sequence()["task_sizes"]
    return nc_benchmark(
        train, test, n_experiences=len(sizes), task_labels=False, fixed_class_order=order,
        per_exp_classes=dict(enumerate(sizes)), class_ids_from_zero_from_first_exp=True,
    )
'''

USAGE = """    import sys; sys.path.insert(0, "DIR/{folder}")
    import seqsearch_avalanche as found
    scenario = found.benchmark(train_transform, eval_transform)
    for experience in scenario.train_stream: ..."""

USAGE_WITHOUT = """    import sys; sys.path.insert(0, "DIR/{folder}")
    import seqsearch_avalanche as found
    scenario = found.of_datasets(train, test)   # your data; targets are the class ids of sequence.json"""


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
            "Within an experience images come in another order than in the manifest; which ones they are is the same.",
        ),
        usage={True: USAGE, False: USAGE_WITHOUT},
        files=files,
        marks=frozenset({"num_classes_per_exp", "fixed_class_order", "per_exp_classes", "n_experiences"}),
    )


def files(order: Order, images: bool) -> Mapping[str, str]:
    """The loader, and the order as arguments of the current constructor."""
    said = {
        "toolbox": "avalanche",
        "class_order": list(order.class_order),
        "num_classes_per_exp": list(order.task_sizes),
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
    if not isinstance(fixed, dict) or not all(str(k).isdecimal() and int(k) < number and fits(v, int) and v > 0
                                              for k, v in fixed.items()):  # fmt: skip
        raise UserError(
            f"{given.path}: per_exp_classes must say how many classes some experiences have, e.g. {{'0': 50}}"
        )
    own = {int(k): int(v) for k, v in fixed.items()}
    rest, left = number - len(own), classes - sum(own.values())
    if (rest and (left < rest or left % rest)) or (not rest and left):
        raise UserError(
            f"{given.path}: {classes} classes are not {number} experiences ({left} classes for the {rest} that are not in "
            "per_exp_classes): give --task-sizes"
        )
    return tuple(own.get(t, left // max(rest, 1)) for t in range(number))
