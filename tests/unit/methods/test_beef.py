"""BEEF: its losses and rivals recomputed with numpy, what its published form does, and what the default mends."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from seqsearch.methods.beef import Beef, fused
from seqsearch.methods.parts.energy import NOISE, RATE, Slots, claimed, energy_loss, rivals
from seqsearch.methods.parts.head import Head
from seqsearch.states.cache import StateCache
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab, same

QUICK = {"first_epochs": 1, "epochs": 1, "fusion_epochs": 2}
BEEF = Case("beef", "beef", QUICK, SCRATCH)
PUBLISHED = Case("beef, published", "beef", {**QUICK, "form": "published"}, SCRATCH)
LEVELS = torch.full((3,), -2.0), torch.full((3,), 2.0)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def softmax(z: np.ndarray) -> np.ndarray:
    exponentials = np.exp(z - z.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_what_forward_prototypes_claim() -> None:
    scores, energies = 3 * normal(5, 4), 3 * normal(5, 6, seed=1)
    shares = softmax(torch.cat([scores, energies], 1).numpy())[:, 4:].sum(1)
    np.testing.assert_allclose(claimed(scores, energies).numpy(), np.log(shares))
    assert float(claimed(scores, energies, published=True)) == pytest.approx(np.log(shares.sum()))


def test_rivals_of_a_linear_network() -> None:
    """Three steps, whose gradients are ``E' softmax(e) - [S; E]' softmax([s, e])``."""
    images, to_slots, to_energies = normal(2, 3, 4, 4, seed=2), normal(5, 48), normal(3, 48, seed=1)
    images *= 0.5
    draw = torch.Generator().manual_seed(7)
    x = images.numpy()[:, :, ::-1, ::-1].reshape(2, 48).copy()
    s, e = to_slots.numpy(), to_energies.numpy()
    for _ in range(3):
        every = np.concatenate([s, e])
        gradient = softmax(x @ e.T) @ e - softmax(x @ every.T) @ every
        x = x - RATE * gradient + NOISE * torch.randn((2, 48), generator=draw).numpy()

    def look(made):
        return made.flatten(1) @ to_slots.T, made.flatten(1) @ to_energies.T

    found = rivals(images, look, torch.Generator().manual_seed(7), LEVELS)
    np.testing.assert_allclose(found.flatten(1).numpy(), np.clip(x, -2, 2), rtol=1e-6, atol=1e-7)


def steep(height: float) -> tuple[Tensor, Tensor]:
    """Images that are white, and a network of slots that score ``height`` times what they are."""
    white = torch.full((4, 3, 2, 2), 2.0)
    return white, torch.full((12, 1), height)


def rivals_of(height: float, published: bool) -> Tensor:
    white, slot = steep(height)

    def look(made: Tensor) -> tuple[Tensor, Tensor]:
        score = made.flatten(1) @ slot
        return score, 0 * score

    return rivals(white, look, torch.Generator().manual_seed(0), LEVELS, published)


def test_published_rivals_of_well_known_images_are_not_numbers() -> None:
    """At scores 480 above the energies ``log sum`` is minus infinity; at 60 it is not, and the images leave the range."""
    assert bool(torch.isnan(rivals_of(20.0, published=True)).all())
    assert float(rivals_of(2.5, published=True).min()) > 2.01
    for height in (2.5, 20.0):
        found = rivals_of(height, published=False)
        assert bool(torch.isfinite(found).all())
        assert float(found.abs().max()) <= 2


def test_a_step_that_is_not_finite_is_not_made() -> None:
    white, _ = steep(1.0)
    found = rivals(
        white, lambda x: (x.flatten(1) * float("inf"), x.flatten(1)), torch.Generator().manual_seed(0), LEVELS
    )
    assert torch.equal(found, white)


def test_energy_loss_leaves_out_the_own_slot() -> None:
    scores, energies = normal(5, 4), normal(5, 6, seed=1)
    slots, targets = torch.tensor([0, 1, 1, 3, 0]), torch.tensor([5, 2, 3, 4, 0])
    for published in (False, True):
        left = scores.numpy().copy()
        for i in range(5):
            left[slice(None) if published else i, slots[i]] = 1e-9
        found = softmax(np.concatenate([left, energies.numpy()], 1))
        expected = -np.log(found[np.arange(5), 4 + targets.numpy()]).mean()
        assert float(energy_loss(scores, energies, slots, targets, published)) == pytest.approx(expected)


def test_fused_scores_are_old_ones_and_scaled_prototypes() -> None:
    old, f = Head(normal(3, 4), normal(3, seed=1)), normal(7, 6, seed=2)
    classes, before = Head(normal(2, 2, seed=3), normal(2, seed=4)), Head(normal(2, 2, seed=5), normal(2, seed=6))
    scale, offset, tasks = torch.tensor([0.5, -0.2]).double(), torch.tensor([0.1, 0.7]).double(), [0, 0, 1]
    head = fused(old, Slots(classes, before, classes), torch.tensor(tasks), scale, offset)
    for c in range(5):
        if c < 3:
            k = tasks[c]
            expected = old(f[:, :4])[:, c] + (1 + scale[k]) * before(f[:, 4:])[:, k] + offset[k]
        else:
            expected = classes(f[:, 4:])[:, c - 3]
        torch.testing.assert_close(head(f)[:, c], expected)
    missing = fused(old, Slots(classes, before, classes), torch.tensor(tasks), scale, offset, biases=False)
    torch.testing.assert_close(head(f) - missing(f), torch.cat([old.bias, torch.zeros(2).double()]).expand(7, 5))


def test_loss_of_expansion(lab: Lab) -> None:
    """At a rate of 0, in one batch, without rivals: the new network is the first one, with batch statistics of these images."""
    parent = lab.trained(BEEF, *TASKS[:2])
    still = lab.fresh(BEEF, lr=0.0, batch_size=1000, energy_weight=0.0, alignment=2.0)
    still.n_seen, still.n_tasks = parent.n_seen, parent.n_tasks
    still.load_state_dict(parent.state_dict())
    assert isinstance(still, Beef)
    data = lab.data(still, TASKS[2])
    together, slots = still.with_exemplars(data), still._slots(data)
    assert (len(slots.classes), len(slots.before), len(slots.forward)) == (4, 2, 11)
    with torch.no_grad():
        scores, _ = slots(copy.deepcopy(still.networks[0]).train()(together.images))
    z = scores.double().numpy()
    z[:, :2] /= 2.0
    y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5])[together.targets.numpy()]
    report = still.fit_task(replace(data))
    assert report.losses[0] == pytest.approx(-np.log(softmax(z)[np.arange(len(y)), y]).mean(), rel=1e-5)


def test_fusion_sees_equally_many_images_of_every_class(lab: Lab) -> None:
    method = lab.trained(BEEF, *TASKS[:2])
    assert isinstance(method, Beef)
    data = lab.data(method, TASKS[2])
    balanced = method._balanced(data)
    assert (
        torch.bincount(balanced.targets).tolist() == [1] * 11
    )  # twelve exemplars of seven classes: two of some, one of others
    assert set(balanced.indices[:7].tolist()) <= set(method.exemplars().tolist())
    assert set(balanced.indices[7:].tolist()) <= set(data.train.indices.tolist())


@pytest.mark.long
def test_only_the_published_form_changes_old_networks(lab: Lab) -> None:
    """Of its second network the batch statistics, in the third task."""
    for case, stays in ((BEEF, True), (PUBLISHED, False)):
        before, after = lab.trained(case, *TASKS[:2]), lab.trained(case, *TASKS)
        assert isinstance(before, Beef)
        assert isinstance(after, Beef)
        assert same(before.networks[0].state_dict(), after.networks[0].state_dict())
        assert same(before.networks[1].state_dict(), after.networks[1].state_dict()) == stays
        assert same(dict(before.networks[1].named_parameters()), dict(after.networks[1].named_parameters()))


def test_published_scores_lack_old_biases_right_after_a_task(lab: Lab) -> None:
    first, second = lab.trained(PUBLISHED, TASKS[0]), lab.trained(PUBLISHED, *TASKS[:2])
    assert isinstance(first, Beef)
    assert isinstance(second, Beef)
    batch, missing = lab.batch(TASKS[0]), torch.cat([first.head.bias, torch.zeros(3)])
    assert float(missing.abs().max()) > 0
    assert torch.equal(second.predict(batch), second.head(second.features(batch)) - missing)


@pytest.mark.long
def test_the_published_form_goes_on_from_its_state(lab: Lab) -> None:
    method = lab.fresh(PUBLISHED)
    lab.fit(method, *TASKS[:2])
    state = method.state_dict()
    untouched = {name: tensor.clone() for name, tensor in state.items()}
    restored = lab.restored(PUBLISHED, state, *TASKS[:2])
    lab.fit(method, TASKS[2])
    lab.fit(restored, TASKS[2])
    assert same(method.state_dict(), restored.state_dict())
    assert same(state, untouched)


def test_the_published_form_diverges_where_the_default_does_not(lab: Lab) -> None:
    statuses = {}
    for case in (PUBLISHED, BEEF):
        method = lab.fresh(case, first_lr=1.0, first_epochs=3)
        report = method.fit_task(lab.data(method, TASKS[0]))
        statuses[report.notes["stabilised"]] = report.status
    assert statuses == {0.0: "diverged", 1.0: "ok"}


def test_a_state_shares_networks_that_are_final(lab: Lab, tmp_path: Path) -> None:
    """On disk a task adds one network and the head; a method that loads a state copies no network."""
    cache, parent, size = StateCache(tmp_path), None, 0
    for k in (1, 2, 3):
        state = lab.trained(BEEF, *TASKS[:k]).state_dict()
        cache.put(str(k), state, keep=True, parent=parent)
        found = sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file())
        new = [t for n, t in state.items() if not n.startswith("frozen.") or n.startswith(f"frozen.{k - 1}.")]
        assert found - size < 1.2 * sum(t.nbytes for t in new)
        parent, size = str(k), found
    method = lab.restored(BEEF, state, *TASKS)
    assert isinstance(method, Beef)
    for k, network in enumerate(method.networks):
        assert all(t.data_ptr() == state[f"frozen.{k}.{n}"].data_ptr() for n, t in network.state_dict().items())
