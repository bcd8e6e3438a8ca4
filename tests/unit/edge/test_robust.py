"""``--robust-within``: what is concluded, what it is conditional on, and what is refused before compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.edge.settings import FEWEST_ORDERS, EdgeSettings
from protocols.report.edge.notes import notes
from seqsearch.core.errors import UserError
from tests.studies import summary_of
from tests.unit.edge.test_edge import POOL, edge

HEAD = "frozen_head:epochs=1,lr=0.1"
SHORT = ("--pool", POOL, "--tasks", 3, "--workers", 0, "--rs-seeds", "", "--score-seeds", 2, "--random-sequences", 20)

EIGHT = ("--pool", "glyphs:classes=8,train=3,reward=2,test=4")


def test_a_bound_below_the_margin_is_needed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    flags = (
        "--random-sequences",
        30,
        "--crossed-orders",
        30,
        "--robust-within",
        0.49,
        "--robust-baseline",
        "frozen_head:epochs=1,lr=0.02",
    )
    said = edge("--methods", f"{HEAD},simplecil,frozen_head:epochs=1,lr=0.02", *SHORT, *flags, "--out", run)
    assert said.exit_code == 0, said.stderr
    found = summary_of(run)
    head, control, base = (m.robust for m in found.methods)
    assert head
    assert control
    assert base
    assert (head.conclusion, control.conclusion, base.conclusion) == ("robust", "nothing", "robust")
    orders = head.spread.orders
    assert (20 <= orders < 30, head.spread.seeds) == (True, 2)  # of 90 that there are
    assert head.ratio
    assert base.ratio is None
    text = " ".join(said.stdout.split())
    assert f"{HEAD}: robust to class order within 49 pp. Over random orders of these classes its sd is at most" in text
    assert f"(95 %, {orders} orders, 2 shared seeds)" in text
    assert "nothing is concluded on robustness to class order, because all orders have the same accuracy" in text
    details = CliRunner().invoke(main, ["show", str(run), "--details"]).stdout
    assert f"It says nothing of orders rarer than {300 / orders:.0f} %." in " ".join(details.split())
    assert {"edge.robust", "edge.robust_unknown", "edge.robust_conditional"} <= {n.code for n in notes(found)}
    shown = CliRunner().invoke(main, ["show", str(run), "--json"]).stdout
    assert json.loads(shown)["robust"][HEAD]["conclusion"] == "robust"
    estimates = pq.read_table(run / "estimates.parquet").to_pandas()
    assert set(estimates[estimates.about == "robustness"].figure) >= {"order_sd", "margin", "ratio_to_baseline"}


def test_nothing_is_said_unless_asked(tmp_path: Path) -> None:
    said = edge("--methods", "simplecil", *SHORT, "--crossed-orders", 1, "--out", tmp_path / "run")
    assert said.exit_code == 0, said.stderr
    assert all(m.robust is None for m in summary_of(tmp_path / "run").methods)
    assert "robust" not in said.stdout


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"score_seeds": 1, "enumerate": True}, "one training seed for each order cannot separate training noise"),
        (
            {"crossed_orders": 19},
            "takes 20 or more random sequences with the same seeds, not 19: raise --crossed-orders",
        ),
        ({"random_sequences": 10}, "not 10: raise --crossed-orders and --random-sequences"),
        ({"robust_baseline": "er"}, "--robust-baseline er: must be one of --methods, simplecil"),
        ({"robust_baseline": "simplecil"}, "--robust-baseline compares methods"),
        ({"robust_within": 1.0}, "--robust-within 1 is 100 percentage points"),
        ({"crossed_orders": 50}, "--crossed-orders 50: there are 39 random sequences, raise --random-sequences"),
    ],
)
def test_bad_input_is_refused_in_one_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        EdgeSettings(**{"methods": "simplecil", "crossed_orders": 20, "robust_within": 0.01, **wrong})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_repeated_order_counts_once(tmp_path: Path) -> None:
    fixed = (*EIGHT, "--partition", "fixed", "--tasks", 4, "--crossed-orders", 60, "--random-sequences", 60)
    said = edge("--methods", "simplecil", *SHORT, *fixed, "--robust-within", 0.01, "--out", tmp_path / "run")
    assert said.exit_code == 0, said.stderr
    [method] = summary_of(tmp_path / "run").methods
    assert method.robust
    assert FEWEST_ORDERS <= method.robust.spread.orders <= 24  # the orders of four tasks


def test_too_few_different_orders_are_refused_before_compute(tmp_path: Path) -> None:
    few = (*EIGHT, "--partition", "fixed", "--tasks", 4, "--crossed-orders", 20, "--robust-within", 0.01)
    said = edge("--methods", "simplecil", *SHORT, *few, "--out", tmp_path / "run")
    assert said.exit_code == 2
    assert "--robust-within takes 20 or more different orders: 20 random ones have" in said.stderr
    assert "of 24 that there are: raise --crossed-orders" in said.stderr
    assert not (tmp_path / "run").exists()
