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
SEEN = """
import os
def seen():
    print("yes" if os.path.exists(os.environ["SEEN"]) else "no")
"""


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        pytest.param(
            "import seqsearch.backbones.inject; seen(); import wandb; seen()", "no yes", marks=pytest.mark.long
        ),
        ("import seqsearch.backbones, ray.air.integrations.wandb; seen()", "no"),
        pytest.param("import timm; seen()", "yes", marks=pytest.mark.long),
    ],
)
def test_it_is_imported_by_those_who_ask_for_it(code: str, imported: str, tmp_path: Path) -> None:
    (tmp_path / "wandb.py").write_text(WANDB)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    env = {**os.environ, "PYTHONPATH": path, "SEEN": str(tmp_path / "imported")}
    done = subprocess.run(
        [sys.executable, "-c", f"{SEEN}\n{code}"], check=True, env=env, capture_output=True, text=True
    )
    assert done.stdout.split() == imported.split()
