"""Workers look for modules where the process that starts them does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from actors.cluster import _job_config


def test_the_working_directory_is_searched_by_workers_only_if_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path) not in _job_config()._py_driver_sys_path
    assert _job_config()._runtime_env_has_working_dir()  # or Ray adds it
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert _job_config()._py_driver_sys_path[-1] == str(tmp_path)
