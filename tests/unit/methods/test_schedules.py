"""Schedules of the baselines on networks from scratch are those of the PyCIL toolbox; others are as before."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.core.registry import load
from seqsearch.methods.config import build_config
from seqsearch.methods.parts.training import Descent
from tests.conformance.lab import EMBEDDED, SCRATCH, Lab
from tests.conformance.lab import Case as Method

FIRST = (200, (60, 120, 170), 0.1, 5e-4)
"""Epochs, epochs after which the rate falls, rate, weight decay."""
LATER: dict[str, tuple[int, tuple[int, ...], float, float]] = {
    "finetune": (80, (40, 70), 0.1, 2e-4),
    "lwf": (250, (60, 120, 180, 220), 0.1, 2e-4),
    "ewc": (180, (70, 120, 150), 0.1, 2e-4),
    "afec": (180, (70, 120, 150), 0.1, 2e-4),
    **dict.fromkeys(("er", "derpp", "er_ace"), (70, (30, 50), 0.1, 2e-4)),
    "clser": (70, (30, 50), 0.1, 2e-4),
    "replay": (70, (30, 50), 0.1, 2e-4),
}


def config(name: str, backbone: str, **params: Any) -> Any:
    return build_config(load("method", name), params, backbone)


def falls(descent: Descent) -> tuple[int, ...]:
    """Epochs before which the rate has fallen to a tenth of the one before."""
    rates = [descent.rate(epoch / descent.epochs) for epoch in range(descent.epochs)]
    return tuple(e for e in range(1, descent.epochs) if rates[e] == pytest.approx(0.1 * rates[e - 1]))


@pytest.mark.parametrize("backbone", ["scratch:resnet32", "scratch:resnet18"])
@pytest.mark.parametrize("name", LATER)
def test_the_first_task_and_later_ones_are_trained_as_in_pycil(name: str, backbone: str) -> None:
    c = config(name, backbone)
    first, later, (epochs, drops, rate, decay) = c.schedule(0), c.schedule(1), LATER[name]
    of_first = (200, (60, 120, 160), 0.1, 5e-4) if name == "lwf" else FIRST
    assert (first.epochs, falls(first), c.first_lr, first.weight_decay) == of_first
    assert (later.epochs, falls(later), c.lr, later.weight_decay) == (epochs, drops, rate, decay)
    assert (first.momentum, later.momentum, first.optimizer) == (0.9, 0.9, "sgd")
    assert getattr(c, "backbone_lr", rate) == rate


@pytest.mark.parametrize("name", ["ewc", "der", "icarl", "foster", "memo", "tagfex", "finetune"])
def test_the_rate_falls_after_epochs_that_are_given(name: str) -> None:
    """The one schedule that "The Lie of the Average" prints for all methods, in first tasks and later ones."""
    given = {"first_epochs": 170, "epochs": 170, "weight_decay": 5e-4, "drop_epochs": "60/120", "scheduler": "steplr"}
    c = config(name, "scratch:resnet18", **given)
    for descent in (c.schedule(0), c.schedule(1)):
        assert (descent.epochs, falls(descent), descent.weight_decay) == (170, (60, 120), 5e-4)


def test_epochs_that_are_given_go_before_milestones() -> None:
    c = config("der", "scratch:resnet18", epochs=100, milestones=3, drop_epochs=30)
    assert falls(c.schedule(1)) == (30,)
    assert falls(c.schedule(0)) == (30,)


@pytest.mark.parametrize(
    "drops", ["60,120", "0/60", "60/60", "120/60", "60/", "-5", "6.5", "x", "60//120", "", "²", "9" * 5000]
)
def test_epochs_of_drops_that_are_none_are_refused(drops: str) -> None:
    with pytest.raises(
        UserError, match=r"drop_epochs=.*must be rising epochs with slashes between, as 60/120, or none"
    ):
        config("der", "scratch:resnet18", drop_epochs=drops)


def test_joint_training_has_the_first_schedule_for_all_classes() -> None:
    c = config("joint", "scratch:resnet32")
    for depth in (0, 3):
        s = c.schedule(depth)
        assert (s.epochs, falls(s), c.lr, s.weight_decay) == FIRST


def test_a_slow_learner_learns_fast_on_the_first_task_from_scratch() -> None:
    c = config("slca", "scratch:resnet32")
    assert (c.schedule(0).epochs, falls(c.schedule(0)), c.schedule(0).weight_decay) == (200, (60, 120, 170), 5e-4)
    assert (c.schedule(1).epochs, c.backbone_lr, c.lr) == (20, 0.0001, 0.01)
    network, head = torch.nn.Linear(1, 1), [torch.zeros(1)]
    assert [g.lr for g in c.groups(0, network, head)] == [0.1, 0.1]
    assert [g.lr for g in c.groups(1, network, head)] == [0.0001, 0.01]


@pytest.mark.parametrize("backbone", ["vit_base_patch16_224", EMBEDDED, SCRATCH])
@pytest.mark.parametrize("name", ["finetune", "lwf", "ewc", "afec", "er", "clser", "slca", "joint"])
def test_elsewhere_all_tasks_are_trained_alike(name: str, backbone: str) -> None:
    c = config(name, backbone)
    first, later = c.schedule(0), c.schedule(1)
    assert (first.epochs, first.weight_decay) == (later.epochs, later.weight_decay)
    assert first.rate(0.8) == later.rate(0.8)


def test_a_first_task_apart_ignores_the_later_schedule(tmp_path: Any) -> None:
    """The same network after one task, whatever later tasks have; another one where it has no schedule of its own."""
    lab, task = Lab(tmp_path, SCRATCH), (0, 5, 10, 14)

    def state(**params: Any) -> torch.Tensor:
        made = lab.trained(Method(f"lwf {params}", "lwf", params, SCRATCH), task).state_dict()
        found: torch.Tensor = made["head.weight"]
        return found

    one, two = state(first_epochs=2, epochs=1, lr=0.01), state(first_epochs=2, epochs=3, lr=0.02)
    assert torch.equal(one, two)
    assert not torch.equal(state(epochs=1), state(epochs=2))


def test_new_rows_start_as_in_pycil_from_scratch_and_small_elsewhere(tmp_path: Any) -> None:
    from seqsearch.methods.parts.head import first_rows

    spreads = {}
    for backbone in (SCRATCH, EMBEDDED):
        context = (
            Lab(tmp_path / backbone.replace(":", "-"), backbone).fresh(Method("x", "finetune", {}, backbone)).context
        )
        weight = first_rows(context, 500, torch.Generator().manual_seed(0)).weight.detach()
        spreads[backbone] = float(weight.std()) * context.dim**0.5, float(weight.std())
    assert spreads[SCRATCH][0] == pytest.approx(1, rel=0.02)
    assert spreads[EMBEDDED][1] == pytest.approx(0.01, rel=0.02)
