"""`mm_lb`, `mm_ub` and `mm_er`: which classes compete, what is stored and mixed, and steps against plain loops of torch."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import PASSES
from seqsearch.methods.data import Batch
from seqsearch.methods.mm_er import _within
from seqsearch.methods.parts.pairs_prefixes import prefix_bytes
from seqsearch.methods.parts.pairs_stored import StoredPairs
from tests.conformance.lab import PAIRS, TASKS, Lab, method_of, same

ONE, TWO, THREE = TASKS
STEP: dict[str, Any] = {
    "epochs": 1,
    "batch_size": 1000,
    "optimizer": "sgd",
    "lr": 0.1,
    "head_lr": 0.0,
    "weight_decay": 0.0,
}
"""One plain step down the gradient on all pairs at once."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), PAIRS)


@pytest.mark.parametrize("name", ["mm_lb", "mm_l2p", "mm_dp"])
@pytest.mark.parametrize("mask", ["own", "seen"])
def test_rows_of_old_classes_learn_only_where_all_classes_compete(lab: Lab, name: str, mask: str) -> None:
    method = method_of(lab, name, ONE, mask=mask)
    before = method.head
    lab.fit(method, TWO)
    assert torch.equal(method.head.weight[:4], before.weight) == (mask == "own")
    assert torch.equal(method.head.bias[:4], before.bias) == (mask == "own")
    assert len(method.head) == 7


def stepped(
    method: Any, pairs: Batch, head: tuple[Tensor, Tensor], mask: str
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Head and network after one step down the mean cross-entropy, pair by pair; with ``own`` among its experience's classes."""
    network = copy.deepcopy(method.network)
    weight, bias = (p.detach().clone().requires_grad_(True) for p in head)
    experience = [0] * 4 + [1] * 3
    losses = []
    for feature, target in zip(network(pairs.inputs), pairs.targets.tolist(), strict=True):
        scores = weight @ feature + bias
        among = [c for c in range(7) if mask == "seen" or experience[c] == experience[target]]
        losses.append(torch.logsumexp(scores[among], 0) - scores[target])
    torch.stack(losses).mean().backward()
    assert weight.grad is not None
    assert bias.grad is not None
    named = {name: p.detach() - 0.1 * p.grad for name, p in network.named_parameters()}
    return (weight - 0.1 * weight.grad).detach(), (bias - 0.1 * bias.grad).detach(), named


@pytest.mark.parametrize("mask", ["own", "seen"])
def test_a_step_on_new_and_stored_pairs_is_what_plain_arithmetic_says(lab: Lab, mask: str) -> None:
    """With ``own`` a stored pair competes among the classes that it came with."""
    method, again = (method_of(lab, "mm_er", ONE, share=0.5, mask=mask, **STEP) for _ in range(2))
    task = lab.data(method, TWO)
    new = 0.01 * torch.randn(3, lab.backbone.dim, generator=task.generator("head"))
    head = torch.cat([method.head.weight, new]), torch.cat([method.head.bias, torch.zeros(3)])
    expected = stepped(method, method.stored.with_new(task), head, mask)
    lab.fit(again, TWO)
    torch.testing.assert_close(again.head.weight, expected[0], rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(again.head.bias, expected[1], rtol=1e-4, atol=1e-6)
    for name, parameter in again.network.named_parameters():
        torch.testing.assert_close(parameter.detach(), expected[2][name], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1), (0.1, 1), (0.25, 2), (0.34, 3), (1.0, 10)])
def test_er_stores_its_share_of_each_class(lab: Lab, share: float, expected: int) -> None:
    """Of ten pairs, at least one; what was stored stays."""
    method = method_of(lab, "mm_er", share=share, epochs=1)
    before: set[int] = set()
    for number, classes in enumerate(TASKS, 1):
        lab.fit(method, classes)
        stored = method.exemplars().tolist()
        assert before < set(stored)
        before = set(stored)
        seen = sum(TASKS[:number], ())
        of_class = np.searchsorted(lab.world.images.offsets, stored, side="right") - 1
        assert np.bincount(of_class, minlength=16)[list(seen)].tolist() == [expected] * len(seen)
        columns = method.stored.columns.tolist()
        assert [seen[c] for c in columns] == of_class.tolist()
        assert method.memory_footprint().exemplar_texts == sum(map(len, lab.source.texts(method.exemplars())))


def test_what_er_stores_is_drawn_by_its_seed(lab: Lab) -> None:
    rows = [method_of(lab, "mm_er", share=0.3, epochs=1) for _ in range(3)]
    for method, seed in zip(rows, (0, 0, 1), strict=True):
        lab.fit(method, ONE, seed=seed)
    first, again, other = (m.exemplars().tolist() for m in rows)
    assert first == again
    assert first != other


def test_er_of_equal_memory_stores_what_dp_would_learn(lab: Lab) -> None:
    """No more bytes, less than one further pair short of them; classes have as many pairs but for one."""
    method = method_of(lab, "mm_er", buffer="dp", epochs=1)
    kept = []
    for number, classes in enumerate(TASKS, 1):
        lab.fit(method, classes)
        footprint, room = method.memory_footprint(), prefix_bytes(method.network, 32, number)
        held = footprint.exemplar_images + footprint.exemplar_texts
        assert room - 3 * 32 * 32 - 120 < held <= room
        of_class = np.bincount(method.stored.columns.numpy(), minlength=sum(map(len, TASKS[:number])))
        assert of_class.max() - of_class.min() <= 1
        kept.append(len(method.stored))
    dp = method_of(lab, "mm_dp", *TASKS, epochs=1)
    assert prefix_bytes(dp.network, 32, 3) == dp.memory_footprint().params - dp.head.bytes
    assert kept == sorted(kept)
    assert kept[-1] > kept[0] > 0


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(0, 4000),
    st.integers(0, 90),
    st.integers(0, 10**6),
)
def test_a_limit_in_bytes_is_shared_by_the_classes(counts: list[int], room: int, image: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    columns = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    columns = columns[torch.randperm(len(columns), generator=draw)]
    pairs = StoredPairs(torch.arange(len(columns)), columns, torch.randint(1, 60, (len(columns),), generator=draw))
    kept = _within(pairs, room, image, draw)
    size = image + kept.text_bytes
    assert int(size.sum()) <= room
    assert torch.equal(kept.columns, columns[kept.rows])
    if len(kept) < len(pairs):
        assert room - int(size.sum()) < image + 60
        held = torch.bincount(kept.columns, minlength=len(counts)).tolist()
        short = [n for n, there in zip(held, counts, strict=True) if n < there]
        assert max(held) - min(short) <= 1


def steps_of(lab: Lab, monkeypatch: pytest.MonkeyPatch, method: Any, classes: tuple[int, ...]) -> list[list[int]]:
    """Rows of each step that ``method`` makes on ``classes``."""
    seen: list[list[int]] = []
    real = Batch.with_drawn_texts
    monkeypatch.setattr(
        Batch, "with_drawn_texts", lambda self, draw: seen.append(self.indices.tolist()) or real(self, draw)
    )
    lab.fit(method, classes)
    monkeypatch.undo()
    return seen


@pytest.mark.parametrize("mixing", ["together", "halves"])
def test_how_stored_pairs_are_mixed_in(lab: Lab, monkeypatch: pytest.MonkeyPatch, mixing: str) -> None:
    method = method_of(lab, "mm_er", share=0.5, mixing=mixing, batch_size=8, epochs=2)
    assert {len(rows) for rows in steps_of(lab, monkeypatch, method, ONE)} == {8}
    stored = set(method.exemplars().tolist())
    steps = steps_of(lab, monkeypatch, method, TWO)
    old = [sum(row in stored for row in rows) for rows in steps]
    every = [row for rows in steps for row in rows]
    if mixing == "halves":
        assert all(2 * n == len(rows) for n, rows in zip(old, steps, strict=True))
        assert max(map(len, steps)) == 8
        assert len(every) == 2 * 60
        new = [row for row in every if row not in stored]
        assert sorted(new) == sorted(2 * sorted(set(new)))
    else:
        assert len({*old}) > 1
        assert sorted(every) == sorted(2 * sorted(set(every)))
        assert len(every) == 2 * (30 + 20)


@pytest.mark.parametrize(("mixing", "expected"), [("together", 100.0), ("halves", 120.0)])
def test_all_pairs_of_a_step_are_counted(lab: Lab, mixing: str, expected: float) -> None:
    method = method_of(lab, "mm_er", ONE, share=0.5, mixing=mixing, batch_size=8, epochs=2)
    assert lab.fit(method, TWO).notes[PASSES] == expected


def test_the_upper_bound_starts_anew_unless_told_otherwise(lab: Lab) -> None:
    """Then nothing of what was learned before is in it, but for the rows of the pairs."""
    for restart in (True, False):
        plain, spoilt = (method_of(lab, "mm_ub", ONE, restart=restart, epochs=1) for _ in range(2))
        with torch.no_grad():
            for parameter in spoilt.network.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
        spoilt.head.weight.add_(1.0)
        lab.fit(plain, TWO)
        lab.fit(spoilt, TWO)
        assert same(plain.state_dict(), spoilt.state_dict()) == restart
        assert len(plain.exemplars()) == 70


def test_the_upper_bound_is_a_plain_loop_over_all_pairs(lab: Lab) -> None:
    """Joint training of a fresh network: only what is drawn for a second experience tells it from learning both at once."""
    rates = {"lr": 1e-3, "head_lr": 0.0, "scheduler": "constant"}
    method = method_of(lab, "mm_ub", ONE, batch_size=16, epochs=2, **rates)
    task = lab.data(method, TWO)
    network, linear = method.context.fresh_backbone(), torch.nn.Linear(32, 7)
    with torch.no_grad():
        drawn = [0.01 * torch.randn(n, 32, generator=task.generator(p)) for n, p in ((4, "old head"), (3, "head"))]
        linear.weight.copy_(torch.cat(drawn))
        linear.bias.zero_()
    data, draw = method.stored.with_new(task), task.generator("shuffle")
    optimizer = torch.optim.AdamW([*network.parameters(), *linear.parameters()], lr=method.config.lr, weight_decay=0.01)
    for _ in range(2):
        for at in torch.randperm(70, generator=draw).split(16):
            optimizer.zero_grad()
            part = data.select(at)
            functional.cross_entropy(linear(network(part.inputs)), part.targets).backward()
            optimizer.step()
    lab.fit(method, TWO)
    assert torch.equal(method.head.weight, linear.weight)
    for name, parameter in network.named_parameters():
        assert torch.equal(method.network.get_parameter(name), parameter), name


def test_the_lower_bound_stores_nothing(lab: Lab) -> None:
    method = method_of(lab, "mm_lb", ONE, epochs=1)
    assert len(method.exemplars()) == 0
    assert method.memory_footprint().exemplar_texts == method.memory_footprint().exemplar_images == 0
