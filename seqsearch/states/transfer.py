"""Getting a missing state: from another node, from shared storage, or by training it again, whichever is cheaper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from seqsearch.states.folder import StateFolder


@dataclass(frozen=True)
class Offer:
    """Facts about a state that may have to be fetched: the ``seconds`` that its training took and its ``size`` in
    bytes. ``holder`` is a handle of its owner, which the source understands."""

    seconds: float = math.inf
    size: int = 0
    holder: Any = None


class StateSource(Protocol):
    """A place that states may be brought from."""

    link: Link

    def may_have(self, digest: str, offer: Offer) -> bool:
        """Whether asking is worth it; costs nothing."""
        ...

    def fetch(self, digest: str, offer: Offer, folder: StateFolder) -> str | None:
        """Bring the state into ``folder``; the name of where it came from, or None if it is not there."""
        ...


@dataclass
class Link:
    """How fast states come over some way: a guess at first, then what was seen."""

    bytes_per_second: float = 100e6
    latency: float = 0.02
    _weight: float = field(default=0.3, repr=False)

    def seconds(self, size: int) -> float:
        """To bring so many bytes."""
        return self.latency + size / self.bytes_per_second

    def saw(self, size: int, seconds: float) -> None:
        """So many bytes took so long."""
        if size >= 1 << 20:
            self.bytes_per_second += self._weight * (size / max(seconds, 1e-6) - self.bytes_per_second)
        else:
            self.latency += self._weight * (seconds - self.latency)


def ways(
    chain: Sequence[str], here: int, offers: Mapping[str, Offer], sources: Sequence[StateSource]
) -> list[tuple[int, StateSource]]:
    """List the ways to get the last state of a chain of prefixes, the fastest first.

    ``chain`` holds the states of a prefix of 1, 2, ... tasks. The ``here``-th is the longest at hand (0: none). A way
    is a position in the chain and a source; all later states must be trained. Ways that take longer than training
    everything from ``here`` are left out, so an empty list means: train.
    """
    train = [offers.get(d, Offer()).seconds for d in chain]
    costs: list[tuple[float, int, int, StateSource]] = []
    for i in range(here, len(chain)):
        offer = offers.get(chain[i], Offer())
        after = sum(train[i + 1 :])
        saved = sum(train[here : i + 1])
        for source in sources:
            fetch_seconds = source.link.seconds(offer.size)
            if fetch_seconds < saved and source.may_have(chain[i], offer):
                costs.append((fetch_seconds + after, -i, len(costs), source))
    return [(-minus, source) for _, minus, _, source in sorted(costs, key=lambda c: c[:3])]
