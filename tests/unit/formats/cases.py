"""Sequences to export, and what (path, label, task, split) each must become, from the pool itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from protocols.evaluate.exchange.export import export
from protocols.evaluate.exchange.selection import Images, Wanted
from seqsearch.pools.union import class_names
from seqsearch.training.world import World

HOSTILE = ("-rf, x", 'a "b" c', "=1+1", "naïve\u00e9 \u7aef", "x..", "$(touch pwned)", "new\nline", "`x`|y")
"""Names of classes that must stay names."""
Rows = list[tuple[str, int, int, str]]


@dataclass(frozen=True)
class Case:
    """A pool, and tasks of indices of its classes."""

    pool: str
    tasks: tuple[tuple[int, ...], ...]
    images: Images = "copy"
    seed: int = 3

    @property
    def world(self) -> World:
        return World(self.pool, self.seed, "", "")

    def exported(self, tmp_path: Path, to: str, name: str = "found-1", images: Images | None = None) -> Path:
        """The folder of the sequence in an export."""
        names = class_names(self.world.images)
        tmp_path.mkdir(exist_ok=True)
        file = tmp_path / "orders.json"
        file.write_text(json.dumps({name: [[names[c] for c in task] for task in self.tasks]}))
        out = tmp_path / f"out-{to}"
        said = export(Wanted(str(file), pool=self.pool, seed=self.seed), to, images or self.images, out, print)
        return out / said["sequences"][0]["folder"]

    def expected(self, folder: Path) -> Rows:
        """Sorted; ``paths`` are the pool's own, ``copy`` are rows of the pool in the export's folder of images."""
        world, found, label = self.world, Rows(), 0
        pool = world.images.parts[0]
        for number, task in enumerate(self.tasks):
            for c in sorted(task):
                for part in ("train", "val", "reward", "test"):
                    for row in world.split.rows(c, part).tolist():
                        split = "test" if part == "test" else "train"
                        found.append((self._path(folder, pool, row), label, number, split))
                label += 1
        return sorted(found)

    def _path(self, folder: Path, pool: object, row: int) -> str:
        if self.images == "paths":
            return str(Path(self.pool) / pool.where(row))
        images = folder.parent / "images" / pool.digest[-32:]
        [path] = images.glob(f"*/{row:010d}-*")
        return str(path)


def write_pool(root: Path, names: Sequence[str], per_class: int = 5) -> str:
    """A folder of JPEGs, one colour an image."""
    rng = np.random.default_rng(0)
    for name in names:
        (root / name).mkdir(parents=True)
        for i in range(per_class):
            Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(root / name / f"{i}.jpg")
    return str(root)


def cases(root: Path) -> dict[str, Case]:
    """Equal tasks; unequal tasks of few classes; more than 100 classes; a folder with hostile names."""
    few = "glyphs:classes=9,train=2,reward=1,test=1"
    many, folder = (
        str(root / name) if (root / name).exists() else write_pool(root / name, names, count)
        for name, names, count in (("many", [f"class {i}" for i in range(110)], 4), ("photos", HOSTILE, 5))
    )
    order = np.random.default_rng(1).permutation(110).tolist()
    return {
        "equal": Case(few, ((2, 0, 1), (8, 3, 5), (4, 7, 6))),
        "unequal, few": Case(few, ((7,), (0, 3, 5), (8, 2))),
        "more than 100": Case(many, tuple(tuple(order[i : i + 11]) for i in range(0, 110, 11)), "paths"),
        "folder": Case(folder, ((5, 1), (0, 7, 2, 6), (3,)), "paths"),
    }
