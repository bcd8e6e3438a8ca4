"""A learner by command for tests: nearest mean of raw pixels, and many ways to go wrong.

``python learner.py HOW {sequence} {out}``
"""

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

how, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])


def learned():
    """Accuracy matrix of the nearest class mean, and the labels predicted in the end."""
    rows = list(csv.DictReader((folder / "manifest.csv").open(newline="", encoding="utf-8")))
    pixels = {r["path"]: np.asarray(Image.open(r["path"]).convert("RGB"), dtype=np.float64).ravel() for r in rows}
    means, matrix, last = [], [], []
    for task in range(max(int(r["task"]) for r in rows) + 1):
        for label in sorted({int(r["label"]) for r in rows if int(r["task"]) == task}):
            of_class = [pixels[r["path"]] for r in rows if int(r["label"]) == label and r["split"] == "train"]
            means.append(np.mean(of_class, axis=0))
        row, last = [], []
        for earlier in range(task + 1):
            tested = [r for r in rows if int(r["task"]) == earlier and r["split"] == "test"]
            found = [int(np.argmin([((pixels[r["path"]] - m) ** 2).sum() for m in means])) for r in tested]
            row.append(float(np.mean([f == int(r["label"]) for f, r in zip(found, tested, strict=True)])))
            last += found
        matrix.append(row)
    return matrix, last


def answer():
    """What is written."""
    matrix, last = learned()
    changed = {
        "percent": [[100 * a for a in row] for row in matrix],
        "nan": [[float("nan") for _ in row] for row in matrix],
        "short": matrix[:-1],
        "ragged": [row[:-1] for row in matrix],
        "other-images": [[a * 0.93 for a in row] for row in matrix],
        "square": [row + [0.0] * (len(matrix) - len(row)) for row in matrix],
        "text": "all right",
        "true": [[True for _ in row] for row in matrix],
    }
    said = {"accuracy": changed.get(how, matrix)}
    if how == "predicts":
        said["predicted"] = last
    if how == "predicts-others":
        said["predicted"] = [0] * len(last)
    return said


print(f"learning {how}")
if how == "fails":
    raise RuntimeError("no \x1b[31mgradient")
if how == "sleeps":
    subprocess.Popen(["sleep", "60"])
    time.sleep(60)
if how == "leaves":
    subprocess.Popen(["sleep", "60"], start_new_session=True)
if how == "shouts":
    sys.stdout.write("x" * 5_000_000)
if how == "writes-outside":
    (folder.parents[2] / "config.json").write_text("{}")
if how == "writes-given":
    os.chmod(folder / "sequence.json", 0o644)
    (folder / "sequence.json").write_text("{}")
if how == "counts":
    with (Path(sys.argv[4]) / "runs").open("a") as file:
        file.write("once\n")
if how == "garbage":
    out.write_text("[1, 2")
elif how == "link":
    out.symlink_to("/etc/hostname")
elif how == "scalar":
    out.write_text("[[1.0]]")
elif how != "silent":
    out.write_text(json.dumps(answer()))
