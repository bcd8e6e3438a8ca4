"""What is said of an EDGE run, from run folders with chosen accuracies: each sentence where it is true and where it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from protocols.edge.plan import plan, write_plans
from protocols.edge.protocol import Edge
from protocols.edge.settings import EdgePlanSettings
from protocols.edge.summary import EdgeSummary, Facts, MethodEdge
from protocols.report import edge_words as words
from protocols.report.edge import how, render, to_json
from protocols.report.edge_cells import distribution, extremes, luck
from seqsearch.core.outcomes import Outcome
from seqsearch.planners.replicates import of_given, of_order, scoring
from seqsearch.similarity.matrix import checked
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

TASKS = [[0, 1], [2, 3], [4, 5]]
Values = list[float]


def final(accuracy: float) -> Outcome:
    """A rollout over three tasks that ends with this accuracy on each."""
    return outcome([[0.9], [0.8, 0.8], [accuracy] * 3])


def summary(
    tmp_path: Path, hard: Values, easy: Values, random: Values, crossed: tuple[Values, ...] = (), S: Values | None = None,
    **settings: Any,
) -> EdgeSummary:  # fmt: skip
    """Of one method ``er``: extremes by seed, random sequences with a seed each, the first of them with scoring seeds, too."""
    pool, seeds = glyphs(), scoring(max(len(hard), len(easy), 1))
    table = [
        ("hard-0", "hard", dict(zip(seeds, hard, strict=False))),
        ("easy-0", "easy", dict(zip(seeds, easy, strict=False))),
    ]
    table += [(f"rs-{s}", "given", {of_given(i): random[0]}) for i, s in enumerate((0, 42))]
    for i, accuracy in enumerate(random):
        more = dict(zip(seeds, crossed[i], strict=True)) if i < len(crossed) else {}
        table.append((f"random-{i}", "random", {of_order(i): accuracy, **more}))
    made = {name: sequence(pool, name, kind, ["er"], TASKS) for name, kind, _ in table}
    for i, value in enumerate(S or ()):
        made[f"random-{i}"] = replace(made[f"random-{i}"], values=(value,) * 3)
    judged = [rescored(made[n], "er", seed, final(a)) for n, _, row in table for seed, a in row.items()]
    run = write_run(tmp_path / "run", pool, list(made.values()), judged, ["er"])
    x = np.random.default_rng(0).normal(size=(6, 3))
    similarity = checked(x @ x.T, [f"c{i}" for i in range(6)], "x", "made up")
    write_plans(run, [plan("names", similarity, (2, 2, 2), EdgePlanSettings(planner="exact", **settings))])
    return Edge().read(run).summary


def spread(L: int) -> Values:
    """Different accuracies from 60 to 80 %."""
    return [float(a) for a in np.random.default_rng(1).permutation(np.linspace(0.6, 0.8, L))]


LOW, MIDDLE, HIGH = [0.50, 0.52], [0.70, 0.71], [0.90, 0.91]
BOTH = "the hard sequence is harder and the easy one easier than random ones"


@pytest.mark.parametrize(
    ("hard", "easy", "L", "settings", "claim", "said"),
    [
        (LOW, HIGH, 19, {}, "both", f"{BOTH}, as EDGE expects, for er (p = 0.050 and 0.050)."),
        (LOW, HIGH, 18, {}, "too few", "On this pool a verdict at 5 % takes 1 random sequence more, for er."),
        (LOW, HIGH, 3, {}, "too few", "On this pool a verdict at 5 % takes 16 random sequences more, for er."),
        (LOW, HIGH, 19, {"objective": "within"}, "both", f"{BOTH}, for er (p"),
        (LOW, HIGH, 19, {"hard_end": "high"}, "both", f"{BOTH}, for er (p"),
        (LOW, MIDDLE, 39, {}, "hard", "this pool the hard sequence is harder than random ones (p = 0.025), for er."),
        (LOW, MIDDLE, 38, {}, "none", "neither the hard nor the easy sequence can be told from random ones, for er (p = 0.026"),
        (MIDDLE, HIGH, 39, {}, "easy", "this pool the easy sequence is easier than random ones (p = 0.025), for er."),
        (MIDDLE, MIDDLE, 39, {}, "none", "neither the hard nor the easy sequence can be told from random ones, for er (p = 0."),
        (HIGH, LOW, 98, {}, "none", "neither the hard nor the easy sequence can be told from random ones"),
        (HIGH, LOW, 99, {}, "opposite", "the easy sequence is harder than random ones, against what EDGE expects (p = 0.010)"),
        (HIGH, LOW, 99, {"objective": "within"}, "opposite", "the hard sequence is easier than random ones (p = 0.010) and the"),
        ([], [], 19, {}, "untested", "hard and easy sequences were not judged among random ones for er."),
    ],
)  # fmt: skip
def test_the_headline_is_by_ranks_among_random_sequences(
    tmp_path: Path, hard: Values, easy: Values, L: int, settings: Any, claim: str, said: str
) -> None:
    s = summary(tmp_path, hard, easy, spread(L), **settings)
    assert s.methods[0].claim == claim
    assert said in words.headline(s)
    assert to_json(s)["claims"] == {"er": claim}


def test_two_random_sequences_get_no_verdict_however_little_noise_training_has(tmp_path: Path) -> None:
    """What differs beyond training noise may differ as random sequences do."""
    s = summary(tmp_path, [0.65, 0.65], [0.75, 0.7500001], spread(39))
    assert s.methods[0].difference is not None
    assert s.methods[0].difference.low > 0
    assert "neither" in words.headline(s)


def test_what_no_order_changes_is_said(tmp_path: Path) -> None:
    s = summary(tmp_path, [0.7, 0.7], [0.7, 0.7], [0.7] * 19)
    assert words.headline(s) == "On this pool every sequence trained (23 of them) scores the same for er."
    assert words.findings(s) == [
        "er: accuracy is the same on every sequence trained (23 of them): no effect of their order is seen."
    ]
    assert distribution(s).rows[0][4] == "0.0"


def test_methods_with_the_same_verdict_share_a_clause(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(19))
    two = replace(s, methods=(*s.methods, replace(s.methods[0], method="slca")))
    assert f"{BOTH}, as EDGE expects, for er (p = 0.050 and 0.050) and slca (p" in words.headline(two)
    assert words.each_method(two).startswith("Verdicts are for each method by itself")
    assert words.each_method(two) in words.notes(two)
    assert words.each_method(s) == ""


def test_easy_minus_hard_is_of_training_noise_by_seed(tmp_path: Path) -> None:
    """Seeds that move both alike cancel: with Student's t of three differences, 2 degrees of freedom."""
    [m] = summary(tmp_path, [0.50, 0.60, 0.70], [0.56, 0.65, 0.77], spread(19)).methods
    differences = np.array([6.0, 5.0, 7.0])
    reach = 4.302653 * differences.std(ddof=1) / np.sqrt(3)
    assert words.difference(m) == (
        f"easy minus hard is +6.0 [{6 - reach:+.1f}, {6 + reach:+.1f}] points, for these two sequences (95 % interval of "
        "training noise only, 3 seeds)."
    )
    [m] = summary(tmp_path, [0.50, 0.60], [0.55, 0.65], spread(19)).methods
    assert (
        words.difference(m) == "easy minus hard is +5.0 points, for these two sequences, the same with each of 2 seeds."
    )
    [m] = summary(tmp_path, [0.50], [0.55], spread(19)).methods
    assert words.difference(m) == "easy minus hard is +5.0 points, for these two sequences and one training seed."
    [m] = summary(tmp_path, [0.50], [], spread(19)).methods
    assert words.difference(m) == "hard and easy sequences were not both judged."


def test_extremes_are_placed_among_random_sequences(tmp_path: Path) -> None:
    random = [0.6, 0.62, 0.64, 0.66, 0.71]
    [m] = summary(tmp_path, [0.5, 0.9], [0.7, 0.1], random).methods  # the first seed counts
    said = words.places(m)
    assert "of random sequences 0.0 % [0.0, 52.2] score below the hard one, 80.0 % [" in said
    assert words.ranks(m) == (
        "one-sided, by ranks among 5 random sequences: hard lower p = 0.167, easy higher p = 0.333 (verdicts at 5 % over both); "
        "hard higher p = 1.000, easy lower p = 0.833 (at 1 %)."
    )
    [m] = summary(tmp_path, [0.5], [], random).methods
    assert (words.places(m), words.ranks(m)) == ("", "")


def test_the_correlation_is_of_all_random_sequences(tmp_path: Path) -> None:
    random = spread(20)
    S = [a + 0.1 * b for a, b in zip(random, spread(20)[::-1], strict=True)]
    [m] = summary(tmp_path, LOW, HIGH, random, S=S).methods
    assert (
        f"over 20 random sequences accuracy and S correlate with r = {np.corrcoef(S, random)[0, 1]:+.2f} ["
        in words.correlated(m)
    )
    [m] = summary(tmp_path, LOW, HIGH, random[:5], S=S[:5]).methods
    assert words.correlated(m).endswith(" (too few sequences for an interval: 3 more needed).")
    assert "n/a" not in words.correlated(m)
    [m] = summary(tmp_path, LOW, HIGH, random[:5], S=[0.3] * 5).methods
    assert m.correlation is not None
    assert words.correlated(m) == ""  # no r
    [m] = summary(tmp_path, LOW, HIGH, random).methods
    assert words.correlated(m) == ""


# ------------------------------------------------------------------------------------------------ notes


FACTS = Facts(3, (2, 2), 20, 20, 4, 10_000, False, "", (), ())


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> MethodEdge:
    """Five random sequences."""
    return summary(tmp_path_factory.mktemp("few"), LOW, MIDDLE, spread(5)).methods[0]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> MethodEdge:
    """Thirty random sequences, evenly spread."""
    return summary(tmp_path_factory.mktemp("many"), LOW, MIDDLE, spread(30)).methods[0]


def test_what_an_accuracy_is() -> None:
    own = "Random, RS and own sequences have a training seed each, of its own"
    seeds = f"{own}; hard and easy ones were trained with 3 seeds"
    assert words.accuracies(FACTS).endswith(f"{seeds}, the first 4 random ones with these besides.")
    assert words.accuracies(replace(FACTS, crossed=0)).endswith(f"{seeds}.")
    assert words.accuracies(replace(FACTS, enumerated=True)).endswith(f"{seeds}, and all others with these besides.")
    assert words.accuracies(replace(FACTS, seeds=0)).endswith(f"{own}.")


def test_notes_of_facts_hold_or_are_not_said() -> None:
    assert words.unequal_tasks(replace(FACTS, task_sizes=(2, 5))).startswith("Tasks have 2 to 5 classes, and Eq. 1")
    assert words.unequal_tasks(FACTS) == ""
    assert words.one_seed(replace(FACTS, seeds=1)).startswith("With one training seed,")
    assert words.one_seed(FACTS) == ""
    assert words.few_sequences(replace(FACTS, possible=90)).startswith(
        "There are only 90 sequences; the 20 random ones"
    )
    assert words.few_sequences(replace(FACTS, possible=90, enumerated=True)) == ""
    assert words.few_sequences(FACTS) == ""
    assert (
        words.until(replace(FACTS, until="q05", missed=("er",)))
        == "--until q05 was not reached for er (--max-sequences)."
    )
    added = words.until(replace(FACTS, until="q05", drawn=59))
    assert added == "Random sequences were added to the 20 asked for until q05 was reached, 59 in all."
    sufficed = words.until(replace(FACTS, until="mean:0.05"))
    assert sufficed == "The 20 random sequences asked for sufficed for --until mean:0.05: none was added."
    assert words.until(FACTS) == ""
    assert (
        words.same_draw("rs-0", "rs-42") == "rs-0 and rs-42 are one sequence: they count twice in what is said of RS."
    )


def test_too_few_random_sequences_are_said(few: MethodEdge, many: MethodEdge) -> None:
    assert words.too_few(few) == "er: too few random sequences for an interval of the mean: 25 more needed."
    assert few.estimate is not None
    assert np.isnan(few.estimate.mean.low)
    assert words.too_few(many) == ""
    assert many.estimate is not None
    assert np.isfinite(many.estimate.mean.low)


def test_how_many_one_end_alone_takes_is_said_where_there_is_no_verdict(few: MethodEdge, many: MethodEdge) -> None:
    assert words.one_end(many) == "er: a verdict on one end alone takes 9 random sequences more."
    assert words.one_end(few) == ""  # not even both ends have one
    assert words.one_end(replace(many, claim="both")) == ""


def test_normality_is_tested_and_said(few: MethodEdge, many: MethodEdge, tmp_path: Path) -> None:
    assert words.normality(many).startswith("er: accuracies of random sequences may be normal (Shapiro-Wilk p = 0.")
    skewed = [0.8 - 0.3 * (i / 29) ** 8 for i in range(30)]
    [m] = summary(tmp_path, LOW, MIDDLE, skewed).methods
    assert words.normality(m).startswith(
        "er: accuracies of random sequences do not look normal (Shapiro-Wilk p = <.001)"
    )
    assert words.normality(few) == ""


def test_orders_of_rs_that_are_one_sequence_are_said(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(5))  # all of TASKS
    assert "rs-0 and rs-42 are one sequence: they count twice in what is said of RS." in words.notes(s)
    assert s.facts is not None
    assert not any("one sequence" in n for n in words.notes(replace(s, facts=replace(s.facts, same_draws=()))))


def test_failed_sequences_are_left_out_and_said(tmp_path: Path) -> None:
    pool = glyphs()
    made = [sequence(pool, f"random-{i}", "random", ["er"], TASKS) for i in range(4)]
    judged = [rescored(s, "er", of_order(i), final(0.5 + 0.1 * i)) for i, s in enumerate(made)]
    judged += [rescored(s, "er", r, final(0.6)) for s in made[1:3] for r in scoring(2)]
    judged[0] = rescored(made[0], "er", of_order(0), outcome([[0.9]], status="diverged", steps=1))
    judged[-1] = rescored(made[2], "er", scoring(2)[1], outcome([[0.9]], status="diverged", steps=1))
    s = Edge().read(write_run(tmp_path / "run", pool, made, judged, ["er"])).summary
    assert s.methods[0].groups["random"].names == ("random-1", "random-2", "random-3")
    assert s.methods[0].groups["crossed"].names == ("random-1",)
    said = words.notes(s)
    assert "er: 1 of 4 sequences (random) failed with some seed and are left out." in said
    assert (
        "er: 1 of 2 sequences (random, with the seeds of the extremes) failed with some seed and are left out." in said
    )
    assert "hard and easy sequences were not both judged" in " ".join(words.findings(s))
    assert words.no_estimate(s) == ""
    alone = Edge().read(write_run(tmp_path / "one", pool, made[:2], judged[:2], ["er"])).summary
    assert words.no_estimate(alone) == "A method with fewer than two complete random sequences has no estimate."


# ------------------------------------------------------------------------------------------------ tables


def test_spread_is_parted_by_crossed_seeds(tmp_path: Path) -> None:
    """Recomputed with numpy alone: training sd over seeds within an order, its seed's effect on all orders included."""
    random, crossed = spread(20), ([0.70, 0.74], [0.60, 0.63])
    s = summary(tmp_path, [0.50, 0.54], [0.90, 0.95], random, crossed)
    told = {row["figure"]: row["value"] for row in to_json(s)["estimates"] if row["about"] == "random"}
    training = np.mean([np.var(row, ddof=1) for row in (*crossed, [0.50, 0.54], [0.90, 0.95])])
    assert told["training_sd"] == pytest.approx(np.sqrt(training))
    table = np.array(crossed)
    rest = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    assert told["order_sd"] == pytest.approx(np.sqrt(np.var(table.mean(1), ddof=1) - (rest**2).sum() / 2))
    assert [told[n] for n in ("crossed_sequences", "training_sequences", "crossed_seeds")] == [2, 4, 2]
    assert (
        "(order from 2 random sequences times 2 seeds, trained besides; training from these and the 2 hard and easy ones, "
        "4 sequences times 2 seeds)" in distribution(s).lead
    )
    assert s.facts is not None
    assert s.facts.crossed == 2
    [row] = distribution(s).rows
    assert row[4:7] == tuple(f"{100 * told[n]:.1f}" for n in ("sd", "order_sd", "training_sd"))
    assert row[7:] == ("60.0", "80.0", f"{100 * (1 - 0.05 ** (1 / 20)):.1f}")
    alone = distribution(summary(tmp_path, [0.5], [0.9], random))
    assert "sequences times" not in alone.lead
    assert alone.rows[0][5:7] == ("-", "-")
    uncrossed = distribution(summary(tmp_path, LOW, HIGH, random))
    assert "(training from the 2 hard and easy ones alone, 2 sequences times 2 seeds)" in uncrossed.lead
    assert uncrossed.rows[0][5] == "-"


def test_seeds_that_move_all_orders_alike_leave_no_effect_of_order(tmp_path: Path) -> None:
    """However widely single trainings of random sequences, each with a seed of its own, are spread."""
    seeds = [0.70, 0.71]
    [row] = distribution(summary(tmp_path, seeds, seeds, spread(20), (seeds,) * 4)).rows
    assert (row[5], row[6]) == ("0.0", "0.7")
    assert float(row[4]) > 5
    [row] = distribution(summary(tmp_path, seeds, seeds, spread(20), (seeds, [0.60, 0.61], seeds, seeds))).rows
    assert row[5] == "5.0"


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("adjacent", "extremes of the similarity of neighbouring tasks, as in <cite>The Lie"),
        ("lags", "extremes of the similarity of tasks at several distances"),
        ("within", "extremes of the similarity of classes within tasks"),
        ("typicality", "extremes of the rise of the tasks"),
    ],
)
def test_how_it_was_computed_names_the_objective_and_the_training_it_took(
    tmp_path: Path, objective: str, said: str
) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(5), objective=objective)
    assert said in how(s)
    assert ("neighbouring" in how(s)) == (objective == "adjacent")
    assert "they were found without any training" in how(s)
    learned = how(replace(s, plans=(replace(s.plans[0], label="prototypes", source="prototypes of er"),)))
    assert (
        "one training on all classes at once was spent on the similarity (prototypes of er), none on the search"
        in learned
    )
    assert "without any training" not in learned


@pytest.mark.parametrize(("bound", "said"), [(True, True), (False, False)])
def test_bounds_are_spoken_of_only_where_they_were_asked_for(tmp_path: Path, bound: bool, said: bool) -> None:
    [table] = extremes(summary(tmp_path, LOW, HIGH, spread(5), bound=bound))
    assert ("No sequence is beyond its bound." in table.lead) == said


def test_given_orders_have_a_row_each_and_one_together(tmp_path: Path) -> None:
    table = luck(summary(tmp_path, LOW, HIGH, spread(5)))
    assert table is not None
    assert [row[1] for row in table.rows] == ["rs-0", "rs-42", "rs: mean of 2"]
    assert "[" in table.rows[-1][-1]
    short = luck(summary(tmp_path, LOW, HIGH, spread(3)))
    assert short is not None
    assert short.rows[-1][-1] == "too few: 4 random sequences are needed"


def test_it_fits_a_terminal(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(20), S=spread(20))
    text = StringIO()
    Console(width=120, file=text).print(render(s))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 120
    assert any(line.startswith("Method") and "mean [95 %]" in line for line in lines)
    assert json.loads(json.dumps(to_json(s)))["notes"] == words.notes(s)
