"""`mm_l2p`, `mm_dp` and `mm_dpcf`: what each pair picks, what experiences share, and where keys come from."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.backbones.parts.flava_network import ENCODERS
from seqsearch.methods.parts.query_sum import query_sum
from tests.conformance.lab import PAIRS, TASKS, Lab, method_of

ONE, TWO, THREE = TASKS


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), PAIRS)


def cosines(queries: Tensor, keys: Tensor) -> Tensor:
    return functional.cosine_similarity(queries[:, None], keys[None], dim=2)


@pytest.mark.parametrize("mounts", ["multimodal", "image+text", "image+text+multimodal"])
def test_each_pair_picks_the_prompts_whose_keys_are_nearest(lab: Lab, mounts: str) -> None:
    method = method_of(lab, "mm_l2p", ONE, TWO, mounts=mounts, size=6, top_k=2, length=3)
    batch, encoders = lab.batch(ONE + TWO), mounts.split("+")
    assert set(method.pool) == {"keys", *encoders}
    near = cosines(batch.frozen, method.pool["keys"]).topk(2, dim=1).indices
    assert len({tuple(sorted(row)) for row in near.tolist()}) > 1, "all pairs pick the same"
    rows = []
    for n in range(0, len(batch), 9):
        prompts = {e: torch.cat([method.pool[e][m] for m in near[n]])[None] for e in encoders}
        rows.append(method.network.run(batch.select(torch.tensor([n])).inputs, prompts=prompts))
    torch.testing.assert_close(method.features(batch)[::9], torch.cat(rows).detach(), rtol=0, atol=1e-5)


def test_the_pool_does_not_grow_and_what_nobody_picks_stays(lab: Lab) -> None:
    method = method_of(lab, "mm_l2p", top_k=1, size=8, weight_decay=0.0, pull=0.0)
    before = {name: p.clone() for name, p in method.pool.items()}
    lab.fit(method, ONE, TWO)
    assert {name: p.shape for name, p in method.pool.items()} == {name: p.shape for name, p in before.items()}
    assert torch.equal(method.pool["keys"], before["keys"]), "keys get a gradient from the cross-entropy"
    queries = torch.cat([lab.data(method, classes).train.frozen for classes in (ONE, TWO)])
    picked = set(cosines(queries, before["keys"]).argmax(1).tolist())
    assert 0 < len(picked) < 8
    for number in range(8):
        changed = not torch.equal(method.pool["multimodal"][number], before["multimodal"][number])
        assert changed == (number in picked)


def test_keys_that_are_picked_come_nearer(lab: Lab) -> None:
    method = method_of(lab, "mm_l2p", top_k=1, size=8, pull=1.0, epochs=5)
    queries = lab.data(method, ONE).train.frozen
    near = cosines(queries, method.pool["keys"]).argmax(1)
    before = cosines(queries, method.pool["keys"]).gather(1, near[:, None]).mean()
    lab.fit(method, ONE)
    assert cosines(queries, method.pool["keys"]).gather(1, near[:, None]).mean() > before + 0.02


@pytest.mark.parametrize("name", ["mm_dp", "mm_dpcf"])
def test_each_pair_takes_the_expert_of_the_nearest_key(lab: Lab, name: str) -> None:
    method = method_of(lab, name, *TASKS, init=1.0)
    batch = lab.batch(sum(TASKS, ()))
    near = cosines(batch.frozen, method.keys).argmax(1)
    if name == "mm_dpcf":
        assert len(set(near.tolist())) > 1, "all pairs take the same"
    rows = []
    for n in range(0, len(batch), 9):
        prefixes = {
            encoder: {
                **dict(zip(method.layers[encoder][0], method.general[encoder], strict=True)),
                **dict(zip(method.layers[encoder][1], method.expert[encoder][near[n]], strict=True)),
            }
            for encoder in ENCODERS
        }
        rows.append(method.network.run(batch.select(torch.tensor([n])).inputs, prefixes))
    torch.testing.assert_close(method.features(batch)[::9], torch.cat(rows).detach(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["mm_dp", "mm_dpcf"])
def test_general_prompts_are_shared_and_earlier_experts_stay(lab: Lab, name: str) -> None:
    method = method_of(lab, name, ONE)
    general, expert, keys = (dict(method.general), dict(method.expert), method.keys)
    lab.fit(method, TWO)
    for encoder in ENCODERS:
        assert not torch.equal(method.general[encoder], general[encoder])
        assert method.general[encoder].shape == general[encoder].shape
        assert torch.equal(method.expert[encoder][:1], expert[encoder])
        assert len(method.expert[encoder]) == 2
    assert torch.equal(method.keys[:1], keys)
    assert method.keys.shape == (2, 32)


def test_experts_are_in_the_layers_behind_the_general_prompts(lab: Lab) -> None:
    method = method_of(lab, "mm_dp", ONE, g_length=4, length=3)
    for encoder, depth in (("image", 3), ("text", 2), ("multimodal", 2)):
        general, expert = method.layers[encoder]
        assert sorted(general + expert) == list(range(depth))
        assert max(general) < min(expert)
        assert method.general[encoder].shape == (len(general), 2, 4, 32)
        assert method.expert[encoder].shape == (1, len(expert), 2, 3, 32)


def test_a_new_expert_starts_as_a_copy_where_that_is_asked_for(lab: Lab) -> None:
    for copied in (True, False):
        method = method_of(lab, "mm_dp", ONE, TWO, copy_prompt=copied, lr=0.0, weight_decay=0.0)
        assert all(torch.equal(*method.expert[encoder]) == copied for encoder in ENCODERS)


def test_learned_keys_get_no_gradient_from_the_cross_entropy(lab: Lab) -> None:
    method = method_of(lab, "mm_dp", pull=0.0, weight_decay=0.0)
    task = lab.data(method, ONE)
    start = method.initial_key(task).detach()
    lab.fit(method, ONE)
    assert torch.equal(method.keys[0], start)
    drawn = method_of(lab, "mm_dp", ONE, weight_decay=0.0)
    queries = task.train.frozen
    assert not torch.equal(drawn.keys[0], start)
    assert cosines(queries, drawn.keys).mean() > cosines(queries, start[None]).mean()


def test_the_loss_of_keys_is_what_the_equation_says(lab: Lab) -> None:
    method = method_of(lab, "mm_dp", pull=0.5)
    queries, key = torch.randn(7, 32), torch.randn(32)
    expected = 0.5 * sum(1 - float(q @ key / (q.norm() * key.norm())) for q in queries) / 7
    assert float(method.pulled(queries, key)) == pytest.approx(expected, rel=1e-5)


def test_computed_keys_are_the_closed_form_whatever_else_is_set(lab: Lab) -> None:
    """The very same bits by any batches and epochs; they are not trained."""
    method = method_of(lab, "mm_dpcf", ONE, TWO)
    for number, classes in enumerate((ONE, TWO)):
        queries = lab.data(method, classes).train.frozen
        total = (queries / queries.norm(dim=1, keepdim=True)).double().sum(0)
        torch.testing.assert_close(method.keys[number].double(), total / total.norm(), rtol=0, atol=1e-6)
    other = method_of(lab, "mm_dpcf", ONE, TWO, batch_size=5, epochs=1, lr=0.5, weight_decay=0.5)
    assert torch.equal(other.keys, method.keys)
    halves = torch.tensor_split(queries, 3)
    merged = query_sum(halves[2]).merged(query_sum(halves[0]).merged(query_sum(halves[1])))
    assert torch.equal(merged.key(torch.Generator()), method.keys[1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mm_l2p", 10 * 32 + 10 * 5 * 32),
        ("mm_dp", 2 * 5 * 32 * (4 + 2 * 3) + 2 * 32),
        ("mm_dpcf", 2 * 5 * 32 * (4 + 2 * 3)),
    ],
)
def test_prompts_and_keys_are_what_is_stored(lab: Lab, name: str, expected: int) -> None:
    """L2P: ten keys and prompts of five. DP: general prompts in four layers, experts in three, for two experiences; keys that
    are computed are not trained."""
    method = method_of(lab, name, ONE, TWO, epochs=1)
    kept = 4 * expected + (4 * 2 * 32 if name == "mm_dpcf" else 0)
    assert method.memory_footprint().params == kept + method.head.bytes
