"""Learners of frozen features against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from seqsearch.core.errors import Diverged
from seqsearch.learners.acm import voted
from seqsearch.training.streaming import Credit
from tests.unit.learners.steps import MemoryStep, asked, made, taught

D, C = 6, 5


def drawn(n: int, seed: int) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    y = torch.randint(C, (n,), generator=draw)
    return torch.randn(n, D, generator=draw) + torch.randn(C, D, generator=torch.Generator().manual_seed(0))[y], y


def one_by_one(x: Tensor, y: Tensor, shrinkage: float) -> tuple[Tensor, Tensor, Tensor]:
    """Covariance, means and scores of ``x`` by SLDA's formulas, sample after sample, in double precision."""
    sigma, means, counts = torch.ones(D, D).double(), torch.zeros(C, D).double(), torch.zeros(C)
    for n, (v, c) in enumerate(zip(x.double(), y, strict=True)):
        off = v - means[c]
        sigma = (n * sigma + n / (n + 1) * torch.outer(off, off)) / (n + 1)
        means[c] = (counts[c] * means[c] + v) / (counts[c] + 1)
        counts[c] += 1
    inverse = torch.linalg.pinv((1 - shrinkage) * sigma + shrinkage * torch.eye(D).double())
    scores = x.double() @ inverse @ means.T - 0.5 * ((means @ inverse) * means).sum(1)
    return sigma, means, scores.masked_fill(counts == 0, -torch.inf)


@settings(max_examples=15)
@given(st.integers(2, 60), st.integers(1, 20), st.integers(0, 99))
def test_slda_is_its_formulas_one_by_one(n: int, size: int, seed: int) -> None:
    x, y = drawn(n, seed)
    learner = taught(made("slda", C, D), x, y, size)
    sigma, means, scores = one_by_one(x, y, 1e-4)
    assert torch.allclose(learner.sigma.double(), sigma, atol=1e-4)
    assert torch.allclose(learner.means.double(), means, atol=1e-5)
    if n > 3 * D:  # else the covariance has no full rank, and single precision is not enough
        best = scores.topk(2, dim=1).values
        clear = best[:, 0] - best[:, 1] > 1e-2 * best[:, 0].abs()
        assert torch.equal(learner.predict(asked(x))[clear], scores.argmax(1)[clear])


def test_slda_inverts_at_every_rth_step() -> None:
    x, y = drawn(60, 1)
    every, third = (taught(made("slda", C, D, refresh=r), x[:50], y[:50], 10) for r in (1, 3))
    assert torch.equal(every.sigma, third.sigma)
    assert not torch.equal(every.factor, third.factor), "the last of five steps is not a third one"
    first = taught(made("slda", C, D), x[:40], y[:40], 10)
    assert torch.equal(third.factor, first.factor)


def test_slda_says_when_features_are_not_finite() -> None:
    x, y = drawn(10, 0)
    x[3, 2] = torch.nan
    with pytest.raises(Diverged, match="not finite"):
        taught(made("slda", C, D), x, y, 10)


def test_ncm_is_the_nearest_mean() -> None:
    x, y = drawn(80, 2)
    y[y == 3] = 2
    learner = taught(made("ncm", C, D), x, y, 16)
    means = torch.stack([x[y == c].mean(0) if bool((y == c).any()) else torch.full((D,), torch.nan) for c in range(C)])
    cosines = (functional.normalize(x) @ functional.normalize(means).T).nan_to_num(-torch.inf)
    assert torch.equal(learner.predict(asked(x)), cosines.argmax(1))


@pytest.mark.parametrize("index", ["exact", "hnsw"])
def test_acm_with_two_neighbours_is_acm_with_one(index: str) -> None:
    x, y = drawn(300, 3)
    one, two = (taught(made("acm", C, D, index=index, k=k), x[:250], y[:250], 32) for k in (1, 2))
    assert torch.equal(one.predict(asked(x[250:])), two.predict(asked(x[250:])))


@pytest.mark.parametrize("index", ["exact", "hnsw"])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_acm_is_a_vote_of_the_nearest(index: str, k: int) -> None:
    x, y = drawn(260, 4)
    learner = taught(made("acm", C, D, index=index, k=k), x[:200], y[:200], 32)
    cosines = functional.normalize(x[200:]) @ functional.normalize(x[:200]).T
    expected = []
    for near in y[cosines.topk(k, dim=1).indices].tolist():
        most = max(near.count(c) for c in near)
        expected.append(next(c for c in near if near.count(c) == most))
    assert learner.predict(asked(x[200:])).tolist() == expected


def test_acm_restored_goes_on_in_the_same_bits() -> None:
    x, y = drawn(400, 5)
    straight = taught(made("acm", C, D), x, y, 40)
    half = taught(made("acm", C, D), x[:200], y[:200], 40)
    again = made("acm", C, D)
    again.load_state_dict(half.state_dict())
    for number in range(5, 10):
        again.learn(MemoryStep(x, y, number, 40, Credit(1.0)))
    a, b = straight.state_dict(), again.state_dict()
    assert all(torch.equal(a[n], b[n]) if isinstance(a[n], Tensor) else a[n] == b[n] for n in a)
    assert len(a["links"]) > 0


def test_acm_refuses_a_graph_that_does_not_fit() -> None:
    x, y = drawn(50, 6)
    state = taught(made("acm", C, D), x, y, 10).state_dict()
    for links in (state["links"][:-1], torch.full_like(state["links"], 50)):
        with pytest.raises(ValueError, match="does not fit"):
            made("acm", C, D).load_state_dict({**state, "links": links})


def test_votes() -> None:
    rows = np.array([[3, 1, 1], [3, 1, 2], [0, 2, -1], [4, -1, -1]])
    assert voted(rows).tolist() == [1, 3, 0, 4]
    assert voted(rows[:, :2]).tolist() == [3, 3, 0, 4]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 9), st.integers(1, 7))
def test_blind_is_the_mode_of_the_last_labels(labels: list[int], k: int, size: int) -> None:
    learner = taught(made("blind", 4, 1, k=k), torch.zeros(len(labels), 1), torch.tensor(labels), size)
    last = labels[-k:]
    most = max(map(last.count, last))
    said = next(c for c in reversed(last) if last.count(c) == most)
    assert learner.predict(asked(torch.zeros(2, 1))).tolist() == [said, said]


def test_majority_and_random() -> None:
    labels = torch.tensor([2, 1, 1, 0, 2])
    learner = taught(made("majority", 4, 1), torch.zeros(5, 1), labels, 2)
    assert learner.predict(asked(torch.zeros(1, 1))).tolist() == [1]
    said = made("random", 4, 1).predict(asked(torch.zeros(4000, 1)))
    assert abs(torch.bincount(said, minlength=4) - 1000).max() < 5 * (4000 * 0.25 * 0.75) ** 0.5


def test_nothing_is_said_before_anything_is_known() -> None:
    for name in ("ncm", "slda", "acm", "blind", "majority"):
        assert made(name, C, D).predict(asked(torch.ones(3, D))).tolist() == [-1, -1, -1], name
