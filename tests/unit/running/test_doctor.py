"""``seqsearch doctor`` on this machine, and on ones that lack something."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from huggingface_hub import constants

from protocols.cli.main import main
from protocols.running import doctor
from protocols.running.doctor import Finding, examine


def found(part: str) -> list[Finding]:
    return [f for f in examine() if f.part == part]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is not asked."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def test_this_machine_lacks_nothing_that_runs_need() -> None:
    done = CliRunner().invoke(main, ["doctor", "--json"])
    said: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.exit_code == 0
    parts = ["program", "libraries", "devices", "ray", "faiss", "disk", "hub", "memory"]
    assert [p for p in dict.fromkeys(f["part"] for f in said) if p != "extras"] == parts
    assert f"torch {importlib.metadata.version('torch')}" in next(f["text"] for f in said if f["part"] == "libraries")
    text = CliRunner().invoke(main, ["doctor"])
    assert text.exit_code == 0
    assert len(text.stdout.splitlines()) == len(said) + sum(bool(f["fix"]) for f in said)


def test_an_extra_that_is_not_installed_has_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["torch>=2", "no-such-thing>=1.5; extra == 'wandb'", "nor-this; extra == 'dev'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: wanted)
    [finding] = found("extras")
    assert (finding.state, finding.fix.endswith("-m pip install 'no-such-thing>=1.5'")) == ("optional", True)


def test_an_address_in_the_environment_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert next((f.state, f.fix) for f in found("ray")) == ("warning", "unset RAY_ADDRESS")


def test_a_cache_that_is_a_file_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(doctor, "cache_root", lambda: tmp_path / "file/seqsearch")
    first = found("disk")[0]
    assert (first.state, first.fix) == ("missing", "make it a folder of yours, or set SEQSEARCH_CACHE")
    assert CliRunner().invoke(main, ["doctor"]).exit_code == 1


def test_little_disk_and_memory_are_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_DISK", 10**18)
    monkeypatch.setattr(doctor, "free_memory", lambda: 1_500_000_000)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert [f.state for f in found("disk")][:2] == ["warning", "warning"]
    [memory] = found("memory")
    assert (memory.state, memory.fix) == ("warning", "--workers 1")


def test_a_hub_that_does_not_answer_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    [hub] = found("hub")
    assert (hub.state, "does not answer" in hub.text) == ("warning", True)


def test_neighbours_that_are_none_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    search = faiss.IndexFlatIP.search
    monkeypatch.setattr(faiss.IndexFlatIP, "search", lambda *given: (search(*given)[0], np.zeros((64, 1), np.int64)))
    [finding] = found("faiss")
    assert finding.state == "missing"


def test_a_gpu_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    done = CliRunner().invoke(main, ["doctor", "--gpu"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_the_small_study_learns(tmp_path: Path) -> None:
    trained = doctor._trained("cpu", str(tmp_path))
    assert trained.accuracy > 0.5
    assert trained.features.shape == (50, 160)
