"""ER of MCIL: fine-tune on the new experience together with a random share of the pairs of every class seen before.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3: ER10 keeps
10 % of the examples of each class, ER25 25 %.

After an experience ``max(1, round(share * n_c))`` of the ``n_c`` pairs of each of its classes are drawn and
stored, and never discarded. With the next experience the network and the head descend the cross-entropy of
`mm_lb` over stored and new pairs.

Trainable: everything. Stored: network, head, rows of the stored pairs.

Points that the paper leaves open, and the choice here:

- the mixture of stored and new pairs. With ``mixing=together`` they are one shuffled set. With
  ``mixing=halves`` half of a batch are new pairs. The other half are stored pairs, drawn with replacement, as
  in the replay of the Avalanche toolbox.
- the buffer has no limit, so it grows with the experiences. ``buffer=dp`` limits it to the bytes that `mm_dp`
  with its defaults has learned after as many experiences. Prompts and keys count as 32-bit floats, an image
  as 8-bit RGB, and a text as UTF-8. So the buffer costs as much as the parameters of a rehearsal-free method.
- with that limit the classes share the buffer equally, and each class's part shrinks as others come. If the
  buffer is too small for one pair of each class, the classes that came first have one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from seqsearch.methods.base import PASSES, FitReport
from seqsearch.methods.config import param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.pairs import Batches
from seqsearch.methods.parts.pairs_prefixes import prefix_bytes
from seqsearch.methods.parts.pairs_stored import PairsKept, StoredPairs, of_task
from seqsearch.methods.parts.pairs_tuned import WholeTraining

if TYPE_CHECKING:
    pass


class PairReplay(PairsKept):
    """New and stored pairs; see the module."""

    @dataclass(frozen=True)
    class Config(WholeTraining):
        share: float = param(0.1, "share of each class's pairs that is stored (buffer=share)", minimum=0.0, maximum=1.0)
        buffer: str = param(
            "share",
            "how much is stored: a share of each class, or as many bytes as mm_dp learns",
            choices=("share", "dp"),
        )
        mixing: str = param(
            "together",
            "new and stored pairs as one set, or half of each batch stored",
            choices=("together", "halves"),
            later=True,
        )

    config: Config

    def fit_task(self, task: TaskData) -> FitReport:
        if self.config.mixing == "halves" and len(self.stored):
            report = self._halves(task)
        else:
            report = self.tuned(task, self.stored.with_new(task))
        if report.status == "ok":
            self.stored = self._kept(of_task(task), task)
        return report

    def _halves(self, task: TaskData) -> FitReport:
        """An epoch goes once through the new pairs; each batch of them is joined by as many stored ones."""
        draw, stored = task.generator("replay"), len(self.stored)

        def with_stored(positions: Tensor) -> Tensor:
            return torch.cat([stored + positions, torch.randint(stored, (len(positions),), generator=draw)])

        batches = Batches(len(task.train), max(1, self.config.batch_size // 2), with_stored, draw)
        report = self.tuned(task, self.stored.with_new(task), batches)
        return replace(report, notes={k: 2 * v if k == PASSES else v for k, v in report.notes.items()})

    def _kept(self, new: StoredPairs, task: TaskData) -> StoredPairs:
        """Return the pairs to store after the experience whose pairs are ``new``."""
        draw = task.generator("stored")
        classes = [torch.nonzero(new.columns == c).flatten() for c in task.columns]
        drawn = [places[torch.randperm(len(places), generator=draw)] for places in classes]
        if self.config.buffer == "share":
            kept = [p[: max(1, round(self.config.share * len(p)))] for p in drawn]
            return self.stored.joined(new.at(torch.cat(kept)))
        most_bytes = prefix_bytes(self.network, self.context.dim, task.depth + 1)
        return _within(self.stored.joined(new.at(torch.cat(drawn))), most_bytes, self.context.image_bytes, draw)


def _within(pairs: StoredPairs, most_bytes: int, image_bytes: int, draw: torch.Generator) -> StoredPairs:
    """As many pairs as fit into ``most_bytes`` bytes, equally of all classes: first one of each, then a second, and so on."""
    order = torch.randperm(len(pairs), generator=draw)
    turn = _within_class(pairs.columns[order])
    order = order[torch.argsort(turn * (int(pairs.columns.max()) + 1) + pairs.columns[order], stable=True)]
    taken = torch.cumsum(image_bytes + pairs.text_bytes[order], 0) <= most_bytes
    return pairs.at(order[taken])


def _within_class(columns: Tensor) -> Tensor:
    """How many pairs of its class stand before each one ``[n]``."""
    by_class = torch.argsort(columns, stable=True)
    ordered = columns[by_class]
    number = torch.arange(len(columns)) - torch.searchsorted(ordered, ordered)
    return torch.empty_like(number).scatter_(0, by_class, number)


build = PairReplay
