"""What the pages name, in miniature: folders of images, Parquet files, lists, custom methods, finished runs."""

from __future__ import annotations

import contextlib
import csv
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import h5py
import numpy as np
from PIL import Image

from seqsearch.results.frozen import find_frozen
from tests.cifar import packed, write_cifar10, write_cifar100
from tests.conformance.lab import TEMPLATES
from tests.docs.blocks import ROOT
from tests.photos import write_hub_layout
from tests.unit.building.captioned_sets import write_birds

ANIMALS = (
    *("cat", "dog", "owl", "frog", "bee", "crab", "ant", "fox", "hen", "elk"),
    *("eel", "ape", "cow", "pig", "rat", "bat", "koi", "yak", "emu", "gnu"),
)
IMAGES = 12
"""Of a class."""


def write_folder(root: Path, classes: Iterable[str], images: int = IMAGES, side: int = 24) -> Path:
    """``root/class/number.png``: each class has a colour of its own, and noise on it."""
    for name in classes:
        rng = np.random.default_rng(random.Random(f"{root.name}/{name}").getrandbits(64))
        colour, folder = rng.integers(60, 190, 3), root / name
        folder.mkdir(parents=True)
        for number in range(images):
            pixels = np.clip(colour + rng.normal(0, 40, (side, side, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{number:02d}.png")
    return root


def write_parquet(root: Path, name: str, classes: Iterable[str]) -> Path:
    """A file in the layout of the hub, of a folder written for it alone."""
    folder = write_folder(root / f"of {name}", classes)
    names = sorted(p.name for p in folder.iterdir())
    files = [(label, f) for label, n in enumerate(names) for f in sorted((folder / n).iterdir())]
    path = write_hub_layout(root / name, [f.read_bytes() for _, f in files], [label for label, _ in files], names)
    shutil.rmtree(folder)
    return path


def write_pools(root: Path) -> None:
    """``photos/``, ``a/`` and so on, none of which shares a class or an image with another."""
    for group, names in (("pets", ANIMALS[:6]), ("small", ANIMALS[6:12]), ("large", ANIMALS[12:])):
        write_folder(root / "photos" / group, names)
    for name in ("a", "b", "c", "other", "new", "foods"):
        write_folder(root / name, [f"{name} {number}" for number in ["one", "two", "three", "four", "five", "six"]])
    write_parquet(root, "cifar100.parquet", [f"thing {c}" for c in range(100)])
    write_parquet(root, "foods.parquet", [f"dish {c}" for c in "abcd"])
    write_parquet(root, "cars.parquet", [f"car {c}" for c in "abcd"])
    write_folder(root / "birds", ["wren", "kite", "rook", "coot"])


def write_known_data_sets(root: Path) -> None:
    """Folders with the class names of data sets whose orders are frozen, four images a class: the least that can be split."""
    for folder, order in (("cifar100", "cifar100-hard-10"), ("imagenet-r", "imagenet-r-random30-20")):
        write_folder(root / folder, [c.name for c in find_frozen(order).of.classes], images=4, side=8)


def write_tables(root: Path) -> None:
    """Matrices of similarity, of confusions and of accuracies; lists of names and of orders."""
    rng, names = np.random.default_rng(0), [f"class {i}" for i in range(20)]
    values = rng.random((20, 20)).round(3)
    values = ((values + values.T) / 2).round(3)
    for file, matrix in (
        ("matrix.csv", values),
        ("counts.csv", rng.integers(0, 9, (20, 20)) + 20 * np.eye(20, dtype=int)),
    ):
        with (root / file).open("w", newline="") as out:
            csv.writer(out).writerows(
                [["class_name", *names], *([n, *row] for n, row in zip(names, matrix.tolist(), strict=True))]
            )
    np.save(root / "features.npy", rng.normal(size=(20, 5)))
    table = [
        ["method", "Held-out", "random", "found"],
        *([f"m{i}", 50 + i, 52 + i * i % 7, 40 + 2 * i] for i in range(8)),
    ]
    with (root / "table.csv").open("w", newline="") as out:
        csv.writer(out).writerows(table)
    (root / "mine.txt").write_text(
        "".join(" ".join(map(str, order)) + "\n" for order in ([*range(23)], [*range(22, -1, -1)]))
    )
    (root / "cifar100.txt").write_text("".join(f"thing {i}\n" for i in range(100)))
    (root / "exps").mkdir()
    pilot = {"init_cls": 10, "increment": 10, "class_order": rng.permutation(100).tolist()}
    (root / "exps" / "simplecil.json").write_text(json.dumps(pilot))


def write_streams(root: Path) -> None:
    """The lists of CLOC, and a stream built of photographs."""
    for folder in ("photos", "cloc"):
        write_folder(root / folder / "stream", ["x", "y", "z"], images=40, side=8)
    rng = np.random.default_rng(1)
    labels = np.repeat(rng.integers(0, 3, 1500), 2)
    lines = [f"{label}\tstream/{'xyz'[label]}/{i % 40:02d}.png\n" for i, label in enumerate(labels.tolist())]
    (root / "my_list.txt").write_text("".join(lines[:300]).replace("stream/", "photos/stream/"))
    for name, values in (
        ("labels", labels[:300]),
        ("image_paths", [line.split("\t")[1].strip() for line in lines[:300]]),
    ):
        with h5py.File(root / f"train_{name}.hdf5", "w") as file:
            file["store_list"] = values
    for name, part in (("pretrain", slice(0, 1000)), ("train", slice(1000, 2700)), ("test", slice(2700, 3000))):
        (root / f"cloc_{name}.txt").write_text("".join(lines[part]))


def write_captions(root: Path) -> None:
    """A captioned data set, and a file of captions for ``birds/``."""
    write_birds(root)
    for folder in (root / "CUB_200_2011/images", root / "text_c10"):  # a fourth class: two experiences have two each
        for file in sorted((folder / "003.Yellow_Warbler").iterdir()):
            copy = folder / "004.Wren" / file.name.replace("Yellow_Warbler", "Wren")
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(file, copy)
    rows = [
        {"image": str(p.relative_to(root / "birds")), "captions": [f"a bird with {i % 5} spots", "it sits on a branch"]}
        for i, p in enumerate(sorted((root / "birds").rglob("*.png")))
    ]
    (root / "names.json").write_text(json.dumps({"wren": ["jenny"], "birds/rook": ["crow"]}))
    (root / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_own_code(root: Path) -> None:
    """Methods under the names that the pages have for a reader's own, made of the example; a learner by command."""
    method = (TEMPLATES / "method.py").read_text()
    (root / "mine.py").write_text(method.replace("ShrunkenMeans", "Mine").replace("shrinkage", "lr"))
    (root / "my_method.py").write_text(method.replace("ShrunkenMeans", "MyMethod"))
    shutil.copy(ROOT / "tests" / "docs" / "nearest_colour.py", root / "my_learner.py")


def write_order(root: Path) -> None:
    """Sequences that somebody has written down."""
    (root / "orders.json").write_text(json.dumps({"first": [list(ANIMALS[:3]), list(ANIMALS[3:6])]}))


def write_resnet(root: Path) -> None:
    """Weights of ``resnet50``, drawn at random."""
    import timm
    from safetensors.torch import save_file

    save_file(timm.create_model("resnet50").state_dict(), root / "resnet50.safetensors")


def write_pictures(root: Path) -> None:
    """What docs/drawings.md makes of public packages: the network as it is, classes of colours in place of the drawings."""
    write_parquet(root, "clipart.parquet", ANIMALS)
    command = [sys.executable, "-m", "seqsearch.building.lite0", str(root / "lite0.safetensors")]
    subprocess.run(command, check=True, capture_output=True)


def write_data_sets(root: Path) -> None:
    """Data sets in the layouts of docs/data_sets.md, and weights of torchvision, drawn at random."""
    import torch
    import torchvision

    birds = sorted((root / "CUB_200_2011/images").rglob("*.jpg"))  # a class more than `write_birds` lists
    names = [
        f"{number} {bird.relative_to(root / 'CUB_200_2011/images')}\n" for number, bird in enumerate(birds, start=1)
    ]
    (root / "CUB_200_2011/images.txt").write_text("".join(names))
    (root / "CUB_200_2011/train_test_split.txt").write_text(
        "".join(f"{number} {number % 2}\n" for number in range(1, len(birds) + 1))
    )
    packed(write_cifar100(root), "cifar-100-python.tar.gz")
    write_cifar10(root)
    classes = find_frozen("imagenet-r-random30-20").of.classes
    (root / "imagenet-r-names.txt").write_text("".join(f"{c.name} {c.reads}\n" for c in classes))
    write_folder(root / "pets", ["fox", "hen"], images=6)
    parts = ["train", "train", "train", "validation", "test", "test"]
    lines = [f"{name}/{i:02d}.png,{part}\n" for name in ("fox", "hen") for i, part in enumerate(parts)]
    (root / "pets.csv").write_text("path,split\n" + "".join(lines))
    for part, images in (("train", 6), ("val", 3)):
        write_folder(root / "imagenet" / part, ["n01440764", "n01443537"], images)
    fine = ["apple", "bear", "crab"]
    files = [f.read_bytes() for f in sorted((root / "birds").rglob("*.png"))[:24]]
    (root / "cifar100_hub").mkdir()
    for part, part_files in (("train", files[:18]), ("test", files[18:])):
        path = root / "cifar100_hub" / f"{part}-00000-of-00001.parquet"
        write_hub_layout(path, part_files, [i % 3 for i in range(len(part_files))], fine, "fine_label")
    torch.save(torchvision.models.resnet50().state_dict(), root / "resnet50-11ad3fa6.pth")


def write_own_learner(root: Path) -> None:
    """What docs/learners.md calls ``my_learner.py``: elsewhere it is a command's."""
    learner = (TEMPLATES / "learner.py").read_text()
    (root / "my_learner.py").write_text(learner.replace("FadingMeans", "Mine"))


def write_all(root: Path) -> Path:
    """All of it but finished runs."""
    write_pools(root)
    write_known_data_sets(root)
    write_tables(root)
    write_streams(root)
    write_captions(root)
    write_own_code(root)
    return root


def write_runs(root: Path, run: Callable[[list[str], Mapping[str, str]], str]) -> None:
    """Finished runs under the names of the pages, made by ``run`` (`tests.docs.running.run_command`)."""
    searched = "cldyb --methods ranpac,er --pool photos/ --out runs"
    more = {"mine": "", "easy": "--difficulty easy", "medium": "--difficulty medium", "uniform": "--sampler uniform"}
    with contextlib.chdir(root):
        for name, flags in more.items():
            assert not (wrong := run(f"{searched}/{name} {flags}".split(), {})), wrong
        for seed in range(3):
            line = f"cldyb --methods simplecil --pool photos/ --seed {seed} --out runs/seed{seed}"
            assert not (wrong := run(line.split(), {})), wrong
        for name in ("hard", "full", "my-run"):
            shutil.copytree("runs/mine", f"runs/{name}")
