"""A learner by command for tests: nearest mean of raw pixels, and many ways to go wrong.

``python learner.py HOW {sequence} {out} [{predict}]``
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


def labelled(listed):
    """After each task the labels of listed images by the nearest class mean; nothing else is looked at."""
    rows = list(csv.DictReader((folder / "manifest.csv").open(newline="", encoding="utf-8")))
    assert {r["split"] for r in rows} == {"train"}
    images = [np.asarray(Image.open(p).convert("RGB"), dtype=np.float64).ravel() for p in listed]
    means, found = [], []
    for task in range(max(int(r["task"]) for r in rows) + 1):
        for label in sorted({int(r["label"]) for r in rows if int(r["task"]) == task}):
            own = [r["path"] for r in rows if int(r["label"]) == label]
            means.append(
                np.mean([np.asarray(Image.open(p).convert("RGB"), dtype=np.float64).ravel() for p in own], axis=0)
            )
        found.append([int(np.argmin([((image - m) ** 2).sum() for m in means])) for image in images])
    return found


def graded():
    """What is written where the images are listed."""
    with Path(sys.argv[4]).open(newline="", encoding="utf-8") as file:
        listed = [r["path"] for r in csv.DictReader(file)]
    found = labelled(listed)
    (out.parent / "listed.json").write_text(json.dumps([Path(p).name for p in listed]))
    n, rows = len(listed), len(found)
    changed = {
        "graded-short": found[:-1],
        "graded-ragged": [row[:-1] for row in found],
        "graded-huge": [[10**400] * n] * rows,
        "graded-floats": [[float(p) for p in row] for row in found],
        "graded-less": [[-2] * n] * rows,
        "graded-none": [[-1] * n] * rows,
        "graded-text": "cat",
        "graded-true": [[True] * n] * rows,
    }
    return {"predicted": changed.get(how, found)}


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
elif how.startswith("graded"):
    out.write_text(json.dumps(graded()))
elif how != "silent":
    out.write_text(json.dumps(answer()))
