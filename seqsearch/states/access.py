"""States as whoever trains uses them: those at hand, those that may be brought from elsewhere, and where new ones go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seqsearch.core.types import StateKey
from seqsearch.states.cache import StateCache
from seqsearch.states.transfer import Offer, StateSource, ways

if TYPE_CHECKING:
    from seqsearch.states.blocks import State
    from seqsearch.states.shared import StateStore


SESSION = "_session"
"""Name in a state that is stored: the session that trained it."""


class StateAccess:
    """A cache, what stands behind it, and where its states are copied to.

    Args:
        cache: in RAM and on disk.
        sources: where states that are not here may be brought from.
        store: where states are copied to.
        session: the run's name, a blank, and when its session began, noted in the states that it stores; empty: none.
    """

    def __init__(
        self, cache: StateCache, sources: Sequence[StateSource] = (), store: StateStore | None = None, session: str = ""
    ) -> None:
        self.cache, self.sources, self.store, self.session = cache, tuple(sources), store, session
        self.earlier: tuple[str, ...] = ()
        """Trainings whose states the job under way found, and that an earlier session of the run did."""
        self.offers: Mapping[str, Offer] = {}
        """Facts about states elsewhere, for the job under way."""

    def get(self, digest: str, training: str | None = None) -> State | None:
        """A copy of a state that is here; ``training`` is what it came of, if not of its own name."""
        found = self.cache.get(digest)
        if found is not None and self._is_earlier(found.pop(SESSION, "")):
            self.earlier += (training or digest,)
        return found

    def put(self, digest: str, state: State, *, keep: bool, parent: str | None = None) -> State:
        """Hold a state; one that is to be kept goes into the store, too. Another copy comes back."""
        noted = {SESSION: self.session} if self.session else {}
        own = self.cache.put(digest, {**state, **noted}, keep=keep, parent=parent)
        if keep and self.store is not None:
            self.store.push(self.cache.disk, digest)
        own.pop(SESSION, None)
        return own

    def _is_earlier(self, session: str) -> bool:
        run = session.rpartition(" ")[0]
        return bool(run) and session != self.session and run == self.session.rpartition(" ")[0]

    def prepare(self, key: StateKey) -> str:
        """Bring what the training of a key starts from here, or its state if another run has trained it; where that was."""
        origin = ""
        if self.cache.where(key.digest) or any(s.may_have(key.digest, Offer()) for s in self.sources):
            origin = self.bring(key.chain)
        if origin in ("", "trained"):
            origin = self.bring(key.chain[:-1])
            if key.part and key.home is not key:
                self.bring([key.part])
        return origin

    def bring(self, chain: Sequence[str]) -> str:
        """Bring the last state of a chain of prefixes here if that is cheaper than to train it; where it is, or comes from."""
        here = next((i for i in range(len(chain), 0, -1) if self.cache.where(chain[i - 1])), 0)
        if not chain or here == len(chain):
            return self.cache.where(chain[-1]) or "" if chain else ""
        for position, source in ways(chain, here, self.offers, self.sources):
            came = source.fetch(chain[position], self.offers.get(chain[position], Offer()), self.cache.disk)
            if came and self.cache.get(chain[position]) is not None:
                return came if position == len(chain) - 1 else "trained"
        return "trained"
