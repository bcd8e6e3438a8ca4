"""Methods of image-text pairs, and pools with captions, in protocols that know nothing of them: `seqsearch cldyb` and `edge`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.core.outcomes import REPRESENTATION_DRIFT

SMALL_FLAVA = f"{Path(__file__).parents[2] / 'conformance' / 'pairs.py'}:small_flava"
POOL = "glyphs:classes={},train=8,reward=4,test=4,captions=random"


def ran(*arguments: str) -> str:
    found = CliRunner().invoke(main, [*arguments, "--backbone", SMALL_FLAVA, "--workers", "0"])
    assert found.exit_code == 0, found.output
    return found.output


def methods_in(run: Path) -> dict[str, int]:
    """How many tasks each method was evaluated on at the end of a sequence."""
    table = pq.read_table(run / "results.parquet", columns=["method_id", "trained_step", "evaluated_step"]).to_pylist()
    last = max(r["trained_step"] for r in table)
    return {r["method_id"]: last for r in table if r["trained_step"] == last}


@pytest.mark.long
def test_the_hardest_sequence_is_searched_with_prompts_and_replay_of_pairs(tmp_path: Path) -> None:
    out = tmp_path / "run"
    said = ran(
        "cldyb",
        "--methods",
        "mm_dp:epochs=1,mm_er:epochs=1",
        "--pool",
        POOL.format(8),
        "--tasks",
        "2",
        "--classes-per-task",
        "2",
        "--candidates",
        "3",
        "--condensed",
        "2",
        "--simulations",
        "1",
        "--lookahead",
        "0",
        "--score-seeds",
        "1",
        "--out",
        str(out),
    )
    assert "mm_dp" in said
    moved = [json.loads(r["notes"])[REPRESENTATION_DRIFT] for r in pq.read_table(out / "trainings.parquet").to_pylist()]
    assert moved
    assert all(0 < m < 10 for m in moved)  # from the frozen features of the same pairs
    assert methods_in(out) == {"mm_dp:epochs=1": 2, "mm_er:epochs=1": 2}


@pytest.mark.long
def test_the_distribution_over_class_orders_of_methods_of_pairs(tmp_path: Path) -> None:
    out = tmp_path / "run"
    said = ran(
        "edge",
        "--methods",
        "mm_dpcf:epochs=1,mm_l2p:epochs=1",
        "--pool",
        POOL.format(6),
        "--tasks",
        "3",
        "--random-sequences",
        "3",
        "--score-seeds",
        "2",
        "--out",
        str(out),
    )
    assert "mm_dpcf" in said
    assert methods_in(out) == {"mm_dpcf:epochs=1": 3, "mm_l2p:epochs=1": 3}


def test_a_pool_of_images_alone_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = [
        "cldyb",
        "--methods",
        "mm_dp",
        "--pool",
        "glyphs:classes=60",
        "--backbone",
        SMALL_FLAVA,
        "--out",
        str(out),
    ]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 2
    assert "has images alone" in found.output
    assert "--captions" in found.output
    assert not out.exists()


def test_a_method_of_pairs_is_refused_on_a_backbone_of_images() -> None:
    found = CliRunner().invoke(main, ["edge", "--methods", "mm_dp@glyph_vit", "--pool", POOL.format(8), "--tasks", "2"])
    assert found.exit_code == 2
    assert "mm_dp@glyph_flava" in found.output
