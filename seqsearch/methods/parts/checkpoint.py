"""Checkpoints of a descent, from which it goes on after an epoch with the same bits: parameters, buffers, optimiser,
generators, losses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from seqsearch.methods.data import NoProgress, Progress


@dataclass(frozen=True, eq=False)
class Live:
    """State of a descent beside its parameters, which changes from step to step.

    Attributes:
        networks: trained in train mode (batch statistics are learned), in eval mode before and after.
        generators: from which ``loss_of`` and hooks draw, from epoch to epoch.
        progress: place of the checkpoints.
        phase: the name of this descent, other than those of others in the same training.
    """

    networks: Sequence[nn.Module] = ()
    generators: Sequence[torch.Generator] = ()
    progress: Progress = field(default_factory=NoProgress)
    phase: str = "train"


@dataclass(eq=False)
class Checkpoint:
    """A descent under way: ``losses`` of the epochs that are done, and all that is live in it."""

    live: Live
    parameters: Sequence[Tensor]
    optimizer: torch.optim.Optimizer
    shuffle: torch.Generator
    epochs: int
    losses: list[float] = field(default_factory=list)

    def resume(self) -> None:
        """Take up what was left of this phase, if anything was and it fits."""
        state = self.live.progress.found(self.live.phase)
        if state is None or not self._fits(state):
            return
        with torch.no_grad():
            for name, tensor in self._tensors().items():
                tensor.copy_(state[name])
        for name, generator in self._generators().items():
            generator.set_state(state[name].clone())
        torch.set_rng_state(state["global"].clone())
        known: dict[int, dict[str, Any]] = {}
        for name in state:
            if name.startswith("optimizer."):
                _, number, entry = name.split(".", 2)
                known.setdefault(int(number), {})[entry] = state[name].clone()
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": known})
        self.losses = state["losses"].tolist()

    def leave(self, last: bool) -> None:
        """Let it be kept, if it is time to, or this was the last epoch."""
        self.live.progress.leave(self.live.phase, self._state, last)

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"losses": torch.tensor(self.losses, dtype=torch.float64)}
        state |= {name: tensor.detach().cpu() for name, tensor in self._tensors().items()}
        state |= {name: generator.get_state() for name, generator in self._generators().items()}
        state["global"] = torch.get_rng_state()  # what networks with dropout draw from in train mode
        for number, entries in self.optimizer.state_dict()["state"].items():
            kept = {n: v for n, v in entries.items() if isinstance(v, Tensor)}
            state |= {f"optimizer.{number}.{n}": v.cpu() for n, v in kept.items()}
        return state

    def _fits(self, state: dict[str, Any]) -> bool:
        """Whether it is of a descent like this one, as far as is known: another's is no use."""
        own, generators = self._tensors(), [*self._generators(), "global"]
        moments = state.keys() - own.keys() - {"losses", *generators}
        return (
            own.keys() | {"losses", *generators} <= state.keys()
            and all(_like(state[name], tensor) for name, tensor in own.items())
            and isinstance(state["losses"], Tensor)
            and state["losses"].ndim == 1
            and _like(state["losses"], torch.zeros(min(len(state["losses"]), self.epochs), dtype=torch.float64))
            and all(_sets(state[name]) for name in generators)
            and all(self._moment(name, state[name]) for name in moments)
        )

    def _moment(self, name: str, value: Any) -> bool:
        """Whether it is what an optimiser keeps of one parameter: of its shape, or a number of steps."""
        known = re.fullmatch(r"optimizer\.([0-9]{1,6})\.[a-z_]+", name)
        if known is None or int(known[1]) >= len(self.parameters) or not isinstance(value, Tensor):
            return False
        return value.ndim == 0 or value.shape == self.parameters[int(known[1])].shape

    def _tensors(self) -> dict[str, Tensor]:
        buffers = [b for network in self.live.networks for b in network.buffers()]
        found = {f"parameter.{i}": p for i, p in enumerate(self.parameters)}
        return found | {f"buffer.{i}": b for i, b in enumerate(buffers)}

    def _generators(self) -> dict[str, torch.Generator]:
        return {f"generator.{i}": g for i, g in enumerate([self.shuffle, *self.live.generators])}


def _like(value: Any, tensor: Tensor) -> bool:
    """Whether ``value`` is a finite tensor of the shape and type of ``tensor``."""
    fits = isinstance(value, Tensor) and value.shape == tensor.shape and value.dtype == tensor.dtype
    return fits and bool(torch.isfinite(value).all())


def _sets(value: Any) -> bool:
    """Whether it is the state of a generator."""
    try:
        torch.Generator().set_state(value.clone())
    except (AttributeError, TypeError, RuntimeError):
        return False
    return True
