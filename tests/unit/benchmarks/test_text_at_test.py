"""The benchmark of test texts: its three evaluations are those of ``--text-at-test``, and its differences are paired."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.learning.text_at_test import TEXTS, AllTexts, nearest_means, rows_of
from protocols.mcil.settings import SCENARIOS
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import StateKey
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import CAPTIONED, PAIRS, TASKS


def test_a_state_is_evaluated_as_with_each_value_of_the_option(tmp_path: Path) -> None:
    trainers = [
        Trainer(World(CAPTIONED, 0, str(tmp_path / "cache"), str(tmp_path / "states"), scenario=s))
        for s in SCENARIOS.values()
    ]
    found = []
    for trainer in trainers:
        spec = trainer.world.spec(parse_item("simplecil", "method"), PAIRS)
        key = StateKey(spec, 0, 0, (trainer.world.task(TASKS[0]),))
        method = trainer.fresh(key)
        trainer.scenario.learn(method, key)
        found.append(trainer.scenario.evaluate(method, key, "test"))
    together = AllTexts(trainers[0].world, trainers[0].source).evaluate(method, key, "test")
    assert together.counts == found[0].counts
    assert [c.correct for c in together.classifiers] == [e.classifiers[0].correct for e in found]
    assert [c.name for c in together.classifiers] == ["head", *TEXTS[1:]]
    assert len({c.correct for c in together.classifiers}) == 3


def test_differences_are_paired_over_the_runs() -> None:
    draw = np.random.default_rng(0)
    full = draw.uniform(0.3, 0.9, 8)
    A = np.stack([full, full - 0.1 + 0.001 * draw.normal(size=8), full - 0.2 + 0.001 * draw.normal(size=8)], axis=1)
    rows = rows_of({"a": A})
    assert [(r["method"], r["texts"]) for r in rows] == [("a", t) for t in ("full", "class-free", "none")]
    assert [r["average"] for r in rows] == pytest.approx(A.mean(0))
    assert "lost" not in rows[0]
    for number, row in enumerate(rows[1:], 1):
        assert row["lost"] == pytest.approx((A[:, 0] - A[:, number]).mean())
        assert row["lost_high"] - row["lost_low"] < 0.01 < row["average_high"] - row["average_low"]
        assert row["p"] < 0.001


def test_the_classifier_of_texts_takes_the_nearest_class() -> None:
    known = ["red bird", "red bird tail", "blue bird", "blue bird wing"]
    found = nearest_means(known, np.array([0, 0, 1, 1]), ["a red one", "blue", "wing of a bird"])
    assert found.tolist() == [0, 1, 1]
