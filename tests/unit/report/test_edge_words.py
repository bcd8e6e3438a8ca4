"""What is said of an EDGE run, from run folders with chosen accuracies: each sentence where it is true and where it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.edge.by_method import adjusted_tests
from protocols.edge.protocol import EDGE
from protocols.edge.summary import Facts, MethodEdge, mean_over
from protocols.report import edge_words as words
from protocols.report.edge import to_json
from protocols.report.edge_tables import distribution
from seqsearch.planners.replicates import of_order, scoring
from tests.unit.report.edge_summaries import HIGH, LOW, MIDDLE, TASKS, Values, final, spread, summary
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

BOTH = "the hard sequence is harder and the easy one easier than random ones"
ALLOWS = (
    "{} random sequences allow no verdict: {} more would allow one on both ends, {} more one on either end, for er."
)


@pytest.mark.parametrize(
    ("hard", "easy", "L", "settings", "claim", "said"),
    [
        (LOW, HIGH, 19, {}, "both", f"{BOTH}, as EDGE expects, for er (p = 0.050 hard, 0.050 easy)."),
        (LOW, HIGH, 18, {}, "too few", ALLOWS.format(18, 1, 21)),
        (LOW, HIGH, 3, {}, "too few", ALLOWS.format(3, 16, 36)),
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
    assert distribution(s).texts[0][4] == "0.0"


def test_methods_with_the_same_verdict_share_a_clause(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(19))
    rows = (*s.methods, replace(s.methods[0], method="slca"))
    tests = adjusted_tests([(m.test, m.groups) for m in rows], None)
    two = replace(s, methods=tuple(replace(m, adjusted=t) for m, t in zip(rows, tests, strict=True)))
    assert (
        f"{BOTH}, as EDGE expects, for er (adjusted p = 0.050 hard, 0.050 easy) and slca (adjusted p"
        in words.headline(two)
    )
    assert words.each_method(two).startswith("Verdicts by method are adjusted for the 2 methods (step-down max-T)")
    assert to_json(two)["adjusted_p"]["slca"]["p_hard"] == pytest.approx(0.05)
    assert words.each_method(two) in words.notes(two)
    assert words.each_method(s) == ""


def test_the_headline_of_several_methods_is_of_their_mean(tmp_path: Path) -> None:
    """Ten points below the lowest for one method, as high as the highest for the other: the mean stands among the random ones."""
    s = summary(tmp_path / "one", LOW, HIGH, spread(19))
    [m] = s.methods
    hard, easy = m.groups["hard"], m.groups["easy"]
    swapped = {"hard": replace(hard, accuracy=easy.accuracy), "easy": replace(easy, accuracy=hard.accuracy)}
    other = replace(m, method="slca", groups={**m.groups, **swapped})
    alike, apart = (
        replace(s, methods=(m, o), mean=mean_over((m, o), None)) for o in (replace(m, method="slca"), other)
    )
    assert words.headline(alike).startswith(
        f"On this pool {BOTH}, as EDGE expects, for the mean over 2 methods (p = 0.050 hard"
    )
    assert words.findings(alike)[0].startswith(f"By method: {BOTH}, as EDGE expects, for er (p = 0.050")
    assert to_json(alike)["mean"] == {"claim": "both", "p": to_json(alike)["mean"]["p"]}
    assert apart.mean is not None
    assert apart.mean.claim == "none"
    assert "can be told from random ones, for the mean over 2 methods" in words.headline(apart)
    lost = replace(m, test=None)
    assert mean_over((m, lost), None) is None
    without = replace(alike, mean=None)
    assert words.no_mean(without).startswith("No test of the mean over methods")
    assert words.no_mean(without) in words.notes(without)
    assert not words.no_mean(alike)
    assert to_json(s)["mean"] is None


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
    assert words.few_sequences(replace(FACTS, possible=6, enumerated=True)) == (
        "--enumerate: each of the 6 sequences is trained with the same 3 training seeds, which is the truth. The 20 random ones "
        "are drawn of these with replacement and trained with a seed of their own each: ranks among them, and the mean over "
        "sequences and seeds, rest on independent trainings, not on different sequences (--random-sequences)."
    )
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


def test_too_few_random_sequences_are_said(few: MethodEdge, tmp_path: Path) -> None:
    [two] = summary(tmp_path, LOW, MIDDLE, spread(2)).methods
    assert words.too_few(two) == "er: too few random sequences for an interval of the mean: 1 more needed."
    assert two.estimate is not None
    assert np.isnan(two.estimate.mean.low)
    assert words.too_few(few) == ""
    assert few.estimate is not None
    assert np.isfinite(few.estimate.mean.low)


def test_how_many_one_end_alone_takes_is_said_where_there_is_no_verdict(few: MethodEdge, many: MethodEdge) -> None:
    assert words.one_end(many) == "er: 9 more random sequences would allow a verdict on one end alone."
    assert words.one_end(few) == ""  # not even both ends have one
    assert words.one_end(replace(many, claim="both")) == ""


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
    s = EDGE.read(write_run(tmp_path / "run", pool, made, judged, ["er"])).summary
    assert s.methods[0].groups["random"].names == ("random-1", "random-2", "random-3")
    assert s.methods[0].groups["crossed"].names == ("random-1",)
    said = words.notes(s)
    assert "er: 1 of 4 sequences (random) failed with some seed and are left out." in said
    assert (
        "er: 1 of 2 sequences (random, with the seeds of the extremes) failed with some seed and are left out." in said
    )
    assert "hard and easy sequences were not both judged" in " ".join(words.findings(s))
    assert words.no_estimate(s) == ""
    alone = EDGE.read(write_run(tmp_path / "one", pool, made[:2], judged[:2], ["er"])).summary
    assert words.no_estimate(alone) == "A method with fewer than two complete random sequences has no estimate."


# ------------------------------------------------------------------------------------------------ tables


def test_after_until_mean_tails_ranks_and_places_are_of_the_planned_sequences(tmp_path: Path) -> None:
    summary(tmp_path, LOW, MIDDLE, spread(40))
    config = tmp_path / "run" / "config.json"
    asked = {"until": "mean:0.05", "random_sequences": 10, "max_sequences": 100}
    whole = json.loads(config.read_text())
    config.write_text(json.dumps({**whole, "settings": {**whole["settings"], **asked}}))
    s = EDGE.read(tmp_path / "run").summary
    [m] = s.methods
    assert m.estimate is not None
    assert m.estimate.tails is not None
    assert m.test is not None
    assert (m.estimate.L, m.estimate.tails.L, m.test.L) == (40, 30, 30)
    assert m.estimate.tails.lowest == min(spread(40)[:30])
    said = "\n".join(words.notes(s))
    assert "After --until mean, the 95 % interval of the mean" in said
    assert "tails are of the first 30 random sequences, which were planned before looking." in said
    assert "all three are of the first 30 sequences, planned before --until mean looked at any" in distribution(s).lead


def test_below_thirty_sequences_the_assumption_of_the_mean_is_printed(tmp_path: Path) -> None:
    assumed = "Intervals of means over fewer than 30 random sequences assume that no rare one lies far off"
    assert any(n.startswith(assumed) for n in words.notes(summary(tmp_path / "a", LOW, MIDDLE, spread(29))))
    assert not any(n.startswith(assumed) for n in words.notes(summary(tmp_path / "b", LOW, MIDDLE, spread(30))))
