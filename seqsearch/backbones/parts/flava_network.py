"""FLAVA as a network of image-text pairs: one forward pass that takes prefixes and prompts, and holds nothing of them.

"FLAVA: A Foundational Language And Vision Alignment Model"; parameters, and the order of operations, are those of
``FlavaModel`` in transformers. Its unimodal encoders' last states go, before their final normalisation, through linear maps into
the multimodal encoder, behind a class token of its own: `FlavaNetwork` gives that token's output, the joint representation that
the paper of MCIL classifies. What this does not need is left out: unimodal final normalisations, poolers, contrastive
projections.

A *prefix* of a layer is keys and values that stand before those of the tokens ("DualPrompt", prefix tuning), not passed through
the layer's projections. *Prompts* of an encoder are tokens inserted behind its class token ("Learning to Prompt for Continual
Learning"); those of a unimodal encoder are taken out again before the multimodal one.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

Encoder = Literal["image", "text", "multimodal"]
ENCODERS: tuple[Encoder, ...] = ("image", "text", "multimodal")

Attention = Literal["sdpa", "eager"]

Prefixes = Mapping[Encoder, Mapping[int, Tensor]]
"""By encoder and layer: keys and values ``[2, L, D]`` of all samples, or ``[n, 2, L, D]`` of each; ``L`` is the prefix length."""
Prompts = Mapping[Encoder, Tensor]
"""By encoder: tokens ``[n, P, D]`` of each sample."""
Inputs = Mapping[str, Tensor]
"""``images`` ``[n, 3, s, s]``, ``input_ids`` ``[n, L]`` (``L`` tokens), ``attention_mask`` ``[n, L]``: 1 for a token, 0 for
padding."""


class FlavaNetwork(nn.Module):
    """Pairs -> the multimodal class token ``[n, dim]``.

    Args:
        model: a ``FlavaModel``, whose modules become parts of this one.
        attention: ``sdpa`` is torch's fused attention; ``eager`` computes what the stock model does, bit for bit.
    """

    def __init__(self, model: Any, attention: Attention = "sdpa") -> None:
        super().__init__()
        image, text, joint = model.image_model, model.text_model, model.multimodal_model
        self.image_embeddings, self.text_embeddings = image.embeddings, text.embeddings
        self.image_embeddings.mask_token = None  # of masked pre-training alone
        self.image_layers: nn.ModuleList = image.encoder.layer
        self.text_layers: nn.ModuleList = text.encoder.layer
        self.multimodal_layers: nn.ModuleList = joint.encoder.layer
        self.image_projection, self.text_projection = model.image_to_mm_projection, model.text_to_mm_projection
        self.class_token: nn.Parameter = joint.cls_token
        self.norm: nn.LayerNorm = joint.layernorm
        self.attention = attention

    def layers(self, encoder: Encoder) -> nn.ModuleList:
        """The layers of an encoder, first to last."""
        return {"image": self.image_layers, "text": self.text_layers, "multimodal": self.multimodal_layers}[encoder]

    def width(self, encoder: Encoder) -> int:
        """Values of a token in an encoder."""
        first: Any = self.layers(encoder)[0]
        return int(first.layernorm_before.weight.shape[0])

    def forward(self, inputs: Inputs) -> Tensor:
        """Features ``[n, dim]``; see `run`."""
        return self.run(inputs)

    def run(self, inputs: Inputs, prefixes: Prefixes | None = None, prompts: Prompts | None = None) -> Tensor:
        """The multimodal class token ``[n, dim]`` float32, behind the final normalisation.

        What is padding in a text changes nothing. A sample's row does not depend on the others, but for rounding.

        Args:
            inputs: the pairs.
            prefixes: keys and values before those of the layers named.
            prompts: tokens inserted in the encoders named.
        """
        dtype, device = getattr(self, "autocast_dtype", None), inputs["images"].device.type
        with torch.autocast(device, dtype=dtype) if dtype else contextlib.nullcontext():
            return self._class_token(inputs, prefixes or {}, prompts or {}).float()

    def _class_token(self, inputs: Inputs, prefixes: Prefixes, prompts: Prompts) -> Tensor:
        mask = inputs["attention_mask"].bool()
        image = self._encoded("image", self.image_embeddings(inputs["images"]), None, prefixes, prompts)
        text = self._encoded("text", self.text_embeddings(input_ids=inputs["input_ids"]), mask, prefixes, prompts)
        image, text = self.image_projection(image), self.text_projection(text)
        class_tokens = self.class_token.expand(len(image), -1, -1)
        unmasked = torch.ones(len(image), 1 + image.shape[1], dtype=torch.bool, device=mask.device)
        joint = torch.cat([class_tokens, image, text], dim=1)
        joint = self._encoded("multimodal", joint, torch.cat([unmasked, mask], dim=1), prefixes, prompts)
        found: Tensor = self.norm(joint)[:, 0]
        return found

    def _encoded(
        self, encoder: Encoder, tokens: Tensor, mask: Tensor | None, prefixes: Prefixes, prompts: Prompts
    ) -> Tensor:
        """Tokens ``[n, L, D]`` behind the last layer; those of prompts are not among them."""
        inserted = prompts.get(encoder)
        if inserted is not None:
            tokens = torch.cat([tokens[:, :1], inserted, tokens[:, 1:]], dim=1)
            mask = None if mask is None else torch.cat([mask[:, :1].expand(-1, 1 + inserted.shape[1]), mask[:, 1:]], 1)
        if mask is not None and bool(mask.all()):
            mask = None
        by_layer = prefixes.get(encoder, {})
        for number, layer in enumerate(self.layers(encoder)):
            tokens = self._layer(layer, tokens, mask, by_layer.get(number))
        if inserted is None:
            return tokens
        return torch.cat([tokens[:, :1], tokens[:, 1 + inserted.shape[1] :]], dim=1)

    def _layer(self, layer: Any, tokens: Tensor, mask: Tensor | None, prefix: Tensor | None) -> Tensor:
        normal = layer.layernorm_before(tokens)
        attended = layer.attention.output(self._attended(layer.attention.attention, normal, mask, prefix), normal)
        tokens = attended + tokens
        found: Tensor = layer.output(layer.intermediate(layer.layernorm_after(tokens)), tokens)
        return found

    def _attended(self, layer: Any, tokens: Tensor, mask: Tensor | None, prefix: Tensor | None) -> Tensor:
        """Return the self-attention of tokens ``[n, L, D]``; ``mask`` ``[n, L]`` is true where a token may be attended
        to."""
        count, heads = len(tokens), layer.num_attention_heads

        def by_head(of: Tensor) -> Tensor:
            return of.view(*of.shape[:-1], heads, -1).transpose(-3, -2)

        query, key, value = (by_head(part(tokens)) for part in (layer.query, layer.key, layer.value))
        if prefix is not None:
            before = prefix.to(key.dtype).expand(count, -1, -1, -1)
            key = torch.cat([by_head(before[:, 0]), key], dim=2)
            value = torch.cat([by_head(before[:, 1]), value], dim=2)
            mask = None if mask is None else functional.pad(mask, (prefix.shape[-2], 0), value=True)
        wide = None if mask is None else mask[:, None, None, :]
        if self.attention == "sdpa":
            found = functional.scaled_dot_product_attention(query, key, value, attn_mask=wide)
        else:
            found = _eager(query, key, value, wide)
        return found.transpose(1, 2).reshape(count, -1, query.shape[1] * query.shape[3])


def _eager(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax attention ``[n, heads, L, d]``, operation by operation as in transformers."""
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.matmul(functional.softmax(scores, dim=-1), value)
