"""Feature extraction against the bare network: what decoding, preprocessing and storing cost on top.

    python -m benchmarks.features [--model vit_small_patch16_224] [--images 512] [--device cuda] [--threads 1] [--write]

Real JPEGs (crops of photographs) through `FeatureStore`, and the same network on tensors that are ready on the device, in turn;
the best of some rounds of each. ``over_bare`` is the share of the bare network's images per second that is reached.
Weights are random: they do not matter for speed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from benchmarks.tools import write_result
from seqsearch.backbones.open import build_backbone
from seqsearch.building.pool import Options, build_parquet
from seqsearch.features.extraction import Network
from seqsearch.features.store import BATCH, FeatureStore
from seqsearch.pools.open import build_pool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="vit_small_patch16_224")
    parser.add_argument("--images", type=int, help="512 for a CPU, else 8192")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of torch; a worker has 1")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--write", action="store_true", help="write benchmarks/results/features.json, or features-cuda.json"
    )
    arguments = parser.parse_args()
    arguments.images = arguments.images or (512 if arguments.device == "cpu" else 8192)
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as scratch:
        result = _measure(Path(scratch), arguments)
    for name, value in result.items():
        print(f"{name:24} {round(value, 3) if isinstance(value, float) else value}")
    if arguments.write:
        write_result("features" if arguments.device == "cpu" else f"features-{arguments.device}", result)


def _measure(scratch: Path, arguments: argparse.Namespace) -> dict[str, float | int | str]:
    weights = scratch / "weights.safetensors"
    torch.manual_seed(0)
    save_file(timm.create_model(arguments.model, num_classes=0).state_dict(), weights)
    backbone = build_backbone(arguments.model, {arguments.model: str(weights)})
    _photographs(scratch / "photos", arguments.images)
    build_parquet([("photos", build_pool(str(scratch / "photos")))], scratch / "pool.parquet", Options(), 2)
    pool, device = build_pool(str(scratch / "pool.parquet")), torch.device(arguments.device)
    rows = np.arange(arguments.images)
    size = BATCH[arguments.device]
    batches = [rows[i : i + size] for i in range(0, len(rows), size)]
    network = Network(backbone, device)
    ready = [backbone.preprocess(pool.images(b, backbone.view)).to(device) for b in batches[:4]]
    ours, bare = [], []
    for number in range(arguments.repeats + 1):
        start = time.perf_counter()
        with torch.inference_mode():
            for i, batch in enumerate(batches):
                found = network.module(ready[i % len(ready)][: len(batch)])
            found.cpu()  # a GPU works on after it was told: this waits for it
        middle = time.perf_counter()
        FeatureStore(scratch / f"cache{number}", pool, backbone, device, network).rows(rows)
        end = time.perf_counter()
        if number:  # the first round warms up
            bare.append(middle - start)
            ours.append(end - middle)
    rates = [arguments.images / min(times) for times in (ours, bare)]
    return {
        "model": arguments.model, "device": _name(device), "threads": arguments.threads, "cores": os.cpu_count() or 1,
        "images": arguments.images, "images_per_second": rates[0], "bare_images_per_second": rates[1],
        "over_bare": rates[0] / rates[1],
    }  # fmt: skip


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _photographs(root: Path, number: int, side: int = 256) -> None:
    """Random crops of real photographs as JPEGs, 64 to a class."""
    from tests.photos import photographs

    pictures, rng = list(photographs().values()), np.random.default_rng(0)
    for i in range(number):
        picture = pictures[i % len(pictures)]
        x, y = rng.integers(picture.width - side), rng.integers(picture.height - side)
        folder = root / f"class {i // 64:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        crop: Image.Image = picture.crop((int(x), int(y), int(x) + side, int(y) + side))
        crop.save(folder / f"{i:05d}.jpg", quality=90)


if __name__ == "__main__":
    main()
