"""``gddsg`` makes the groups, readouts and scores that its public code makes from the same features (`public`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.golden.parity_gddsg.ours import TASKS, TEST, Ours, common, digest

RECORD = Path(__file__).with_name("public.npz")


@cache
def record() -> dict[str, np.ndarray[Any, Any]]:
    with np.load(RECORD) as file:
        return {name: file[name] for name in file.files}


def furthest(name: str, **params: Any) -> float:
    """Largest difference of a value, after any task."""
    ours, found = Ours(**params), []
    for number in range(len(TASKS)):
        ours.learn()
        groups = torch.from_numpy(record()[f"groups.{number}"])
        value = ours.method.readout if name == "readout" else ours.scores(groups.repeat_interleave(TEST))
        found.append(float((value - torch.from_numpy(record()[f"{name}.{number}"])).abs().max()))
    return max(found)


def test_features_are_those_of_the_record() -> None:
    assert str(record()["digest"]) == digest(common())


def test_groups_are_those_of_the_public_code() -> None:
    ours = Ours()
    for number in range(len(TASKS)):
        ours.learn()
        assert ours.method.groups.tolist() == record()[f"groups.{number}"].tolist()
    assert len(set(ours.method.groups.tolist())) > 2


def test_readouts_and_scores_are_those_of_the_public_code() -> None:
    assert furthest("readout") < 1e-4
    assert furthest("scores") < 1e-3


def test_another_setting_gives_others() -> None:
    assert furthest("readout", group_size=2) > 1e-2
    assert furthest("readout", ridge=11.0) > 1e-3
    assert furthest("scores", boost=1.4) > 1e-2
