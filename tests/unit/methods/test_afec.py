"""AFEC and EWC at the ends of their parameters: without penalties they are fine-tuning, with large ones they stand still."""

from __future__ import annotations

import pytest
import torch

from seqsearch.methods.base import Method
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab
from tests.unit.methods.test_fisher import by_hand

SAME = {"lr": 0.05, "backbone_lr": 0.02, "batch_size": 16, "epochs": 3, "weight_decay": 0.0, "scheduler": "cosine"}
FREE = {"ewc": {"lamb": 0.0}, "afec": {"lamb": 0.0, "lamb_e": 0.0}}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


def after(lab: Lab, label: str, target: str, **params: float) -> Method:
    return lab.trained(Case(label, target, {**SAME, **params}), *TASKS[:2])


def gap(a: torch.nn.Module, b: torch.nn.Module) -> float:
    """Distance of two networks."""
    pairs = zip(a.parameters(), b.parameters(), strict=True)
    return float(sum((p - q).detach().double().square().sum() for p, q in pairs) ** 0.5)


@pytest.mark.parametrize("name", ["ewc", "afec"])
def test_without_penalty_it_is_finetuning(lab: Lab, name: str) -> None:
    plain, method = after(lab, "plain", "finetune"), after(lab, f"{name}, free", name, **FREE[name])
    moved = gap(plain.backbone, lab.fresh(Case(name, name)).backbone)
    assert gap(plain.backbone, method.backbone) < 1e-4 * moved
    torch.testing.assert_close(plain.head.weight, method.head.weight, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["ewc", "afec"])
def test_a_large_penalty_holds_the_network(lab: Lab, name: str) -> None:
    drift = {}
    for lamb in (0.0, 1e12):
        params = {**FREE[name], "lamb": lamb}
        first = lab.trained(Case(f"{name}, {lamb}", name, {**SAME, **params}), TASKS[0])
        drift[lamb] = gap(first.backbone, after(lab, f"{name}, {lamb}", name, **params).backbone)
    assert drift[1e12] < 0.7 * drift[0.0]


def test_the_first_task_leaves_both_networks_alike_and_later_ones_part_them(lab: Lab) -> None:
    case = Case("afec, parted", "afec", {**SAME, "lamb": 1e6, "lamb_e": 0.0})
    one, two = lab.trained(case, TASKS[0]), lab.trained(case, *TASKS[:2])
    assert gap(one.backbone, one.empty) == 0
    assert gap(two.backbone, two.empty) > 0


def test_one_step_by_hand(lab: Lab) -> None:
    """One step of phi, its Fisher there, then one step of theta: toward the new labels and toward phi."""
    lr, lamb_e = 0.02, 3e3
    step = {"batch_size": 1000, "epochs": 1, "momentum": 0.0, "scheduler": "constant", "lr": 0.05, "backbone_lr": lr}
    parent = lab.trained(Case("afec, parted", "afec", {**SAME, "lamb": 1e6, "lamb_e": 0.0}), *TASKS[:2])
    method = lab.fresh(Case("afec", "afec", {**SAME, **step, "lamb": 9.0, "lamb_e": lamb_e}))
    method.n_seen, method.n_tasks = parent.n_seen, parent.n_tasks
    method.load_state_dict(parent.state_dict())
    data = lab.data(method, TASKS[2])
    images, labels = data.train.images, data.train.targets - parent.n_seen
    rows = 0.01 * torch.randn(len(TASKS[2]), lab.backbone.dim, generator=data.generator("head"))

    def gradients(network: torch.nn.Module) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
        weight, bias = rows.clone().requires_grad_(True), torch.zeros(len(rows), requires_grad=True)
        loss = torch.nn.functional.cross_entropy(network(images) @ weight.T + bias, labels)
        *own, dw, db = torch.autograd.grad(loss, [*network.parameters(), weight, bias])
        return own, (rows - 0.05 * dw).detach(), (-0.05 * db).detach()

    own, weight, bias = gradients(parent.empty)
    with torch.no_grad():
        for p, g in zip(parent.empty.parameters(), own, strict=True):
            p -= lr * g
    fisher = by_hand(parent.empty, weight, bias, images, labels)
    own, *_ = gradients(parent.backbone)
    lab.fit(method, TASKS[2])
    pairs = zip(
        method.backbone.parameters(), parent.backbone.named_parameters(), parent.empty.parameters(), own, strict=True
    )
    felt = 0.0
    for found, (name, theta), phi, g in pairs:
        pull = (lamb_e * fisher[name]).clamp_max(0.5 / lr) * (theta - phi).detach()
        torch.testing.assert_close(found, theta.detach() - lr * (g + pull), rtol=1e-4, atol=2e-6)
        felt = max(felt, float(lr * pull.abs().max()))
    assert felt > 1e-4


@pytest.mark.parametrize("every", [2, 9])
def test_the_new_network_trains_as_many_epochs_whatever_the_interval(lab: Lab, every: int) -> None:
    """An interval that does not divide the three epochs, or exceeds them: phi is trained for exactly three."""
    case = Case(f"afec, {every}", "afec", {**SAME, **FREE["afec"], "fe_every": every, "momentum": 0.0})
    plain = lab.trained(Case("plain, no momentum", "finetune", {**SAME, "momentum": 0.0}), *TASKS[:2])
    method = lab.trained(case, *TASKS[:2])
    first = lab.trained(case, TASKS[0])
    moved, wanted = gap(method.empty, first.empty), gap(plain.backbone, first.backbone)
    assert moved == pytest.approx(wanted, rel=0.25)  # another shuffling
