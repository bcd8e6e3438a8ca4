"""Tables of an EDGE summary, and how it says it was computed: each on data where it is true and where it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from protocols.edge.summary import EdgeSummary
from protocols.report.edge.notes import notes
from protocols.report.edge.tables import distribution, extremes, key, luck
from protocols.report.edge.view import view
from protocols.report.terminal import render
from tests.unit.report.edge.summaries import HIGH, LOW, spread, summary


def parts(s: EdgeSummary) -> list[tuple[str, object]]:
    """From which trainings effects of order and of training are."""
    return [(n.code, n.values) for n in notes(s) if n.code in ("edge.order_from", "edge.training_from")]


def test_spread_is_parted_by_crossed_seeds(tmp_path: Path) -> None:
    """Recomputed with numpy alone: training sd over seeds within an order, its seed's effect on all orders included."""
    random, crossed = spread(20), ([0.70, 0.74], [0.60, 0.63])
    s = summary(tmp_path, [0.50, 0.54], [0.90, 0.95], random, crossed)
    found = {row["figure"]: row["value"] for row in view(s).to_json()["estimates"] if row["about"] == "random"}
    training = np.mean([np.var(row, ddof=1) for row in (*crossed, [0.50, 0.54], [0.90, 0.95])])
    assert found["training_sd"] == pytest.approx(np.sqrt(training))
    table = np.array(crossed)
    rest = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    assert found["order_sd"] == pytest.approx(np.sqrt(np.var(table.mean(1), ddof=1) - (rest**2).sum() / 2))
    assert [found[n] for n in ("crossed_sequences", "training_sequences", "crossed_seeds")] == [2, 4, 2]
    assert parts(s) == [
        ("edge.order_from", {"sequences": 2, "seeds": 2}),
        ("edge.training_from", {"sequences": 4, "seeds": 2, "extremes": 2}),
    ]
    assert s.facts is not None
    assert s.facts.crossed == 2
    [row] = distribution(s).texts
    assert row[3:5] == tuple(f"{100 * found[n]:.1f}" for n in ("order_sd", "training_sd"))
    assert row[5:] == ("60.0", "80.0", f"{100 * (1 - 0.05 ** (1 / 20)):.1f}")
    assert key(s).texts[0][2:6] == (f"{100 * found['sd']:.1f}", "60.0", "52.0", "92.5")
    alone = summary(tmp_path, [0.5], [0.9], random)
    assert parts(alone) == []
    assert distribution(alone).texts[0][3:5] == ("-", "-")
    uncrossed = summary(tmp_path, LOW, HIGH, random)
    assert parts(uncrossed) == [("edge.training_from", {"sequences": 2, "seeds": 2, "extremes": 2})]
    assert distribution(uncrossed).texts[0][3] == "-"


def test_seeds_that_move_all_orders_alike_leave_no_effect_of_order(tmp_path: Path) -> None:
    """However widely single trainings of random sequences, each with a seed of its own, are spread."""
    seeds = [0.70, 0.71]
    s = summary(tmp_path, seeds, seeds, spread(20), (seeds,) * 4)
    [row] = distribution(s).texts
    assert (row[3], row[4]) == ("0.0", "0.7")
    assert float(key(s).texts[0][2]) > 5
    [row] = distribution(summary(tmp_path, seeds, seeds, spread(20), (seeds, [0.60, 0.61], seeds, seeds))).texts
    assert row[3] == "5.0"


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("adjacent", 'extremes of the similarity of neighbouring tasks, as in "The Lie'),
        ("lags", "extremes of the similarity of tasks at several distances"),
        ("within", "extremes of the similarity of classes within tasks"),
        ("typicality", "extremes of the rise of the tasks"),
    ],
)
def test_how_it_was_computed_names_the_objective_and_the_training_it_took(
    tmp_path: Path, objective: str, said: str
) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(5), objective=objective)
    how = " ".join(view(s).how)
    assert said in how
    assert ("neighbouring" in how) == (objective == "adjacent")
    took = ("edge.learned", "edge.unlearned")
    assert [n.code for n in notes(s) if n.code in took] == ["edge.unlearned"]
    learned = replace(s, plans=(replace(s.plans[0], label="prototypes", source="prototypes of er"),))
    [n] = [n for n in notes(learned) if n.code in took]
    assert (n.code, n.values) == ("edge.learned", {"sources": ["prototypes of er"]})


@pytest.mark.parametrize(("bound", "said"), [(True, True), (False, False)])
def test_bounds_are_spoken_of_only_where_they_were_asked_for(tmp_path: Path, bound: bool, said: bool) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(5), bound=bound)
    [table] = extremes(s)
    assert ([row[3] for row in table.rows] == [None, None]) == (not said)
    assert ("edge.bounds" in [n.code for n in notes(s)]) == said


def test_given_orders_have_a_row_each_and_one_together(tmp_path: Path) -> None:
    table = luck(summary(tmp_path, LOW, HIGH, spread(5)))
    assert [row[1] for row in table.texts] == ["rs-0", "rs-42", "rs: mean of 2"]
    assert "[" in table.texts[-1][-1]
    short = luck(summary(tmp_path, LOW, HIGH, spread(3)))
    assert short.texts[-1][-1] == "too few: 4 random sequences are needed"


def test_it_fits_a_terminal(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(20), S=spread(20))
    text = StringIO()
    Console(width=120, file=text).print(render(view(s), details=True))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 120
    assert any(line.startswith("Method") and "mean [95 %]" in line for line in lines)
    assert set(json.loads(json.dumps(view(s).to_json(), allow_nan=False))["notes"]) == {n.text for n in notes(s)}
