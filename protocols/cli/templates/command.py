"""A learner by command: Avalanche's Replay, with a small network from scratch, on a sequence that seqsearch hands over.

    seqsearch score RUN --methods 'cmd:python command.py {sequence} {predict} {out}'

It needs avalanche-lib, torch and Pillow, and nothing of seqsearch: `{sequence}` is a folder with `sequence.json`, `manifest.csv`
and images by path to learn from, `{predict}` a list of images without labels, `{out}` the JSON file to be written: a label for
each of them after each task, which seqsearch grades. The same seed gives the same result.
"""

import csv
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["HOME"] = tempfile.gettempdir()  # Avalanche makes a folder there when it is imported

import numpy as np
import torch
from avalanche.benchmarks import class_incremental_benchmark
from avalanche.models import IncrementalClassifier
from avalanche.training.plugins import EvaluationPlugin
from avalanche.training.supervised import Replay
from PIL import Image, ImageOps
from torch import nn
from torch.utils.data import TensorDataset

SIDE = 32


def read_rows(file):
    """The rows of a list of images."""
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def read_images(folder, rows):
    """Images [n, 3, SIDE, SIDE] on -1 .. 1; a path is relative to the folder, or absolute."""
    upright = (ImageOps.exif_transpose(Image.open(folder / row["path"])) for row in rows)
    images = np.stack([image.convert("RGB").resize((SIDE, SIDE)) for image in upright])
    return torch.from_numpy(images).permute(0, 3, 1, 2).float() / 127.5 - 1


def dataset_of(images, rows):
    """Return the data set that Avalanche expects: pairs of an image and a label, and `targets`."""
    labels = [int(row["label"]) for row in rows]
    dataset = TensorDataset(images, torch.tensor(labels))
    dataset.targets = labels
    return dataset


def network():
    """Two convolutions, and a head that grows with the classes and masks those that it has not seen."""
    body = nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    return nn.Sequential(*body, IncrementalClassifier(64 * (SIDE // 8) ** 2, initial_out_features=1))


def main(folder, listed, out):
    record = json.loads((folder / "sequence.json").read_text(encoding="utf-8"))
    sizes = record["task_sizes"]
    torch.manual_seed(record["seed"])
    torch.set_num_threads(1)
    rows = read_rows(folder / "manifest.csv")
    train, evaluated = dataset_of(read_images(folder, rows), rows), read_images(folder, read_rows(listed))
    datasets = {"train": train, "test": train}  # Avalanche asks for both; the second is not used
    benchmark = class_incremental_benchmark(datasets, class_order=range(sum(sizes)), num_classes_per_exp=sizes)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    evaluator = EvaluationPlugin(loggers=[])
    options = {"train_mb_size": 16, "eval_mb_size": 256, "train_epochs": 5, "mem_size": 100}
    strategy = Replay(model=model, optimizer=optimizer, criterion=nn.CrossEntropyLoss(), evaluator=evaluator, **options)
    predicted = []
    for experience in benchmark.train_stream:
        strategy.train(experience)
        with torch.no_grad():
            predicted.append([int(label) for part in evaluated.split(256) for label in model.eval()(part).argmax(1)])
    out.write_text(json.dumps({"predicted": predicted}), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
