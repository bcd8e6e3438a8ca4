"""The time of a training, which ``--dry-run`` measures, has no part that a run pays only once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.features.store import FeatureStore
from seqsearch.training.trainer import Trainer

SMALL = "--methods simplecil --pool glyphs:classes=9,train=4,reward=2,test=2 --tasks 3 --classes-per-task 3 --workers 0"


def test_frozen_features_are_computed_before_a_training_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an empty cache of features, the last training of a method reads features and computes none."""
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    events: list[str] = []
    train, compute = Trainer.train, FeatureStore._compute
    monkeypatch.setattr(Trainer, "train", lambda *a, **k: (events.append("train"), train(*a, **k))[1])
    monkeypatch.setattr(FeatureStore, "_compute", lambda *a, **k: (events.append("features"), compute(*a, **k))[1])
    done = CliRunner().invoke(main, ["cldyb", *SMALL.split(), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert events.count("features") > 0
    trainings = [i for i, event in enumerate(events) if event == "train"]
    assert len(trainings) >= 3
    assert events[trainings[2] : (trainings[3:] or [None])[0]] == ["train"]
    assert "frozen features that are not stored yet come on top" in done.output
