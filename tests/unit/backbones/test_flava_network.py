"""`FlavaNetwork` against the stock model of transformers, and its prefixes and prompts against plain arithmetic."""

from __future__ import annotations

import copy
import math
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import FlavaConfig, FlavaModel

from seqsearch.backbones.base import ReadsTexts
from seqsearch.backbones.parts.bf16 import in_bf16
from seqsearch.backbones.parts.flava_model import flava_network
from seqsearch.backbones.parts.flava_network import ENCODERS, Attention, Encoder, FlavaNetwork
from seqsearch.methods.parts.pairs_prefixes import layers_of, prefix_bytes
from seqsearch.training.cache_budget import free_memory
from tests.conformance.pairs import small_flava
from tests.unit.backbones.small_flava import class_token, pairs, stock

Given = dict[Encoder, dict[int, Tensor]]
FREE = 8 << 30
"""Bytes of memory that a full-size network, its gradients and what is computed on the way need."""


def network(attention: Attention) -> FlavaNetwork:
    return FlavaNetwork(stock(), attention)


def drawn(count: int = 0, length: int = 3) -> Given:
    """A prefix for the second layer of each encoder, and for the first of the last: ``[2, L, D]``, or one for each pair."""
    draw, shape = torch.Generator().manual_seed(1), (*((count,) if count else ()), 2, length, 32)
    places: list[tuple[Encoder, int]] = [("image", 1), ("text", 1), ("multimodal", 0), ("multimodal", 2)]
    found: Given = {encoder: {} for encoder in ENCODERS}
    for encoder, layer in places:
        found[encoder][layer] = torch.randn(shape, generator=draw).requires_grad_(True)
    return found


def by_hand(net: FlavaNetwork, inputs: dict[str, Tensor], given: Given, prompts: dict[Encoder, Tensor]) -> Tensor:
    """Pair by pair without padding or masks, head by head, in double precision: what `FlavaNetwork.run` should give."""
    net, rows = copy.deepcopy(net).double(), []

    def encoded(encoder: Encoder, tokens: Tensor, n: int) -> Tensor:
        inserted = prompts[encoder][n].double() if encoder in prompts else tokens[:0]
        tokens = torch.cat([tokens[:1], inserted, tokens[1:]])
        for number, layer in enumerate(cast(Any, net.layers(encoder))):
            own, normal, outputs = layer.attention.attention, layer.layernorm_before(tokens), []
            prefix = given.get(encoder, {}).get(number, torch.zeros(2, 0, 32)).double()
            prefix = prefix[n] if prefix.ndim == 4 else prefix
            keys, values = torch.cat([prefix[0], own.key(normal)]), torch.cat([prefix[1], own.value(normal)])
            for head in range(2):
                at = slice(16 * head, 16 * head + 16)
                weights = torch.exp(own.query(normal)[:, at] @ keys[:, at].T / math.sqrt(16))
                outputs.append(weights @ values[:, at] / weights.sum(1, keepdim=True))
            tokens = tokens + layer.attention.output.dense(torch.cat(outputs, dim=1))
            tokens = tokens + layer.output.dense(
                functional.gelu(layer.intermediate.dense(layer.layernorm_after(tokens)))
            )
        return torch.cat([tokens[:1], tokens[1 + len(inserted) :]])

    for n in range(len(inputs["images"])):
        words = inputs["input_ids"][n : n + 1, : int(inputs["attention_mask"][n].sum())]
        image = encoded("image", net.image_embeddings(inputs["images"][n : n + 1].double())[0], n)
        text = encoded("text", net.text_embeddings(input_ids=words)[0], n)
        tokens = torch.cat([net.class_token[0], net.image_projection(image), net.text_projection(text)])
        rows.append(net.norm(encoded("multimodal", tokens, n))[0])
    return torch.stack(rows).float()


@pytest.mark.parametrize("lengths", [(5, 12, 9, 2), (7, 7, 7)], ids=["padded", "not padded"])
@torch.no_grad()
def test_features_are_the_class_token_of_the_stock_model(lengths: tuple[int, ...]) -> None:
    """Eager attention computes the same bits; fused attention is near."""
    inputs = pairs(lengths)
    expected = class_token(stock(), inputs)
    assert torch.equal(network("eager")(inputs), expected)
    torch.testing.assert_close(network("sdpa")(inputs), expected, rtol=0, atol=1e-5)
    assert float((expected[0] - expected[1]).abs().max()) > 0.1


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@torch.no_grad()
def test_padding_changes_nothing(attention: Attention) -> None:
    given, net = drawn(), network(attention)
    short, wide = (net.run(pairs(padded=padded), given) for padded in (12, 16))
    torch.testing.assert_close(short, wide, rtol=0, atol=1e-5)
    alone = torch.cat([net.run({k: v[n : n + 1] for k, v in pairs(padded=16).items()}, given) for n in range(4)])
    torch.testing.assert_close(alone, wide, rtol=0, atol=1e-5)
    unmasked = pairs(padded=16)
    unmasked["attention_mask"] = torch.ones_like(unmasked["attention_mask"])
    assert float((net.run(unmasked, given) - wide).abs().max()) > 1e-2


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@torch.no_grad()
def test_prefixes_and_prompts_are_what_plain_arithmetic_says(attention: Attention) -> None:
    net, inputs = network(attention), pairs()
    prompts: dict[Encoder, Tensor] = {
        encoder: torch.randn(4, 2 + n, 32, generator=torch.Generator().manual_seed(n))
        for n, encoder in enumerate(ENCODERS)
    }
    plain = by_hand(net, inputs, {}, {})
    torch.testing.assert_close(net(inputs), plain, rtol=0, atol=1e-5)
    for given, inserted in [(drawn(), {}), (drawn(4), {}), ({}, prompts), (drawn(4), prompts)]:
        expected = by_hand(net, inputs, given, inserted)
        assert float((expected - plain).abs().max()) > 0.1
        torch.testing.assert_close(net.run(inputs, given, inserted), expected, rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_prefix_of_each_pair_that_is_the_same_is_a_shared_one() -> None:
    net, shared = network("sdpa"), drawn()
    each: Given = {e: {layer: p.expand(4, -1, -1, -1) for layer, p in of.items()} for e, of in shared.items()}
    torch.testing.assert_close(net.run(pairs(), shared), net.run(pairs(), each), rtol=0, atol=1e-6)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_gradients_reach_all_of_prefixes_and_prompts(attention: Attention) -> None:
    """The loss weighs features: their plain sum is constant behind a normalisation."""
    net, given = network(attention), drawn(4)
    prompts: dict[Encoder, Tensor] = {encoder: torch.randn(4, 2, 32).requires_grad_(True) for encoder in ENCODERS}
    (net.run(pairs(), given, prompts) * torch.randn(4, 32, generator=torch.Generator().manual_seed(0))).sum().backward()
    learned = [*(p for of in given.values() for p in of.values()), *prompts.values()]
    assert all(p.grad is not None and bool((p.grad.abs().amax(-1) > 0).all()) for p in learned)


def lengths_seen(net: FlavaNetwork, given: Given, prompts: dict[Encoder, Tensor]) -> dict[str, set[int]]:
    """Tokens that the layers of each encoder were given."""
    seen: dict[str, set[int]] = {}

    def watched(encoder: str) -> Any:
        return lambda module, inputs: seen.setdefault(encoder, set()).add(inputs[0].shape[1])

    hooks = [
        cast(Any, layer).layernorm_before.register_forward_pre_hook(watched(encoder))
        for encoder in ENCODERS
        for layer in net.layers(encoder)
    ]
    net.run(pairs(), given, prompts)
    for hook in hooks:
        hook.remove()
    return seen


def test_prefixes_are_no_tokens_and_prompts_stay_in_their_encoder() -> None:
    net = network("sdpa")
    plain = {"image": {5}, "text": {12}, "multimodal": {18}}
    assert lengths_seen(net, {}, {}) == plain
    assert lengths_seen(net, drawn(), {}) == plain
    for encoder in ENCODERS:
        found = lengths_seen(net, {}, {encoder: torch.zeros(4, 3, 32)})
        assert found == {**plain, encoder: {next(iter(plain[encoder])) + 3}}


@torch.no_grad()
def test_nothing_of_prefixes_stays_in_the_network() -> None:
    net = network("sdpa")
    before = net(pairs())
    net.run(pairs(), drawn(4), {"text": torch.ones(4, 2, 32)})
    assert torch.equal(net(pairs()), before)
    assert net.state_dict().keys() == network("sdpa").state_dict().keys()


@torch.no_grad()
def test_in_bf16_features_are_near_and_stay_float32_with_prefixes_too() -> None:
    exact, half = small_flava().module(), in_bf16(small_flava()).module()
    assert isinstance(exact, FlavaNetwork)
    assert isinstance(half, FlavaNetwork)
    for given in ({}, drawn()):
        ours, theirs = half.run(pairs(), given), exact.run(pairs(), given)
        assert ours.dtype == torch.float32
        assert not torch.equal(ours, theirs)
        assert functional.cosine_similarity(ours, theirs).min() > 0.999
    assert torch.equal(half(pairs()), half.run(pairs()))
    assert isinstance(in_bf16(small_flava()), ReadsTexts)
    assert {p.dtype for p in half.parameters()} == {torch.float32}


def counted(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_published_sizes() -> None:
    """241,356,289 parameters; ten experiences of `mm_dp` add 737,280 in prompts and 7,680 in keys."""
    with torch.device("meta"):
        published = FlavaModel(FlavaConfig())
    assert counted(published) == 241_356_289
    net = flava_network({}, "test", empty=True)
    left_out = (
        published.image_model.layernorm, published.image_model.pooler, published.text_model.layernorm,
        published.text_model.pooler, published.multimodal_model.pooler, published.image_projection, published.text_projection,
    )  # fmt: skip
    further = 1 + published.image_model.embeddings.mask_token.numel()  # temperature of the contrastive loss
    assert counted(net) == counted(published) - sum(map(counted, left_out)) - further
    assert [len(net.layers(encoder)) for encoder in ENCODERS] == [12, 12, 6]
    assert layers_of(net) == {encoder: ([0, 1], [2, 3, 4]) for encoder in ENCODERS}
    assert prefix_bytes(net, 768, 10) == 4 * (737_280 + 7_680)
    assert prefix_bytes(net, 768, 1) == 4 * (3 * (15_360 + 23_040) + 768)


@pytest.mark.long
def test_a_network_of_published_size_takes_a_step() -> None:
    """Random weights, two pairs of 32 tokens, forward and backward."""
    if (free := free_memory()) < FREE:
        pytest.skip(f"it takes 5 GB of memory, and {free / 1e9:.1f} GB are free")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = flava_network({}, "test")
    draw = torch.Generator().manual_seed(0)
    inputs = {
        "images": torch.randn(2, 3, 224, 224, generator=draw),
        "input_ids": torch.randint(1, 30_000, (2, 32), generator=draw),
        "attention_mask": (torch.arange(32) < torch.tensor([[32], [20]])).long(),
    }
    features = net(inputs)
    assert features.shape == (2, 768)
    functional.cross_entropy(features @ torch.randn(768, 5, generator=draw), torch.tensor([0, 3])).backward()
    for encoder in ENCODERS:
        for parameter in net.layers(encoder).parameters():
            assert parameter.grad is not None
            assert bool(torch.isfinite(parameter.grad).all())
            assert float(parameter.grad.abs().max()) > 0
