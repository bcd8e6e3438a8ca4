"""No sentence says which of two figures is above the other where rounding alone parts them, or both show the same digits."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.cldyb.preflight import ONE_TASK
from protocols.cldyb.summary import MethodSummary, Summary
from protocols.evaluate.score.summary import ScoreSummary
from protocols.report.cldyb import notes as cldyb_notes
from protocols.report.duel import notes as duel_notes
from protocols.report.edge import notes as edge_notes
from protocols.report.explain import notes as explain_notes
from protocols.report.mcil import notes as mcil_notes
from protocols.report.score import notes as score_notes
from protocols.report.text import points, signed
from protocols.running.provenance import Provenance
from seqsearch.stats.drop import ImageShares, drop
from seqsearch.stats.interval import Interval
from seqsearch.stats.multiple import pairs
from seqsearch.stats.ranks import rank_correlations, without_rounding
from seqsearch.stats.regression import similarity_correlation
from tests.unit.report.cldyb.test_notes import placed
from tests.unit.report.duel.test_duel import summary as duel
from tests.unit.report.edge.summaries import summary as edge
from tests.unit.report.mcil.rows import summary as mcil
from tests.unit.report.online.rows import estimate, pair

DIRECTION = re.compile(r"harder|easier|\babove\b|\bbelow\b|better|worse|a relative drop|[+-]0\.0\b")
ROUNDING = st.lists(st.floats(-1e-12, 1e-12), min_size=18, max_size=18)
SEEDS = st.lists(st.floats(0.05, 0.95), min_size=3, max_size=3)


def cldyb(found, random, same=""):
    row = MethodSummary("er", None, None, drop(found, random), None)
    return replace(
        Summary("r", False, (row,), None, None, 5, (), Provenance()), same=same, placed=placed(found, random)
    )


@given(ROUNDING, SEEDS)
def test_figures_that_are_equal_but_for_rounding_have_no_direction(noise, seeds):
    table = np.array(seeds) + np.reshape(noise, (6, 3))
    of = drop(table[:1], table[1:])
    assert of.nothing_differs
    s = cldyb(table[:1], table[1:])
    said = [cldyb_notes.headline(s).text, *(t.value + t.label for t in cldyb_notes.tiles_of(of, s.placed))]
    scored = ScoreSummary("r", "s", (), of, None, {}, (), (), (), None, searched_placed=s.placed)
    said += [n.text for n in (score_notes.headline(scored), *score_notes.notes(scored))]
    a, b = (np.array(seeds)[0] + np.array(noise[i::2]) for i in (0, 1))
    s = duel(a.tolist(), b.tolist())
    said += [duel_notes.headline(s).text, duel_notes.mean(s, s.sample).text, *(t.value for t in duel_notes.tiles(s))]
    said += [signed(Interval(noise[0], min(noise), max(noise))), explain_notes.drop(noise[0]).value]
    assert not [text for text in said if DIRECTION.search(text)]
    assert not [p for p in pairs(table) if p.differs and not p.over.interval.sign]
    flat = np.reshape(noise, (3, 6)) + 0.5
    assert not [p for p in pairs(flat) if p.differs]
    assert Interval(noise[0], 1e-13, 1e-12).sign == estimate(noise[0], 0.0).sign == 0
    assert len(set(without_rounding(flat.ravel()))) == 1
    assert np.isnan(rank_correlations(flat[0], [1, 2, 3, 4, 5, 6]).srcc)
    assert np.isnan(similarity_correlation([1, 2, 3, 4, 5, 6], flat[0]).spearman.value.value)


def test_one_seed_that_differs_from_another_is_no_difference_of_sequences():
    by_seed = np.array([0.967, 0.944, 0.922])
    sides = np.tile(by_seed, (1, 1)), np.tile(by_seed, (5, 1)) - 4.4e-16
    of = drop(*sides)
    s = cldyb(*sides, ONE_TASK)
    assert cldyb_notes.headline(s).code == "cldyb.equal"
    assert [t.value for t in cldyb_notes.tiles(s)] == ["94.4 %", "94.4 %"]
    assert {n.code: n.values for n in cldyb_notes.notes(s)}["cldyb.same"] == {"why": ONE_TASK}
    assert (of.absolute.value, of.relative.value, of.variances) == (0.0, 0.0, {})


def test_what_shows_the_same_digits_is_not_called_harder():
    rng = np.random.default_rng(0)
    sides = 0.97210 + rng.normal(0, 1e-6, (1, 3)), 0.97220 + rng.normal(0, 1e-6, (19, 3))
    below = drop(*sides)
    assert below.relative.low > 0
    assert cldyb_notes.headline(cldyb(*sides)).code == "cldyb.same_digits"
    assert list(cldyb_notes.tiles_of(below, None))[2].value == "0.0 %"
    sides = 0.96 + rng.normal(0, 1e-4, (1, 3)), 0.9722 + rng.normal(0, 1e-4, (19, 3))
    assert cldyb_notes.headline(cldyb(*sides)).code == "cldyb.significant"


def test_images_that_are_all_answered_alike_leave_no_interval():
    right = np.tile(np.repeat([1.0, 1.0, 0.0, 1.0], 5) / 20, (6, 2, 1)).astype(np.float32)
    of = drop(right[:1].sum(2), right[1:].sum(2), ImageShares(right[:1], right[1:], np.repeat(np.arange(4), 5)))
    assert of.nothing_differs
    assert np.isnan(of.relative.low)


@pytest.mark.parametrize(
    ("gap", "text"), [(4e-16, "0.0"), (-4e-4, "0.0"), (0.0, "0.0"), (0.012, "+1.2"), (-0.001, "-0.1")]
)
def test_a_sign_stands_where_it_shows(gap, text):
    assert points(gap) == text


def test_ties_share_the_first_place():
    runs = [[0.8], [0.81], [0.79], [0.8], [0.82]]
    assert mcil_notes.highest(mcil({"er": runs, "ncm": runs})) == ["er", "ncm"]


def test_random_sequences_beside_found_ones_are_above_below_or_neither():
    said = [explain_notes.drop(gap).value for gap in (0.02, -0.02, -4e-16)]
    assert said == ["+2.0 pp", "-2.0 pp", "0.0 pp"]


def test_a_ranking_does_not_flip_by_what_does_not_show():
    assert pair("er", "slda", 0.02, -0.02).flips == "flips"
    assert pair("er", "slda", 0.02, -0.0003, half=0.0001).flips == "not told"


def test_ranks_alone_make_no_sequence_harder(tmp_path):
    """All random ones are above the hard one, by so little that the same is shown of all."""
    random = [0.72200 + 1e-6 * i for i in range(40)]
    s = edge(tmp_path, [0.7219, 0.7219], [0.7221, 0.7221], random)
    assert s.methods[0].claim in ("both", "hard", "easy")
    assert edge_notes.headline(s).code == "edge.alike"
    assert "edge.methods_alike" in {n.code for n in edge_notes.notes(s)}
