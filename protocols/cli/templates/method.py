"""Nearest class mean, means drawn towards their common centre: ``--methods method.py:ShrunkenMeans``."""

from dataclasses import dataclass

import torch

from seqsearch.methods import base, config


class ShrunkenMeans(base.Method):
    @dataclass(frozen=True)
    class Config(config.Config):
        shrinkage: float = config.param(
            0.1, "0: class means, 1: one common centre", minimum=0.0, maximum=1.0, search=(0.0, 0.1, 0.3)
        )

    caps = base.Caps(
        input="frozen", order_invariant_after=0, trains_backbone=False, design=("statistic",), closed_form=True
    )

    def __init__(self, context, settings):
        super().__init__(context, settings)
        self.means = torch.zeros(0, context.dim, device=context.device)  # [classes seen, d]

    def fit_task(self, task):
        x, y = task.train.frozen, task.train.targets  # [n, d] and the head column of each image
        self.means = torch.cat([self.means, torch.stack([x[y == c].mean(0) for c in task.columns])])
        return base.FitReport("ok" if bool(self.means.isfinite().all()) else "diverged")

    def predict(self, batch):
        centres = torch.lerp(self.means, self.means.mean(0), self.config.shrinkage)
        return -torch.cdist(batch.frozen, centres, compute_mode="donot_use_mm_for_euclid_dist")  # [n, classes seen]

    def features(self, batch):
        return batch.frozen

    def state_dict(self):
        return {"means": self.means.cpu().clone()}

    def load_state_dict(self, state):
        self.means = state["means"].to(self.context.device, copy=True)

    def memory_footprint(self):
        return base.Footprint(statistics=4 * self.means.numel())
