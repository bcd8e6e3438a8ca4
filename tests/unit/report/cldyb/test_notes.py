"""Every note of a CLDyB summary, on a summary where it is true and on one where it is not."""

from dataclasses import replace

import numpy as np
import pytest

from protocols.cldyb.compared import Placed
from protocols.cldyb.images import Images
from protocols.cldyb.left_out import Searched
from protocols.cldyb.steps import Screened, Steps, steps_of
from protocols.cldyb.summary import MethodSummary, Progress, Side, Summary
from protocols.cldyb.surrogates import Agreement, Surrogates
from protocols.report.cldyb.notes import covered, headline, notes, tiles
from protocols.report.notes import Note, by_importance
from protocols.running.provenance import Provenance
from seqsearch.stats.difference import held_out
from seqsearch.stats.drop import ImageShares, drop
from seqsearch.stats.rank_test import rank_test
from seqsearch.stats.regression import similarity_correlation

CLASSES = np.repeat(np.arange(4), 5)


def side(gap=None):
    return Side(1, 2, 0.5, -0.1, 0.6, 0.5, (0.7, 0.5), (0.8, 0.7), (0.6, 0.4), (0.8, 0.6), gap)


def summary(of=None, **more):
    row = MethodSummary("er", side(), side(), of, None)
    base = Summary("r", False, (row,), None, None, 5, (), Provenance())
    return replace(base, **more)


def table(sequences, seeds, mean, seed=0, spread=0.01):
    return mean + np.random.default_rng(seed).normal(0, spread, (sequences, seeds))


def with_images(noise):
    """One found and three random sequences on the same images, whose correctness varies by ``noise``."""
    rng = np.random.default_rng(0)
    right = np.clip(0.5 + noise * rng.normal(size=20), 0, 1) / 20
    found, random = np.tile(right[::-1] * 0.5, (1, 2, 1)), np.tile(right, (3, 2, 1))
    random += np.array([0, 1e-5, 2e-5])[:, None, None]
    return drop(found.sum(2), random.sum(2), ImageShares(found, random, CLASSES))


def placed(found, random, end="harder", p=()):
    return Placed(tuple(found[:, 0]), tuple(random[:, 0]), rank_test(found[:, 0], random[:, 0], end), tuple(p))


def compared(found, random, end="harder", **more):
    return summary(drop(found, random), placed=placed(found, random, end), **more)


def coded(of):
    """Notes of a summary, or given ones, by code; the last of each."""
    return {n.code: n for n in (notes(of) if isinstance(of, Summary) else of)}


LOW, HIGH, RANDOM, FEW = table(1, 3, 0.4), table(1, 3, 0.9), table(19, 1, 0.8), table(5, 1, 0.8)


@pytest.mark.parametrize(
    ("s", "code", "said"),
    [
        (compared(LOW, RANDOM), "significant", "The found sequence is harder than random sequences."),
        (compared(table(3, 3, 0.4), RANDOM), "significant", "The found sequences are harder than random sequences."),
        (compared(HIGH, RANDOM, "easier"), "significant", "The found sequence is easier than random sequences."),
        (compared(HIGH, RANDOM), "undecided", "The found sequence is not significantly harder than random sequences."),
        (compared(LOW, FEW), "too_few", "No verdict yet: 14 more random sequences are needed (--random-sequences 19)."),
        (
            compared(np.full((1, 2), 0.8), np.full((5, 1), 0.8)),
            "equal",
            "With equal training seeds, found and random sequences do not differ at all.",
        ),
        (
            summary(),
            "no_comparison",
            "Found and random sequences cannot be compared in this run; the warnings say why.",
        ),
        (summary(random_sequences=0), "no_random", ""),
        (compared(LOW, RANDOM, placebo=True), "placebo_significant", "Placebo with shuffled rewards: "),
        (compared(HIGH, RANDOM, placebo=True), "placebo_undecided", "Placebo with shuffled rewards: "),
        (compared(LOW, FEW, placebo=True), "placebo_undecided", "Placebo with shuffled rewards: "),
    ],
    ids=lambda of: of if isinstance(of, str) and " " not in of else "",
)
def test_the_verdict_is_that_of_the_rank_test(s, code, said):
    of = headline(s)
    assert of.code == f"cldyb.{code}"
    assert of.text.startswith(said)
    assert len(of.text.split()) <= 16


def test_what_further_seeds_of_found_sequences_change_is_said_where_nothing_else_differs():
    s = compared(np.array([[0.4, 0.3, 0.3]]), np.full((5, 1), 0.4))
    assert headline(s).code == "cldyb.equal"
    assert list(tiles(s)) == []
    assert coded(s)["cldyb.other_seeds"].text.startswith("Final Acc is 33.3 % on found and 40.0 % on random sequences")
    alike = compared(np.full((1, 3), 0.4), np.full((5, 1), 0.4))
    assert "cldyb.other_seeds" not in coded(alike)
    assert [t.value for t in tiles(alike)] == ["40.0 %", "40.0 %"]


@pytest.mark.parametrize(("accuracies", "end"), [(LOW, "harder"), (HIGH, "easier")])
def test_a_search_for_easy_sequences_is_reported_with_the_first_notes(accuracies, end):
    first, _ = by_importance(notes(compared(accuracies, RANDOM, end)))
    assert ("cldyb.easy" in [n.code for n in first]) == (end == "easier")


def test_tiles_have_the_figures_of_the_headline():
    shown = [(t.value, t.label) for t in tiles(compared(LOW, RANDOM))]
    assert [v.partition(" ")[0] for v, _ in shown] == ["40.2", "79.8", "49.6", "below"]
    assert shown[2][1].startswith("relative drop, 95 % [4")
    assert shown[3] == ("below 19 of 19", "random sequences, p = 0.050")
    assert [t.value for t in tiles(compared(HIGH, RANDOM, "easier"))][3] == "above 19 of 19"
    several = list(tiles(compared(table(3, 3, 0.4), RANDOM)))
    assert several[3] == ("below 19 of 19", "random sequences on average, p = <0.001", "")
    equal = np.full((1, 2), 0.972), np.full((5, 2), 0.972 + 4e-16)
    assert [t.value for t in tiles(compared(*equal))] == ["97.2 %", "97.2 %"]
    assert list(tiles(compared(table(1, 1, 0.4), table(1, 1, 0.8))))[2].label == "relative drop, no interval"
    assert not list(tiles(summary()))


@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        (Steps(equal=2), {"cldyb.flat", "cldyb.flat_steps", "cldyb.no_signal"}),
        (Steps(equal=1, noise=1), {"cldyb.flat", "cldyb.flat_steps", "cldyb.no_signal"}),
        (Steps(alone=2), {"cldyb.one_candidate", "cldyb.no_signal"}),
        (Steps(equal=1, told=1), {"cldyb.flat", "cldyb.flat_steps"}),
        (Steps(equal=1, unknown=1), {"cldyb.flat", "cldyb.flat_steps"}),
        (Steps(told=3, unknown=2, alone=1), set()),
        (Steps(), set()),
    ],
)
def test_a_search_with_nothing_to_choose_by_takes_no_credit(steps, codes):
    s = compared(LOW, RANDOM, steps=steps)
    every = {"cldyb.flat", "cldyb.flat_steps", "cldyb.no_signal", "cldyb.one_candidate", "cldyb.by_chance"}
    assert every & set(coded(s)) == codes
    assert headline(s).code == ("cldyb.unselected" if "cldyb.no_signal" in codes else "cldyb.significant")
    greedy = replace(s, baseline="greedy")
    assert every & set(coded(greedy)) == {"cldyb.by_chance" if c == "cldyb.no_signal" else c for c in codes}
    assert ("cldyb.by_choosing" in coded(greedy)) == ("cldyb.no_signal" not in codes)
    assert "cldyb.by_choosing" not in coded(s)


def row(value, noise=None, status="ok", search="search-0", step=2):
    return {"search_id": search, "step": step, "value": value, "noise": noise, "status": status}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(0.0), row(2e-16), row(-2e-16)], Steps(equal=1)),
        ([row(0.0), row(1e-6)], Steps(unknown=1)),
        ([row(0.10, 0.01), row(0.12, 0.01), row(0.11, 0.01)], Steps(noise=1)),
        ([row(0.10, 0.01), row(0.13, 0.01), row(0.11, 0.01)], Steps(told=1)),
        ([row(0.10, 0.01), row(0.11, None)], Steps(unknown=1)),
        ([row(0.10, 0.0), row(0.11, 0.0)], Steps(told=1)),
        ([row(0.10), row(0.10, status="method 'er' diverged")], Steps(alone=1)),
        ([row(0.10)], Steps(alone=1)),
        ([row(None)], Steps()),
        ([row(0.1), row(0.1), row(0.1, step=3), row(0.2, step=3)], Steps(equal=1, unknown=1)),
    ],
)
def test_steps_are_told_apart_by_their_noise_or_not_known(rows, expected):
    assert steps_of(rows) == expected


def test_steps_that_told_nothing_apart_are_counted():
    of = coded(summary(steps=Steps(equal=1, noise=1, told=1, unknown=1)))
    assert of["cldyb.flat"].values == {"flat": 2, "steps": 4}
    assert of["cldyb.flat_steps"].values == {"equal": 1, "noise": 1, "unknown": 1}
    lone = coded(summary(steps=steps_of([row(0.1), row(0.2, step=3), row(0.2, step=3)])))
    assert lone["cldyb.flat"].values == {"flat": 1, "steps": 1}, "a lone candidate is no choice"


def test_what_the_interval_covers_and_what_it_is_conditional_on():
    one = coded(covered(drop(table(1, 3, 0.4), table(5, 3, 0.8))))
    assert one["cldyb.these_found"].values == {
        "over": ["random sequences", "training seeds"],
        "found": 1,
        "random": 5,
        "seeds": 3,
        "given": ["first task", "split of the images", "found sequences", "test images"],
    }
    assert "another search may find less (--searches)" in one["cldyb.these_found"].text
    assert one["cldyb.conditional"].text.split("[")[1].startswith("4")
    assert "cldyb.these_seeds" not in one
    three = coded(covered(drop(table(3, 1, 0.4), table(5, 1, 0.8))))
    assert three["cldyb.over_searches"].values["over"] == ["searches", "random sequences"]
    assert three["cldyb.over_searches"].values["given"] == [
        "first task",
        "split of the images",
        "training seeds",
        "test images",
    ]
    assert "3 independent searches" in three["cldyb.over_searches"].text
    assert {"cldyb.these_seeds", "cldyb.conditional"} <= set(three)
    two = coded(covered(drop(table(2, 2, 0.4), table(5, 1, 0.8)), 2, shared_first=False))
    assert (two["cldyb.these_found"].values["found"], two["cldyb.these_found"].values["seeds"]) == (2, 2)
    assert two["cldyb.these_found"].values["given"][0] == "split of the images"
    assert two["cldyb.own_sequences"].values == {"searches": 2}
    assert "cldyb.own_sequences" not in one
    images = coded(covered(with_images(0.5)))["cldyb.these_found"].values
    assert "test images" in images["over"]
    assert "test images" not in images["given"]
    assert [n.values for n in covered(drop(table(1, 1, 0.4), table(2, 1, 0.8)))] == [
        {"why": "too few random sequences, 1 more needed"}
    ]
    assert not list(covered(drop(np.full((1, 2), 0.8), np.full((5, 1), 0.8))))


def test_what_excludes_zero_for_these_trainings_only_is_said():
    of = [[0.60, 0.72, 0.66]]
    wide = drop(of, [[0.70], [0.705], [0.71], [0.70], [0.705]])
    assert bool(wide.conditional.sign and not wide.relative.sign) == ("cldyb.only_these" in coded(covered(wide)))
    assert "cldyb.only_these" in coded(covered(wide))
    assert "cldyb.only_these" not in coded(covered(drop(LOW, RANDOM)))


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (drop([[0.4, 0.4]], [[0.7, 0.7], [0.8, 0.8], [0.9, 0.9]]), ("random sequences", "--random-sequences")),
        (drop([[0.4, 0.5, 0.6]], [[0.75], [0.74], [0.76]]), ("training seeds", "--score-seeds")),
        (drop([[0.4], [0.6], [0.5]], [[0.7], [0.71], [0.7]]), ("found sequences", "--searches")),
        (with_images(0.9), "images"),
        (drop([[0.4, 0.4]], [[0.7, 0.7]] * 3), None),
        (
            drop([[0.4, 0.5, 0.45], [0.6, 0.7, 0.65], [0.5, 0.6, 0.55]], [[0.55], [0.95], [0.7], [0.9], [0.65]]),
            None,
        ),
    ],
)
def test_what_would_narrow_the_interval_most(of, said):
    there = coded(covered(of))
    assert ("cldyb.widest_images" in there) == (said == "images")
    assert ("cldyb.widest" in there) == isinstance(said, tuple)
    if isinstance(said, tuple):
        values = there["cldyb.widest"].values
        assert (values["part"], values["flag"]) == said
        assert values["share"] >= 0.5


def test_images_trained_on_are_said_where_they_are_known():
    assert not {"cldyb.images", "cldyb.images_searched"} & set(coded(summary()))
    known = coded(summary(images=Images(30, 16, 10)))
    assert known["cldyb.images"].values == {"trained": 30, "test": 10}
    assert known["cldyb.images_searched"].values == {"searched": 16}
    assert "cldyb.images_searched" not in coded(summary(images=Images(30, 30, 10)))


def test_robustness_names_searches_that_fell_short_and_no_others():
    fine = MethodSummary("er", side(), side(), None, None, (("er", 0.4), ("slca", 0.6)))
    short = MethodSummary("slca", side(), side(), None, None, (("er", 0.3), ("slca", 0.6)))
    assert (fine.robustness, short.robustness, summary().methods[0].robustness) == (0.4, 0.3, None)
    there = [n for n in notes(replace(summary(), separate=True, methods=(fine, short))) if n.code == "cldyb.fell_short"]
    assert [n.values for n in there] == [{"method": "slca", "own": 0.6, "low": 0.3, "others": ["er"]}]
    assert not {"cldyb.robustness", "cldyb.fell_short"} & set(coded(replace(summary(), methods=(short,))))


def test_why_nothing_differs_and_what_went_wrong_are_passed_on():
    equal = np.full((1, 2), 0.8), np.full((5, 1), 0.8)
    assert coded(compared(*equal, same="all are alike"))["cldyb.same"].values == {"why": "all are alike"}
    assert "cldyb.same" not in coded(compared(LOW, RANDOM, same="all are alike"))
    assert coded(summary(troubles=("a\nb",)))["cldyb.trouble"].text == "a\\nb"


def test_an_unfinished_run_says_how_far_it_came_and_claims_nothing():
    s = summary(
        drop(LOW, RANDOM), unfinished=Progress("step 2/3", (("search-0", 1),), 3, 4, "seqsearch cldyb --resume r")
    )
    assert (headline(s).code, headline(s).values) == ("run.unfinished", {"reached": "step 2/3"})
    there = coded(s)
    assert there["run.resume"].text == "Go on with: seqsearch cldyb --resume r"
    assert there["cldyb.decided"].text == "search-0: 1 of 3 tasks decided."
    assert there["cldyb.rescored"].values == {"rollouts": 4}
    assert set(there) == {"run.resume", "cldyb.decided", "cldyb.rescored", "cost.unknown"}


# ------------------------------------------------------------------------------------------------ kinds of searches


def test_surrogates_are_named_with_how_accuracies_go_together():
    x, y = np.linspace(0.3, 0.8, 12), np.linspace(0.3, 0.8, 12) + 0.05 * np.sin(np.arange(12.0))
    known = similarity_correlation(x, y).spearman
    unclear = replace(known, value=replace(known.value, low=np.nan, high=np.nan))
    of = {
        "unknown": Surrogates(("a", "b"), ()),
        "tuned": Surrogates(("a",), (), True),
        "known": Surrogates(("a",), (Agreement("a", "er", known, 12, 2),)),
        "unclear": Surrogates(("a",), (Agreement("a", "er", unclear, 12, 2),)),
    }
    codes = {
        name: {c for c in coded(summary(surrogates=s)) if "surrogate" in c or "agree" in c} for name, s in of.items()
    }
    assert codes == {
        "unknown": {"cldyb.surrogates", "cldyb.surrogates_unknown"},
        "tuned": {"cldyb.surrogates", "cldyb.surrogates_tuned"},
        "known": {"cldyb.surrogates", "cldyb.agreement", "cldyb.agreement_given"},
        "unclear": {"cldyb.surrogates", "cldyb.agreement_unclear", "cldyb.agreement_given"},
    }
    values = coded(summary(surrogates=of["known"]))["cldyb.agreement"].values
    assert (values["rho"], values["low"]) == (known.value.value, known.value.low)
    assert coded(summary(surrogates=of["known"]))["cldyb.agreement_given"].values == {"seeds": 2}
    assert not any("surrogate" in c for c in coded(summary()))


@pytest.mark.parametrize(
    ("of", "codes"),
    [
        (Screened(4, 2, 2, 11, 3, (0.5, 0.7)), {"screened", "screened_rank", "screened_narrowed"}),
        (Screened(4, 3, 1, 11, 1, ()), {"screened", "screened_all", "screened_unknown"}),
        (Screened(4, 1, 0, 11, 0, (0.5,)), {"screened", "screened_all", "screened_rank"}),
        (None, set()),
    ],
)
def test_what_screening_did_is_said(of, codes):
    there = {c: n for c, n in coded(summary(screened=of)).items() if "screened" in c}
    assert set(there) == {f"cldyb.{c}" for c in codes}
    if "cldyb.screened_all" in there:
        assert there["cldyb.screened_all"].values == {"steps": of.predicted - of.narrowed}
    if "cldyb.screened_rank" in there:
        assert there["cldyb.screened_rank"].values["mean"] == pytest.approx(np.mean(of.correlations))


def left_out(searches, seeds):
    """Three methods, each held out once by search."""
    rng = np.random.default_rng(0)
    return held_out(rng.uniform(0.3, 0.7, (searches, 3, 3, seeds)))


def test_a_test_that_shows_nothing_beside_an_interval_without_0_is_explained():
    random = table(19, 2, 0.8)
    random[:4] -= 0.3  # so that single random sequences score as low as the found one, but their mean does not
    found = table(1, 2, 0.55, seed=1)
    both = compared(found, random)
    assert both.overall.drop.relative.sign
    assert not both.placed.test.significant
    assert "cldyb.test_alone" in coded(both)
    assert "cldyb.test_alone" not in coded(compared(table(1, 2, 0.3), random))
    assert "cldyb.test_alone" not in coded(compared(table(1, 2, 0.75), random))
    easier = compared(table(1, 2, 0.9), random)  # where harder ones were searched for
    assert easier.overall.drop.relative.sign < 0
    assert "cldyb.test_alone" not in coded(easier)


def test_what_being_searched_for_costs_has_its_conditions():
    without = coded(summary(held_out=left_out(1, 1)))
    assert without["cldyb.held_out_no_interval"].values["why"]
    assert not {"cldyb.held_out_over", "cldyb.held_out_conditional", "cldyb.left_out"} & set(without)
    over = coded(summary(held_out=left_out(4, 2)))
    assert over["cldyb.held_out_over"].values == {
        "over": ["searches"],
        "given": ["methods", "first task", "split", "training seeds", "test images"],
        "groups": 4,
        "seeds": 2,
    }
    assert "cldyb.held_out_no_interval" not in over
    row = replace(summary().methods[0], searched=Searched(0.5, None))
    assert "cldyb.left_out" in coded(summary(methods=(row,)))


def test_every_note_has_its_sentence():
    there = [n for s in (compared(LOW, RANDOM), summary(images=Images(30, 16, 10))) for n in (headline(s), *notes(s))]
    assert all(isinstance(n, Note) and not n.text.startswith(f"{n.code}:") for n in there)
