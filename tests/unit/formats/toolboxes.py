"""Small toolboxes that follow the documented rules of the real ones, to load exported folders with.

They are written from these rules (how labels are mapped, which labels a task has), not from our exports. Like the real ones they
raise `NotImplementedError` for an unknown data set and for a data set without a required field: that is their way to refuse.
"""

from __future__ import annotations

LAMDA = {
    "utils/__init__.py": "",
    "models/__init__.py": "",
    "models/base.py": "def accuracy(y_pred, y_true, nb_old, init_cls=10, increment=10):\n    raise RuntimeError('by init_cls')\n",
    # labels are positions in class_order; task t has the next increments[t] of them
    "utils/data_manager.py": """
import numpy as np


class iOther:
    use_path, train_trsf, test_trsf, common_trsf = False, ["flip"], ["crop"], ["tensor"]

    def __init__(self):
        self.class_order = list(range(CLASSES))

    def download_data(self):
        self.train_data = np.array([f"own/train/{i}.png" for i in range(2 * CLASSES)])
        self.test_data = np.array([f"own/test/{i}.png" for i in range(CLASSES)])
        self.train_targets, self.test_targets = np.arange(2 * CLASSES) % CLASSES, np.arange(CLASSES)


def _get_idata(dataset_name, args=None):
    if dataset_name != "other":
        raise NotImplementedError(dataset_name)
    return iOther()


class DataManager(object):
    def __init__(self, dataset_name, shuffle, seed, init_cls, increment, args=None):
        idata = _get_idata(dataset_name, args) if args is not None else _get_idata(dataset_name)
        idata.download_data()
        order = np.random.RandomState(seed).permutation(len(set(idata.train_targets))).tolist() if shuffle else idata.class_order
        assert init_cls <= len(order)
        self._class_order, self.use_path, self.transforms = order, idata.use_path, idata.train_trsf
        self._train = idata.train_data, np.array([order.index(y) for y in idata.train_targets])
        self._test = idata.test_data, np.array([order.index(y) for y in idata.test_targets])
        self._increments = [init_cls]
        while sum(self._increments) + increment < len(order):
            self._increments.append(increment)
        if len(order) > sum(self._increments):
            self._increments.append(len(order) - sum(self._increments))

    def rows(self):
        found, first = [], 0
        for task, size in enumerate(self._increments):
            for split, (paths, labels) in (("train", self._train), ("test", self._test)):
                inside = (labels >= first) & (labels < first + size)
                found += [(str(p), int(y), task, split) for p, y in zip(paths[inside], labels[inside])]
            first += size
        return found
""",
    "trainer.py": """
import json
from models import base
from utils.data_manager import DataManager


def train(args):
    more = (args,) if args.get("backbone_type") else ()
    for seed in args["seed"]:
        manager = DataManager(args["dataset"], args["shuffle"], seed, args["init_cls"], args["increment"], *more)
        said = {"rows": manager.rows(), "increments": manager._increments, "use_path": bool(manager.use_path)}
        import numpy as np
        labels = np.arange(sum(manager._increments))
        said["accuracy"] = {k: float(v) for k, v in base.accuracy(labels, labels, 1, args["init_cls"], args["increment"]).items()}
        json.dump(said, open("said.json", "w"))
""",
}

MAMMOTH = {
    # every file of the folder whose name has no two underscores is a data set, known by its NAME with dashes
    "datasets/__init__.py": """
import importlib
import inspect
import os


def get_dataset_names():
    names = {}
    for file in sorted(os.listdir(os.path.dirname(__file__))):
        if file.endswith(".py") and "__" not in file:
            module = importlib.import_module("datasets." + file[:-3])
            for found in vars(module).values():
                if inspect.isclass(found) and "ContinualDataset" in str(inspect.getmro(found)[1:]):
                    names[found.NAME.replace("_", "-")] = found
    return names
""",
    "datasets/transforms/__init__.py": "",
    "datasets/transforms/denormalization.py": "class DeNormalize:\n    def __init__(self, mean, std): ...\n",
    # as strict as every version together: functions are called with None for self, at once; a name has each default once
    "datasets/utils/__init__.py": """
import functools
import inspect

DEFAULT_ARGS = {}


def set_default_from_args(arg_name):
    own = DEFAULT_ARGS.setdefault(inspect.currentframe().f_back.f_locals["NAME"], {})

    def decorate(function):
        if arg_name in own:
            raise ValueError(f"{arg_name} has a default already")
        own[arg_name] = function(None)

        @functools.wraps(function)
        def called(*args):
            return function(*args) if args else function(None)

        return called

    return decorate
""",
    # class_order[original] is the new label; task t has the labels between its offsets
    "datasets/utils/continual_dataset.py": """
import numpy as np


class ContinualDataset:
    def __init__(self, args):
        self.args, self.c_task = args, -1
        assert self.SETTING == "class-il"
        assert not (args.joint or args.validation)
        if not all((self.NAME, self.SETTING, self.N_CLASSES_PER_TASK, self.N_TASKS, self.SIZE, self.N_CLASSES)):
            raise NotImplementedError("a field is missing")
        if args.permute_classes and not hasattr(args, "class_order"):
            args.class_order = np.random.RandomState(args.seed).permutation(self.N_CLASSES)

    def get_offsets(self):
        k, t = self.N_CLASSES_PER_TASK, self.c_task
        return (k * t, k * (t + 1)) if isinstance(k, int) else (sum(k[:t]), sum(k[:t + 1]))


def store_masked_loaders(train, test, setting):
    setting.c_task += 1
    low, high = setting.get_offsets()
    for dataset in (train, test):
        dataset.targets = np.array(dataset.targets)
        if setting.args.permute_classes:
            dataset.targets = setting.args.class_order[dataset.targets]
        mask = (dataset.targets >= low) & (dataset.targets < high)
        dataset.data, dataset.targets = dataset.data[mask], dataset.targets[mask]
    return train, test
""",
}

AVALANCHE = {
    "avalanche/__init__.py": "",
    # a class is in the experience in which the order names it; the classic one numbers labels by arrival if it is told to
    "avalanche/benchmarks/__init__.py": """
from types import SimpleNamespace as Has


def _cut(order, sizes):
    ends = [sum(sizes[: t + 1]) for t in range(len(sizes))]
    return [order[e - s : e] for e, s in zip(ends, sizes)]


def _streams(train, test, parts, label):
    def stream(data):
        own = [[(i, label(data.targets[i])) for i in range(len(data)) if data.targets[i] in p] for p in parts]
        return [Has(current_experience=t, dataset=[(data[i][0], y) for i, y in pairs]) for t, pairs in enumerate(own)]
    return Has(train_stream=stream(train), test_stream=stream(test))


def class_incremental_benchmark(datasets, *, class_order, num_classes_per_exp):
    classes = set(range(1 + max(datasets["train"].targets)))
    assert set(datasets["train"].targets) == set(datasets["test"].targets) == classes
    assert sum(num_classes_per_exp) == len(classes)
    return _streams(datasets["train"], datasets["test"], _cut(class_order, num_classes_per_exp), lambda y: y)


def nc_benchmark(train, test, *, n_experiences, task_labels, fixed_class_order, per_exp_classes,
                 class_ids_from_zero_from_first_exp):
    assert len(per_exp_classes) == n_experiences and class_ids_from_zero_from_first_exp and not task_labels
    sizes = [per_exp_classes[t] for t in range(n_experiences)]
    return _streams(train, test, _cut(fixed_class_order, sizes), fixed_class_order.index)
""",
}
