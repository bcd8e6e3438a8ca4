"""Injection into vision transformers: nothing injected is timm in every bit, and what is injected does what its equation says."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import timm
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.backbones.inject import Adapter, Injection, LowRank, Prefix, Transformer, injectable
from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.parts.bf16 import Bf16
from seqsearch.core.errors import UserError

SMALL: dict[str, Any] = {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 3, "num_heads": 3}
KINDS: dict[str, dict[str, Any]] = {
    "class token": {},
    "pooled": {"global_pool": "avg", "class_token": False, "fc_norm": True},
    "pooled beside a class token": {"global_pool": "avg"},
    "registers": {"reg_tokens": 4},
    "registers, no position for them": {"reg_tokens": 4, "no_embed_class": True, "global_pool": "avg"},
    "normalised queries, layer scale": {"qk_norm": True, "init_values": 0.1},
    "normalised before the blocks": {"pre_norm": True},
    "attention pooling": {"global_pool": "map", "class_token": False},
    "another norm": {"norm_layer": partial(nn.LayerNorm, eps=1e-3)},
}


def network(kind: str) -> nn.Module:
    """Small, with random weights that are far from those a network starts with, biases included."""
    if kind == "glyph_vit":
        return build_backbone("glyph_vit").module()
    if kind == "vit_tiny_patch16_224":
        return _shaken(timm.create_model(kind, pretrained=False, num_classes=0, img_size=32))
    return _shaken(VisionTransformer(**{**SMALL, **KINDS[kind]}, num_classes=0))


def _shaken(module: nn.Module) -> nn.Module:
    g = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for p in module.parameters():
            p.add_(0.3 * torch.randn(p.shape, generator=g))
    return module.eval().requires_grad_(False)


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


every_kind = pytest.mark.parametrize("kind", ["glyph_vit", "vit_tiny_patch16_224", *KINDS])


@every_kind
def test_with_nothing_injected_the_bits_are_those_of_timm(kind: str) -> None:
    module, images = network(kind), drawn(3, 3, 32, 32)
    vit = Transformer(module)
    expected = module(images)
    assert torch.equal(vit(images), expected)
    empty = {number: Injection() for number in range(vit.depth)}
    assert torch.equal(vit(images, empty), expected)
    assert torch.equal(vit.run(vit.tokens(images)), module.forward_features(images))


@every_kind
def test_what_adds_nothing_changes_nothing(kind: str) -> None:
    """Adapters and low-rank changes whose second matrix is zero, as those start that are trained."""
    module, images = network(kind), drawn(3, 3, 32, 32)
    vit = Transformer(module)
    d = vit.width
    adapter = Adapter(drawn(4, d), drawn(4), torch.zeros(d, 4), torch.zeros(d))
    low_rank = {name: LowRank(drawn(2, d), torch.zeros(d, 2)) for name in "qkv"}
    for injection in (Injection(adapter=adapter), Injection(attention_adapter=adapter)):
        assert torch.equal(vit(images, dict.fromkeys(range(vit.depth), injection)), module(images))
    got = vit(images, dict.fromkeys(range(vit.depth), Injection(low_rank=low_rank)))
    torch.testing.assert_close(got, module(images))


def by_hand(block: Any, x: Tensor, keys: Tensor, values: Tensor, change: Tensor | None = None) -> Tensor:
    """A block with a prefix ``[L, D]`` for one image ``[N, D]``: head by head, a plain softmax.

    ``change`` ``[3 D, D]`` is added to the weights of queries, keys and values.
    """
    attn = block.attn
    h, d = attn.num_heads, attn.head_dim
    weight = attn.qkv.weight if change is None else attn.qkv.weight + change
    bias = 0 if attn.qkv.bias is None else attn.qkv.bias
    q, k, v = (block.norm1(x) @ weight.T + bias).split(h * d, dim=1)
    heads = []
    for i in range(h):
        at = slice(i * d, (i + 1) * d)
        all_keys = torch.cat([keys[:, at], attn.k_norm(k[:, at])])
        logits = attn.q_norm(q[:, at]) @ all_keys.T / d**0.5
        share = logits.exp() / logits.exp().sum(1, keepdim=True)
        heads.append(share @ torch.cat([values[:, at], v[:, at]]))
    x = x + block.ls1(attn.proj(torch.cat(heads, dim=1)))
    result: Tensor = x + block.ls2(block.mlp(block.norm2(x)))
    return result


@pytest.mark.parametrize("kind", ["glyph_vit", "class token", "normalised queries, layer scale"])
def test_a_prefix_is_a_softmax_over_more_keys(kind: str) -> None:
    """In the last block, so that the rest of the network is timm's."""
    module = network(kind)
    vit = Transformer(module)
    tokens, last = vit.tokens(drawn(2, 3, 32, 32)), vit.depth - 1
    keys, values = drawn(5, vit.width, seed=2), drawn(5, vit.width, seed=3)
    got = vit.run(tokens, {last: Injection(prefix=Prefix(keys, values))})
    for image in range(2):
        x = tokens[image][None]
        for block in module.blocks[:last]:
            x = block(x)
        expected = module.norm(by_hand(module.blocks[last], x[0], keys, values))
        torch.testing.assert_close(got[image], expected, rtol=1e-4, atol=1e-5)


def test_each_image_gets_its_own_prefix() -> None:
    vit = Transformer(network("class token"))
    tokens = vit.tokens(drawn(2, 3, 32, 32))
    keys, values = drawn(2, 4, vit.width, seed=2), drawn(2, 4, vit.width, seed=3)
    both = vit.run(tokens, {1: Injection(prefix=Prefix(keys, values))})
    for image in range(2):
        alone = vit.run(tokens[image : image + 1], {1: Injection(prefix=Prefix(keys[image], values[image]))})
        torch.testing.assert_close(both[image : image + 1], alone)
    swapped = vit.run(tokens, {1: Injection(prefix=Prefix(keys.flip(0), values.flip(0)))})
    assert float((both - swapped).abs().max()) > 0.01


def test_low_rank_changes_are_changes_of_the_weights() -> None:
    module = network("class token")
    vit = Transformer(module)
    d, tokens = vit.width, Transformer(module).tokens(drawn(1, 3, 32, 32))
    pairs = {name: LowRank(0.2 * drawn(2, d, seed=i), 0.2 * drawn(d, 2, seed=i + 5)) for i, name in enumerate("qv")}
    change = torch.zeros(3 * d, d)
    change[:d] = pairs["q"].up @ pairs["q"].down
    change[2 * d :] = pairs["v"].up @ pairs["v"].down
    got = vit.run(tokens, {0: Injection(low_rank=pairs)})
    x = by_hand(module.blocks[0], tokens[0], torch.zeros(0, d), torch.zeros(0, d), change)[None]
    for block in module.blocks[1:]:
        x = block(x)
    torch.testing.assert_close(got, module.norm(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("place", ["adapter", "attention_adapter"])
def test_an_adapter_reads_what_the_norm_of_its_part_reads_and_adds_to_what_the_part_gives(place: str) -> None:
    module = network("class token")
    vit = Transformer(module)
    d, x = vit.width, Transformer(module).tokens(drawn(2, 3, 32, 32))
    a, b = drawn(4, d, seed=2), drawn(d, 4, seed=3)
    adapter = Adapter(a, drawn(4, seed=4), b, drawn(d, seed=5), scale=0.3)
    got = vit.run(x, {2: Injection(**{place: adapter})})
    for block in module.blocks[:2]:
        x = block(x)
    block = module.blocks[2]

    def beside(read: Tensor) -> Tensor:
        return 0.3 * (functional.relu(read @ a.T + adapter.down_bias) @ b.T + adapter.up_bias)

    middle = x + block.attn(block.norm1(x)) + (beside(x) if place == "attention_adapter" else 0)
    end = middle + block.mlp(block.norm2(middle)) + (beside(middle) if place == "adapter" else 0)
    torch.testing.assert_close(got, module.norm(end), rtol=1e-4, atol=1e-5)


@every_kind
def test_prompts_are_further_tokens_and_pooled_apart(kind: str) -> None:
    module = network(kind)
    vit = Transformer(module)
    tokens, prompts = vit.tokens(drawn(2, 3, 32, 32)), drawn(2, 3, vit.width, seed=2)
    outputs = vit.run(tokens, prompts=prompts)
    x = torch.cat([tokens, prompts], dim=1)
    for block in module.blocks:
        x = block(x)
    assert torch.equal(outputs, module.norm(x))
    assert torch.equal(vit.pool(outputs, prompts=3), module.forward_head(module.norm(x)[:, :-3], pre_logits=True))
    assert torch.equal(vit.pool_prompts(outputs, 3), module.fc_norm(module.norm(x)[:, -3:].mean(1)))


def test_blocks_are_observed_with_what_they_read() -> None:
    module = network("class token")
    vit, seen = Transformer(module), {}
    x = vit.tokens(drawn(2, 3, 32, 32))
    vit.run(x, {1: Injection()}, observe=lambda number, read: seen.update({number: read}))
    assert list(seen) == [0, 1, 2]
    for number, block in enumerate(module.blocks):
        assert torch.equal(seen[number], x)
        x = block(x)


def test_other_networks_are_refused_in_one_line() -> None:
    resnet = timm.create_model("test_resnet", pretrained=False, num_classes=0)
    assert not injectable(resnet)
    with pytest.raises(UserError, match=r"^ResNet is no vision transformer .*choose another backbone") as caught:
        Transformer(resnet)
    assert "\n" not in str(caught.value)
    unusual = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=0, img_size=32)
    unusual.blocks[1].attn = nn.Identity()
    with pytest.raises(UserError, match="ordinary blocks"):
        Transformer(unusual)


def test_bf16_stays_bf16() -> None:
    """Nothing injected: the bits of the backbone that computes in bfloat16. Injected: near float32, and not the same."""
    module = Bf16(build_backbone("glyph_vit")).module()
    half, exact, images = Transformer(module), Transformer(network("glyph_vit")), drawn(4, 3, 32, 32)
    with torch.no_grad():
        assert torch.equal(half(images), module(images))
        blocks = {1: Injection(prefix=Prefix(drawn(3, 160, seed=2), drawn(3, 160, seed=3)))}
        near, full = half(images, blocks), exact(images, blocks)
    assert near.dtype == torch.float32
    assert not torch.equal(near, full)
    assert functional.cosine_similarity(near, full).min() > 0.99
