"""Make the weights of the embedded backbone of image-text pairs again: ``python -m tools.pretrain_flava``.

The network learns to tell the pre-training classes of the glyph atlas apart by images and captions together and by either alone
(the other is blank), which words a caption has, seen or not, and whether it belongs to an image; unimodal class tokens learn to
find each other in a batch. As with the published FLAVA, images and texts are learned alone before: the image encoder begins as
the first layers of `plain_vit`, and learns more slowly than the rest; texts are read before a blank image. All heads and maps
are thrown away.

The same seed and thread count give the same file (on the same kind of processor, with the same torch and transformers).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.backbones.glyph_flava import WEIGHTS, GlyphFlava, random_network
from seqsearch.backbones.glyph_vit import build as build_glyph_vit
from seqsearch.backbones.parts.flava_network import FlavaNetwork
from seqsearch.backbones.parts.pair_text import FIRST_WORD
from seqsearch.backbones.plain_vit import build as build_plain_vit
from seqsearch.pools.base import Pool
from seqsearch.pools.glyphs import build as build_pool
from tools.distil import LARGEST_GRADIENT, SAID_EVERY
from tools.glyph_pairs import Sampled, batches, inputs_of, texts_alone
from tools.pretrain import LEARNING_RATE, WARM_UP, WEIGHT_DECAY, Head, command, evaluate

WEIGHT_WORDS, WEIGHT_MATCHED, WEIGHT_CONTRASTED = 2.0, 0.5, 0.3
"""Of the losses beside the cross-entropy of classes."""
SLOW = 0.15
"""Learning rate of the image encoder, as a share of that of the rest."""
READ, READ_SAID = 300, 100
"""Steps with texts alone, and between two lines on them."""
WORDS = 25.0
"""Words that a caption has, about: what the words' losses are divided by."""
TEMPERATURE = 10.0
"""Scale of the cosines of images and texts."""
SETTLING = 40
"""Batches of pairs from which the features' mean and variance are taken in the end."""
TRIED = ((10, 10), (50, 4))
"""Classes and how often they are drawn, where the features are evaluated."""
MODES = "image and text", "image alone", "text alone"


class Pretrained(nn.Module):
    """The network with what is thrown away in the end: classifier, words, evaluate of pairs, and maps to each other."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.network = random_network().train()
        begin_at_random(self.network)
        begin_with_plain_vit(self.network)
        dim, image, text = GlyphFlava.dim, self.network.width("image"), self.network.width("text")
        self.head, self.evaluate = Head(dim, classes), nn.Linear(dim, 1)
        self.words = nn.Linear(dim, self.network.text_embeddings.word_embeddings.num_embeddings)
        nn.init.constant_(self.words.bias, -4.0)
        self.of_image, self.of_text = nn.Linear(image, dim), nn.Linear(text, dim)
        self._states: dict[str, Tensor] = {}
        for name, part in (("image", self.network.image_projection), ("text", self.network.text_projection)):
            part.register_forward_hook(lambda _, given, __, name=name: self._states.__setitem__(name, given[0]))

    def losses(self, batch: Sampled) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Cross-entropies of classes, of words, of pairs, and of finding each other."""
        found = self.network(batch.inputs)
        one_class, whole = batch.paired != 0, batch.paired >= 0
        classified = functional.cross_entropy(self.head(found[one_class]), batch.targets[one_class])
        worded = self.worded(found[one_class], batch.words[one_class])
        verdict = self.evaluate(found[whole])[:, 0]
        matched = functional.binary_cross_entropy_with_logits(verdict, batch.paired[whole].float())
        image, text = self._states["image"], self._states["text"]
        contrasted = self._contrasted(image, text, batch.paired == 1)
        return classified, worded, matched, contrasted

    def worded(self, found: Tensor, words: Tensor) -> Tensor:
        """Cross-entropies, for a word of a text, of which of the vocabulary are among ``words`` [b, L], by features [b, dim]."""
        there = torch.zeros(len(found), self.words.out_features).scatter_(1, words, 1.0)
        there[:, :FIRST_WORD] = 0.0
        every = functional.binary_cross_entropy_with_logits(self.words(found), there, reduction="sum")
        return every / len(found) / WORDS

    def _contrasted(self, image: Tensor, text: Tensor, together: Tensor) -> Tensor:
        """Cross-entropy of finding a sample's text among those of the batch, and its image."""
        seen = functional.normalize(self.of_image(image[together, 0]), dim=1)
        read = functional.normalize(self.of_text(text[together, 0]), dim=1)
        scores, own = TEMPERATURE * seen @ read.T, torch.arange(len(seen))
        return (functional.cross_entropy(scores, own) + functional.cross_entropy(scores.T, own)) / 2

    @torch.no_grad()
    def shipped(self, settling: Iterator[Sampled]) -> nn.Module:
        """The network, its features standardised over the pairs of ``settling``."""
        self.eval()
        self.head.standard.reset_running_stats()
        self.head.standard.momentum = None
        self.head.standard.train()
        for batch in settling:
            self.head.standard(self.network({k: v[batch.paired == 1] for k, v in batch.inputs.items()}))
        self.head.fold_into(self.network.norm)
        return self.network.eval()


def begin_at_random(network: FlavaNetwork) -> None:
    """Weights that pass on as much as they are given. Those of transformers (.02) pass on a fifth in so narrow a network, and
    the class token hardly takes up a text in 2,000 steps."""
    parts = network.text_layers, network.multimodal_layers, network.image_projection, network.text_projection
    for layer in (layer for part in parts for layer in cast(nn.Module, part).modules()):
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
    nn.init.normal_(cast(Any, network.text_embeddings).word_embeddings.weight)
    nn.init.trunc_normal_(network.class_token, std=0.02)


def begin_with_plain_vit(network: FlavaNetwork) -> None:
    """Give the image encoder the weights of the first layers of `plain_vit`, which compute the same."""
    plain, images = cast(Any, build_plain_vit().module()), cast(Any, network.image_embeddings)
    with torch.no_grad():
        images.cls_token.copy_(plain.cls_token)
        images.position_embeddings.copy_(plain.pos_embed)
        images.patch_embeddings.projection.load_state_dict(plain.patch_embed.proj.state_dict())
        for own, block in zip(cast(Any, network.image_layers), plain.blocks, strict=False):
            attention = own.attention.attention
            for number, part in enumerate((attention.query, attention.key, attention.value)):
                part.weight.copy_(block.attn.qkv.weight.chunk(3)[number])
                part.bias.copy_(block.attn.qkv.bias.chunk(3)[number])
            for to, source in (
                (own.attention.output.dense, block.attn.proj),
                (own.layernorm_before, block.norm1),
                (own.layernorm_after, block.norm2),
                (own.intermediate.dense, block.mlp.fc1),
                (own.output.dense, block.mlp.fc2),
            ):
                to.load_state_dict(source.state_dict())


def groups_of(every: Pretrained) -> Iterator[dict[str, Any]]:
    """Weights of the image encoder, and the others; of each the matrices, which decay, and what does not."""
    network = every.network
    slow = {id(w) for part in (network.image_embeddings, network.image_layers) for w in part.parameters()}
    for own, rate in ((True, SLOW * LEARNING_RATE), (False, LEARNING_RATE)):
        weights = [w for w in every.parameters() if (id(w) in slow) == own]
        yield {"params": [w for w in weights if w.ndim > 1], "weight_decay": WEIGHT_DECAY, "lr": rate}
        yield {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0, "lr": rate}


def read_first(every: Pretrained, steps: int, seed: int) -> None:
    """Learn to say which words a text has. Without it the class token hardly takes up any, for all that images say of classes."""
    optimizer = torch.optim.AdamW(every.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps + 1, pct_start=WARM_UP)
    total = 0.0
    for step, batch in enumerate(texts_alone(steps, seed), start=1):
        loss = every.worded(every.network(batch.inputs), batch.words)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(every.parameters(), LARGEST_GRADIENT)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % READ_SAID == 0:
            print(f"texts, step {step}/{steps}: words {total / READ_SAID:.3f}", flush=True)
            total = 0.0


def pretrain(steps: int, seed: int, settling: int = SETTLING) -> nn.Module:
    """Train and return the network in its shipped form; ``settling`` batches say how its features are standardised."""
    torch.manual_seed(seed + 2)
    every = Pretrained(len(build_pool(part="pretrain").classes))
    read_first(every, min(steps, READ), seed)
    groups = list(groups_of(every))
    weights = [weight for group in groups for weight in group["params"]]
    optimizer = torch.optim.AdamW(groups)
    rates = [group["lr"] for group in groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rates, total_steps=steps + 1, pct_start=WARM_UP)
    started, sums = time.process_time(), torch.zeros(4)
    for step, batch in enumerate(batches(steps, seed), start=1):
        losses = classified, worded, matched, contrasted = every.losses(batch)
        optimizer.zero_grad()
        torch.autograd.backward(
            classified + WEIGHT_WORDS * worded + WEIGHT_MATCHED * matched + WEIGHT_CONTRASTED * contrasted
        )
        nn.utils.clip_grad_norm_(weights, LARGEST_GRADIENT)
        optimizer.step()
        schedule.step()
        sums += torch.stack(losses).detach()
        if step % SAID_EVERY == 0:
            said = "classes {:.3f}, words {:.3f}, pairs {:.3f}, each other {:.3f}".format(*(sums / SAID_EVERY).tolist())
            print(f"step {step}/{steps}: {said}, {time.process_time() - started:.0f} cpu-seconds", flush=True)
            sums.zero_()
    return every.shipped(batches(settling, seed + 1, eased=False))


@torch.inference_mode()
def features_of(backbone: GlyphFlava, pool: Any, rows: NDArray[np.int64], mode: str = MODES[0]) -> NDArray[np.float32]:
    """Features [n, dim] of unit length, of pairs or with one of the two blank (`MODES`)."""
    model = backbone.module()
    parts = []
    for low in range(0, len(rows), 256):
        own = rows[low : low + 256]
        unseen, silent = np.full(len(own), mode == MODES[2]), np.full(len(own), mode == MODES[1])
        inputs = inputs_of(backbone, pool.images(own, backbone.view), pool.texts(own), unseen, silent)
        parts.append(functional.normalize(model(inputs), dim=1))
    return np.asarray(torch.cat(parts).numpy())


def evaluated(backbone: GlyphFlava, pool: Pool) -> Iterator[tuple[int, str, float]]:
    """Ways, what is looked at, and accuracy of nearest class means: of `MODES`, and of ``glyph_vit``."""
    for ways, draws in TRIED:
        for mode in MODES:
            yield ways, mode, evaluate(backbone, ways, draws, pool, featured=partial(features_of, mode=mode))[0]
        yield ways, "glyph_vit", evaluate(build_glyph_vit(), ways, draws, pool)[0]


def report(backbone: GlyphFlava, out: Path, seconds: float) -> None:
    """Print what a network is worth that was trained in ``seconds`` of a core and written to ``out``."""
    print(
        f"{backbone.tag}: {sum(w.numel() for w in backbone.module().parameters()) / 1e6:.2f} M parameters, "
        f"{out.stat().st_size / 1e6:.2f} MB, {seconds:.0f} cpu-seconds"
    )
    for policy in ("first", "concat"):
        for ways, what, right in evaluated(backbone, build_pool(captions=policy)):
            print(f"{ways}-way, unseen classes, captions={policy}: {what} {right:.3f}", flush=True)


def main() -> None:
    """Train, write the file, and print what it is worth."""

    def reported(weights: bytes, out: Path, seconds: float) -> None:
        report(GlyphFlava(weights), out, seconds)

    command("the embedded backbone of image-text pairs", WEIGHTS, ("steps", 900), pretrain, reported)


if __name__ == "__main__":
    main()
