"""Runs of the parts: each a command of seqsearch, as a user gives it, whose answer is kept beside its run."""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.common.results import Memory, seqsearch
from seqsearch.storage.files import atomic_path

HERE = "benchmarks/real"
AT_224, AT_96 = f"{HERE}/lite0.py:at_224", f"{HERE}/lite0.py:at_96"
THEMSELVES, LAYERS = f"{HERE}/features.py:themselves", f"{HERE}/features.py:layers"
FINE_TUNED = f"er@{AT_96}:epochs=1,lr=0.05,backbone_lr=0.005,batch_size=16"
"""The only method that trains all of EfficientNet-Lite0."""
STORED = dict.fromkeys(("icarl", "replay", "wa", "bic", "foster", "der"), "memory=200") | {"er": "buffer_size=200"}
"""Exemplars of methods that store some, all classes together."""


def on_layers(name: str) -> str:
    """A method that trains two layers on frozen features."""
    return f"{name}@{LAYERS}:{STORED[name]}" if name in STORED else f"{name}@{LAYERS}"


ON_FEATURES = (
    *map(on_layers, ("finetune", "er", "ewc", "lwf", "icarl", "replay", "wa", "bic", "slca", "foster", "der")),
    f"simplecil@{THEMSELVES}",
    f"ranpac@{THEMSELVES}:adapt=none,M=2000",
    f"frozen_head@{THEMSELVES}",
    f"frozen_head@{THEMSELVES}:mask=seen",
)
"""Methods that train two layers on frozen features, or a head."""


def features_of(pool: Path) -> str:
    """The pool of the features of a pool of pictures."""
    return f"{HERE}/features.py:pool:of={pool}"


class Runs:
    """Runs in a folder. One that has answered is not run again, but with other words.

    Attributes:
        costs: of each run that was asked for: seconds, and peak memory of all its processes together [GB].
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.costs: list[dict[str, Any]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def answer(self, name: str, *words: str) -> dict[str, Any]:
        """The answer of ``seqsearch WORDS --json``; its run is the folder ``name``."""
        return self.answers({name: words})[0]

    def answers(self, asked: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
        """The answers of several commands by name, two at a time, each without Ray in a process of its own; one alone has Ray.

        The seconds of each are its part of the time that they took together.
        """
        missing = {name: [*words] for name, words in asked.items() if self._kept(name).get("asked") != [*words]}
        here = ("--workers", "0") if len(missing) > 1 else ()
        start = time.perf_counter()
        with Memory(every=5.0) as memory, ThreadPoolExecutor(2) as pool:  # to look takes a tenth of a second of a core
            texts = list(pool.map(lambda name: self._said(name, [*missing[name], *here]), missing))
        cost = {"seconds": (time.perf_counter() - start) / max(1, len(missing)), "peak_gb": memory.peak / 1e9}
        for (name, words), text in zip(missing.items(), texts, strict=True):
            kept = {"asked": words, "cost": {"run": name, **cost}, "said": json.loads(text)}
            with atomic_path(self.folder / f"{name}.json") as temporary:
                temporary.write_text(json.dumps(kept))
        found = [self._kept(name) for name in asked]
        self.costs += [kept["cost"] for kept in found]
        return [kept["said"] for kept in found]

    def _said(self, name: str, words: Sequence[str]) -> str:
        out = self.folder / name
        shutil.rmtree(out, ignore_errors=True)
        return seqsearch(*words, "--out", str(out), "--json")

    def _kept(self, name: str) -> dict[str, Any]:
        """Return the stored record of a command; empty if there is none."""
        file = self.folder / f"{name}.json"
        return dict(json.loads(file.read_text())) if file.exists() else {}


def arguments(about: str | None, *pools: str, **numbers: int) -> argparse.Namespace:
    """The command line of a part: pools of `benchmarks.real.pictures`, flags with numbers, the folder of its runs, and whether
    its results are written."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for pool in pools:
        parser.add_argument(pool, type=Path, help=f"what python -m benchmarks.real.pictures {pool} makes")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--runs", type=Path, default=Path("runs/real"), help="folder of the runs")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/real_*.json")
    return parser.parse_args()
