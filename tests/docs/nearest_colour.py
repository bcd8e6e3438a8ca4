"""A learner by command, as small as can be: the nearest mean colour of the classes seen. It knows nothing of seqsearch."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

folder, listed, out = map(Path, sys.argv[-3:])


def rows_of(file):
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def colours(rows):
    return np.stack([np.asarray(Image.open(folder / r["path"]).convert("RGB"), float).mean((0, 1)) for r in rows])


learned = rows_of(folder / "manifest.csv")
of_images, evaluated = colours(learned), colours(rows_of(listed))
labels, tasks = (np.array([int(r[key]) for r in learned]) for key in ("label", "task"))
predicted = []
for now in range(tasks.max() + 1):
    seen = range(labels[tasks <= now].max() + 1)
    means = np.stack([of_images[labels == c].mean(0) for c in seen])
    predicted.append(np.linalg.norm(evaluated[:, None] - means[None], axis=2).argmin(1).tolist())
out.write_text(json.dumps({"predicted": predicted}))
