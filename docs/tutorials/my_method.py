# %% [markdown]
# # My method in a cell
#
# A method is a class. Write it into a cell, and pass the class. seqsearch writes its source into the run folder as a file. So
# workers and `resume` see the code that the run began with. `seqsearch new method NAME`
# writes a whole method as a file.

# %%
from dataclasses import dataclass

import torch
from torch.nn.functional import cosine_similarity

import seqsearch as ss
from seqsearch.methods.config import Config, param
from seqsearch.methods.simplecil import SimpleCIL

# %% [markdown]
# This class changes one method of SimpleCIL, the nearest class mean of frozen features. A method from scratch needs `fit_task`,
# `predict` and a state that can be saved: see [docs/methods.md](../methods.md). A class may use what any cell imports. It may not
# use other variables of the notebook: seqsearch names them.


# %%
class ShrunkenMeans(SimpleCIL):
    """Class means that are drawn towards their common centre."""

    @dataclass(frozen=True)
    class Config(Config):
        shrinkage: float = param(0.1, "0: class means, 1: one common centre", minimum=0.0, maximum=1.0)

    def predict(self, batch):
        means = torch.lerp(self.prototypes, self.prototypes.mean(0), self.config.shrinkage)
        return cosine_similarity(batch.frozen[:, None], means, dim=-1)


# %% [markdown]
# Search for a sequence that is hard for the method, and score it beside others on this sequence.

# %%
study = {"pool": "glyphs:classes=24,train=8,reward=6,test=6", "tasks": 3, "classes_per_task": 4, "workers": 0}
run = ss.cldyb(methods=[ShrunkenMeans], out="runs/own", **study)
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
ss.cldyb(methods=[ShrunkenMeans], out="runs/watched", quiet=True, callbacks=[worst], **study)
worst.lowest
