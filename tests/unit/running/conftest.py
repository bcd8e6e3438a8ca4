"""A finished run, for tests of what is said of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.running.folder import RunFolder
from tests.studies import execute, small_settings


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "mine"
    settings = small_settings(score_seeds=1)
    folder = RunFolder.create(path, settings)
    assert execute(folder, settings)
    folder.close()
    return path
