"""LUCIR's margin by hand, its imprinted rows, and what tuning moves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from seqsearch.methods.lucir import margin
from tests.conformance.lab import SCRATCH, TASKS, TWO_BLOCKS, Lab, method_of


def test_the_margin_is_of_old_images_and_their_nearest_new_classes() -> None:
    cosines = torch.tensor(
        [[0.9, 0.1, 0.5, 0.6, -0.2], [0.2, 0.3, 0.7, -0.5, 0.65], [0.1, 0.0, 0.9, 0.2, 0.3]], dtype=torch.float64
    )
    targets = torch.tensor([0, 1, 2])  # the last image is of a new class
    found = margin(cosines, targets, range(2, 5), 2, 0.5)
    by_hand = [0.5 - 0.9 + 0.6, 0.5 - 0.9 + 0.5, 0.5 - 0.3 + 0.7, 0.5 - 0.3 + 0.65]
    assert float(found) == pytest.approx(np.mean(np.maximum(by_hand, 0)))
    assert float(margin(cosines[2:], targets[2:], range(2, 5), 2, 0.5)) == 0.0
    assert float(margin(cosines[:1], targets[:1], range(2, 5), 9, 0.5)) == pytest.approx((0.2 + 0.1 + 0.0) / 3)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def test_new_rows_start_at_the_mean_direction_with_the_length_of_old_rows(lab: Lab) -> None:
    """A second task without a step: a rate of 0 and no tuning."""
    method = method_of(lab, "lucir", TASKS[0], lr=0.0, tuning_epochs=0)
    old = torch.cat([method.head.old, method.head.new])[:, 0]
    data = lab.data(method, TASKS[1])
    features = functional.normalize(method.features(data.train))
    assert method.fit_task(data).status == "ok"
    rows = torch.cat([method.head.old, method.head.new])[:, 0]
    torch.testing.assert_close(rows[:4], old)
    for k in range(3):
        mean = features[data.train.targets == 4 + k].mean(0)
        torch.testing.assert_close(rows[4 + k], old.norm(dim=1).mean() * mean / mean.norm())


def test_tuning_moves_new_rows_and_eta_alone(lab: Lab) -> None:
    states = [method_of(lab, "lucir", *TASKS[:2], tuning_epochs=epochs).state_dict() for epochs in (0, 3)]
    changed = {name for name in states[0] if not torch.equal(states[0][name], states[1][name])}
    assert changed == {"head.proxies", "head.eta"}
    rows = [state["head.proxies"] for state in states]
    assert torch.equal(rows[0][:4], rows[1][:4])


def test_it_learns_transformers_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    """They have no last activation to remove."""
    lab = Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)
    method = method_of(lab, "lucir", *TASKS[:2])
    assert method.predict(lab.batch(TASKS[0])).shape == (32, 7)
