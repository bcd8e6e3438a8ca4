"""Generators of a training go on: the loop that everyone writes draws other numbers in each round."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from seqsearch.methods.base import Context
from seqsearch.methods.data import TaskData
from seqsearch.streams.playing import Played, Playing
from seqsearch.training.context import PoolSource
from seqsearch.training.streaming import Credit, SegmentData, StreamStep
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab


def given(folder: Path) -> tuple[Context, TaskData]:
    lab = Lab(folder, TWO_BLOCKS)
    method = lab.fresh(Case("simplecil", "simplecil", backbone=TWO_BLOCKS))
    return method.context, lab.data(method, TASKS[0])


def orders(task: TaskData) -> list[list[int]]:
    """As a plain loop over epochs draws them."""
    return [torch.randperm(40, generator=task.generator("shuffle")).tolist() for _ in range(3)]


def test_a_loop_over_epochs_draws_another_order_in_each(tmp_path: Path) -> None:
    context, task = given(tmp_path)
    found = orders(task)
    assert len({tuple(order) for order in found}) == 3
    assert found == orders(replace(task)), "the next training draws the same, whatever was drawn in this one"
    assert torch.equal(
        torch.randn(3, generator=task.generator("a").clone_state()), torch.randn(3, generator=task.generator("a"))
    )
    drawn = [torch.randn(3, generator=context.generator("projection")) for _ in range(2)]
    assert torch.equal(*drawn), "what is drawn again after a state was loaded is the same"


def test_so_do_those_of_a_step_of_a_stream(tmp_path: Path) -> None:
    played = Played(Playing("glyphs:samples=60,classes=4", batch=20))
    source = Lab(tmp_path, TWO_BLOCKS).source.inner
    assert isinstance(source, PoolSource)

    def drawn() -> list[bytes]:
        step = StreamStep(SegmentData(played, source, 0, 0, 3, 0, 0), 1, Credit(1.0))
        rounds = [step.draws("sample").permutation(40).tobytes() for _ in range(2)]
        return [*rounds, *(torch.randperm(40, generator=step.generator("x")).numpy().tobytes() for _ in range(2))]

    found = drawn()
    assert len(set(found)) == 4
    assert found == drawn()
    assert np.frombuffer(found[0], dtype=np.int64).sum() == 780
