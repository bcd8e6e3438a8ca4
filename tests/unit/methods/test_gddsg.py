"""GDDSG: groups, group choice and ridge regressions against direct computation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from seqsearch.methods.gddsg import GDDSG, class_shapes, grouped, voted
from tests.conformance.lab import TASKS, Case, Lab

NONE = torch.zeros(0, dtype=torch.int64)


def on_circle(*degrees: float) -> torch.Tensor:
    """Class means at these angles."""
    angles = torch.deg2rad(torch.tensor(degrees))
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def radius(degrees: float, classes: int) -> torch.Tensor:
    """Classes conflict if their means are closer than this angle."""
    return torch.full((classes,), float(np.cos(np.deg2rad(degrees))))


def test_similar_classes_are_in_different_groups() -> None:
    means = on_circle(0, 5, 90, 95, 180)
    assert grouped(means, radius(20, 5), NONE, 10).tolist() == [0, 1, 0, 1, 0]


def test_new_classes_join_the_first_group_without_conflict_and_with_room() -> None:
    known = torch.tensor([0, 1])  # at 0 and 5 degrees
    means = on_circle(0, 5, 3, 90, 180, 270)
    assert grouped(means, radius(20, 6), known, 10).tolist() == [0, 1, 2, 0, 0, 0]
    assert grouped(means, radius(20, 6), known, 3).tolist() == [0, 1, 2, 0, 0, 1]


def test_a_conflict_is_by_the_radius_of_the_class_in_the_group() -> None:
    means = on_circle(0, 30)
    wide, narrow = np.cos(np.deg2rad(40)), np.cos(np.deg2rad(10))
    assert grouped(means, torch.tensor([wide, narrow]).float(), torch.tensor([0]), 10).tolist() == [0, 1]
    assert grouped(means, torch.tensor([narrow, wide]).float(), torch.tensor([0]), 10).tolist() == [0, 0]


def test_means_and_radii() -> None:
    g = torch.Generator().manual_seed(0)
    features, columns = torch.randn(20, 4, generator=g), torch.arange(20) % 2
    means, radii = class_shapes(features, columns, 2)
    own = features[columns == 1].double()
    mean = own.mean(dim=0)
    cosines = own @ mean / own.norm(dim=1) / mean.norm()
    torch.testing.assert_close(means[1].double(), mean, atol=1e-6, rtol=0)
    assert float(radii[1]) == pytest.approx(float(cosines.mean()), abs=1e-6)


def test_votes_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    stored, groups, asked = rng.normal(size=(30, 3)), rng.integers(3, size=30), rng.normal(size=(12, 3))
    model = KNeighborsClassifier(n_neighbors=3, weights="distance").fit(stored, groups)
    far, at = torch.cdist(torch.tensor(asked), torch.tensor(stored)).topk(3, largest=False)
    found = voted(far, torch.tensor(groups)[at], 3)
    assert found.tolist() == model.predict(asked).tolist()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(Path(tmp_path_factory.mktemp("gddsg")))


@pytest.mark.parametrize("M", [20, 400])
def test_each_group_has_a_ridge_regression_of_its_own_images(lab: Lab, M: int) -> None:
    method = lab.trained(Case(f"ridge {M}", "gddsg", {"group_size": 6, "ridge": 3.0, "M": M}), *TASKS)
    assert isinstance(method, GDDSG)
    assert len(set(method.groups.tolist())) > 1
    for group in set(method.groups.tolist()):
        columns = (method.groups == group).nonzero().flatten()
        mine = torch.isin(method.samples["columns"], columns)
        h = torch.relu(method.samples["features"][mine] @ method.projection).double()
        y = (method.samples["columns"][mine][:, None] == columns).double()
        reference = Ridge(alpha=3.0, fit_intercept=False).fit(h.numpy(), y.numpy()).coef_.T
        np.testing.assert_allclose(method.readout[:, columns].numpy(), reference, atol=2e-5)


def test_the_chosen_group_is_boosted(lab: Lab) -> None:
    plain, boosted = (lab.trained(Case(str(b), "gddsg", {"group_size": 6, "boost": b}), *TASKS) for b in (0.0, 1.5))
    assert isinstance(boosted, GDDSG)
    batch = lab.batch(TASKS[0])
    chosen = boosted.group_of(batch.frozen)
    factor = torch.where(boosted.groups == chosen[:, None], 2.5, 1.0)
    torch.testing.assert_close(boosted.predict(batch), plain.predict(batch) * factor)


def test_the_order_of_tasks_changes_groups(lab: Lab) -> None:
    case = Case("g", "gddsg", {"group_size": 6})
    forward, backward = lab.trained(case, *TASKS), lab.trained(case, *reversed(TASKS))
    orders = [[c for task in tasks for c in task] for tasks in (TASKS, tuple(reversed(TASKS)))]
    found = [(order, m) for order, m in zip(orders, (forward, backward), strict=True) if isinstance(m, GDDSG)]
    mine = [{c for c, of in zip(order, m.groups.tolist(), strict=True) if of == 0} for order, m in found]
    assert mine[0] != mine[1]
