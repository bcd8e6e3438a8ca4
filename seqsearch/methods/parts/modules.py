"""Small trainable modules in the first blocks of a frozen vision transformer, of one of three kinds, as LAE uses them.

- ``prefix``: ``size`` further keys and values of the attention, uniform in [0, 0.01) at first; compensated (`Prefix`).
- ``adapter``: a bottleneck of width ``size`` beside the attention.
- ``lora``: changes of rank ``size`` of the projections to keys and to values.

The last two start with a zero factor, and change nothing then; their other factor is uniform within 1 / sqrt(D).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqsearch.backbones.inject import Adapter, Injection, LowRank, Prefix, Transformer
from seqsearch.methods.parts.network import saved, saved_under

KINDS = ("prefix", "adapter", "lora")


@dataclass(frozen=True, eq=False)
class Modules:
    """``tensors`` by name, each with the L blocks along its first axis."""

    kind: str
    tensors: Mapping[str, Tensor]

    def blocks(self) -> dict[int, Injection]:
        """The modules as something to inject."""
        columns = [tensor.unbind() for tensor in self.tensors.values()]
        each = (dict(zip(self.tensors, row, strict=True)) for row in zip(*columns, strict=True))
        return {number: _injection(self.kind, tensors) for number, tensors in enumerate(each)}

    def parameters(self) -> list[Tensor]:
        return list(self.tensors.values())

    def trainable(self) -> Modules:
        """An own copy that takes gradients."""
        return Modules(self.kind, {k: v.detach().clone().requires_grad_(True) for k, v in self.tensors.items()})

    def frozen(self) -> Modules:
        """An own copy that takes none."""
        return Modules(self.kind, {k: v.detach().clone() for k, v in self.tensors.items()})

    @torch.no_grad()
    def follow(self, other: Modules, decay: float) -> None:
        """Become ``decay`` of itself and ``1 - decay`` of ``other``, in place."""
        for name, tensor in self.tensors.items():
            tensor.mul_(decay).add_(other.tensors[name].detach(), alpha=1 - decay)

    def state(self, prefix: str) -> dict[str, Any]:
        return saved(self.tensors, prefix)

    @property
    def bytes(self) -> int:
        """Size as 32-bit floats."""
        return 4 * sum(tensor.numel() for tensor in self.tensors.values())


def new_modules(
    kind: str, vit: Transformer, blocks: int, size: int, generator: torch.Generator, device: torch.device
) -> Modules:
    """Modules for the first ``blocks`` blocks, or for all if there are fewer."""
    n, width = min(blocks, vit.depth), vit.width

    def down() -> Tensor:
        drawn: Tensor = (2 * torch.rand(n, size, width, generator=generator) - 1) / width**0.5
        return drawn

    def token() -> Tensor:
        return 0.01 * torch.rand(n, size, width, generator=generator)

    def up() -> Tensor:
        return torch.zeros(n, width, size)

    if kind == "prefix":
        tensors = {"keys": token(), "values": token()}
    elif kind == "adapter":
        bias = {"down_bias": torch.zeros(n, size), "up_bias": torch.zeros(n, width)}
        tensors = {"down": down(), "up": up(), **bias}
    else:
        tensors = {"k_down": down(), "k_up": up(), "v_down": down(), "v_up": up()}
    return Modules(kind, {name: tensor.to(device) for name, tensor in tensors.items()})


def load_modules(kind: str, state: Mapping[str, Any], prefix: str, device: torch.device) -> Modules | None:
    """The modules that `Modules.state` saved under ``prefix``; None if it saved none."""
    tensors = {name: tensor.to(device, copy=True) for name, tensor in saved_under(state, prefix).items()}
    return Modules(kind, tensors) if tensors else None


def _injection(kind: str, t: Mapping[str, Tensor]) -> Injection:
    if kind == "prefix":
        return Injection(prefix=Prefix(t["keys"], t["values"], compensated=True))
    if kind == "adapter":
        return Injection(attention_adapter=Adapter(t["down"], t["down_bias"], t["up"], t["up_bias"]))
    return Injection(low_rank={name: LowRank(t[f"{name}_down"], t[f"{name}_up"]) for name in ("k", "v")})
