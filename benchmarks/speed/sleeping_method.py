"""A method that learns by sleeping, ``--methods benchmarks/speed/sleeping_method.py:Sleeper``, and says when it did."""

import time
from dataclasses import dataclass

import torch

from seqsearch.methods import base, config


class Sleeper(base.Method):
    @dataclass(frozen=True)
    class Config(config.Config):
        seconds: float = config.param(10.0, "seconds that a task takes", minimum=0.0, maximum=1e5)
        setting: float = config.param(0.0, "tells settings apart", search=config.LogUniform(1e-3, 1.0))

    caps = base.Caps()

    def fit_task(self, task):
        began = time.time()
        time.sleep(self.config.seconds)
        return base.FitReport("ok", notes={"began": began, "ended": time.time()})

    def predict(self, batch):
        return torch.zeros(len(batch), self.n_seen, device=self.context.device)

    def features(self, batch):
        return torch.zeros(len(batch), self.context.dim, device=self.context.device)

    def state_dict(self):
        return {"tasks": float(self.n_tasks)}

    def load_state_dict(self, state):
        pass

    def memory_footprint(self):
        return base.Footprint()
