"""Trainings of two descents: killed at the end of the first or within the second, they go on in every bit as if never killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from seqsearch.methods.base import FitReport, Method
from tests.conformance.lab import SCRATCH, TASKS, WITH, Case, Lab, same

CASES = {"bic": {"correction_epochs": 3}, "podnet": {"tuning_epochs": 3}}


class Killed(Exception):
    """What ends a training here."""


class Kept:
    """Keeps each phase's last epoch, and kills the training after ``left`` epochs (`seqsearch.methods.data.Progress`)."""

    def __init__(self, left: int) -> None:
        self.left, self.phases, self._states = left, list[str](), dict[str, dict[str, Any]]()

    def found(self, phase: str) -> dict[str, Any] | None:
        return self._states.get(phase)

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        self._states[phase] = {n: v.clone() if isinstance(v, torch.Tensor) else v for n, v in state().items()}
        self.phases.append(phase)
        self.left -= 1
        if self.left == 0:
            raise Killed


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_goes_on_in_every_bit(lab: Lab, name: str) -> None:
    case = Case(name, name, {**WITH.get(name, {}), **CASES[name]}, SCRATCH)
    state = lab.trained(case, TASKS[0]).state_dict()

    def learn(progress: Kept) -> tuple[Method, FitReport]:
        method = lab.restored(case, state, TASKS[0])
        return method, method.fit_task(replace(lab.data(method, TASKS[1]), progress=progress))

    whole = Kept(-1)
    expected, report = learn(whole)
    assert len(whole.phases) == 6
    assert len(set(whole.phases)) == 2
    for epochs in (2, 3, 5, 6):
        progress = Kept(epochs)
        with pytest.raises(Killed):
            learn(progress)
        again, told = learn(progress)
        assert len(progress.phases) == 6, "what was done was done again"
        assert same(again.state_dict(), expected.state_dict())
        assert told == report
