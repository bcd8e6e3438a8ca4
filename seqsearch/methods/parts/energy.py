"""Energy-based training of BEEF: rival images made of a task's images, and forward prototypes that are to claim them.

"BEEF: Bi-Compatible Class-Incremental Learning via Energy-Based Expansion and Fusion". Beside the scores ``s`` of the
learned slots there are energy scores ``e``, one of a forward prototype for each class. In the softmax of ``[s, e]``,
``log sum_k p_k`` is the log-probability of the slots k of ``e``. Descent lowers it along an image, which makes a rival
that passes for a class. The rival is then learned as an image of that class's forward prototype.

Each function has two forms. ``published`` has the formulas of the public code, and its three faults. ``stabilised`` has
none of them.

- The logarithm is of a sum over the whole batch. It underflows to minus infinity where all images are well known, and makes
  every pixel not a number.
- Images may leave the range of pixels without bound.
- The scores of all slots that occur in the batch are overwritten for all of its images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.parts.head import Head

STEPS = 3
RATE, NOISE = 1e-2, 1e-3
"""Of each step of an image, and the standard deviation of what is added after it."""
IDLE = 1e-9
"""The score of a slot that is not to be learned from."""
Look = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Images ``[n, 3, s, s]`` -> scores of slots ``[n, S]``, energy scores ``[n, C]``."""


@dataclass(frozen=True, eq=False)
class Slots:
    """Classifiers of the features ``[n, d]`` of a new network, while it is trained."""

    classes: Head
    """Of the new classes."""
    before: Head
    """The backward prototypes: one for each old task."""
    forward: Head
    """The forward prototypes: one for each class seen."""

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of old tasks and new classes ``[n, t + c]``, energy scores ``[n, C]``."""
        return torch.cat([self.before(features), self.classes(features)], 1), self.forward(features)

    def parameters(self) -> list[Tensor]:
        return [p for head in (self.classes, self.before, self.forward) for p in head.parameters()]


def claimed(scores: Tensor, energies: Tensor, published: bool = False) -> Tensor:
    """Logarithm of the probability of the forward prototypes, of each image ``[n]``; published: of its sum over all, a scalar."""
    both = torch.cat([scores, energies], 1)
    if published:
        return torch.log(functional.softmax(both, dim=1)[:, scores.shape[1] :].sum())
    return torch.logsumexp(energies, 1) - torch.logsumexp(both, 1)


def rivals(
    images: Tensor, look: Look, generator: torch.Generator, levels: tuple[Tensor, Tensor], published: bool = False
) -> Tensor:
    """Images ``[n, 3, s, s]`` made of ``images``, turned by half a circle, in steps down along `claimed` with noise after each.

    Stabilised: they stay between black and white, and an image does not move by a step that is not finite.

    Args:
        images: preprocessed.
        look: what scores them, in eval mode; no gradients are left in it.
        generator: draws the noise.
        levels: what black and white are preprocessed to, each ``[3]``.
        published: in that form.
    """
    black, white = (level.view(1, 3, 1, 1).to(images.device) for level in levels)
    found = torch.rot90(images, 2, (2, 3)).detach()
    for _ in range(STEPS):
        begun = found.clone().requires_grad_(True)
        (gradient,) = torch.autograd.grad(claimed(*look(begun), published).sum(), begun)
        noise = torch.randn(begun.shape, generator=generator).to(begun.device)
        moved = begun.detach() - RATE * gradient + NOISE * noise
        usable = torch.isfinite(moved).flatten(1).all(1)[:, None, None, None]
        found = moved if published else torch.where(usable, moved, found).clamp(black, white)
    return found


def energy_loss(scores: Tensor, energies: Tensor, slots: Tensor, targets: Tensor, published: bool = False) -> Tensor:
    """Mean cross-entropy of rivals with the forward prototypes of what they were made of, whose own slots are left out.

    Args:
        scores: of slots ``[n, S]``.
        energies: of forward prototypes ``[n, C]``.
        slots: ``[n]``, of the images they were made of.
        targets: ``[n]``, columns of these images.
        published: in that form.
    """
    own = functional.one_hot(slots, scores.shape[1]).bool()
    left = scores.masked_fill(own.any(0) if published else own, IDLE)
    return functional.cross_entropy(torch.cat([left, energies], 1), targets + scores.shape[1])


@contextmanager
def at_rest(network: nn.Module) -> Iterator[None]:
    """A block in which a network that is in train mode is in eval mode."""
    network.eval()
    try:
        yield
    finally:
        network.train()
