"""timm and Ray Tune do not import a tracker through seqsearch; what a method imports itself, it gets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WANDB = """
import sys
from pathlib import Path
Path(__file__).with_name("imported").touch()
"""


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        ("import seqsearch.backbones.inject", False),
        ("import seqsearch.backbones, ray.air.integrations.wandb", False),
        ("import timm", True),
        ("import seqsearch.backbones.inject, wandb", True),
    ],
)
def test_it_is_imported_by_those_who_ask_for_it(code: str, imported: bool, tmp_path: Path) -> None:
    (tmp_path / "wandb.py").write_text(WANDB)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})
    assert (tmp_path / "imported").exists() is imported
