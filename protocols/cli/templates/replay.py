"""A linear head on frozen features, with a few images of each class replayed: ``--methods replay.py:TinyReplay``."""

from dataclasses import dataclass

import torch
from torch.nn import functional

from seqsearch.methods import base, config


class TinyReplay(base.Method):
    @dataclass(frozen=True)
    class Config(config.Config):
        stored: int = config.param(4, "images stored of each class", minimum=1, maximum=10_000)
        epochs: int = config.param(20, "passes over a task's images and the stored ones", minimum=1, maximum=10_000)
        lr: float = config.param(1.0, "learning rate", minimum=0.0, maximum=1e30)

    caps = base.Caps(input="frozen", needs_exemplars=True, trains_backbone=False, design=("exemplar",))

    def __init__(self, context, settings):
        super().__init__(context, settings)
        self.head = torch.zeros(0, context.dim, device=context.device)  # [classes seen, d]
        self.rows = torch.zeros(0, dtype=torch.int64)  # rows of the pool [stored images], no pixels
        self.columns = torch.zeros(0, dtype=torch.int64)  # the head column of each

    def fit_task(self, task):
        x, y = task.train.frozen, task.train.targets  # [n, d], [n]
        if len(self.rows):  # what is stored is read back by its rows
            old = task.replay(self.rows.numpy(), self.columns.to(self.context.device))
            x, y = torch.cat([x, old.frozen]), torch.cat([y, old.targets])
        x = functional.normalize(x)
        head = torch.cat([self.head, self.head.new_zeros(len(task.columns), self.context.dim)])
        for _ in range(self.config.epochs):
            order = torch.randperm(len(x), generator=task.generator("shuffle")).to(x.device)
            for at in order.split(16):
                head = head.detach().requires_grad_()
                functional.cross_entropy(10 * x[at] @ head.T, y[at]).backward()
                head = head - self.config.lr * head.grad
        self.head = head.detach()
        self.store(task)
        return base.FitReport("ok" if bool(self.head.isfinite().all()) else "diverged")

    def store(self, task):
        """Draw the images to store of each new class: ``task.train.indices`` ``[n]`` are the rows of its images."""
        rows, columns = torch.from_numpy(task.train.indices), task.train.targets.cpu()
        for column in task.columns:
            of_class = torch.nonzero(columns == column).flatten()
            drawn = torch.randperm(len(of_class), generator=task.generator("store"))[: self.config.stored]
            self.rows = torch.cat([self.rows, rows[of_class[drawn]]])
            self.columns = torch.cat([self.columns, columns[of_class[drawn]]])

    def exemplars(self):
        return self.rows.numpy()  # what the next task may replay; any other row raises AccessError

    def predict(self, batch):
        return functional.normalize(batch.frozen) @ self.head.T  # [n, classes seen]

    def features(self, batch):
        return batch.frozen

    def state_dict(self):
        return {"head": self.head.cpu().clone(), "rows": self.rows, "columns": self.columns}

    def load_state_dict(self, state):
        self.head = state["head"].to(self.context.device, copy=True)
        self.rows, self.columns = state["rows"].clone(), state["columns"].clone()

    def memory_footprint(self):
        return base.Footprint(params=4 * self.head.numel(), exemplar_images=len(self.rows) * self.context.image_bytes)
