"""The tutorials run as notebooks, from the first cell to the last, in a kernel of their own."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient

from seqsearch.core.installation import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def test_there_are_four() -> None:
    assert {p.stem for p in TUTORIALS} == {"first_run", "my_method", "my_images", "class_orders"}


@pytest.mark.long
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda p: p.stem)
def test_a_tutorial_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = jupytext.read(path)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    assert not [o for o in outputs if o["output_type"] == "error"]
    assert any("text/html" in o.get("data", {}) for o in outputs), "a run shows its summary"
    assert any(o.get("data") == {"text/plain": ""} for o in outputs), "progress was shown in a line, which is gone"
