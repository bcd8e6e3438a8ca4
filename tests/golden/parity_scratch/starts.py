"""What both sides start from where networks are trained from scratch: images, a small ResNet, heads, and the orders of images.

Images are those of `tests.golden.parity.starts`, and numbers are made as there: nothing is stored. D is the width of features.
"""

from __future__ import annotations

import numpy as np
import torch

from seqsearch.backbones.parts.resnet import ResNet
from tests.golden.parity.starts import TRAIN, Array, images, near_normal, order_of, uniform

WIDTHS, BLOCKS = (4, 8, 12), (1, 1, 1)
"""The network: channels and blocks of three stages, shortcuts without parameters."""
DIM = WIDTHS[-1]
TASKS = ((4, 1), (0, 3), (5, 2, 6))
"""Classes by task."""
MEMORY = 28
"""Stored images: equally many of each class after every task."""
PROXIES, HIDDEN, PROJECTED = 3, 10, 6
"""Proxies of a class (PODNet); widths within the projector and behind it (TagFex)."""
EPOCHS = 8
"""For how many there are orders."""
SIZES = (48, 72, 62, 76, 100, 60, 16, 86, 14, 56, 28, 49, 96, 168)
"""Numbers of images that orders are for: a task's; with exemplars; of BiC's two stages, twice; of PODNet's tuning and of
BEEF's fusion, twice; of FeTrIL's features."""
EXPANDED = 40
"""Width of ACIL's projection."""
NOISE = 50_000
"""Numbers of BEEF's noise, which is read round and round."""


def network() -> ResNet:
    """Without weights of its own, and with smooth activations.

    The gradient of a rectifier jumps where rounding moves a value past 0. With rectifiers this happened in half of the cases when
    the last bits of the start were moved, and scores differed by up to 0.03.
    """
    found = ResNet(WIDTHS, BLOCKS, "cifar", projects=False)
    for module in found.modules():
        for name, child in module.named_children():
            if isinstance(child, torch.nn.ReLU):
                setattr(module, name, torch.nn.SiLU())
    return found


def weights() -> dict[str, Array]:
    """Weights of `network` by name, with ``net.`` before them; batch statistics begin at 0 and 1."""
    found = {}
    for name, weight in network().named_parameters():
        shape = tuple(weight.shape)
        if len(shape) > 1:
            found[f"net.{name}"] = (2 / np.prod(shape[1:])) ** 0.5 * near_normal(name, *shape)
        else:
            found[f"net.{name}"] = float(name.endswith("weight")) + 0.125 * near_normal(name, *shape)
    return found


def heads() -> dict[str, Array]:
    """Numbers between -1 and 1 that heads are multiples of, whose rows are in the order of arrival.

    ``head`` ``[C, 3 D]``: of the classifier; a narrower one begins with its first columns. ``auxiliary``: of DER's, MEMO's and
    TagFex's auxiliary head. ``own``: of FOSTER's second network. ``backward`` and ``forward``: of BEEF's prototypes. ``proxies``
    ``[C, P, D]``. ``projector.0``, ``projector.1``, ``predictor`` and ``merged``: of TagFex. ``projection`` ``[D, M]``: ACIL's.
    """
    classes = sum(map(len, TASKS))
    shapes: dict[str, tuple[int, ...]] = {
        "head": (classes, 3 * DIM),
        "auxiliary": (4, DIM),
        "own": (classes, DIM),
        "backward": (2, DIM),
        "forward": (classes, DIM),
        "proxies": (classes, PROXIES, DIM),
        "projector.0": (HIDDEN, DIM),
        "projector.1": (PROJECTED, HIDDEN),
        "predictor": (DIM, DIM),
        "merged": (3, DIM),
        "projection": (DIM, EXPANDED),
    }
    return {name: uniform(f"scratch {name}", *shape) for name, shape in shapes.items()}


def orders() -> dict[str, Array]:
    """``order.N`` ``[epochs, N]``: how N images come in each epoch; ``picks.N`` ``[1, N]``: how N images of a class are drawn."""
    sizes = {f"order.{n}": (EPOCHS, n) for n in SIZES} | {f"picks.{n}": (1, n) for n in (TRAIN, 14, 7)}
    return {name: np.stack([order_of(f"{name}.{e}", n) for e in range(count)]) for name, (count, n) in sizes.items()}


def starts() -> dict[str, Array]:
    """All of it, with ``merging`` ``[5, D, D]`` (TagFex) and ``noise`` (BEEF), standard normal."""
    normal = {"merging": near_normal("merging", 5, DIM, DIM), "noise": near_normal("noise", NOISE)}
    real = {name: array.astype(np.float32) for name, array in (weights() | heads() | normal).items()}
    return images() | orders() | real
