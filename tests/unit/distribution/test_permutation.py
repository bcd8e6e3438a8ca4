"""Places among random draws, and Holm's correction."""

import numpy as np
import pytest

from seqsearch.distribution.permutation import holm, place


def test_by_hand():
    p = place(3.0, [1.0, 2.0, 3.0, 4.0])
    assert (p.mean, p.share, p.p, p.draws) == (2.5, 0.625, 1.0, 4)
    assert place(9.0, np.arange(9)).p == pytest.approx(2 / 10)
    assert place(-1.0, np.arange(9)).share == 0


def test_by_chance_p_is_at_most_alpha_as_often_as_alpha():
    rng = np.random.default_rng(0)
    ps = np.array([place(x[0], x[1:]).p for x in rng.normal(size=(2000, 40))])
    for alpha in (0.05, 0.1, 0.5):
        assert (ps <= alpha).mean() <= alpha + 0.02


def test_holm_is_monotone_and_never_smaller():
    p = [0.04, 0.001, 0.3, 0.02]
    adjusted = holm(p)
    assert adjusted == pytest.approx([0.08, 0.004, 0.3, 0.06])
    assert holm([]) == []
    assert holm([0.6]) == [0.6]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
