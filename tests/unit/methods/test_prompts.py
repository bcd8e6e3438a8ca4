"""Prompt methods against plain loops: what they choose, how they weigh, what they lose; and what `reference_compat` tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor

from seqsearch.core.errors import UserError
from seqsearch.core.registry import load
from seqsearch.methods.base import Method
from seqsearch.methods.config import Conflict, build_config
from seqsearch.methods.parts.components import orthonormal, overlap, weights
from seqsearch.methods.parts.prompts import blocks_of, cosines, majority, nearest, untransposed
from seqsearch.training.context import WorkerContext
from tests.conformance.lab import TASKS, Case, Lab

ONE, TWO, THREE = TASKS


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Lab(tmp_path_factory.mktemp("lab"))
    torch.set_num_threads(threads)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b))


def test_each_image_chooses_by_its_own_cosines() -> None:
    query, keys = drawn(9, 6), 5 * drawn(7, 6, seed=1)
    chosen = nearest(cosines(query, keys), 3)
    for q, picks in zip(query.numpy(), chosen.tolist(), strict=True):
        order = sorted(range(7), key=lambda m: -cosine(q, keys[m].numpy()))
        assert picks == order[:3]
    assert len({tuple(p) for p in chosen.tolist()}) > 3


def test_majority_is_the_most_frequent_of_all_choices() -> None:
    similarity = torch.tensor(
        [[0.9, 0.5, 0.1, 0.0], [0.1, 0.9, 0.8, 0.0], [0.0, 0.7, 0.1, 0.9]]
    )  # {0, 1}, {1, 2}, {1, 3}
    assert majority(similarity, 2).tolist() == [[1, 0]] * 3
    assert nearest(similarity, 2).tolist() == [[0, 1], [1, 2], [3, 1]]


def test_untransposed_gives_the_first_half_keys_and_the_second_values() -> None:
    """As a reshape of [2, n, ...] to [n, 2, ...] in numpy does it."""
    prompts = torch.arange(4 * 2 * 3 * 5).view(4, 2, 3, 5).float()
    laid_out = np.stack([prompts[:, 0].numpy(), prompts[:, 1].numpy()])
    np.testing.assert_array_equal(untransposed(prompts).numpy(), laid_out.reshape(4, 2, 3, 5))
    mixed = untransposed(prompts)
    assert torch.equal(mixed[0, 0], prompts[0, 0])
    assert torch.equal(mixed[0, 1], prompts[1, 0]), "keys of image 1 as values of image 0"
    assert torch.equal(mixed[2, 0], prompts[0, 1]), "values of image 0 as keys of image 2"


def features_of(module: Any, images: Tensor, tokens: Tensor) -> Tensor:
    """Blocks and norm of timm on one image's tokens and ``tokens`` ``[P, D]``."""
    x = module.norm_pre(module._pos_embed(module.patch_embed(images[None])))
    x = torch.cat([x, tokens[None]], dim=1)
    for block in module.blocks:
        x = block(x)
    return module.norm(x)[0]


@pytest.mark.parametrize("readout", ["prompts", "backbone"])
def test_l2p_image_by_image(lab: Lab, readout: str) -> None:
    """Features, and what is added to the loss, from the keys and prompts that training left."""
    case = Case(f"l2p, {readout}", "l2p", {"size": 6, "top_k": 2, "length": 3, "pull": 0.3, "readout": readout})
    method: Any = lab.trained(case, ONE, TWO)
    batch = lab.batch(ONE + THREE).select(torch.arange(0, 56, 5))
    keys, prompts = (method.prompts[name].numpy() for name in ("keys", "tokens"))
    assert keys.shape == (6, 160)
    assert prompts.shape == (6, 3, 160)
    pulls = []
    got, extra = method.inject(method.vit.tokens(batch.images), batch.frozen, None)
    for image, q, feature in zip(batch.images, batch.frozen.numpy(), got, strict=True):
        near = sorted(range(6), key=lambda m: -cosine(q, keys[m]))[:2]
        pulls.append(sum(cosine(q, keys[m]) for m in near))
        out = features_of(method.vit.module, image, torch.from_numpy(np.concatenate([prompts[m] for m in near])))
        mean = out[16:].mean(0) if readout == "prompts" else out[:16].mean(0)
        torch.testing.assert_close(feature, method.vit.module.fc_norm(mean), rtol=1e-4, atol=1e-4)
    assert float(extra) == pytest.approx(-0.3 * np.mean(pulls), rel=1e-5)


def test_l2p_tells_how_many_prompts_are_used(lab: Lab) -> None:
    method: Any = lab.fresh(Case("l2p", "l2p"), size=60, top_k=2, epochs=1)
    train = lab.data(method, ONE).train
    notes = lab.fit(method, ONE).notes
    picks = nearest(cosines(train.frozen, method.prompts["keys"]), 2).flatten().tolist()
    assert notes["prompts_used"] == len(set(picks)) < 60
    assert notes["largest_share"] == max(picks.count(m) for m in range(60)) / len(train)


def test_coda_weights_are_cosines_of_attended_queries() -> None:
    q, a, k = drawn(5, 6), drawn(4, 6, seed=1), 3 * drawn(4, 6, seed=2)
    expected = [[cosine((x * y).numpy(), z.numpy()) for y, z in zip(a, k, strict=True)] for x in q]
    np.testing.assert_allclose(weights(q, a, k), expected, rtol=1e-5, atol=1e-6)


def test_coda_features_image_by_image(lab: Lab) -> None:
    """The prefix of each image: a weighted sum over the components of both tasks, first half keys."""
    method: Any = lab.trained(Case("coda", "coda_prompt", {"components": 3, "length": 4}), ONE, TWO)
    batch = lab.batch(THREE).select(torch.arange(0, 32, 7))
    k, a, p = (method.prompts[name] for name in "kap")
    assert (k.shape, a.shape, p.shape) == ((4, 6, 160), (4, 6, 160), (4, 6, 4 * 160))
    for image, q, feature in zip(batch.images, batch.frozen, method.features(batch), strict=True):
        x = method.vit.tokens(image[None])
        for number, block in enumerate(method.vit.module.blocks):
            prompt = sum(
                cosine((q * a[number, m]).numpy(), k[number, m].numpy()) * p[number, m].view(4, 160) for m in range(6)
            )
            x = with_prefix(block, x, prompt[:2], prompt[2:])
        torch.testing.assert_close(
            feature, method.vit.module.fc_norm(method.vit.module.norm(x)[0].mean(0)), rtol=1e-4, atol=1e-4
        )


def with_prefix(block: Any, x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """A block of the embedded network on one image ``[1, N, D]``, attention head by head."""
    q, k, v = block.attn.qkv(block.norm1(x))[0].chunk(3, dim=1)
    heads = [
        torch.softmax(q[:, i] @ torch.cat([keys[:, i], k[:, i]]).T / 40**0.5, dim=1)
        @ torch.cat([values[:, i], v[:, i]])
        for i in (slice(h * 40, h * 40 + 40) for h in range(4))
    ]
    x = x + block.attn.proj(torch.cat(heads, dim=1))
    result: Tensor = x + block.mlp(block.norm2(x))
    return result


def test_coda_overlap_is_the_mean_squared_gap_to_orthonormal() -> None:
    rows = drawn(2, 3, 5)
    gaps = [(r @ r.T - np.eye(3)) ** 2 for r in rows.numpy()]
    assert float(overlap(rows)) == pytest.approx(sum(g.mean() for g in gaps), rel=1e-5)
    assert float(overlap(torch.eye(5)[None, :3])) == 0.0


@pytest.mark.parametrize("old", [0, 3, 6])
def test_new_components_are_orthonormal_and_orthogonal_to_old_ones_that_are_not(old: int) -> None:
    before = drawn(old, 10, seed=1).double()
    new = orthonormal(drawn(4, 10).double(), before)
    np.testing.assert_allclose(new @ new.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(new @ before.T, np.zeros((4, old)), atol=1e-10)


def test_without_room_new_components_are_orthonormal_among_themselves() -> None:
    before = drawn(7, 10, seed=1).double()
    new = orthonormal(drawn(4, 10).double(), before)
    np.testing.assert_allclose(new @ new.T, np.eye(4), atol=1e-12)
    crowded = orthonormal(drawn(12, 10).double(), before)
    np.testing.assert_allclose(crowded.norm(dim=1), np.ones(12), atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"weight_decay": 0.5, "mu": 0.2}, {"optimizer": "sgd"}])
def test_coda_leaves_old_components_alone(lab: Lab, settings: dict[str, Any]) -> None:
    method: Any = lab.fresh(Case("coda", "coda_prompt"), components=3, **settings)
    lab.fit(method, ONE)
    before = {name: p.clone() for name, p in method.prompts.items()}
    lab.fit(method, TWO)
    for name, p in method.prompts.items():
        assert torch.equal(p[:, :3], before[name])
        assert p.shape[1] == 6


def test_mu_pulls_components_towards_orthonormal(lab: Lab) -> None:
    gaps = []
    for mu in (0.0, 1.0):
        method: Any = lab.fresh(Case("coda", "coda_prompt"), components=6, lr=0.02, epochs=8, mu=mu)
        lab.fit(method, ONE)
        gaps.append(float(overlap(method.prompts["a"])))
    assert gaps[1] < 0.5 * gaps[0]


def test_dualprompt_picks_the_prompt_of_the_nearest_key(lab: Lab) -> None:
    method: Any = lab.trained(Case("dualprompt", "dualprompt"), *TASKS)
    batch = lab.batch(ONE + TWO)
    e, keys = method.prompts["e"], method.prompts["keys"]
    assert (e.shape, keys.shape) == ((3, 2, 2, 5, 160), (3, 160))
    picked, _ = method.chosen(batch.frozen)
    tasks = [max(range(3), key=lambda t: cosine(q, keys[t].numpy())) for q in batch.frozen.numpy()]
    assert len(set(tasks)) > 1
    assert torch.equal(picked, torch.stack([e[t] for t in tasks]))


def test_a_new_prompt_starts_as_the_one_before_and_old_ones_stay(lab: Lab) -> None:
    method: Any = lab.trained(Case("dualprompt", "dualprompt"), ONE)
    old = method.prompts["e"].clone()
    start = method.initial_prompts(lab.data(method, TWO))
    assert torch.equal(start["e"], old[0])
    assert torch.equal(start["g"], method.prompts["g"])
    other: Any = lab.restored(Case("d", "dualprompt", {"copy_prompt": False}), method.state_dict(), ONE)
    assert not torch.equal(other.initial_prompts(lab.data(other, TWO))["e"], old[0])
    lab.fit(method, TWO)
    assert torch.equal(method.prompts["e"][:1], old)
    assert not torch.equal(method.prompts["e"][1], old[0])


def test_blocks_are_those_that_the_network_has() -> None:
    assert blocks_of(12) == ([0, 1], [2, 3, 4])
    assert blocks_of(4) == ([0, 1], [2, 3])
    assert blocks_of(3) == ([0, 1], [2])
    assert blocks_of(2) == ([0], [1])
    assert blocks_of(1) == ([], [0])


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", ["l2p", "dualprompt", "coda_prompt", "pgp"])
def test_networks_of_few_blocks_will_do(lab: Lab, name: str, depth: int) -> None:
    """With a class token, which the embedded network has not; its frozen features are taken for this one's."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        small = VisionTransformer(img_size=32, patch_size=8, embed_dim=160, depth=depth, num_heads=4, num_classes=0)
    context = WorkerContext(lab.source.inner, 0, 0)
    context.frozen_backbone = lambda: small.eval().requires_grad_(False)
    kind = load("method", name)
    method = kind(context, build_config(kind, {"epochs": 1}))
    lab.fit(method, ONE, TWO)
    assert bool(torch.isfinite(method.predict(lab.batch(ONE))).all())
    assert not any(p.requires_grad for p in small.parameters())


COMPAT = [
    Case("l2p", "l2p", {"size": 6, "top_k": 2}),
    Case("dualprompt", "dualprompt"),
    Case("pgp", "pgp"),
]


@pytest.mark.parametrize("case", COMPAT, ids=lambda c: c.label)
def test_with_reference_compat_a_score_depends_on_the_batch(lab: Lab, case: Case) -> None:
    """What C3 forbids, and what the same method does not do without it."""
    same, other = (
        Case(f"{case.label}, {compat}", case.target, {**case.params, "reference_compat": compat})
        for compat in (False, True)
    )
    order = torch.randperm(56, generator=torch.Generator().manual_seed(0))
    gaps = []
    for each in (same, other):
        method, batch = lab.trained(each, ONE, TWO), lab.batch(ONE + TWO)
        together = method.predict(batch)
        shuffled = method.predict(batch.select(order))
        gaps.append(float((shuffled - together[order]).abs().max() / together.abs().max()))
    assert gaps[0] < 1e-4
    assert gaps[1] > 1e-3


def test_reference_compat_has_a_pool_that_can_be_full(lab: Lab) -> None:
    method = lab.fresh(Case("d", "dualprompt"), reference_compat=True, size=2)
    assert method.caps.capacity == 2
    lab.fit(method, ONE, TWO)
    with pytest.raises(UserError, match="size=2: too few prompts for task 3"):
        method.fit_task(lab.data(method, THREE))
    assert lab.fresh(Case("d", "dualprompt"), size=2).caps.capacity is None


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("l2p", {"top_k": 9, "size": 5}, "top_k=9: must be at most size=5"),
        ("coda_prompt", {"length": 7}, "length=7: must be even"),
    ],
)
def test_parameters_that_do_not_go_together(name: str, params: dict[str, Any], said: str) -> None:
    kind: type[Method] = load("method", name)
    with pytest.raises(Conflict, match=said) as caught:
        build_config(kind, params)
    assert "\n" not in str(caught.value)


def test_defaults_are_the_published_ones() -> None:
    """The "original" settings that GTEP lists; what it samples is what is tuned."""
    published = {
        "l2p": {"epochs": 10, "lr": 0.001875, "batch_size": 32, "size": 10, "length": 5, "top_k": 5, "pull": 0.1},
        "dualprompt": {
            "epochs": 10,
            "lr": 0.001,
            "batch_size": 24,
            "size": 10,
            "length": 5,
            "g_length": 5,
            "pull": 0.1,
        },
        "coda_prompt": {"epochs": 50, "lr": 0.001, "batch_size": 128, "length": 8, "mu": 0.0, "scheduler": "cosine"},
    }
    for name, values in published.items():
        kind: type[Method] = load("method", name)
        config: Any = build_config(kind, {})
        assert {key: getattr(config, key) for key in values} == values
        assert config.optimizer == "adam"
        assert config.weight_decay == 0.0
        tuned = {"epochs", "lr", "batch_size", "weight_decay", "optimizer", "scheduler", "milestones", "lr_decay"}
        spaces = {f for f, spec in kind.Config.__dataclass_fields__.items() if spec.metadata.get("search")}
        assert tuned <= spaces
