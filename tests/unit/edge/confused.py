"""A method for tests that scores worse the more neighbouring tasks are alike, and a little by its training seed."""

from __future__ import annotations

import dataclasses

import torch

from seqsearch.methods.parts.cosine import cosines
from seqsearch.methods.parts.network import saved
from seqsearch.methods.simplecil import SimpleCIL


class Confused(SimpleCIL):
    """Noise of the scores grows with the similarity of each task to the one before it."""

    caps = dataclasses.replace(SimpleCIL.caps, order_invariant_after=None)

    def __init__(self, context, config) -> None:
        super().__init__(context, config)
        self.noise = context.generator("noise").initial_seed()
        self.alike, self.last = torch.zeros(1), 0

    def absorb(self, part, task):
        if self.last:
            self.alike = self.alike + 0.05 + cosines(part["means"], self.prototypes[-self.last :]).mean()
        self.last = len(task.columns)
        return super().absorb(part, task)

    def predict(self, batch):
        scores = super().predict(batch)
        noise = torch.Generator().manual_seed(self.noise % 2**60)
        return scores + 2 * self.alike.clamp(min=0) * torch.randn(scores.shape, generator=noise)

    def state_dict(self):
        return {**super().state_dict(), **saved({"alike": self.alike, "last": torch.tensor([self.last])})}

    def load_state_dict(self, state) -> None:
        super().load_state_dict(state)
        self.alike, self.last = state["alike"].clone(), int(state["last"][0])
