"""Small real runs of the GTEP protocol: two halves of the glyphs, and a method of one's own that learns in milliseconds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from actors.options import EngineOptions
from protocols.gtep.settings import GtepSettings
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from tests.studies import execute

TRIMMED = """
from dataclasses import dataclass

import torch

from seqsearch.methods.base import Caps, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig, Conflict, param


class Trimmed(Method):
    caps = Caps(input="frozen", trains_backbone=False)

    @dataclass(frozen=True)
    class Config(BaseConfig):
        keep: int = param(5, "features that are looked at", minimum=1, search=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32))
        bias: float = param(0.0, "added to the scores of the newest classes", search=(-0.02, 0.0, 0.02, 0.2), later=True)
        diverges: int = param(10_000, "with so many features or more, on the second class order")
        most: int = param(10_000, "features that there may be")

        def check(self):
            if self.keep > self.most:
                raise Conflict(f"keep={self.keep}: must be at most most={self.most}")

    def __init__(self, context, config):
        super().__init__(context, config)
        self.means, self.old = torch.zeros(0, config.keep), 0

    def fit_task(self, task):
        images, self.old = self._trimmed(task.train), task.columns.start
        new = [images[task.train.targets == c].mean(0) for c in task.columns]
        self.means = torch.cat([self.means, torch.stack(new)])
        bad = task.depth == 1 and task.replicate % 10 == 1 and self.config.keep >= self.config.diverges
        return FitReport("diverged" if bad else "ok", notes={"passes": float(self.config.keep * len(images))})

    def _trimmed(self, batch):
        return torch.nn.functional.normalize(batch.frozen[:, : self.config.keep], dim=1)

    def predict(self, batch):
        scores = -torch.cdist(self._trimmed(batch), self.means)
        if self.old:
            scores[:, self.old :] += self.config.bias
        return scores

    def features(self, batch):
        return batch.frozen

    def state_dict(self):
        return {"means": self.means.clone(), "old": torch.tensor(self.old)}

    def load_state_dict(self, state):
        self.means, self.old = state["means"].clone(), int(state["old"])

    def memory_footprint(self):
        return Footprint(statistics=4 * self.means.numel())
"""
"""A method file: nearest mean in some of the frozen features. ``keep`` is what it costs, ``bias`` acts after the first task."""
HALF = "glyphs:classes=24,train=4,reward=4,test=4,half={}"
MEASURED = ("run_id", "train_seconds", "peak_bytes", "seconds")
"""Columns that differ from run to run."""


def trimmed(folder: Path, **params: Any) -> str:
    """The item for ``--methods``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.py").write_text(TRIMMED)
    fixed = ",".join(f"{k}={v}" for k, v in params.items())
    return f"{folder}/own.py:Trimmed" + (f":{fixed}" if fixed else "")


def label(method: str) -> str:
    """What a run calls it."""
    return method.rsplit("/", 1)[-1]


def small(methods: str, **changes: Any) -> GtepSettings:
    """Three tasks of four classes, two orders, four settings."""
    given = {"tune_pool": HALF.format(1), "pool": (HALF.format(2),), "tasks": 3, "orders": 2, **changes}
    if "params" not in given:
        given = {"trials": "4", **given}
    return GtepSettings(methods=methods, **given)


def session(path: Path, settings: GtepSettings, lines: float = math.inf) -> bool:
    """Start a run, or continue it, and stop it when its journal has so many lines more; whether it is finished."""
    journal = path / "journal.jsonl"
    if path.exists():
        folder, settings = RunFolder.resume(path, GtepSettings, {})
    else:
        folder = RunFolder.create(path, settings)
    deadline = Deadline(lines, lambda: float(journal.read_bytes().count(b"\n")) if journal.exists() else 0.0)
    try:
        return execute(folder, settings, Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline))
    finally:
        folder.close()


def finished(path: Path, methods: str, **changes: Any) -> Path:
    """The folder of a whole run."""
    assert session(path, small(methods, **changes))
    return path


def rows(path: Path, name: str) -> list[dict[str, Any]]:
    """A file of a run, without what is measured by the clock."""
    found: list[dict[str, Any]] = pq.read_table(path / f"{name}.parquet").to_pylist()
    return [{k: v for k, v in row.items() if k not in MEASURED} for row in found]


def results(path: Path) -> list[list[dict[str, Any]]]:
    """All that a run found, whoever trained it and when."""
    return [rows(path, name) for name in ("sequences", "trials", "results", "table")]


def states(path: Path) -> list[str]:
    """States that were trained, in the order of the journal."""
    return [r["state"] for r in rows(path, "trainings")]
