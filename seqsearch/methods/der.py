"""DER: a new network for every task, frozen after the task, and one classifier over the features of all networks.

"DER: Dynamically Expandable Representation for Class Incremental Learning" (not Dark Experience Replay, which
has the same abbreviation). The features of an image are ``u(x) = [f_1(x), ..., f_t(x)]``. Task t trains
``f_t`` and the head over u. The network ``f_t`` begins with the final weights of ``f_{t-1}``. The loss, on
new images and exemplars together, is

    CE(W u(x) + b, y)  +  lamb * CE(V f_t(x) + c, y'),    y' = 0 for all old classes, else 1 + the class's place in the task

The auxiliary head V makes ``f_t`` separate new classes from each other and from old ones. It is discarded.
Afterwards the rows of new classes in W are scaled to the mean norm of the old rows ("Maintaining
Discrimination and Fairness in Class Incremental Learning").

Trainable: the new network and all rows of the head. Stored: all networks (the old ones once, for all states
that share them), the head, exemplars as pool rows, and the means of their features.

Departures from the public code (PyCIL, which has neither the paper's masks nor its pruning), and why (effects
are not measured unless given):

- rates fall by the step. Weights of the first task are drawn from its seed. New head rows start with equal
  values in all continuations of one state.
- the first task has no auxiliary head. PyCIL has one that no loss reads.
- the authors retrain the classifier on a balanced set afterwards. PyCIL scales the new rows instead, as here.
- without augmentation the features of frozen networks are computed once a task.

Values on ``scratch:tiny`` are those of `replay`. Scaling new rows presumes that they grew longer than old
rows. In short trainings with the published weight decay they stay shorter, because old rows have had more
tasks to grow in. Scaling then prefers new classes even more, and the head is less accurate than that of
`replay`. The larger decay there (`SHORT_DECAY`) brings the lengths together. docs/method_measurements.md has
the accuracies.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import FitReport
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.expanding import Expanding, ExpandingTraining, auxiliary_loss, widened
from seqsearch.methods.parts.rehearsal import REHEARSAL
from seqsearch.methods.parts.training import Group


class ExpandableRepresentation(Expanding):
    """A network a task; see the module."""

    Config = ExpandingTraining
    config: ExpandingTraining
    caps = replace(REHEARSAL, design=("exemplar", "full", "expansion"))

    def fit_task(self, task: TaskData) -> FitReport:
        data, network, first = self.with_exemplars(task), self.new_network(), not self.networks
        head = widened(self.head, len(task.columns), self.context.dim, task.generator("head"))
        auxiliary, before = self.auxiliary_head(task), self.old_features(data)

        def loss_of(part: Batch) -> Tensor:
            new = network(part.images)
            loss = functional.cross_entropy(head(torch.cat([before(part), new], dim=1)), part.targets)
            if first:
                return loss
            return loss + self.config.lamb * auxiliary_loss(auxiliary(new), part.targets, task.columns.start)

        heads = head.parameters() if first else [*head.parameters(), *auxiliary.parameters()]
        groups = [Group([*network.parameters(), *heads], self.rates(task))]
        return self.finish(task, network, head, self.train(task, data, groups, [network], loss_of))


build = ExpandableRepresentation
