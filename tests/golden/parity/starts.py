"""What both sides of the comparison start from: images, a small network, what methods add to it, and the orders of images.

``python -m tests.golden.parity.starts FILE.npz`` writes all of it as named arrays, for whoever wants to feed other code with it.
Nothing of it is stored: the numbers are made of integers drawn by `numpy.random.RandomState`, whose stream numpy keeps, by few
operations in float64, and rounded to float32, so that every machine has the same bits (`digest`).

Shapes: n images of a part, C classes, D the width, B blocks. Classes are those of `IMAGES`, not yet in an order of arrival.
"""

from __future__ import annotations

import hashlib
import sys
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CLASSES, TRAIN, TEST = 7, 24, 5
"""Classes, and training and test images of each."""
SIDE, PATCH, WIDTH, DEPTH, HEADS = 16, 4, 16, 5, 2
"""The network: a vision transformer with class token, MLPs of four times its width, pooled by its class token."""
BOTTLENECK, POOL, TOKENS, COMPONENTS, PROJECTED = 4, 6, 3, 2, 40
"""Width of adapters; prompts of a pool, tokens of a prompt; components of a task (CODA); width of the projection (RanPAC)."""
COMPONENT = 2
"""Keys and values of one of CODA's components together."""
EPOCHS = 10
"""For how many there are orders."""
TASKS = ((4, 1, 6), (0, 3), (5, 2))
EVEN = ((4, 1), (0, 3), (5, 2))
"""Classes by task; the public SLCA takes tasks for equally large."""
ALIGNED, DRAWS = 2, 256
"""Epochs of SLCA's alignment, and draws per class in each."""


def near_normal(name: str, *shape: int) -> Array:
    """Almost standard normal numbers, float64: sums of twelve uniform integers, scaled."""
    drawn = np.random.RandomState(zlib.crc32(name.encode())).randint(0, 1 << 16, (12, *shape))
    return (drawn.sum(0) - 6 * ((1 << 16) - 1)) / (1 << 16)


def uniform(name: str, *shape: int) -> Array:
    """Numbers between -1 and 1, float64."""
    drawn = np.random.RandomState(zlib.crc32(name.encode())).randint(1, 1 << 24, shape)
    return drawn / (1 << 23) - 1


def images() -> dict[str, Array]:
    """``images.train`` ``[C, TRAIN, 3, s, s]`` and ``images.test`` ``[C, TEST, 3, s, s]`` uint8: a pattern a class, and noise.

    With this seed no vote of L2P and DualPrompt is tied: public code leaves ties to ``torch.topk``, which says nothing of them.
    """
    draw = np.random.RandomState(2).randint
    patterns, noise = draw(0, 256, (CLASSES, 1, 3, SIDE, SIDE)), draw(0, 256, (CLASSES, TRAIN + TEST, 3, SIDE, SIDE))
    mixed = ((patterns + noise) // 2).astype(np.uint8)
    return {"images.train": mixed[:, :TRAIN], "images.test": mixed[:, TRAIN:]}


def network() -> dict[str, Array]:
    """Weights by the names of timm's `VisionTransformer` without head, with ``vit.`` before them."""
    d = WIDTH
    shapes: dict[str, tuple[int, ...]] = {
        "cls_token": (1, 1, d), "pos_embed": (1, (SIDE // PATCH) ** 2 + 1, d), "patch_embed.proj.weight": (d, 3, PATCH, PATCH),
        "patch_embed.proj.bias": (d,), "norm.weight": (d,), "norm.bias": (d,),
    }  # fmt: skip
    for b in range(DEPTH):
        shapes |= {f"blocks.{b}.{norm}.{part}": (d,) for norm in ("norm1", "norm2") for part in ("weight", "bias")}
        layers = {"attn.qkv": (3 * d, d), "attn.proj": (d, d), "mlp.fc1": (4 * d, d), "mlp.fc2": (d, 4 * d)}
        shapes |= {f"blocks.{b}.{name}.weight": shape for name, shape in layers.items()}
        shapes |= {f"blocks.{b}.{name}.bias": shape[:1] for name, shape in layers.items()}
    found = {}
    for name, shape in shapes.items():
        spread = 1.375 / np.prod(shape[1:]) ** 0.5 if name.endswith(".weight") and len(shape) > 1 else 0.125
        mean = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        found[f"vit.{name}"] = mean + spread * near_normal(name, *shape)
    return found


def additions() -> dict[str, Array]:
    """What methods start from beside the network.

    ``head`` ``[C, D]``: rows of a linear classifier by place in the order of arrival (biases are zero). ``cosine`` ``[C, D]``:
    rows of a cosine classifier, from the first on for each task. ``adapters.down`` ``[B, r, D]``, all else of an adapter being
    zero. ``keys`` ``[POOL, D]``, ``tokens`` ``[POOL, TOKENS, D]`` (L2P). ``g`` ``[2, 2, TOKENS, D]`` and ``e``
    ``[POOL, 3, 2, TOKENS, D]``, by block, keys before values (DualPrompt). ``projection`` ``[D, PROJECTED]`` (RanPAC).
    ``components``: all numbers that CODA's public code draws, in the order in which it asks for them. ``draws.T`` ``[epochs,
    classes, DRAWS, D]``: those of SLCA's alignment after task T (from 0).
    """
    d = WIDTH
    found = {
        "head": near_normal("head", CLASSES, d) / 64,
        "cosine": uniform("cosine", CLASSES, d) / d**0.5,
        "adapters.down": uniform("adapters", DEPTH, BOTTLENECK, d) / d**0.5,
        "keys": uniform("keys", POOL, d),
        "tokens": uniform("tokens", POOL, TOKENS, d),
        "g": uniform("g", 2, 2, TOKENS, d),
        "e": uniform("e", POOL, 3, 2, TOKENS, d),
        "projection": near_normal("projection", d, PROJECTED),
        "components": near_normal("components", len(TASKS) * DEPTH * COMPONENTS * (COMPONENT + 1 + 1) * d),
    }
    for t in range(1, len(EVEN)):
        found[f"draws.{t}"] = near_normal(f"draws.{t}", ALIGNED, 2 * (t + 1), DRAWS, d)
    return found


def orders() -> dict[str, Array]:
    """``order.N`` ``[epochs, N]`` int64: how the N images of a task (class by class) come in each epoch, whatever the task;
    ``order.draws.T``: how SLCA's draws do (class by class) after task T."""
    sizes = {f"order.{k * TRAIN}": (EPOCHS, k * TRAIN) for k in (2, 3)}
    sizes |= {f"order.draws.{t}": (ALIGNED, 2 * (t + 1) * DRAWS) for t in range(1, len(EVEN))}
    return {name: np.stack([order_of(f"{name}.{e}", n) for e in range(count)]) for name, (count, n) in sizes.items()}


def order_of(name: str, n: int) -> Array:
    """A permutation of n positions, int64."""
    return np.argsort(np.random.RandomState(zlib.crc32(name.encode())).randint(0, 1 << 30, n), kind="stable")


def starts() -> dict[str, Array]:
    """All of it: images uint8, orders int64, the others float32."""
    real = {name: array.astype(np.float32) for name, array in (network() | additions()).items()}
    return images() | orders() | real


def digest(arrays: dict[str, Array]) -> str:
    """SHA-256 of names, types, shapes and bits."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    np.savez_compressed(sys.argv[1], **starts())
