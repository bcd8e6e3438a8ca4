"""``--device`` of commands that make no run: ``auto`` where nothing is said, and a GPU that is not there is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.lines import messages
from tests.unit.running.baits import call

SIMILARITY = ("similarity", "prototypes", "--pool", "glyphs:classes=4", "--images", 2)


def test_what_needs_a_gpu_is_refused_without_one(tmp_path: Path) -> None:
    pools = ("pool", "build", "glyphs:classes=4", tmp_path / "pool.parquet", "--device", "cuda")
    for asked in (
        (*SIMILARITY, "--device", "cuda", "--out", tmp_path / "s.csv"),
        (*pools, "--aliases-with", "glyph_vit"),
    ):
        said = call(*asked)
        [line] = messages(said.stderr)
        assert (said.exit_code, said.stdout) == (2, "")
        assert "--device cuda: this machine has no GPU that torch can use" in line
    assert "--device cuda is for --aliases-with: leave it out" in call(*pools).stderr
    assert list(tmp_path.iterdir()) == []


def test_auto_looks_for_a_gpu_and_cpu_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(asked.append("looked")))
    made = [tmp_path / "auto.csv", tmp_path / "cpu.csv"]
    assert call(*SIMILARITY, "--out", made[0]).exit_code == 0
    assert asked
    asked.clear()
    assert call(*SIMILARITY, "--out", made[1], "--device", "cpu").exit_code == 0
    assert not asked
    assert made[0].read_text() == made[1].read_text()
