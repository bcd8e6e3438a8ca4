"""Numbers printed in the CLDyB paper, recomputed from its own tables.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from seqsearch.stats import accuracy, ranks

# Table 1, final average accuracy in percent: ER, DualPrompt, LAE, HiDe-Prompt, SLCA, RanPAC, PGP.
TABLE_1 = {
    "CIFAR-100": [67.9, 86.5, 85.6, 92.6, 91.5, 92.2, 86.9],
    "ImageNet-R": [55.1, 68.1, 72.7, 75.1, 77.0, 78.1, 69.3],
    "CLDyB": [54.8, 41.9, 48.1, 62.5, 56.2, 56.9, 44.0],
    "Held-out": [79.9, 70.8, 71.1, 84.9, 80.3, 81.0, 68.7],
}
# Table 4: ER, AFEC, CLSER, DualPrompt, LAE, HiDe-Prompt, SLCA, RanPAC, PGP.
TABLE_4 = {
    "Easy": [76.3, 72.5, 75.4, 69.0, 70.1, 80.1, 77.2, 77.0, 69.2],
    "Medium": [60.5, 51.9, 60.7, 53.7, 50.9, 67.6, 59.7, 62.2, 52.0],
    "Hard": [54.8, 49.5, 57.0, 41.9, 48.1, 62.5, 56.2, 56.9, 44.0],
    "Held-out": [79.9, 76.3, 81.1, 70.8, 71.1, 84.9, 80.3, 81.0, 68.7],
}


@pytest.mark.parametrize(
    ("table", "column", "srcc", "krcc", "starred"),
    [
        (TABLE_1, "CIFAR-100", 0.643, 0.429, False),
        (TABLE_1, "ImageNet-R", 0.643, 0.429, False),
        (TABLE_1, "CLDyB", 0.964, 0.905, True),
        (TABLE_4, "Easy", 0.867, 0.722, True),
        (TABLE_4, "Medium", 0.833, 0.667, True),
        (TABLE_4, "Hard", 0.983, 0.944, True),
    ],
)
def test_rank_correlations_under_the_tables(table, column, srcc, krcc, starred):
    found = ranks.rank_correlations(table[column], table["Held-out"])
    assert round(found.srcc, 3) == srcc
    assert round(found.krcc, 3) == krcc
    assert found.exact
    assert (found.srcc_p < 0.05) == starred
    assert (found.krcc_p < 0.05) == starred


def lower_triangular(size):
    cells = npst.arrays(np.float64, (size, size), elements=st.floats(0, 1))
    return cells.map(lambda a: np.where(np.tri(size, dtype=bool), a, np.nan))


@given(st.integers(1, 12).flatmap(lower_triangular), st.data())
def test_reward_is_nearly_negative_accuracy(a, data):
    """R = AFM - ALA = -Acc_t + AFM / t: forgetting weighs ever less as t grows."""
    t = data.draw(st.integers(1, len(a)))
    assert accuracy.reward(a, t) == pytest.approx(-accuracy.acc(a, t) + accuracy.afm(a, t) / t, abs=1e-12)
