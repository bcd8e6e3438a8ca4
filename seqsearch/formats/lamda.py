"""PILOT and PyCIL: one design, in which a sequence is a first and a further number of classes, and an order that no key names.

Data sets bring their ``class_order`` along (position: original class), which must have all classes; ``shuffle`` replaces it by
``numpy.random.permutation`` after ``numpy.random.seed(seed)``. So the loader brings a data set of its own, labelled by arrival.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, fits
from seqsearch.formats.base import Given, Order, Read, Toolbox
from seqsearch.formats.numbers import sizes_of, stepped, values, whole

STUB = '''"""Runs PILOT or PyCIL on this sequence; it needs the toolbox and the files beside it, nothing else.

    cd LAMDA-PILOT                    # or PyCIL: the folder with its trainer.py
    python THIS_FILE --config exps/simplecil.json

The configuration is the toolbox's own. Its data set gives the transforms; images, order and tasks are those of this sequence.
Without images (no manifest.csv here) its data set gives the images, too, and the sequence the order of its classes.
"""

import argparse
import csv
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MANIFEST = os.path.join(HERE, "manifest.csv")


def sequence():
    with open(os.path.join(HERE, "sequence.json"), encoding="utf-8") as file:
        return json.load(file)


def images(split):
    """Paths and labels of "train" or "test"."""
    with open(MANIFEST, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == split]
    paths = [os.path.normpath(os.path.join(HERE, row["path"])) for row in rows]
    return np.array(paths), np.array([int(row["label"]) for row in rows])


class Images:
    """A data set as the toolbox wants it, with the transforms of another one; labels are by arrival."""

    use_path = True

    def __init__(self, like):
        self.train_trsf, self.test_trsf, self.common_trsf = like.train_trsf, like.test_trsf, like.common_trsf
        self.class_order = list(range(sum(sequence()["task_sizes"])))

    def download_data(self):
        self.train_data, self.train_targets = images("train")
        self.test_data, self.test_targets = images("test")


def by_task(sizes):
    """The accuracy() of models/base.py, with groups that are the tasks of this sequence, whatever their sizes."""

    def accuracy(y_pred, y_true, nb_old, *_, **__):
        def percent(chosen):
            return np.around((y_pred[chosen] == y_true[chosen]).mean() * 100, decimals=2) if chosen.any() else 0

        found, first = {"total": percent(y_true >= 0)}, 0
        for size in sizes:
            if first <= y_true.max():
                found["%02d-%02d" % (first, first + size - 1)] = percent((y_true >= first) & (y_true < first + size))
            first += size
        found["old"], found["new"] = percent(y_true < nb_old), percent(y_true >= nb_old)
        return found

    return accuracy


def install(trainer, data_manager, base=None, name=None):
    """Let the toolbox's modules see this sequence; `name` is the data set that the transforms are of."""
    sizes, theirs = sequence()["task_sizes"], data_manager._get_idata

    def get_idata(dataset_name, *args, **named):
        like = theirs(name or dataset_name, *args, **named)
        if os.path.exists(MANIFEST):
            return Images(like)
        like.class_order = sequence()["class_order"]
        return like

    class Tasks(data_manager.DataManager):
        def __init__(self, *args, **named):
            super().__init__(*args, **named)
            self._increments = list(sizes)

    data_manager._get_idata = get_idata
    trainer.DataManager = Tasks
    if base is not None and hasattr(base, "accuracy"):
        base.accuracy = by_task(sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, help="configuration of the toolbox")
    given = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    with open(given.config, encoding="utf-8") as file:
        args = json.load(file)
    with open(os.path.join(HERE, "seqsearch_config.json"), encoding="utf-8") as file:
        own = json.load(file)
    name = args["dataset"]
    args.update(config=given.config, shuffle=False, init_cls=own["init_cls"], increment=own["increment"])
    if os.path.exists(MANIFEST):
        args["dataset"] = os.path.basename(HERE)  # logs are kept apart by it
    import trainer
    from models import base
    from utils import data_manager

    install(trainer, data_manager, base, name)
    trainer.train(args)


if __name__ == "__main__":
    main()
'''

LIMITS = (
    "The toolbox knows init_cls and increment alone: the loader sets the sizes of the tasks itself, so that unequal tasks, few "
    "of many classes and more than 100 classes are kept. Methods that compute with init_cls or increment themselves (EASE, "
    "DER and others that size their networks by them) are right for equal tasks only.",
    "Accuracies are grouped by tasks where learners leave that to models/base.py; a learner that imports accuracy from "
    "utils.toolkit itself, or groups by increment itself, keeps the groups of the toolbox, which are right for equal tasks only.",
    "Without images the order must have all classes of the data set, as the toolbox looks every label up in it.",
    "shuffle is off: with it the toolbox would draw another order.",
    "Transforms are those of the data set that the configuration names; choose one whose images have the size of yours.",
    "Methods with constants for one data set (FOSTER and BEEF for CIFAR-100) see the name of the sequence's folder.",
)
KEYS = frozenset({"init_cls", "increment"})
"""Of a configuration of either of them."""
DIRECTION = (
    "class_order[label] = class_id, in order of arrival (the position is the new label, the entry the original class)"
)


def toolbox(title: str, repository: str, mark: str) -> Toolbox:
    """One of the two: its name, the folder that its repository makes, and the key that only its configurations have."""
    lines = f"    cd {repository}\n    python DIR/{{folder}}/seqsearch_run.py --config exps/METHOD.json"
    return Toolbox(
        title,
        tried=f"not run in {title} itself: by its rule (data manager and trainer, read in 2026), in the tests of seqsearch",
        direction=DIRECTION,
        read=read,
        limits=LIMITS,
        usage={True: lines, False: lines + '   # its "dataset" is the one that the class ids are of'},
        files=lambda order, images: files(title.lower(), order),
        marks=frozenset({mark}),
        shared=KEYS,
        needs_all=True,
    )


def files(name: str, order: Order) -> Mapping[str, str]:
    """The loader, and a configuration with the keys that the toolbox knows, and two that it does not."""
    sizes = order.task_sizes
    said = {
        "toolbox": name,
        "shuffle": False,
        "init_cls": sizes[0],
        "increment": sizes[1] if len(sizes) > 1 else sizes[0],
        "class_order": list(order.class_order),
        "task_sizes": list(sizes),
        **order.counted,
    }
    return {"seqsearch_run.py": STUB, "seqsearch_config.json": json.dumps(said) + "\n"}


def read(given: Given) -> tuple[Read, ...]:
    """A configuration: ``init_cls`` and ``increment``, with ``class_order``, or ``shuffle`` and its ``seed``s; or a list.

    Raises:
        UserError: neither an order nor a seed to draw it by.
    """
    if not isinstance(given.said, dict):
        classes = values(given, given.said, "the order")
        return (Read("order-0", classes, sizes_of(given, None, "", len(classes))),)
    said = given.said
    if "class_order" in said:
        if said.get("shuffle"):
            raise UserError(
                f"{given.path}: with shuffle the toolbox draws its order by seed, and class_order is another one: set shuffle to "
                "false, or take class_order out"
            )
        classes = values(given, said["class_order"], "class_order")
        return (Read("order-0", classes, _sizes(given, said, len(classes))),)
    if said.get("shuffle") is not True:
        raise UserError(
            f"{given.path} has no class_order, and shuffle is {brief(said.get('shuffle'))}: the order is that of the data set in "
            'the toolbox, which no file says; add "class_order": [...] (class ids in order of arrival)'
        )
    seeds = said.get("seed")
    seeds = seeds if isinstance(seeds, list) else [seeds]
    if not seeds or not all(fits(s, int) and 0 <= s < 2**32 for s in seeds) or len(set(seeds)) < len(seeds):
        raise UserError(f"{given.path}: seed is {brief(said.get('seed'))}, must be whole numbers from 0 to {2**32 - 1}")
    sizes = _sizes(given, said, given.classes)
    return tuple(Read(f"seed-{s}", shuffled(s, given.classes), sizes) for s in seeds)


def shuffled(seed: int, classes: int) -> tuple[int, ...]:
    """The order that both toolboxes draw with ``shuffle``: numpy's legacy generator, so the same in all versions."""
    return tuple(np.random.RandomState(seed).permutation(classes).tolist())


def _sizes(given: Given, said: dict[str, Any], classes: int) -> tuple[int, ...]:
    if given.sizes or "task_sizes" in said:
        return sizes_of(given, said.get("task_sizes"), "task_sizes", classes)
    first, step = whole(given, said.get("init_cls"), "init_cls"), whole(given, said.get("increment"), "increment")
    if first > classes:
        raise UserError(f"{given.path}: init_cls is {first} and there are {classes} classes")
    return stepped(first, step, classes)
