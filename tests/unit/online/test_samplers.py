"""Orderings that the paper reports and that hold on a stream of bursts: what is retained, and what guessing gets."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from protocols.cli.main import main

HELD_OUT = -1


@pytest.mark.long
def test_uniform_sampling_retains_most_and_the_latest_samples_least(tmp_path: Path) -> None:
    """And the blind classifier is first online, and at chance 256 samples ahead."""
    ended = CliRunner().invoke(
        main,
        [
            "online",
            "--stream",
            "glyphs:samples=2600,classes=20,burst=40",
            "--methods",
            "fc_only",
            "--samplers",
            "fifo,mixed,uniform",
            "--batch",
            "8",
            "--shift",
            "256",
            "--holdout",
            "0.2",
            "--search",
            "0.02",
            "--seeds",
            "2",
            "--workers",
            "0",
            "--out",
            str(tmp_path / "run"),
        ],
    )
    assert ended.exit_code == 0, ended.output
    figures = pd.read_parquet(tmp_path / "run" / "figures.parquet")
    retained = figures[figures["shift"] == HELD_OUT].pivot_table(index="seed", columns="method_id", values="accuracy")
    assert (retained["fc_only"] > retained["fc_only:sampler=mixed"]).all()
    assert (retained["fc_only:sampler=mixed"] > retained["fc_only:sampler=fifo"]).all()
    common = figures[figures.samples == "common"].groupby(["shift", "method_id"]).accuracy.mean()
    online, later = common[0], common[256]
    assert online.idxmax() == "blind by sample (k chosen)", "it sees labels within a batch"
    online, later = (a.drop("blind by sample (k chosen)") for a in (online, later))
    assert online.idxmax() == "blind (k chosen)"
    assert later.idxmin() == "blind (k chosen)"
    assert later["blind (k chosen)"] < 0.1
    assert later["fc_only"] > later["fc_only:sampler=fifo"]
