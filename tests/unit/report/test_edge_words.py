"""What is said of an EDGE run: from run folders with chosen accuracies."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from protocols.edge.plan import plan, write_plans
from protocols.edge.protocol import Edge
from protocols.edge.settings import EdgePlanSettings
from protocols.edge.summary import EdgeSummary
from protocols.report.edge import render, to_json
from protocols.report.edge_words import findings, headline, luck, notes
from seqsearch.core.outcomes import Outcome
from seqsearch.similarity.matrix import checked
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

TASKS = [[0, 1], [2, 3], [4, 5]]


def final(accuracy: float) -> Outcome:
    """A rollout over three tasks that ends with this accuracy on each."""
    return outcome([[0.9], [0.8, 0.8], [accuracy] * 3])


def summary(
    tmp_path: Path, hard: list[float], easy: list[float], random: list[list[float]], **settings: Any
) -> EdgeSummary:
    """Of one method ``er`` with accuracies by seed."""
    pool = glyphs()
    kinds = {"hard-0": ("hard", hard), "easy-0": ("easy", easy)}
    kinds |= {f"random-{i}": ("random", row) for i, row in enumerate(random)}
    kinds |= {f"rs-{s}": ("given", random[0]) for s in (0, 42)}
    made = {name: sequence(pool, name, kind, ["er"], TASKS) for name, (kind, _) in kinds.items()}
    judged = [rescored(made[n], "er", r, final(a)) for n, (_, row) in kinds.items() for r, a in enumerate(row)]
    run = write_run(tmp_path / "run", pool, list(made.values()), judged, ["er"])
    x = np.random.default_rng(0).normal(size=(6, 3))
    similarity = checked(x @ x.T, [f"c{i}" for i in range(6)], "x", "made up")
    write_plans(run, [plan("names", similarity, (2, 2, 2), EdgePlanSettings(planner="exact", **settings))])
    return Edge().read(run).summary


NOISY = [[0.70, 0.71], [0.72, 0.71], [0.69, 0.70], [0.74, 0.74], [0.66, 0.67]]


@pytest.mark.parametrize(
    ("hard", "easy", "random", "settings", "claim", "said"),
    [
        (
            [0.5, 0.5],
            [0.9, 0.9],
            NOISY,
            {},
            "yes",
            "the easy sequence scores higher than the hard one for er, as EDGE expects",
        ),
        ([0.9, 0.9], [0.5, 0.5], NOISY, {}, "reversed", "higher than the easy one for er, against what EDGE expects"),
        ([0.70, 0.71], [0.71, 0.70], NOISY, {}, "unclear", "for er training noise hides any difference"),
        ([0.7, 0.7], [0.7, 0.7], [[0.7, 0.7]] * 5, {}, "constant", "er scores the same on every sequence"),
        ([0.9, 0.9], [0.5, 0.5], NOISY, {"hard_end": "high"}, "reversed", "scores higher than the easy one for er."),
        ([0.5, 0.5], [0.9, 0.9], NOISY, {"objective": "within"}, "yes", "scores higher than the hard one for er."),
    ],
)
def test_the_headline_says_what_the_data_say(
    tmp_path: Path, hard: list[float], easy: list[float], random: Any, settings: Any, claim: str, said: str
) -> None:
    s = summary(tmp_path, hard, easy, random, **settings)
    assert s.methods[0].claim == claim
    assert said in headline(s)
    assert to_json(s)["claims"] == {"er": claim}


def test_a_common_effect_of_the_seed_is_no_noise_of_the_difference(tmp_path: Path) -> None:
    """Seeds that move all sequences alike cancel between hard and easy; they make the mean over all seeds uncertain."""
    random = [[a, a + 0.2] for a in (0.60, 0.61, 0.59, 0.62)]
    [m] = summary(tmp_path, [0.50, 0.70], [0.55, 0.75], random).methods
    assert m.difference is not None
    assert m.difference.value == pytest.approx(0.05)
    assert m.difference.half_width < 1e-9
    assert m.estimate is not None
    assert m.estimate.mean.half_width < 0.05 < m.estimate.mean_any_seed.half_width


def test_extremes_are_placed_among_random_sequences(tmp_path: Path) -> None:
    s = summary(tmp_path, [0.5, 0.5], [0.72, 0.72], NOISY)
    text = " ".join(findings(s))
    assert "easy minus hard is +22.0 [" in text
    assert "Of random sequences 0.0 % [0.0, 52.2] score below the hard one, 80.0 % [" in text


def test_given_orders_have_a_row_each_and_one_together(tmp_path: Path) -> None:
    table = luck(summary(tmp_path, [0.5, 0.5], [0.9, 0.9], NOISY))
    assert table is not None
    assert [row[1] for row in table.rows] == ["rs-0", "rs-42", "rs: mean of 2"]


def test_failed_sequences_are_left_out_and_said(tmp_path: Path) -> None:
    pool = glyphs()
    made = [sequence(pool, f"random-{i}", "random", ["er"], TASKS) for i in range(4)]
    judged = [rescored(s, "er", r, final(0.5 + 0.1 * i)) for i, s in enumerate(made) for r in range(2)]
    judged[1] = rescored(made[0], "er", 1, outcome([[0.9]], status="diverged", steps=1))
    s = Edge().read(write_run(tmp_path / "run", pool, made, judged, ["er"])).summary
    assert s.methods[0].estimate is not None
    assert s.methods[0].estimate.L == 3
    assert any("er: 1 of 4 sequences (random) failed with some seed and are left out." in n for n in notes(s))
    assert "hard and easy sequences were not both judged" in " ".join(findings(s))


def test_it_fits_a_terminal(tmp_path: Path) -> None:
    s = summary(tmp_path, [0.5, 0.5], [0.9, 0.9], NOISY)
    text = StringIO()
    Console(width=120, file=text).print(render(s))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 120
    assert any(line.startswith("Method") and "mean [95 %]" in line for line in lines)
