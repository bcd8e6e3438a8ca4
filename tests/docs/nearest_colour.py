"""A learner by command, as small as can be: the nearest mean colour of the classes seen. It knows nothing of seqsearch."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

folder, out = Path(sys.argv[-2]), Path(sys.argv[-1])
with (folder / "manifest.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
colours = np.stack([np.asarray(Image.open(folder / r["path"]).convert("RGB"), float).mean((0, 1)) for r in rows])
labels, tasks = (np.array([int(r[key]) for r in rows]) for key in ("label", "task"))
tested = np.array([r["split"] == "test" for r in rows])
accuracy = []
for now in range(tasks.max() + 1):
    seen = range(labels[tasks <= now].max() + 1)
    means = np.stack([colours[~tested & (labels == c)].mean(0) for c in seen])
    right = np.linalg.norm(colours[:, None] - means[None], axis=2).argmin(1) == labels
    accuracy.append([float(right[tested & (tasks == t)].mean()) for t in range(now + 1)])
out.write_text(json.dumps({"accuracy": accuracy}))
