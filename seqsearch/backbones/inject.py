"""Injections of prompt and adapter methods into a vision transformer. Tokens enter at the input; prefixes of keys and
values, adapters, and low-rank changes enter each block. The network itself is never changed, so that one frozen copy
serves all methods.

Works for every timm `VisionTransformer` of ordinary blocks, whatever its width, depth, heads and pooling, the embedded
one included. With nothing injected the operations are timm's own, and so are the bits.

`Transformer` runs the parts one by one, because everything before the first injection is the same in every epoch:
``pool(run(tokens(images), blocks))``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from timm.layers.attention import Attention
from timm.models.vision_transformer import Block, VisionTransformer
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.core.errors import UserError


@dataclass(frozen=True, eq=False)
class Prefix:
    """Keys and values that every query of a block also attends to: each ``[L, D]``, or ``[n, L, D]`` for one per image.

    A query gives the prefix a share s of its attention, often a small one, and the prefix learns as slowly. With ``compensated``
    (as in LAE) that part counts in full: ``(1 - s) (attention to the others) + (attention within the prefix)``.
    """

    keys: Tensor
    values: Tensor
    compensated: bool = False


@dataclass(frozen=True, eq=False)
class Adapter:
    """A bottleneck beside a part of a block: ``scale * (relu(x A^T + a) B^T + b)``, A ``[r, D]``, B ``[D, r]``."""

    down: Tensor
    down_bias: Tensor
    up: Tensor
    up_bias: Tensor
    scale: float = 1.0

    def __call__(self, x: Tensor) -> Tensor:
        hidden = functional.relu(functional.linear(x, self.down, self.down_bias))
        return self.scale * functional.linear(hidden, self.up, self.up_bias)


@dataclass(frozen=True, eq=False)
class LowRank:
    """A change of one projection: ``x A^T B^T`` is added to its output; A ``[r, D]``, B ``[D, r]``."""

    down: Tensor
    up: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return functional.linear(functional.linear(x, self.down), self.up)


@dataclass(frozen=True, eq=False)
class Injection:
    """Injections into one block.

    Attributes:
        prefix: further keys and values of its attention.
        adapter: beside its MLP. It reads the input of the MLP's normalisation, and its output is added to the MLP's.
        attention_adapter: the same beside its attention.
        low_rank: changes of its projections, by ``q``, ``k``, ``v``.
    """

    prefix: Prefix | None = None
    adapter: Adapter | None = None
    attention_adapter: Adapter | None = None
    low_rank: Mapping[str, LowRank] = field(default_factory=dict)


Blocks = Mapping[int, Injection]
"""Injections by the number of the block, from 0; other blocks get none."""


class Transformer:
    """A timm vision transformer without head, as something to inject into.

    Args:
        module: ``VisionTransformer`` with ``num_classes=0``; it is read, never changed.

    Raises:
        UserError: it is another kind of network.
    """

    def __init__(self, module: nn.Module) -> None:
        if not injectable(module):
            raise UserError(
                f"{type(module).__name__} is no vision transformer of timm with ordinary blocks: prompts, prefixes and adapters "
                "have no place in it; choose another backbone (e.g. vit_base_patch16_224) or method"
            )
        vit: Any = module
        self.module = vit
        self.width: int = vit.embed_dim
        self.depth: int = len(vit.blocks)

    def tokens(self, images: Tensor) -> Tensor:
        """Images ``[n, 3, s, s]`` -> what the first block reads ``[n, N, D]``, positions added."""
        vit = self.module
        with self._precision(images):
            tokens: Tensor = vit.norm_pre(vit.patch_drop(vit._pos_embed(vit.patch_embed(images))))
        return tokens

    def run(
        self,
        tokens: Tensor,
        blocks: Blocks | None = None,
        prompts: Tensor | None = None,
        observe: Callable[[int, Tensor], None] | None = None,
    ) -> Tensor:
        """All blocks and the last normalisation.

        Args:
            tokens: from `tokens`, ``[n, N, D]``.
            blocks: what is injected where.
            prompts: further input tokens ``[P, D]`` or ``[n, P, D]``, without a position: put behind the others.
            observe: called with the number of each block and what it reads ``[n, N + P, D]``.

        Returns:
            ``[n, N + P, D]``.
        """
        vit, blocks = self.module, blocks or {}
        with self._precision(tokens):
            x = tokens if prompts is None else torch.cat([tokens, prompts.expand(len(tokens), -1, -1)], dim=1)
            for number, block in enumerate(vit.blocks):
                if observe is not None:
                    observe(number, x)
                injection = blocks.get(number)
                x = block(x) if injection is None else _block(block, x, injection)
            outputs: Tensor = vit.norm(x)
        return outputs

    def pool(self, outputs: Tensor, prompts: int = 0) -> Tensor:
        """Outputs of `run` ``[n, N + P, D]`` -> features ``[n, d]``, pooled as timm does, without the last ``prompts`` tokens."""
        with self._precision(outputs):
            kept = outputs[:, :-prompts] if prompts else outputs
            features: Tensor = self.module.forward_head(kept, pre_logits=True)
        return features.float()

    def pool_prompts(self, outputs: Tensor, prompts: int) -> Tensor:
        """The mean of the last ``prompts`` output tokens as features ``[n, D]``, normalised as pooled tokens are."""
        with self._precision(outputs):
            features: Tensor = self.module.fc_norm(outputs[:, -prompts:].mean(1))
        return features.float()

    def __call__(self, images: Tensor, blocks: Blocks | None = None) -> Tensor:
        """Images ``[n, 3, s, s]`` -> features ``[n, d]``."""
        return self.pool(self.run(self.tokens(images), blocks))

    def _precision(self, like: Tensor) -> AbstractContextManager[Any]:
        """Autocast where the backbone's own forward pass is (``--precision bf16``)."""
        dtype = getattr(self.module, "autocast_dtype", None)
        return torch.autocast(like.device.type, dtype=dtype) if dtype else nullcontext()


def injectable(module: nn.Module) -> bool:
    """Whether `Transformer` takes it."""
    return isinstance(module, VisionTransformer) and all(
        type(block) is Block and type(block.attn) is Attention for block in module.blocks
    )


def _block(block: Any, x: Tensor, injection: Injection) -> Tensor:
    """timm's ``Block.forward`` with an injection."""
    attended = block.drop_path1(block.ls1(_attention(block.attn, block.norm1(x), injection)))
    if injection.attention_adapter is not None:
        attended = attended + injection.attention_adapter(x)
    x = x + attended
    mixed = block.drop_path2(block.ls2(block.mlp(block.norm2(x))))
    if injection.adapter is not None:
        mixed = mixed + injection.adapter(x)
    result: Tensor = x + mixed
    return result


def _attention(attn: Any, x: Tensor, injection: Injection) -> Tensor:
    """timm's ``Attention.forward`` with an injection."""
    if injection.prefix is None and not injection.low_rank:
        plain: Tensor = attn(x)
        return plain
    n, length, _ = x.shape
    projected = attn.qkv(x)
    if injection.low_rank:
        parts = dict(zip("qkv", projected.chunk(3, dim=-1), strict=True))
        projected = torch.cat(
            [
                part + injection.low_rank[name](x) if name in injection.low_rank else part
                for name, part in parts.items()
            ],
            dim=-1,
        )
    q, k, v = projected.reshape(n, length, 3, attn.num_heads, attn.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
    q, k = attn.q_norm(q), attn.k_norm(k)
    mixed = _attended(q, k, v, injection.prefix, attn).transpose(1, 2).reshape(n, length, attn.attn_dim)
    mixed = attn.norm(mixed)
    if attn.gate is not None:
        mixed = mixed * attn.gate(x).sigmoid()
    out: Tensor = attn.proj_drop(attn.proj(mixed))
    return out


def _attended(q: Tensor, k: Tensor, v: Tensor, prefix: Prefix | None, attn: Any) -> Tensor:
    """Return the attention of queries ``[n, heads, N, D / heads]`` to keys and values, and to a prefix."""
    if prefix is None:
        return functional.scaled_dot_product_attention(q, k, v)
    keys, values = (_heads(part, attn, len(q)).to(q.dtype) for part in (prefix.keys, prefix.values))
    behind = torch.zeros_like(values) if prefix.compensated else values
    mixed = functional.scaled_dot_product_attention(q, torch.cat([keys, k], dim=2), torch.cat([behind, v], dim=2))
    return mixed + functional.scaled_dot_product_attention(q, keys, values) if prefix.compensated else mixed


def _heads(prefix: Tensor, attn: Any, n: int) -> Tensor:
    """``[L, D]`` or ``[n, L, D]`` -> ``[n, heads, L, D / heads]``: of one image its own prefix, never another's."""
    each = prefix.reshape(*prefix.shape[:-1], attn.num_heads, attn.head_dim).transpose(-3, -2)
    return each.expand(n, -1, -1, -1)
