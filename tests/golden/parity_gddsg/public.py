"""Run GDDSG's public grouping and ridge regressions: ``python -m tests.golden.parity_gddsg.public FOLDER`` writes ``public.npz``.

FOLDER holds GDDSG, which is no part of this repository; docs/parity_setup.md says which commit. ``Learner.replace_fc`` and
``Learner.setup_RP`` run as they are. Around them these parts are replaced, each time with the reason:

- modules that choose the group of a test image, and those of networks, are empty: they need further packages, and
  ``replace_fc`` does not use them.
- the network returns its input, the common features; the projection is the common one.
- ``Tensor.cuda`` and ``Tensor.to`` return the tensor: there is no GPU.
- ``optimise_ridge_parameter`` returns the common penalty, because its choice depends on the shuffle.

Written are, after task T: ``groups.T`` ``[C]``, ``readout.T`` ``[M, C]``, and ``scores.T`` ``[n, C]`` of the test images of all
classes seen, by the public sum over groups, each image with the true group of its class as the chosen one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from tests.golden.parity_gddsg.ours import CENTRES, DIM, IMAGES, RIDGE, SIZE, TASKS, TEST, M, common, digest

FILE = Path(__file__).with_name("public.npz")
EMPTY = ("inc_net", "utils.predictitid", "lightgbm", "imblearn", "imblearn.over_sampling")
BOOST = 1.5
"""Of the chosen group, in the public code."""


class Network(SimpleNamespace):
    """Returns its input."""

    def eval(self) -> Network:
        return self

    def convnet(self, features: Tensor) -> Tensor:
        return features


def learner_of(folder: str) -> Any:
    """A public learner on common features, before its first task."""
    sys.path.insert(0, folder)
    with mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in EMPTY}):
        from GDDSG import Learner
    learner = Learner.__new__(Learner)
    fc = SimpleNamespace(in_features=DIM, out_features=1, reset_parameters=lambda: None)
    learner._network = Network(fc=fc)
    learner.args = {"use_RP": True, "M": M, "k": SIZE}
    learner.total_classnum, learner._cur_task, learner.ptask = len(CENTRES), -1, 0
    learner.optimise_ridge_parameter = lambda *_: RIDGE
    learner.setup_RP()
    learner.W_rand = common()["projection"]
    return learner


def scored(learner: Any, seen: int) -> Tensor:
    """Scores of the test images of ``seen`` classes, each with the group of its class."""
    features = common()["test"][:seen].reshape(-1, DIM)
    h, total = torch.relu(features @ learner.W_rand), sum(learner.Wo[:-1])
    groups = [learner.mp[c] for c in range(seen) for _ in range(TEST)]
    rows = [x @ total.T + BOOST * x @ learner.Wo[g].T for x, g in zip(h, groups, strict=True)]
    return torch.stack(rows)[:, :seen]


def main(folder: str) -> None:
    """Learn all tasks with GDDSG in ``folder`` and write what came of it."""
    torch.set_num_threads(1)
    shared, kept = common(), {}
    kept["digest"] = np.array(digest(shared))
    same = mock.patch.multiple(torch.Tensor, cuda=lambda t, *_, **__: t, to=lambda t, *_, **__: t)
    with same:
        learner = learner_of(folder)
        for number, classes in enumerate(TASKS):
            learner._cur_task = number
            images = shared["train"][list(classes)].reshape(-1, DIM)
            labels = torch.tensor(classes).repeat_interleave(IMAGES)
            learner.replace_fc([(None, images, labels)])
            seen = classes[-1] + 1
            groups = [learner.mp[c] for c in range(seen)]
            kept[f"groups.{number}"] = np.array(groups)
            kept[f"readout.{number}"] = torch.stack([learner.Wo[g][c] for c, g in enumerate(groups)], dim=1).numpy()
            kept[f"scores.{number}"] = scored(learner, seen).numpy()
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main(sys.argv[1])
