"""The main job on images of 224 pixels with a ViT-B/16 of random weights, on a GPU and on CPUs. Weights do not matter for speed.

    python -m benchmarks.real.speed [--runs runs/speed] [--devices cuda/1,cuda/4,cpu/16] [--write]

For each device and number of workers: seconds of a whole ``seqsearch cldyb`` with methods on frozen features; and on GPUs also of
one with a method that trains the whole network. Each has a cache of features of its own, so that each computes them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path
from typing import Any

import timm
import torch

from benchmarks.common.results import device_name, write_rows
from benchmarks.real.running import HERE, Runs
from seqsearch.backbones.timm_model import TimmModel

VIT = f"{HERE}/speed.py:vit_b16"
STUDY = (
    *(
        "--pool",
        "glyphs:classes=40,train=50,reward=10,test=20",
        "--backbone",
        VIT,
        "--tasks",
        "3",
        "--classes-per-task",
        "5",
    ),
    *(
        "--simulations",
        "4",
        "--condensed",
        "3",
        "--score-seeds",
        "1",
        "--random-sequences",
        "5",
        "--no-joint",
        "--seed",
        "0",
    ),
)
JOBS = {
    "on frozen features": "simplecil,frozen_head,ranpac:adapt=none,M=2000",
    "whole network": "er:epochs=1,batch_size=32",
}
"""Methods of a search, by what they train."""
Row = dict[str, Any]


def vit_b16() -> TimmModel:
    """The architecture, with random weights that are the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = timm.create_model("vit_base_patch16_224", num_classes=0)
    return TimmModel("vit_base_patch16_224", model.eval(), "random")


def timed(runs: Runs, device: str, workers: int, job: str) -> Row:
    """A row: one search."""
    name = f"{device}-{workers}-{list(JOBS).index(job)}"
    os.environ["SEQSEARCH_CACHE"] = str((runs.folder / f"cache-{name}").resolve())
    flags = ("--methods", JOBS[job], *STUDY, "--device", device, "--workers", str(workers))
    said = runs.answer(name, "cldyb", *flags)
    return {
        "device": device_name(device),
        "workers": workers,
        "methods": job,
        "seconds": runs.costs[-1]["seconds"],
        "trainings": said["stats"]["trained"],
        "found": [m["found"]["acc"] for m in said["methods"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="cuda/1,cuda/4,cpu/16", help="device/workers, comma-separated")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--runs", type=Path, default=Path("runs/speed"))
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/real_speed.json")
    given = parser.parse_args()
    runs, rows = Runs(given.runs), []
    for device, workers in (place.split("/") for place in given.devices.split(",")):
        for job in given.jobs.split(","):
            if device == "cpu" and job == "whole network":
                continue  # hours
            try:
                rows.append(row := timed(runs, device, int(workers), job))
            except subprocess.CalledProcessError as error:
                row = {"device": device, "workers": workers, "methods": job, "failed": error.returncode}
            print("  ".join(f"{k} {v}" for k, v in row.items()), flush=True)
            if given.write:
                write_rows("real_speed", {"study": " ".join(STUDY), "rows": rows})


if __name__ == "__main__":
    main()
