"""Keys in closed form: sums that are the same in whatever parts they are made, and a maximum that gradients go to."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.mm_dp import DualPromptPairs
from seqsearch.methods.parts.query_sum import MOST, QuerySum, query_sum
from tests.conformance.lab import PAIRS, Case, Lab

seeds = st.integers(0, 10**6)
counts = st.integers(1, 40)


def drawn(seed: int, count: int, width: int = 6) -> Tensor:
    """Queries of very unequal lengths."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(count, width)) * 10.0 ** rng.uniform(-6, 6, (count, 1))).float()


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def mean_cosine(queries: Tensor, key: Tensor) -> float:
    return float(functional.cosine_similarity(queries.double(), key.double()[None]).mean())


@given(seeds, counts, st.lists(st.integers(0, 40), max_size=6))
def test_merging_is_exact_in_any_parts_and_order(seed: int, count: int, cuts: list[int]) -> None:
    queries = drawn(seed, count)
    whole = query_sum(queries)
    rng = np.random.default_rng(seed)
    parts = np.split(rng.permutation(count), sorted(min(cut, count) for cut in cuts))
    merged = QuerySum(torch.zeros(6, dtype=torch.int64), 0)
    for place in rng.permutation(len(parts)):
        merged = merged.merged(query_sum(queries[torch.from_numpy(parts[place])]))
    assert torch.equal(merged.total, whole.total)
    assert merged.count == whole.count == count
    assert torch.equal(merged.key(generator()), whole.key(generator()))


@given(seeds, counts)
def test_no_other_key_is_nearer(seed: int, count: int) -> None:
    """Neither a drawn one nor one close by."""
    queries = drawn(seed, count)
    key = query_sum(queries).key(generator())
    assert abs(float(key.norm()) - 1) < 1e-6
    best, draw = mean_cosine(queries, key), torch.Generator().manual_seed(seed)
    for scale in (0.01, 0.1, 1.0, 100.0):
        for other in key + scale * torch.randn(8, 6, generator=draw):
            assert mean_cosine(queries, other) <= best + 1e-6


@given(seeds, counts)
def test_it_is_what_the_equations_say(seed: int, count: int) -> None:
    queries = drawn(seed, count).double()
    total = (queries / queries.norm(dim=1, keepdim=True)).sum(0)
    torch.testing.assert_close(query_sum(queries).key(generator()).double(), total / total.norm(), rtol=0, atol=1e-5)


@given(seeds, counts)
def test_a_query_without_direction_counts_for_nothing(seed: int, count: int) -> None:
    queries = drawn(seed, count)
    padded = torch.cat([torch.zeros(3, 6), queries, torch.zeros(2, 6)])
    assert torch.equal(query_sum(padded).key(generator()), query_sum(queries).key(generator()))


@pytest.mark.parametrize(
    "queries", [torch.zeros(4, 6), torch.cat([drawn(0, 5), -drawn(0, 5)])], ids=["zero", "cancelling"]
)
def test_where_all_keys_are_equally_good_one_is_drawn(queries: Tensor) -> None:
    key = query_sum(queries).key(generator())
    assert abs(float(key.norm()) - 1) < 1e-6
    assert torch.equal(key, query_sum(queries).key(generator()))
    assert not torch.equal(key, query_sum(queries).key(torch.Generator().manual_seed(1)))


def test_more_than_fit_into_an_integer_are_refused() -> None:
    most = QuerySum(torch.zeros(6, dtype=torch.int64), MOST)
    with pytest.raises(ValueError, match="at most"):
        most.merged(query_sum(drawn(0, 1)))
    same = query_sum(torch.ones(1, 1).expand(MOST, 1))
    assert same.total.item() == MOST << 40, "as many as are allowed overflow"
    with pytest.raises(ValueError, match="at most"):
        query_sum(torch.ones(1, 1).expand(MOST + 1, 1))


def test_keys_learned_by_gradient_come_to_it(tmp_path: Path) -> None:
    """`mm_dp` with its own loss and optimiser, on fixed queries: after 125 steps it is on its way, after 1,000 it is there."""
    lab = Lab(tmp_path, PAIRS)
    method = cast(DualPromptPairs, lab.fresh(Case("mm_dp", "mm_dp", backbone=PAIRS)))
    draw, width = torch.Generator().manual_seed(0), method.context.dim
    queries = torch.randn(400, width, generator=draw) + torch.randn(width, generator=draw)
    key = method.initial_key(lab.data(method, (0, 1)))
    optimizer = torch.optim.AdamW([key], lr=0.005, weight_decay=0.01)
    assert method.config.lr == 0.005
    closed, cosines = query_sum(queries).key(generator()), []
    for _ in range(1000):
        optimizer.zero_grad()
        loss = method.pulled(queries[torch.randint(400, (16,), generator=draw)], key)
        assert isinstance(loss, Tensor)
        loss.backward()
        optimizer.step()
        cosines.append(float(functional.cosine_similarity(key.detach(), closed, dim=0)))
    assert cosines[124] < 0.9
    assert cosines[-1] > 0.99
