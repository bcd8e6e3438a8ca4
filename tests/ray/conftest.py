"""One Ray for all tests that only need workers, and one study in this process to compare theirs with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from tests.ray.watched import METHODS, Nodes
from tests.studies import Finished, run_small

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def two_nodes() -> Iterator[Cluster]:
    """Two nodes of one CPU that see the same disk. Once a test has asked for them, this process stays connected."""
    with Nodes(2) as made:
        yield made


@pytest.fixture(scope="session")
def inline(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_small(tmp_path_factory.mktemp("inline"), methods=METHODS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a Ray come last: the others start one of their own, or must find none. Those of a file are one group for
    ``--dist loadgroup``, in which the two kinds are apart: a process that has the shared Ray gets none of the others. The file
    that takes longest comes first, so that no process waits for it in the end."""
    here = [item for item in items if HERE in item.path.parents]
    for item in here:
        shares = "two_nodes" in getattr(item, "fixturenames", ())
        item.add_marker(pytest.mark.xdist_group(f"{'shared ' if shares else ''}{item.path.stem}"))
    items.sort(key=lambda item: ("two_nodes" in getattr(item, "fixturenames", ()), item.path.stem != "test_tuning"))
