# %% [markdown]
# # My method in a cell
#
# A method is a class. Write it into a cell, and pass the class. seqsearch writes its source into the run folder as a file. So
# workers and `resume` see the code that the run began with. `seqsearch new method` writes the same class as a file.

# %%
from dataclasses import dataclass

import torch

import seqsearch as ss
from seqsearch.methods import base, config

# %% [markdown]
# The class needs `fit_task`, `predict`, and a state that can be saved. [docs/methods.md](../methods.md) explains the contracts.
# A class may use what it imports, also in other cells. It may not use other variables of the notebook: seqsearch names them.


# %%
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


# %% [markdown]
# Search for a sequence that is hard for the method, and score it beside others on this sequence.

# %%
run = ss.cldyb(
    methods=[ShrunkenMeans],
    pool="glyphs:classes=24,train=8,reward=6,test=6",
    tasks=3,
    classes_per_task=4,
    out="runs/own",
    workers=0,
)
scored = run.score(methods=[{ShrunkenMeans: {"shrinkage": 0.3}}, "simplecil"], out="runs/own-scored", workers=0)
scored

# %% [markdown]
# The file that the run keeps. A cell that is edited and run again gets a file of its own.

# %%
[file] = run.path.glob("code/*/ShrunkenMeans.py")
print(file.read_text()[:400])

# %% [markdown]
# A callback sees results as they arrive.


# %%
class Worst(ss.Callback):
    lowest = 1.0

    def on_result(self, run, result):
        self.lowest = min([self.lowest, *result.accuracy])


worst = Worst()
ss.cldyb(
    methods=[ShrunkenMeans],
    pool="glyphs:classes=24,train=8,reward=6,test=6",
    tasks=2,
    classes_per_task=4,
    out="runs/watched",
    workers=0,
    quiet=True,
    callbacks=[worst],
)
worst.lowest
