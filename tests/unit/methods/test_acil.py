"""ACIL: its recursion as the paper writes it, and orders after the first task."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.conformance.lab import TASKS, TWO_BLOCKS, Lab, method_of


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


@pytest.mark.parametrize("M", [20, 400])
def test_it_solves_what_the_paper_updates(lab: Lab, M: int) -> None:
    """Equations 9 and 10 of the paper, one image at a time; with M = 20 sums are stored, with 400 features."""
    method = method_of(lab, "acil", *TASKS, epochs=0, M=M, ridge=0.3)
    inverse, readout = np.eye(M) / 0.3, np.zeros((M, 0))
    for classes in TASKS:
        data, done = lab.data(method, classes), readout.shape[1]
        h = torch.relu(data.train.frozen.double() @ method.projection.double()).numpy()
        readout = np.pad(readout, ((0, 0), (0, len(classes))))
        for row, label in zip(h[:, None], (data.train.targets - data.columns.start).tolist(), strict=True):
            y = np.eye(readout.shape[1])[[done + label]]
            inverse = inverse - inverse @ row.T @ row @ inverse / (1 + row @ inverse @ row.T)
            readout = readout + inverse @ row.T @ (y - row @ readout)
    np.testing.assert_allclose(method.readout.numpy(), readout, atol=2e-4)


def test_the_order_of_later_tasks_does_not_matter(lab: Lab) -> None:
    one, other = (method_of(lab, "acil", *tasks, epochs=1) for tasks in (TASKS, (TASKS[0], TASKS[2], TASKS[1])))
    asked = lab.batch(TASKS[1])
    columns = [0, 1, 2, 3, 8, 9, 10, 4, 5, 6, 7]
    torch.testing.assert_close(one.predict(asked), other.predict(asked)[:, columns], rtol=1e-3, atol=1e-5)
