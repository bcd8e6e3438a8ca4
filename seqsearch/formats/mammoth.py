"""Mammoth: its class order runs the other way, ``class_order[class_id] = label``; unequal tasks are a list.

``--custom_class_order`` of the versions that have it makes a list that is ignored, or that raises with ``--permute_classes 1``:
so the loaders use a data set of their own, labelled by arrival, or set the order as an array.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from seqsearch.core.errors import UserError
from seqsearch.formats.base import Given, Order, Read, Toolbox
from seqsearch.formats.numbers import numbers_in, sizes_of, uninverted, values

STUB = '''"""This sequence as a data set of Mammoth; it needs Mammoth and the files beside it, nothing else.

    ln -s THIS_FILE MAMMOTH/datasets/seq_found.py       # any name that Mammoth can import: no dash, no two underscores
    cd MAMMOTH && python main.py --dataset seq-found --model der --buffer_size 200 --alpha 0.3 --lr 0.03

The data set is called as the link is, with dashes: one name a sequence.
Do not add --permute_classes: labels are by arrival already. SEQSEARCH_SIDE is the side that images are scaled to (224 pixels).
"""

import csv
import json
import os

import numpy as np
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import Dataset
from torchvision import transforms

from datasets.transforms.denormalization import DeNormalize
from datasets.utils import set_default_from_args
from datasets.utils.continual_dataset import ContinualDataset, store_masked_loaders

HERE = os.path.dirname(os.path.realpath(__file__))
SIDE = int(os.environ.get("SEQSEARCH_SIDE", "224"))
with open(os.path.join(HERE, "sequence.json"), encoding="utf-8") as file:
    SEQUENCE = json.load(file)
SIZES = SEQUENCE["task_sizes"]


class Images(Dataset):
    """The images of "train" or "test"; for training each one also as it is, as Mammoth's buffers want it."""

    def __init__(self, split, transform):
        with open(os.path.join(HERE, "manifest.csv"), newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["split"] == split]
        self.data = np.array([os.path.normpath(os.path.join(HERE, row["path"])) for row in rows])
        self.targets = np.array([int(row["label"]) for row in rows])
        self.train, self.transform = split == "train", transform
        self.as_it_is = transforms.Compose([transforms.Resize((SIDE, SIDE)), transforms.ToTensor()])

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        with Image.open(self.data[index]) as file:
            image = file.convert("RGB")
        seen, label = self.transform(image), self.targets[index]
        if not self.train:
            return seen, label
        more = (self.logits[index],) if hasattr(self, "logits") else ()
        return (seen, label, self.as_it_is(image), *more)


class SeqSearch(ContinualDataset):
    NAME = __name__.rpartition(".")[2].replace("_", "-").lower()  # that of the file in MAMMOTH/datasets
    SETTING = "class-il"
    N_TASKS = len(SIZES)
    N_CLASSES = sum(SIZES)
    N_CLASSES_PER_TASK = SIZES[0] if len(set(SIZES)) == 1 else SIZES
    SIZE = (SIDE, SIDE)
    MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    TRANSFORM = transforms.Compose([
        transforms.Resize((SIDE, SIDE)), transforms.RandomCrop(SIDE, padding=max(4, SIDE // 8)),
        transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize(MEAN, STD),
    ])
    TEST_TRANSFORM = transforms.Compose([
        transforms.Resize((SIDE, SIDE)), transforms.ToTensor(), transforms.Normalize(MEAN, STD),
    ])

    def get_data_loaders(self):
        return store_masked_loaders(Images("train", self.TRANSFORM), Images("test", self.TEST_TRANSFORM), self)

    def get_class_names(self):
        return [c["name"] for task in SEQUENCE["tasks"] for c in task["classes"]]

    @staticmethod
    def get_transform():
        return transforms.Compose([transforms.ToPILImage(), SeqSearch.TRANSFORM])

    @staticmethod
    def get_loss():
        return F.cross_entropy

    @staticmethod
    def get_normalization_transform():
        return transforms.Normalize(SeqSearch.MEAN, SeqSearch.STD)

    @staticmethod
    def get_denormalization_transform():
        return DeNormalize(SeqSearch.MEAN, SeqSearch.STD)

    @set_default_from_args("backbone")
    def get_backbone(self):
        return "resnet18"

    @set_default_from_args("batch_size")
    def get_batch_size(self):
        return 32

    @set_default_from_args("n_epochs")
    def get_epochs(self):
        return 50
'''

STUB_WITHOUT = '''"""Puts the classes of a data set of Mammoth into the order of a sequence.

    from datasets.seq_cifar100 import SequentialCIFAR100
    from seqsearch_mammoth import reorder
    reorder(SequentialCIFAR100, folder)  # before load_runner(...) or the data set is made; the folder of a sequence

This file is the same in all folders: Python imports it once, and it takes any of them. The last one counts.
"""

import json
import os

import numpy as np


def reorder(dataset, folder):
    """Set the tasks and the order of a data set (a class); the order runs class_order[class_id] = label here."""
    with open(os.path.join(folder, "mammoth_order.json"), encoding="utf-8") as file:
        said = json.load(file)
    order, sizes = np.array(said["class_order"]), said["n_classes_per_task"]
    theirs = dataset.seqsearch_theirs = vars(dataset).get("seqsearch_theirs", dataset.__init__)

    def begin(self, args, *more, **named):
        args.permute_classes, args.class_order = 1, order
        theirs(self, args, *more, **named)

    dataset.__init__ = begin
    dataset.N_TASKS, dataset.N_CLASSES = len(sizes), sum(sizes)
    dataset.N_CLASSES_PER_TASK = sizes[0] if len(set(sizes)) == 1 else sizes
    return dataset
'''

USAGE = """    ln -s DIR/{folder}/seqsearch_mammoth.py MAMMOTH/datasets/{module}.py
    cd MAMMOTH
    SEQSEARCH_SIDE=224 python main.py --dataset {dataset} --model der --buffer_size 200 --alpha 0.3 --lr 0.03"""

USAGE_WITHOUT = """    cd MAMMOTH && PYTHONPATH=DIR/{folder} python your_script.py
    # in it, before the data set is made: from seqsearch_mammoth import reorder; reorder(SequentialCIFAR100, "DIR/{folder}")"""


def build() -> Toolbox:
    return Toolbox(
        "Mammoth",
        tried="not run in Mammoth itself: by its rule (continual_dataset.py, read in 2026), in the tests of seqsearch",
        direction="class_order[class_id] = label: the inverse of the others; -1 for classes that the sequence has not",
        read=read,
        limits=(
            "Unequal tasks (N_CLASSES_PER_TASK is a list), few of many classes and more than 100 classes are kept; methods that "
            "take the classes of a task for one number (cpt) are right for equal tasks only.",
            "Do not add --permute_classes to the data set with images: its labels are by arrival already.",
            "--custom_class_order is no way: the versions that have it ignore it, or stop with an error (a list where an array "
            "is wanted).",
            "Without images the order must have all classes of the data set.",
            "The data set has the name of its link in MAMMOTH/datasets, with dashes for underscores.",
            "Versions that do not know --backbone, get_offsets or unequal tasks (those of before 2024, and some of 2024) do not "
            "run it.",
        ),
        usage={True: USAGE, False: USAGE_WITHOUT},
        files=files,
        marks=frozenset({"n_classes_per_task", "custom_class_order", "permute_classes"}),
        needs_all=True,
    )


def files(order: Order, images: bool) -> Mapping[str, str]:
    """The loader, and the inverse order."""
    said = {
        "toolbox": "mammoth",
        "class_order": list(order.inverse),
        "n_classes_per_task": list(order.task_sizes),
        **order.counted,
    }
    return {"seqsearch_mammoth.py": STUB if images else STUB_WITHOUT, "mammoth_order.json": json.dumps(said) + "\n"}


def read(given: Given) -> tuple[Read, ...]:
    """``class_order`` (or ``custom_class_order``) by class id, with ``n_classes_per_task``; or a list."""
    said = given.said if isinstance(given.said, dict) else {"class_order": given.said}
    key = "custom_class_order" if "custom_class_order" in said else "class_order"
    numbers = said.get(key)
    if isinstance(numbers, str):
        try:
            numbers = numbers_in(numbers)
        except ValueError as error:
            raise UserError(f"{given.path}: {key} has {error}") from None
    classes = uninverted(given, values(given, numbers, key), key)
    return (
        Read("order-0", classes, sizes_of(given, said.get("n_classes_per_task"), "n_classes_per_task", len(classes))),
    )
