"""A head that is not finite once it was aligned is divergence, though training itself ended well."""

from __future__ import annotations

import pytest

from tests.conformance.lab import SCRATCH, TASKS, Case, Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.mark.parametrize("name", ["wa", "der", "memo", "lwf"])
def test_is_divergence(lab: Lab, name: str) -> None:
    """A row of an old class is so long that its square overflows, and no rate moves it: losses and parameters stay finite."""
    params = {"lr": 0.0, **({"align": True} if name == "lwf" else {})}
    method = lab.trained(Case(name, name, params, SCRATCH), TASKS[0])
    method.head.weight[0] = 1e25
    report = method.fit_task(lab.data(method, TASKS[1]))
    assert len(report.losses) == method.config.epochs, "training itself was not well"
    assert report.status == "diverged"
