"""Effect of departures from public code on results, and of prompts far from pre-training, by real training on glyphs.

    python -m benchmarks.learning.departures [--parts starts,readouts,far,moved] [--write]

- ``starts``: the start of cosine classifiers that are thrown away. It is N(0, 0.01^2) here
  (`seqsearch.methods.parts.cosine`), and uniform within 1 / sqrt(d) in PILOT.
- ``readouts``: RanPAC's solved V as it is, and with each class's column divided by its norm, as in a cosine layer. Its
  lambda is chosen as here, and as PILOT chooses it, by a fifth of the current task's images.
- ``far``: prompts against a linear head on frozen features, on edges of the glyphs, which the network never saw.
- ``moved``: the representation drift (`seqsearch.training.representation_drift`) of each method that records it.

Sequences, seeds and settings are those of `benchmarks.learning.learnability`. That is 5 tasks of 10 classes (3 for
``moved``), ``glyph_vit``, test images, one thread. Differences are paired by sequence. They have 95 % t-intervals over
these sequences, conditional on pool and settings.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor
from torch.nn import functional

from benchmarks.common.results import write_result
from benchmarks.learning.learnability import TASKS, learned, sequence
from seqsearch.core.digests import digest_of
from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import REPRESENTATION_DRIFT, EdgeResult
from seqsearch.core.registry import names
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.search import outcome
from seqsearch.methods.base import FitReport
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import cosine
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.ridge import GRID, Dual
from seqsearch.methods.ranpac import RanPAC
from seqsearch.pools.base import Rows, View
from seqsearch.pools.glyphs import build as glyphs
from seqsearch.stats import accuracy as metrics
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.world import World

HERE = Path(__file__).resolve()
STARTED = ("aper_adapter", "ease", "ranpac:adapt=adapter", "ranpac:adapt=full")
"""Methods with a cosine classifier."""
SEEDS = {"starts": 3, "readouts": 10, "far": 3, "moved": 1}
"""Sequences, each with a training seed of its own."""
MORE = ("ranpac:adapt=adapter", "ranpac:adapt=full", "joint:learner=finetune")
"""Beside every method with its defaults."""
FEW = 3
"""Tasks after which movement is looked at."""
LINEAR = "finetune:backbone_lr=0"
PROMPTS = ("l2p", "dualprompt", "coda_prompt", "dualprompt:init=0.02,lr=0.01,epochs=10", "finetune")
Record = dict[str, Any]


class Cosine(RanPAC):
    """Scores ``h V`` with the columns of V divided by their norms."""

    def predict(self, batch: Batch) -> Tensor:
        return self._expand(self.features(batch)) @ functional.normalize(self.readout, dim=0)


class PublicLambda(RanPAC):
    """Lambda by the squared error on a random fifth of the current task's images, solved on the other four; float64."""

    def absorb(self, part: Mapping[str, Any], task: TaskData) -> FitReport:
        order = torch.randperm(len(part["columns"]), generator=self.context.generator("fifth"))
        h = self._expand(part["features"][order]).double()
        y = functional.one_hot(part["columns"][order], len(task.columns)).double()
        cut = int(0.8 * len(h))
        fits = [(Dual(h[:cut], y[:cut], cut).fit(penalty), penalty) for penalty in GRID]
        errors = [(float(((h[cut:] @ f.weights - y[cut:]) ** 2).nan_to_num(torch.inf).sum()), p) for f, p in fits]
        new = {**part, "columns": part["columns"] + task.columns.start}
        fit = self._extend(new, task.columns.stop).fit(min(errors)[1])
        self.readout = fit.weights.float().contiguous()
        return FitReport("ok" if bool(torch.isfinite(self.readout).all()) else "diverged", (), {"lambda": fit.penalty})


class PublicCosine(Cosine, PublicLambda):
    """Both, as PILOT predicts."""


def published_start(classes: int, dim: int, generator: torch.Generator, device: torch.device) -> Head:
    """In place of `seqsearch.methods.parts.head.new_head`: uniform within 1 / sqrt(d)."""
    weight = (2 * torch.rand(classes, dim, generator=generator) - 1) / dim**0.5
    return Head(weight.to(device), torch.zeros(classes, device=device)).trainable()


class Edges:
    """The glyph pool as white edges on black, far from what the embedded network was trained on: how fast grey values change, and
    twice that; see ``seqsearch.pools.base.Pool``."""

    given = None

    def __init__(self) -> None:
        self._glyphs = glyphs()
        self.name, self.digest = "edges", digest_of("edges of glyphs", self._glyphs.digest)
        self.classes, self.split_sizes = self._glyphs.classes, self._glyphs.split_sizes
        self.native_size = self._glyphs.native_size

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        grey = self._glyphs.images(rows, view).astype(np.float32).mean(1)
        down, across = np.gradient(grey, axis=(1, 2))
        edges = np.clip(2 * np.hypot(down, across), 0, 255).astype(np.uint8)
        return np.repeat(edges[:, None], 3, axis=1)


def trained(
    method: str, seeds: int, pool: str = "glyphs", tasks: int = TASKS
) -> list[tuple[list[EdgeResult], NDArray[np.float64]]]:
    """Results and accuracy matrix of each sequence, with states of their own.

    Raises:
        RuntimeError: a training failed.
    """
    found = []
    with tempfile.TemporaryDirectory() as states:
        world = World(pool, 0, str(cache_root()), states)
        evaluator, spec = InlineEvaluator(world), world.spec(parse_item(method, "method"), "glyph_vit")
        for seed in range(seeds):
            results, rollout = learned(evaluator, spec, sequence(world, seed, tasks), seed, "test")
            if results[-1].status != "ok":
                raise RuntimeError(f"{method}: {results[-1].message}")
            found.append((results, outcome(rollout, results).accuracy))
    return found


def final(method: str, seeds: int, pool: str = "glyphs") -> list[float]:
    """Final Acc by sequence."""
    return [metrics.acc(accuracy) for _, accuracy in trained(method, seeds, pool)]


def paired(name: str, here: list[float], there: list[float]) -> Record:
    """``there`` minus ``here``, by sequence, with the half-width of its 95 % interval."""
    differences = [b - a for a, b in zip(here, there, strict=True)]
    reach = float(stats.t.ppf(0.975, len(here) - 1)) * statistics.stdev(differences) / len(here) ** 0.5
    row = {"method": name, "here": statistics.mean(here), "there": statistics.mean(there), "reach": reach}
    print(
        f"{name:48}{row['here']:8.4f}{row['there']:8.4f}{row['there'] - row['here']:+9.4f} +- {reach:.4f}", flush=True
    )
    return {**row, "difference": row["there"] - row["here"], "by_sequence": [here, there]}


def starts() -> list[Record]:
    """N(0, 0.01^2) against uniform within 1 / sqrt(d)."""
    rows = []
    for method in STARTED:
        here = final(method, SEEDS["starts"])
        with mock.patch.object(cosine, "new_head", published_start):
            rows.append(paired(method, here, final(method, SEEDS["starts"])))
    return rows


def readouts() -> list[Record]:
    """Plain ridge scores with the lambda of this library against the three others."""
    here = final("ranpac", SEEDS["readouts"])
    others = ("Cosine", "PublicLambda", "PublicCosine")
    return [paired(name, here, final(f"{HERE}:{name}", SEEDS["readouts"])) for name in others]


def far() -> list[Record]:
    """Prompts, and the whole network, against a linear head on frozen features, on edges of glyphs."""
    here = final(LINEAR, SEEDS["far"], f"{HERE}:Edges")
    return [paired(method, here, final(method, SEEDS["far"], f"{HERE}:Edges")) for method in PROMPTS]


def movements() -> list[Record]:
    """The median, least and most of each method's trainings."""
    rows = []
    for method in (*names("method"), *MORE):
        notes = [dict(e.notes) for results, _ in trained(method, SEEDS["moved"], tasks=FEW) for e in results]
        found = [n[REPRESENTATION_DRIFT] for n in notes if REPRESENTATION_DRIFT in n]
        if found:
            row = {"method": method, "median": statistics.median(found), "least": min(found), "most": max(found)}
            rows.append(row)
            print(f"{method:48}{row['median']:8.4f}{row['least']:8.4f}{row['most']:8.4f}", flush=True)
    return rows


PARTS: dict[str, Callable[[], list[Record]]] = {"starts": starts, "readouts": readouts, "far": far, "moved": movements}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/departures_PART.json")
    options = parser.parse_args()
    pin_threads()
    for part in options.parts.split(","):
        print(f"-- {part}")
        rows = PARTS[part]()
        if options.write:
            write_result(f"departures_{part}", {"backbone": "glyph_vit", "sequences": SEEDS[part], "rows": rows})


if __name__ == "__main__":
    main()
