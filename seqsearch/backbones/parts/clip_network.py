"""CLIP's two towers from their sizes, of timm's parts, and what files call their weights.

"Learning Transferable Visual Models From Natural Language Supervision". The image tower is a ``VisionTransformer``, so whatever
is injected into one fits here. Its projection takes the place of ``fc_norm``, so that pooled features are projected ones. The
text tower has the same blocks with causal attention, and gives the projected token at the end of a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from timm.layers.activations import QuickGELU
from timm.models.vision_transformer import Block, VisionTransformer
from torch import Tensor, nn

from seqsearch.core.errors import UserError

ACTIVATIONS: dict[str, type[nn.Module]] = {"quick_gelu": QuickGELU, "gelu": nn.GELU}
Sizes = Mapping[str, Any]
"""Settings of a tower, by the names of transformers."""


class Configuration(NamedTuple):
    """Settings of both towers, the width of their features, and mean and standard deviation of pixels on [0, 1], by colour."""

    image: Sizes
    text: Sizes
    dim: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


class TextTower(nn.Module):
    """Tokens -> text features ``[n, dim]``."""

    def __init__(self, sizes: Sizes, dim: int) -> None:
        super().__init__()
        width, norm = int(sizes["hidden_size"]), partial(nn.LayerNorm, eps=sizes["layer_norm_eps"])
        self.token_embedding = nn.Embedding(sizes["vocab_size"], width)
        self.pos_embed = nn.Parameter(torch.zeros(1, sizes["max_position_embeddings"], width))
        act = ACTIVATIONS[sizes["hidden_act"]]
        self.blocks = nn.ModuleList(
            Block(width, sizes["num_attention_heads"], _ratio(sizes), qkv_bias=True, act_layer=act, norm_layer=norm)
            for _ in range(sizes["num_hidden_layers"])
        )
        self.norm = norm(width)
        self.projection = nn.Linear(width, dim, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens ``[n, L]``, of which the end of a text has the largest number -> ``[n, dim]``."""
        x = self.token_embedding(tokens) + self.pos_embed[:, : tokens.shape[1]]
        for block in self.blocks:
            x = block(x, is_causal=True)
        ends = x[torch.arange(len(x), device=x.device), tokens.argmax(1)]
        found: Tensor = self.projection(self.norm(ends))
        return found


class ClipNetwork(nn.Module):
    """Both towers and the logarithm of the factor of their cosines. Nobody runs it: towers are used one by one."""

    def __init__(self, settings: Configuration) -> None:
        super().__init__()
        image, text, dim = settings.image, settings.text, settings.dim
        width = int(image["hidden_size"])
        self.image: Any = VisionTransformer(
            image["image_size"],
            image["patch_size"],
            num_classes=0,
            embed_dim=width,
            depth=image["num_hidden_layers"],
            num_heads=image["num_attention_heads"],
            mlp_ratio=_ratio(image),
            pre_norm=True,
            norm_layer=partial(nn.LayerNorm, eps=image["layer_norm_eps"]),
            act_layer=ACTIVATIONS[image["hidden_act"]],
        )
        self.image.pretrained_cfg = {
            "input_size": (3, image["image_size"], image["image_size"]),
            "mean": settings.mean,
            "std": settings.std,
            "crop_pct": 1.0,
            "interpolation": "bicubic",
            "crop_mode": "center",
        }
        self.image.fc_norm = nn.Linear(width, dim, bias=False)
        self.text = TextTower(text, dim)
        self.logit_scale = nn.Parameter(torch.zeros(()))
        self.settled = tuple(
            (name, s["hidden_act"], s["layer_norm_eps"], s["num_attention_heads"])
            for name, s in (("image", image), ("text", text))
        )
        """What features depend on beside weights."""


def clip_network(settings: Configuration, where: str) -> ClipNetwork:
    """A network without room for weights (on torch's ``meta`` device).

    Raises:
        UserError: sizes that no network has.
    """
    try:
        with torch.device("meta"):
            return ClipNetwork(settings).eval()
    except (AssertionError, ValueError, KeyError, TypeError, RuntimeError, ZeroDivisionError) as error:
        said = " ".join(str(error).split())[:160]
        raise UserError(f"{where}: no CLIP has these sizes ({type(error).__name__}: {said})") from None


def _ratio(sizes: Sizes) -> float:
    """Width of a perceptron to that of its block, such that timm, which rounds down, gets the whole number back."""
    return (int(sizes["intermediate_size"]) + 0.5) / int(sizes["hidden_size"])


class Layout(NamedTuple):
    """What files call the weights of `ClipNetwork`.

    Attributes:
        outer: beginnings of names of ours, and theirs.
        inner: parts of names within a block; ``{}`` stands for queries, keys and values, each a tensor of its own.
        transposed: names of ours of matrices that they have the other way round.
    """

    outer: Mapping[str, str]
    inner: Mapping[str, str]
    transposed: tuple[str, ...] = ()

    @property
    def layers(self) -> tuple[str, ...]:
        """How the names of their layers begin."""
        return self.outer["image.blocks."], self.outer["text.blocks."]

    def names(self, own: str) -> list[str]:
        """What they call a parameter: one name, or three of parts that stand one below the other."""
        begin = next((b for b in self.outer if own.startswith(b)), "")
        found = self.outer.get(begin, "") + own.removeprefix(begin)
        for part, theirs in self.inner.items() if ".blocks." in own else ():
            found = found.replace(part, theirs)
        return [found.replace("{}", each) for each in "qkv"] if "{}" in found else [found]

    def shape(self, own: str, shape: torch.Size) -> tuple[int, ...]:
        """The shape of each tensor of a file that holds (a part of) a parameter of this shape."""
        bare = tuple(shape[1:] if own.endswith("pos_embed") else shape[-1:] if own.endswith("cls_token") else shape)
        if own in self.transposed:
            return bare[::-1]
        return (bare[0] // 3, *bare[1:]) if len(self.names(own)) > 1 else bare

    def read(self, own: str, shape: torch.Size, found: Mapping[str, Tensor]) -> Tensor:
        """A parameter of ours, float32, in memory of its own."""
        parts = [found[name].to(torch.float32, copy=True) for name in self.names(own)]
        whole = torch.cat(parts) if len(parts) > 1 else parts[0]
        return (whole.T if own in self.transposed else whole).reshape(shape).contiguous()


TRANSFORMERS = Layout(
    {
        "image.cls_token": "vision_model.embeddings.class_embedding",
        "image.pos_embed": "vision_model.embeddings.position_embedding.weight",
        "image.patch_embed.proj.": "vision_model.embeddings.patch_embedding.",
        "image.norm_pre.": "vision_model.pre_layrnorm.",  # their spelling
        "image.blocks.": "vision_model.encoder.layers.",
        "image.norm.": "vision_model.post_layernorm.",
        "image.fc_norm.": "visual_projection.",
        "text.token_embedding.": "text_model.embeddings.token_embedding.",
        "text.pos_embed": "text_model.embeddings.position_embedding.weight",
        "text.blocks.": "text_model.encoder.layers.",
        "text.norm.": "text_model.final_layer_norm.",
        "text.projection.": "text_projection.",
    },
    {
        ".norm1.": ".layer_norm1.",
        ".norm2.": ".layer_norm2.",
        ".attn.qkv.": ".self_attn.{}_proj.",
        ".attn.proj.": ".self_attn.out_proj.",
    },
)
OPEN_CLIP = Layout(
    {
        "image.cls_token": "visual.class_embedding",
        "image.pos_embed": "visual.positional_embedding",
        "image.patch_embed.proj.": "visual.conv1.",
        "image.norm_pre.": "visual.ln_pre.",
        "image.blocks.": "visual.transformer.resblocks.",
        "image.norm.": "visual.ln_post.",
        "image.fc_norm.weight": "visual.proj",
        "text.token_embedding.": "token_embedding.",
        "text.pos_embed": "positional_embedding",
        "text.blocks.": "transformer.resblocks.",
        "text.norm.": "ln_final.",
        "text.projection.weight": "text_projection",
    },
    {
        ".norm1.": ".ln_1.",
        ".norm2.": ".ln_2.",
        ".attn.qkv.": ".attn.in_proj_",
        ".attn.proj.": ".attn.out_proj.",
        ".mlp.fc1.": ".mlp.c_fc.",
        ".mlp.fc2.": ".mlp.c_proj.",
    },
    ("image.fc_norm.weight", "text.projection.weight"),
)
