"""Make the weights of the second embedded backbone again: ``python -m tools.distil``.

The plain transformer learns the classes that `tools.pretrain` teaches the first one, from the same batches, and
to give what the first one gives: its features and, patch by patch, its tokens (both networks have 4 x 4 of them), by the cosine
of a linear map of its own with them. Classifier and maps are thrown away.
The same seed and thread count give the same file (on the same kind of processor, with the same torch).
"""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from seqsearch.backbones.glyph_vit import GlyphViT
from seqsearch.backbones.glyph_vit import build as build_teacher
from seqsearch.backbones.plain_vit import WEIGHTS, PlainViT, random_network
from seqsearch.pools.glyphs import build as build_pool
from tools.pretrain import LEARNING_RATE, WARM_UP, WEIGHT_DECAY, Head, batches, command, report

DISTILLED = 5.0
"""Weight of each of the two cosines beside the cross-entropy."""
LARGEST_GRADIENT = 1.0
"""Norm at which the gradient of all weights together is cut."""
SAID_EVERY = 200
"""Steps between two lines on how far it is."""


class Distilled(nn.Module):
    """The network with what is thrown away in the end: a classifier, and the maps to the teacher's features and tokens."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.network = cast(Any, random_network())
        self.teacher = cast(Any, build_teacher().module()).requires_grad_(False)
        self.head = Head(PlainViT.dim, classes)
        self.features, self.tokens = (nn.Linear(PlainViT.dim, GlyphViT.dim) for _ in range(2))

    def trained(self) -> list[nn.Parameter]:
        parts = self.network, self.head, self.features, self.tokens
        return list(chain.from_iterable(part.parameters() for part in parts))

    def losses(self, images: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Cross-entropy, and the mean of 1 - cosine of features and of tokens (the teacher's less their mean)."""
        with torch.no_grad():
            theirs = self.teacher.forward_features(images)
            wanted = self.teacher.forward_head(theirs)
        own = self.network.forward_features(images)
        classified = nn.functional.cross_entropy(self.head(own[:, 0]), targets)
        cosine = nn.functional.cosine_similarity
        features = 1 - cosine(self.features(own[:, 0]), wanted, dim=1).mean()
        tokens = 1 - cosine(self.tokens(own[:, 1:]), theirs - theirs.mean((0, 1)), dim=2).mean()
        return classified, features, tokens


def distil(steps: int, seed: int) -> nn.Module:
    """Train from scratch and return the network in its shipped form."""
    torch.manual_seed(seed + 1)
    both = Distilled(len(build_pool(part="pretrain").classes))
    both.network.train()
    weights = both.trained()
    groups: list[dict[str, Any]] = [
        {"params": [w for w in weights if w.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps + 1, pct_start=WARM_UP)
    started, sums = time.process_time(), torch.zeros(3)
    for step, (images, targets) in enumerate(batches(steps, seed), start=1):
        classified, features, tokens = both.losses(images, targets)
        optimizer.zero_grad()
        torch.autograd.backward(classified + DISTILLED * (features + tokens))
        nn.utils.clip_grad_norm_(weights, LARGEST_GRADIENT)
        optimizer.step()
        schedule.step()
        sums += torch.stack([classified, features, tokens]).detach()
        if step % SAID_EVERY == 0:
            said = "loss {:.3f}, features {:.3f}, tokens {:.3f}".format(*(sums / SAID_EVERY).tolist())
            print(f"step {step}/{steps}: {said}, {time.process_time() - started:.0f} cpu-seconds", flush=True)
            sums.zero_()
    both.head.eval().fold_into(both.network.norm)
    return cast(nn.Module, both.network.eval())


def main() -> None:
    """Train, write the file, and print what it is worth."""

    def reported(weights: bytes, out: Path, seconds: float) -> None:
        report(PlainViT(weights), out, seconds)

    command("the plain embedded backbone", WEIGHTS, ("steps", 3600), distil, reported)


if __name__ == "__main__":
    main()
