"""What must hold whatever the stream: on one that is shuffled, near-future accuracy is online accuracy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.online.intervals import blocks_of, difference

pytestmark = pytest.mark.long
SHUFFLED = 2048
"""A window that is longer than the stream."""
FROZEN = """
import torch
from seqsearch.learners.base import Learner

class Frozen(Learner):
    "Says what a fixed projection of the features says; it learns nothing."
    def predict(self, batch):
        drawn = torch.randn(self.context.dim, self.context.n_classes, generator=self.context.generator("fixed"))
        return (batch.frozen @ drawn).argmax(1)
    def learn(self, step):
        pass
    def state_dict(self):
        return {}
    def load_state_dict(self, state):
        pass
"""


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    path = tmp_path_factory.mktemp("run")
    (path / "own.py").write_text(FROZEN)
    ended = CliRunner().invoke(
        main,
        [
            "online",
            "--stream",
            "glyphs:samples=3500,classes=5,burst=40",
            "--methods",
            f"ncm,{path}/own.py:Frozen",
            "--seeds",
            "1",
            "--batch",
            "16",
            "--shift",
            "64,256",
            "--windows",
            str(SHUFFLED),
            "--workers",
            "0",
            "--out",
            str(path / "run"),
        ],
    )
    assert ended.exit_code == 0, ended.output
    return pd.read_parquet(path / "run" / "figures.parquet")


def common(figures: pd.DataFrame, learner: str, window: int) -> dict[int, list[dict]]:
    """Rows by shift, of samples that are evaluated at every shift."""
    rows = figures[
        figures.method_id.str.contains(learner) & (figures.learned_window == window) & (figures.samples == "common")
    ]
    return {s: found.to_dict("records") for s, found in rows[rows.judged_window == window].groupby("shift")}


@pytest.mark.parametrize("window", [0, SHUFFLED])
def test_a_frozen_model_is_as_good_at_every_shift(figures: pd.DataFrame, window: int) -> None:
    """Exactly: the same samples are evaluated by the same model."""
    found = common(figures, "Frozen", window)
    assert set(found) == {0, 64, 256}
    first = found[0][0]
    for shift in (64, 256):
        assert found[shift][0]["correct"] == first["correct"] > 0
        assert found[shift][0]["block_correct"].tolist() == first["block_correct"].tolist()


def test_on_a_shuffled_stream_near_future_accuracy_is_online_accuracy(figures: pd.DataFrame) -> None:
    """Within its interval, for a model that learns; in order of time, with bursts, it is not."""
    blind = common(figures, "blind", 0)
    assert blind[0][0]["accuracy"] - blind[256][0]["accuracy"] > 0.3
    found = common(figures, "ncm", SHUFFLED)
    for shift in (64, 256):
        told = difference(blocks_of(found[0]), blocks_of(found[shift]), 64)
        assert not told.unavailable_because
        assert told.interval.low <= 0 <= told.interval.high
        assert abs(told.interval.value) < 0.03
    assert np.isclose(found[0][0]["n"], found[256][0]["n"])
