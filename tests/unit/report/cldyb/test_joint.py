"""Harder for whom: each note on figures where it is true, the table, and what is not said."""

from dataclasses import replace

import numpy as np
import pytest

from protocols.cldyb.compared import Placed
from protocols.cldyb.joint import Gap
from protocols.report.cldyb.notes import headline, jointly, statement
from protocols.report.cldyb.tables import joint
from protocols.report.cldyb.view import view
from seqsearch.stats.drop import drop, gap_difference
from seqsearch.stats.rank_test import rank_test
from tests.unit.report.cldyb.test_notes import summary

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
    return list(statement(Gap(methods, of), d or drop(FOUND, RANDOM), p or placed()))


def code(of, **more):
    return said(of, **more)[0].code


def test_harder_to_learn_continually_takes_an_interval_above_zero():
    assert CONTINUALLY.difference.low > 0
    assert code(CONTINUALLY) == "cldyb.gap_larger_too"
    assert "larger by 20." in said(CONTINUALLY)[0].text
    assert code(ALONE) == "cldyb.gap_larger", "no harder classes"
    assert said(CONTINUALLY, ("er", "slca"))[0].values == {"methods": ["er", "slca"], "gap": CONTINUALLY.difference}


def test_else_classes_or_tasks_are_harder_and_no_absence_is_claimed():
    for of in (CLASSES, SAME, UNCLEAR):
        assert of.difference.sign == 0
        assert "are not shown to be harder to learn continually." in said(of)[0].text
    loss = RANDOM.mean() - 0.5
    assert said(SAME)[1].code == "cldyb.joint_loss"
    assert said(SAME)[1].values == pytest.approx({"joint": loss, "sequence": loss})
    assert said(SAME)[0].values["gap"].value == pytest.approx(0)
    assert code(SAME) == code(CLASSES) == "cldyb.harder_classes"
    assert code(UNCLEAR) == "cldyb.maybe_harder_classes", "joint training may lose nothing"


def test_a_smaller_gap_keeps_its_sign_and_its_interval():
    of = gap(FOUND + 0.1, RANDOM + 0.15 + RNG.normal(0, 0.01, RANDOM.shape))
    d = of.difference
    assert d.value < 0
    assert f"differs by {100 * d.value:.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}] pp" in said(of)[0].text


@pytest.mark.parametrize(
    ("d", "p"),
    [
        (drop(RANDOM[:1], RANDOM), placed(RANDOM[:1])),
        (drop(RANDOM[:1] + 0.1, RANDOM), placed(RANDOM[:1] + 0.1, end="easier")),
        (drop(FOUND, RANDOM[:5]), placed(random=RANDOM[:5])),
    ],
)
def test_without_the_verdict_harder_neither_is_said(d, p):
    assert said(CONTINUALLY, d=d, p=p) == []


def found(rows, d=None, p=None):
    return [(n.code.removeprefix("cldyb."), dict(n.values)) for n in jointly(rows, d, p)]


def test_without_joint_training_a_dash_and_nothing_claimed():
    assert not list(statement(None, drop(FOUND, RANDOM), placed()))
    assert joint([("er", None)]).rows == ()
    table = joint([("er", None), ("slca", CONTINUALLY), ("mean", CONTINUALLY)])
    assert table.texts[0] == ("er", "-", "-", "-", "-", "-")
    assert table.texts[1][:3] == ("slca", "80.0", "89.8")
    some = [("er", None), ("slca", SAME)]
    without = ("not_jointly", {"methods": ["er"]})
    assert found(some, drop(FOUND, RANDOM), placed()) == [without]
    assert found(some) == [("joint_unsaid", {}), without]
    assert found(some, p=placed(RANDOM[:1] + 0.1, end="easier")) == [without]
    assert found([("er", None)], drop(FOUND, RANDOM), placed()) == [("no_joint", {})]
    assert found([("er", None)]) == []
    few = gap(FOUND + 0.3, RANDOM[:2] + 0.1, random=RANDOM[:2])
    no_interval = ("gap_no_interval", {"why": "too few random sequences, 1 more needed"})
    assert found([("er", few)])[1:] == [no_interval]


def test_the_headline_and_json_have_it():
    s = summary(drop(FOUND, RANDOM), placed=placed())
    s = replace(s, methods=(replace(s.methods[0], gap=CONTINUALLY),), gap=Gap(("er",), CONTINUALLY))
    assert headline(s).code == "cldyb.continually"
    for other in (replace(s, gap=Gap(("er",), CLASSES)), replace(s, methods=s.methods * 2), replace(s, gap=None)):
        assert headline(other).code == "cldyb.significant"
    said = view(s).to_json()
    whom = [n["text"] for n in said["coded"]["notes"] if n["code"] in ("cldyb.gap_larger_too", "cldyb.joint_loss")]
    assert said["for_whom"] == " ".join(whom)
    assert "harder to learn continually" in said["for_whom"]
    of = said["gap"]["of"]
    assert (of["joint_found"], of["joint_random"]) == pytest.approx((0.8, CONTINUALLY.joint_random))
    assert set(of["difference"]) == {"value", "low", "high"}
