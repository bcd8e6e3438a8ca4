"""Harder for whom: each sentence on figures where it is true, the table, and what is not said."""

from dataclasses import replace

import numpy as np
import pytest

from protocols.cldyb.compared import Placed
from protocols.cldyb.joint import Gap
from protocols.report import cldyb_joint as joint
from protocols.report import cldyb_words as words
from protocols.report.cldyb import to_json
from seqsearch.distribution.drop import drop
from seqsearch.distribution.gap import gap_difference
from seqsearch.distribution.rank_test import rank_test
from tests.unit.report.test_cldyb_words import summary

RNG = np.random.default_rng(0)
RANDOM = 0.8 + RNG.normal(0, 0.01, (19, 1))
FOUND = np.full((1, 1), 0.5)


def gap(joint_found, joint_random, found=FOUND, random=RANDOM):
    return gap_difference((joint_found, found), (joint_random, random))


def placed(found=FOUND, random=RANDOM, end="harder"):
    return Placed((), (), rank_test(found[:, 0], random[:, 0], end))


CONTINUALLY = gap(FOUND + 0.3, RANDOM + 0.1 + RNG.normal(0, 0.01, RANDOM.shape))
"""Joint training loses 10 of 30 points."""
CLASSES = gap(FOUND + 0.1, RANDOM + 0.1 + RNG.normal(0, 0.01, RANDOM.shape))
SAME = gap(FOUND, RANDOM)
ALONE = gap(FOUND + 0.45, RANDOM + 0.1 + RNG.normal(0, 0.01, RANDOM.shape))
"""Joint training is better on found sequences."""
UNCLEAR = gap(FOUND + 0.3, RANDOM + 0.1 + RNG.normal(0, 2.0, RANDOM.shape))


def said(of, methods=("er",), d=None, p=None):
    return joint.statement(Gap(("er",), of), methods, d or drop(FOUND, RANDOM), p or placed())


def test_harder_to_learn_continually_takes_an_interval_above_zero():
    assert CONTINUALLY.difference.low > 0
    assert said(CONTINUALLY).startswith("The gap to joint training is larger by 20.")
    assert said(CONTINUALLY).endswith(
        "]: the sequence is harder to learn continually, not only made of harder classes."
    )
    assert said(ALONE).endswith("]: the sequence is harder to learn continually."), "no harder classes"
    assert said(CONTINUALLY, ("er", "slca")).startswith("For er: the gap to joint training is larger by 20.")


def test_else_classes_or_tasks_are_harder_and_no_absence_is_claimed():
    for of in (CLASSES, SAME, UNCLEAR):
        assert of.difference.sign == 0
        assert "harder classes or tasks, and is not shown to be harder to learn continually." in said(of)
    loss = f"{100 * (RANDOM.mean() - 0.5):.1f} pp"
    assert said(SAME) == (
        f"Joint training on the same classes loses {loss}, training in sequence {loss}; the gap between them is the same on all "
        "sequences: the sequence has harder classes or tasks, and is not shown to be harder to learn continually."
    )
    assert "the sequence has harder classes" in said(CLASSES)
    assert "pp; the gap between them is " in said(CLASSES)
    assert "the sequence may have harder classes" in said(UNCLEAR), "joint training may lose nothing"


def test_a_smaller_gap_turns_its_interval_round():
    of = gap(FOUND + 0.1, RANDOM + 0.15 + RNG.normal(0, 0.01, RANDOM.shape))
    low, high = -100 * of.difference.high, -100 * of.difference.low
    assert f"smaller by {-100 * of.difference.value:.1f} pp [{low:.1f}, {high:.1f}]" in said(of)


@pytest.mark.parametrize(
    ("d", "p"),
    [
        (drop(RANDOM[:1], RANDOM), placed(RANDOM[:1])),
        (drop(RANDOM[:1] + 0.1, RANDOM), placed(RANDOM[:1] + 0.1, end="easier")),
        (drop(FOUND, RANDOM[:5]), placed(random=RANDOM[:5])),
    ],
)
def test_without_the_verdict_harder_neither_is_said(d, p):
    assert said(CONTINUALLY, d=d, p=p) == ""


def test_without_joint_training_a_dash_and_nothing_claimed():
    assert joint.statement(None, ["er"], drop(FOUND, RANDOM), placed()) == ""
    assert joint.table([("er", None)]).rows == ()
    table = joint.table([("er", None), ("slca", CONTINUALLY), ("mean", CONTINUALLY)])
    assert table.texts[0] == ("er", "-", "-", "-", "-", "-")
    assert table.texts[1][:3] == ("slca", "80.0", "89.8")
    some = [("er", None), ("slca", SAME)]
    without = "Not trained jointly: er. --joint trains all methods jointly."
    assert joint.notes(some, drop(FOUND, RANDOM), placed()) == [without]
    assert joint.notes(some, None, None)[0].startswith("Only with the verdict")
    assert joint.notes(some, None, None)[1:] == [without]
    assert joint.notes([("er", None)], drop(FOUND, RANDOM), placed())[0].startswith("No method was trained jointly")
    assert joint.notes([("er", None)], None, None) == []
    few = gap(FOUND + 0.3, RANDOM[:2] + 0.1, random=RANDOM[:2])
    no_interval = "A gap to joint training has no interval: too few random sequences, 1 more needed."
    assert joint.notes([("er", few)], None, None)[1:] == [no_interval]


def test_the_headline_and_json_have_it():
    s = summary(drop(FOUND, RANDOM), placed=placed())
    s = replace(s, methods=(replace(s.methods[0], gap=CONTINUALLY),), gap=Gap(("er",), CONTINUALLY))
    assert words.headline(s).endswith(words.for_whom(s))
    assert "harder to learn continually" in words.for_whom(s)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "notes", lambda s: [])
        found = to_json(s)
    assert found["for_whom"] == words.for_whom(s)
    of = found["gap"]["of"]
    assert (of["joint_found"], of["joint_random"]) == pytest.approx((0.8, CONTINUALLY.joint_random))
    assert set(of["difference"]) == {"value", "low", "high"}
