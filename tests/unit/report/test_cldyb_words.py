"""Every sentence of a CLDyB summary, on a summary where it is true and on one where it is not."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from protocols.cldyb.compared import Placed
from protocols.cldyb.images import Images
from protocols.cldyb.steps import Steps, steps_of
from protocols.cldyb.summary import MethodSummary, Side, Summary
from protocols.report import cldyb_words as words
from seqsearch.distribution.drop import ImageShares, drop
from seqsearch.distribution.rank_test import rank_test

CLASSES = np.repeat(np.arange(4), 5)


def side(gap=None):
    return Side(1, 2, 0.5, -0.1, 0.6, 0.5, (0.7, 0.5), (0.8, 0.7), (0.6, 0.4), (0.8, 0.6), gap)


def summary(of=None, **more):
    row = MethodSummary("er", side(), side(), of, None)
    base = Summary("r", False, (row,), None, None, 5, (), SimpleNamespace())
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


HARDER = "is harder than random ones (below all 19, p = 0.05)"


@pytest.mark.parametrize(
    ("found", "random", "end", "said"),
    [
        (table(1, 3, 0.4), table(19, 1, 0.8), "harder", f"The found sequence {HARDER}"),
        (
            table(3, 3, 0.4), table(19, 1, 0.8), "harder",
            "The 3 found sequences are harder than random ones (on average below all 19, p = 0.00065)",
        ),
        (table(1, 3, 0.9), table(19, 1, 0.8), "easier", "The found sequence is easier than random ones (above all 19, p = 0.05)"),
        (
            table(1, 3, 0.9), table(19, 1, 0.8), "harder",
            "The found sequence is not significantly harder than random ones (below none of 19, p = 1)",
        ),
        (
            table(1, 1, 0.4), table(5, 1, 0.8), "harder",
            "The found sequence scores below all 5; 14 more random sequences would allow a verdict",
        ),
        (np.full((1, 2), 0.8), np.full((5, 1), 0.8), "harder", "Found and random sequences do not differ at all"),
    ],
)  # fmt: skip
def test_the_verdict_is_that_of_the_rank_test(found, random, end, said):
    assert words.verdict(drop(found, random), placed(found, random, end)) == said


def test_without_a_drop_nothing_is_compared():
    assert words.verdict(None, None) == "Found and random sequences cannot be compared in this run"


def placed(found, random, end="harder"):
    return Placed(tuple(found[:, 0]), tuple(random[:, 0]), rank_test(found[:, 0], random[:, 0], end))


def compared(found, random, **more):
    return summary(drop(found, random), placed=placed(found, random), **more)


def test_the_headline_of_figures_that_do_not_differ_has_no_drop():
    equal = np.full((1, 2), 0.972), np.full((5, 2), 0.972 + 4e-16)
    assert words.headline(compared(*equal)) == (
        "Found and random sequences do not differ at all: final test accuracy is 97.2 % on each."
    )
    assert "a relative drop of 49.6 % (95 % interval 48.1 to 51.1)" in words.headline(
        compared(table(1, 3, 0.4), table(5, 3, 0.8))
    )


def test_a_search_with_nothing_to_choose_by_takes_no_credit():
    of = table(1, 3, 0.4), table(5, 3, 0.8)
    assert words.headline(compared(*of, steps=Steps(equal=2))).endswith(
        "J told the candidates of no step with a choice apart (equal): what differs from random sequences comes from how "
        "candidates are grown."
    )
    assert "(no further apart than their noise)" in words.headline(compared(*of, steps=Steps(equal=1, noise=1)))
    for steps in (Steps(), Steps(equal=1, told=1), Steps(equal=1, unknown=1)):
        assert "told the candidates" not in words.headline(compared(*of, steps=steps))


def test_a_search_that_judged_one_candidate_at_each_step_chose_nothing():
    of = table(1, 3, 0.4), table(5, 3, 0.8)
    lone = compared(*of, steps=steps_of([row(0.1), row(0.2, step=3)]))
    assert words.headline(lone).endswith(
        "At no step were two candidates judged, so that nothing was chosen by training: what differs from random sequences comes "
        "from how candidates are proposed."
    )
    assert words.flat(lone).startswith("No J decided anything: at every step of the search one candidate was judged")
    for rows in ([], [row(0.1), row(0.2, step=3), row(0.3, step=3)]):
        other = compared(*of, steps=steps_of(rows))
        assert "chosen by training" not in words.headline(other)
        assert "No J decided" not in words.flat(other)


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
    assert words.flat(summary(steps=Steps(equal=1, noise=1, told=1, unknown=1))) == (
        "At 2 of 4 steps with a choice J did not tell the candidates apart (equal at 1, within two standard errors at 1; at 1 "
        "the noise is not known): the tasks taken there are as good as drawn from the candidates."
    )
    assert words.flat(summary(steps=steps_of([row(0.1), row(0.2, step=3), row(0.2, step=3)]))).startswith(
        "At 1 of 1 step with a choice J did not"
    ), "a lone candidate is no choice"
    assert words.flat(summary(steps=Steps(told=3, unknown=2))) == ""


def test_what_the_interval_covers_and_what_it_is_conditional_on():
    one = words.covered(drop(table(1, 3, 0.4), table(5, 3, 0.8)))
    assert one.startswith(
        "95 % intervals are over 5 random sequences and 3 training seeds; conditional on the first task, the split of the "
        "images, these test images and this one found sequence: another search may find less (--searches). Conditional on the "
        "trainings of the found sequences as well, the headline's is 4"
    )
    three = words.covered(drop(table(3, 1, 0.4), table(5, 1, 0.8)))
    assert three.startswith(
        "95 % intervals are over 3 independent searches and 5 random sequences; conditional on the first task, the split of the "
        "images, this one training seed (--score-seeds) and these test images. Conditional on"
    )
    two = words.covered(drop(table(2, 2, 0.4), table(5, 1, 0.8)))
    assert two.endswith("these test images and these 2 found sequences: another search may find less (--searches).")
    assert "these 2 training seeds (--score-seeds)" in two
    images = words.covered(with_images(0.5))
    assert "and the draw of the test images; conditional" in images
    assert "these test images" not in images
    assert words.covered(drop(table(1, 1, 0.4), table(2, 1, 0.8))) == (
        "No interval of the headline's drop: too few random sequences, 1 more needed."
    )


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (
            drop([[0.4, 0.4]], [[0.7, 0.7], [0.8, 0.8], [0.9, 0.9]]),
            "100.0 % of the squared width of the headline's interval comes from random",
        ),
        (drop([[0.4, 0.5, 0.6]], [[0.75], [0.74], [0.76]]), "comes from training seeds: --score-seeds narrows it most"),
        (drop([[0.4], [0.6], [0.5]], [[0.7], [0.71], [0.7]]), "comes from found sequences: --searches narrows it most"),
        (with_images(0.9), "comes from test images: a pool with more test images narrows it most"),
        (drop([[0.4, 0.4]], [[0.7, 0.7]] * 3), ""),
        (
            drop([[0.4, 0.5, 0.45], [0.6, 0.7, 0.65], [0.5, 0.6, 0.55]], [[0.55], [0.95], [0.7], [0.9], [0.65]]),
            "",
        ),
    ],
)
def test_what_would_narrow_the_interval_most(of, said):
    assert (said in words.widest(of)) if said else words.widest(of) == ""


def test_images_trained_on_are_said_where_they_are_known():
    assert words.trained_on(summary()) == ""
    assert words.trained_on(summary(images=Images(30, 16, 10))) == (
        "Images of a class: trained on 30, all but the 10 tested; the search trained on 16, holding back those it judged by."
    )
    assert words.trained_on(summary(images=Images(30, 30, 10))).endswith("all but the 10 tested.")


def test_robustness_names_searches_that_fell_short_and_no_others():
    fine = MethodSummary("er", side(), side(), None, None, (("er", 0.4), ("slca", 0.6)))
    short = MethodSummary("slca", side(), side(), None, None, (("er", 0.3), ("slca", 0.6)))
    assert (fine.robustness, short.robustness, summary().methods[0].robustness) == (0.4, 0.3, None)
    said = words.robustness(replace(summary(), separate=True, methods=(fine, short)))
    assert said[1:] == [
        "slca: 60.0 % on its own found sequences, 30.0 % on those of er (as measured, without an interval): its own search did "
        "not find the hardest."
    ]
    assert words.robustness(replace(summary(), methods=(short,))) == []
