# %% [markdown]
# # My images
#
# A pool is a folder of images with a subfolder for each class, or a Parquet file. This tutorial writes such a folder first. So it
# runs anywhere. Skip this cell, and name your own folder.

# %%
from pathlib import Path

import numpy as np
from PIL import Image

import seqsearch as ss

for number, name in enumerate(["cat", "dog", "owl", "frog", "bee", "crab", "ant", "fox", "hen", "elk"]):
    draw = np.random.default_rng(number)
    colour = draw.integers(60, 190, 3)
    Path("photos", name).mkdir(parents=True, exist_ok=True)
    for image in range(16):
        pixels = np.clip(colour + draw.normal(0, 40, (24, 24, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(Path("photos", name, f"{image:02d}.png"))

# %% [markdown]
# Each class is split into images to train on, to validate on (`val`), to guide the search (`reward`) and to report on (`test`).

# %%
run = ss.cldyb(
    methods="ranpac:M=100,simplecil", pool="photos", tasks=3, classes_per_task=2, out="runs/photos", workers=0
)
run

# %% [markdown]
# `split` gives the images of a task as a torch Dataset, in the split of the run. Train whatever you like on the same images.

# %%
from torch.utils.data import DataLoader

images, labels = next(iter(DataLoader(run.split("train", task=0), batch_size=8, shuffle=True)))
images.shape, labels.tolist(), run.split("train", task=0).classes

# %% [markdown]
# The sequences go to other toolboxes as well: Avalanche, PILOT, PyCIL and Mammoth.

# %%
run.sequences().export("avalanche", "for-avalanche")
sorted(p.name for p in Path("for-avalanche").iterdir())
