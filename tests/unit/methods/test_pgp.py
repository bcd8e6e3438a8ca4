"""PGP's kept subspaces and projection, recomputed with numpy's singular value decomposition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqsearch.methods.data import Batch
from seqsearch.methods.pgp import extended, outside
from tests.conformance.lab import TASKS, Case, Lab

ONE, TWO, THREE = TASKS
Array = NDArray[Any]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Lab(tmp_path_factory.mktemp("lab"))
    torch.set_num_threads(threads)


def by_svd(basis: Array, x: Array, threshold: float) -> Array:
    """Columns ``[d, r]`` after queries ``x`` ``[n, d]``: residual, singular vectors, the fewest that reach the energy."""
    total = np.sum(x**2)
    held = np.sum((x @ basis) ** 2)
    _, sizes, rows = np.linalg.svd(x - x @ basis @ basis.T, full_matrices=False)
    more = 0
    while held < threshold * total:
        held += sizes[more] ** 2
        more += 1
    return np.concatenate([basis, rows[:more].T], axis=1)


def queries(seed: int, n: int = 50, d: int = 6) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.2, 3.0, size=d) @ rng.normal(size=(d, d))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.9, 0.99])
def test_kept_directions_are_those_of_the_svd_of_residual_queries(threshold: float) -> None:
    kept, basis, ranks = torch.zeros(6, 6, dtype=torch.float64), np.zeros((6, 0)), []
    for seed in range(3):
        x = queries(seed)
        kept, basis = extended(kept, torch.from_numpy(x.T @ x), threshold), by_svd(basis, x, threshold)
        columns = kept[:, : basis.shape[1]].numpy()
        assert not kept[:, basis.shape[1] :].any()
        np.testing.assert_allclose(columns @ columns.T, basis @ basis.T, atol=1e-9)
        np.testing.assert_allclose(columns.T @ columns, np.eye(basis.shape[1]), atol=1e-9)
        ranks.append(basis.shape[1])
    assert ranks[0] < 6
    assert (ranks[-1] > ranks[0]) == (threshold > 0)


def test_all_energy_of_few_queries_is_their_span_and_no_more() -> None:
    """Directions without energy are not kept, nor is one twice."""
    x = queries(0, n=2)
    kept = extended(torch.zeros(6, 6, dtype=torch.float64), torch.from_numpy(x.T @ x), 1.0)
    kept = extended(kept, torch.from_numpy(x.T @ x), 1.0)
    assert int(kept.any(0).sum()) == 2
    np.testing.assert_allclose(x @ kept.numpy() @ kept.numpy().T, x, atol=1e-9)


def test_what_is_outside_is_orthogonal_to_every_kept_direction_of_its_head() -> None:
    g = torch.Generator().manual_seed(0)
    keys, kept = torch.randn(2, 4, 18, generator=g), torch.zeros(2, 3, 6, 6)
    for block in range(2):
        for head in range(3):
            kept[block, head, :, : head + 1] = torch.linalg.qr(torch.randn(6, head + 1, generator=g)).Q
    got = outside(keys, kept)
    for block in range(2):
        for head in range(3):
            at, u = slice(6 * head, 6 * head + 6), kept[block, head, :, : head + 1].numpy()
            theirs = keys[block, :, at].numpy()
            np.testing.assert_allclose(got[block, :, at], theirs - theirs @ u @ u.T, atol=1e-5)
            np.testing.assert_allclose(got[block, :, at].numpy() @ u, np.zeros((4, head + 1)), atol=1e-5)


def first_queries(lab: Lab, method: Any, batch: Batch) -> Array:
    """Queries of block 0, which no prompt has touched: ``[heads, images * tokens, 40]`` by plain matrix products."""
    block = method.vit.module.blocks[0]
    x = block.norm1(method.vit.tokens(batch.images)).numpy()
    weight, bias = block.attn.qkv.weight[:160].numpy(), block.attn.qkv.bias[:160].numpy()
    q: Array = (x @ weight.T + bias).reshape(-1, 4, 40).transpose(1, 0, 2)
    return q


def test_the_first_block_keeps_the_queries_of_all_tasks(lab: Lab) -> None:
    method: Any = lab.fresh(Case("pgp", "pgp"), epochs=1)
    bases: list[Array] = [np.zeros((40, 0))] * 4
    for classes in (ONE, TWO):
        q = first_queries(lab, method, lab.data(method, classes).train)
        lab.fit(method, classes)
        bases = [by_svd(basis, x.astype(np.float64), 0.5) for basis, x in zip(bases, q, strict=True)]
        for kept, basis in zip(method.kept[0].numpy(), bases, strict=True):
            np.testing.assert_allclose(kept @ kept.T, basis @ basis.T, atol=1e-3)
        assert all(basis.shape[1] > 0 for basis in bases)


SETTINGS: list[dict[str, Any]] = [
    {"lr": 0.01},
    {"lr": 0.01, "weight_decay": 0.1},
    {"lr": 0.01, "optimizer": "adamw", "weight_decay": 0.1},
    {"lr": 0.5, "optimizer": "sgd"},
]


def changes(lab: Lab, target: str, settings: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Change of prefix keys in the second task ``[B, L, D]``, and PGP's kept directions after the first."""
    first: Any = lab.fresh(Case("pgp", "pgp"), length=5, threshold=0.8, **settings)
    lab.fit(first, ONE)
    state = first.state_dict()
    method: Any = first
    if target == "dualprompt":
        method = lab.fresh(Case("dualprompt", "dualprompt"), **settings)
        method.n_seen, method.n_tasks = len(ONE), 1
        method.load_state_dict({name: value for name, value in state.items() if name != "kept"})
    lab.fit(method, TWO)
    g = method.prompts["g"] - state["prompts.g"]
    e = method.prompts["e"][1] - state["prompts.e"][0]
    return torch.cat([g[:, 0], e[:, 0]]), state["kept"]


@pytest.mark.parametrize(
    "settings", [SETTINGS[0], *(pytest.param(s, marks=pytest.mark.long) for s in SETTINGS[1:])], ids=str
)
def test_no_part_of_a_change_of_keys_is_in_the_kept_subspace(lab: Lab, settings: dict[str, Any]) -> None:
    """With any optimiser: Adam's steps are not multiples of gradients, decay is not one at all."""
    change, kept = changes(lab, "pgp", settings)
    parts = torch.einsum("blhd,bhdr->blhr", change.view(4, 5, 4, 40), kept)
    assert float(change.abs().max()) > 1e-4
    assert float(parts.abs().max()) < 2e-6, "that is rounding"
    free, _ = changes(lab, "dualprompt", settings)
    assert float(torch.einsum("blhd,bhdr->blhr", free.view(4, 5, 4, 40), kept).abs().max()) > 1e-4, "it does bite"


def test_logits_of_kept_queries_on_the_prefix_stay(lab: Lab) -> None:
    """All energy of the first block's queries kept: no logit of an old image on the G-prompt moves there."""
    method: Any = lab.fresh(Case("pgp", "pgp"), threshold=0.999, lr=0.01)
    q = first_queries(lab, method, lab.data(method, ONE).train)
    lab.fit(method, ONE)
    before = method.prompts["g"][0, 0].numpy().reshape(5, 4, 40).transpose(1, 2, 0).copy()
    lab.fit(method, TWO)
    after = method.prompts["g"][0, 0].numpy().reshape(5, 4, 40).transpose(1, 2, 0)
    moved, unprojected = np.abs(q @ (after - before)), np.abs(q).sum(-1).mean() * np.abs(after - before).mean()
    assert np.abs(after - before).max() > 1e-4
    assert np.sqrt((moved**2).mean()) < 0.05 * unprojected


def test_threshold_zero_keeps_nothing(lab: Lab) -> None:
    method: Any = lab.fresh(Case("pgp", "pgp"), threshold=0.0)
    lab.fit(method, ONE)
    assert not method.kept.any()
    assert method.memory_footprint().statistics == 0
