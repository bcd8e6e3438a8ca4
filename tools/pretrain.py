"""Make the embedded backbone's weights again: ``python -m tools.pretrain``.

The network learns to tell the pre-training classes of the glyph atlas apart, none of which any pool offers, with a
classifier that is then thrown away. How good its features are is measured on classes it never saw.
The same seed and thread count give the same file (on the same kind of processor, with the same torch).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save as serialise
from torch import nn

from seqsearch.backbones.base import Backbone
from seqsearch.backbones.glyph_vit import WEIGHTS, GlyphViT, random_network
from seqsearch.backbones.parts.embedded import Embedded
from seqsearch.backbones.parts.glyph_stem import fold_batch_norm
from seqsearch.core.digests import seed_of, seeded_numpy
from seqsearch.pools.base import Pool, Split
from seqsearch.pools.glyphs import GlyphPool
from seqsearch.pools.glyphs import build as build_pool

IMAGES_PER_EPOCH = 20
"""Images of every class in an epoch; they are drawn afresh, so none is seen twice but by chance."""
SUPPLY = 1_000_000
"""Images of a class to choose from."""
BATCH = 64
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 0.05
WARM_UP = 0.1
"""Share of the steps in which the rate rises; it then falls to zero along a cosine."""
COSINE_SCALE = 16.0
STRENGTH = 1.0
"""Of the distortions: what is learned at this one carries over to stronger ones."""
CURRICULUM = ((24, 0.5, 120), (96, 5 / 7, 120))
"""Classes, share of the strength and steps of the first stages. All classes at full strength from the start leave the loss on a
plateau at chance for many minutes; a few easy classes find the first useful filters in one."""


def rows_to_learn(
    steps: int, seed: int, strength: float = STRENGTH, *, eased: bool = True, **options: Any
) -> Iterator[tuple[GlyphPool, NDArray[np.int64], NDArray[np.int64]]]:
    """A pool, rows of it [b] and their classes [b], ``steps`` times.

    Args:
        steps: how many batches of `BATCH` rows.
        seed: of images and of their order.
        strength: of the distortions.
        eased: begin with the stages of `CURRICULUM`.
        options: further ones of the pool.
    """

    def pool_of(share: float) -> GlyphPool:
        return build_pool(train=SUPPLY, seed=seed, part="pretrain", strength=strength * share, **options)

    final = pool_of(1.0)
    number = len(final.classes)
    order = seeded_numpy("pretrain order", seed).permutation(number)
    stages = [(pool_of(share), min(classes, number), length) for classes, share, length in CURRICULUM * eased]
    done = 0
    for pool, classes, length in [*stages, (final, number, steps)]:
        for step in range(done, min(steps, done + length)):
            random = seeded_numpy("pretrain batch", seed, step)
            targets = order[random.integers(classes, size=BATCH)]
            yield pool, targets * pool.classes[0].count + random.integers(SUPPLY, size=BATCH), targets
        done += length


def batches(steps: int, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Preprocessed images [b, 3, 32, 32] and their classes [b], ``steps`` times."""
    backbone = GlyphViT(b"")
    for pool, rows, targets in rows_to_learn(steps, seed):
        yield backbone.preprocess(pool.images(rows, backbone.view)), torch.from_numpy(targets)


class Head(nn.Module):
    """Logits [b, c] from features [b, d]: scaled cosines of standardised features.

    The standardisation (without it, what all images have in common swamps the rest) is folded into the network's
    last normalisation; the classifier is thrown away.
    """

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.standard = nn.BatchNorm1d(dim, affine=False)
        self.weight = nn.Parameter(0.05 * torch.randn(classes, dim))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        normal = nn.functional.normalize
        return COSINE_SCALE * normal(self.standard(features), dim=1) @ normal(self.weight, dim=1).T

    @torch.no_grad()
    def fold_into(self, norm: nn.LayerNorm) -> None:
        """Let ``norm``, the last layer of the network, standardise its own output from now on."""
        mean, variance = self.standard.running_mean, self.standard.running_var
        assert mean is not None
        assert variance is not None
        scale = torch.rsqrt(variance + self.standard.eps)
        norm.bias.sub_(mean).mul_(scale)
        norm.weight.mul_(scale)


def pretrain(epochs: int, seed: int) -> nn.Module:
    """Train from scratch and return the network in its shipped form, every batch normalisation folded."""
    torch.manual_seed(seed_of("pretrain", seed))
    classes = len(build_pool(part="pretrain").classes)
    model = random_network(batch_norm=True).to(memory_format=torch.channels_last).train()
    head = Head(GlyphViT.dim, classes)
    weights = [*model.parameters(), *head.parameters()]
    groups: list[dict[str, Any]] = [
        {"params": [w for w in weights if w.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups)
    per_epoch = classes * IMAGES_PER_EPOCH // BATCH
    steps = epochs * per_epoch
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps + 1, pct_start=WARM_UP)
    started, right, loss_sum = time.process_time(), 0, 0.0
    for step, (images, targets) in enumerate(batches(steps, seed), start=1):
        logits = head(model(images.contiguous(memory_format=torch.channels_last)))
        loss = nn.functional.cross_entropy(logits, targets)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
        right += int((logits.argmax(1) == targets).sum())
        loss_sum += loss.item()
        if step % per_epoch == 0:
            print(
                f"epoch {step // per_epoch}/{epochs}: loss {loss_sum / per_epoch:.3f}, accuracy "
                f"{right / per_epoch / BATCH:.3f}, {time.process_time() - started:.0f} cpu-seconds",
                flush=True,
            )
            right, loss_sum = 0, 0.0
    return shipped(model, head)


def shipped(model: nn.Module, head: Head) -> nn.Module:
    """The trained network in the form of ``random_network()``, in place."""
    model.eval()
    fold_batch_norm(model)
    head.fold_into(cast(nn.LayerNorm, model.fc_norm))
    return model.to(memory_format=torch.contiguous_format)


def save(model: nn.Module, out: Path) -> None:
    """Write the weights in half precision."""
    out.write_bytes(serialise({key: value.half().contiguous() for key, value in model.state_dict().items()}))


@torch.inference_mode()
def features_of(backbone: Backbone, pool: Pool, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Features [n, dim] of unit length."""
    model = backbone.module()
    parts = [
        model(backbone.preprocess(pool.images(rows[low : low + 256], backbone.view)))
        for low in range(0, len(rows), 256)
    ]
    return np.asarray(nn.functional.normalize(torch.cat(parts), dim=1).numpy())


Featured = Callable[[Any, Pool, NDArray[np.int64]], NDArray[np.float32]]


def evaluate(
    backbone: Backbone, ways: int, draws: int, pool: Pool, neighbours: int = 5, featured: Featured = features_of
) -> tuple[float, float]:
    """Mean accuracy of nearest class mean and of k nearest neighbours, by cosine, over ``draws`` tasks.

    A task is ``ways`` classes of the pool, learned from their train and val images and tested on their test images.
    """
    split = Split(pool, seed=0)
    ncm, knn = [], []
    for draw in range(draws):
        members = seeded_numpy("evaluate", ways, draw).choice(len(pool.classes), ways, replace=False)
        known = np.stack([np.concatenate([split.rows(c, "train"), split.rows(c, "val")]) for c in members])
        asked = np.stack([split.rows(c, "test") for c in members])
        truth = np.repeat(np.arange(ways), asked.shape[1])
        train = featured(backbone, pool, known.ravel())
        test = featured(backbone, pool, asked.ravel())
        means = train.reshape(ways, known.shape[1], -1).mean(axis=1)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        ncm.append(np.mean((test @ means.T).argmax(axis=1) == truth))
        nearest = np.argsort(-(test @ train.T), axis=1)[:, :neighbours] // known.shape[1]
        votes = (nearest[:, :, None] == np.arange(ways)).sum(axis=1)
        # A tie goes to the class of the nearest of its neighbours.
        votes[np.arange(len(votes)), nearest[:, 0]] += votes.max(axis=1) == votes[np.arange(len(votes)), nearest[:, 0]]
        knn.append(np.mean(votes.argmax(axis=1) == truth))
    return float(np.mean(ncm)), float(np.mean(knn))


def report(backbone: Embedded, out: Path, seconds: float) -> None:
    """Print what a network is worth that was trained in ``seconds`` of a core and written to ``out``."""
    print(
        f"{backbone.tag}: {sum(w.numel() for w in backbone.module().parameters()) / 1e6:.2f} M parameters, "
        f"{out.stat().st_size / 1e6:.2f} MB, {seconds:.0f} cpu-seconds"
    )
    for strength in (STRENGTH, build_pool().strength):
        for ways, draws in ((20, 20), (200, 5)):
            ncm, knn = evaluate(backbone, ways, draws, build_pool(strength=strength))
            print(f"{ways}-way, unseen classes, strength {strength:g}: NCM {ncm:.3f}, kNN {knn:.3f}")


def command(
    what: str,
    out: Path,
    length: tuple[str, int],
    train: Callable[[int, int], nn.Module],
    report: Callable[[bytes, Path, float], None],
) -> None:
    """A command that trains, writes the file, and prints what it is worth.

    Args:
        what: is trained.
        out: where the weights go, unless ``--out`` says otherwise.
        length: name of the option that says how long, and its default.
        train: by that length and a seed.
        told: given the content of the file, its path, and the seconds of a core that it took.
    """
    parser = argparse.ArgumentParser(description=f"Pre-train {what}.")
    parser.add_argument("--out", type=Path, default=out)
    parser.add_argument(f"--{length[0]}", type=int, default=length[1], dest="length")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    started = time.process_time()
    save(train(options.length, options.seed), options.out)
    report(options.out.read_bytes(), options.out, time.process_time() - started)


def main() -> None:
    """Train, write the file, and print what it is worth."""

    def reported(weights: bytes, out: Path, seconds: float) -> None:
        report(GlyphViT(weights), out, seconds)

    command("the embedded glyph backbone", WEIGHTS, ("epochs", 14), pretrain, reported)


if __name__ == "__main__":
    main()
