"""Feature extraction against the bare network: what decoding, preprocessing and storing cost on top.

    python -m benchmarks.speed.features [--models vit_tiny_patch16_224,resnet18] [--images 512] [--device cuda] [--threads 1]
        [--write]

Real JPEGs (crops of photographs) through `FeatureStore`, and the same network on tensors that are ready on the device, in turn;
the best of some rounds of each. ``over_bare`` is the share of the bare network's images per second that is reached,
``over_largest`` how many times faster it is than the bare network on as many images a pass as small images are given.
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

from benchmarks.common.results import write_rows
from seqsearch.backbones.open import build_backbone
from seqsearch.building.pool import Options, build_parquet
from seqsearch.features.extraction import Network
from seqsearch.features.store import BATCH, FeatureStore, images_per_pass
from seqsearch.pools.base import Pool
from seqsearch.pools.open import build_pool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="tf_efficientnet_lite0,resnet18,vit_small_patch16_224")
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
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        _photographs(scratch / "photos", arguments.images)
        build_parquet([("photos", build_pool(str(scratch / "photos")))], scratch / "pool.parquet", Options(), 2)
        pool = build_pool(str(scratch / "pool.parquet"))
        for model in arguments.models.split(","):
            rows.append(row := _measured(scratch, pool, model, arguments))
            print(" ".join(f"{k} {round(v, 3) if isinstance(v, float) else v}" for k, v in row.items()), flush=True)
    if arguments.write:
        write_rows("features" if arguments.device == "cpu" else f"features-{arguments.device}", {"models": rows})


def _measured(scratch: Path, pool: Pool, model: str, arguments: argparse.Namespace) -> dict[str, float | int | str]:
    weights = scratch / f"{model}.safetensors"
    torch.manual_seed(0)
    save_file(timm.create_model(model, num_classes=0).state_dict(), weights)
    backbone = build_backbone(model, {model: str(weights)})
    device, rows = torch.device(arguments.device), np.arange(arguments.images)
    network = Network(backbone, device)
    sizes = [images_per_pass(backbone, device), BATCH[arguments.device]]
    ready = [backbone.preprocess(pool.images(rows[:size], backbone.view)).to(device) for size in sizes]
    ours: list[float] = []
    bare: list[list[float]] = [[] for _ in sizes]
    for number in range(arguments.repeats + 1):
        bare_seconds = [_bare(network, images, arguments.images) for images in ready]
        start = time.perf_counter()
        FeatureStore(scratch / f"{model}-{number}", pool, backbone, device, network).rows(rows)
        if number:  # the first round warms up
            ours.append(time.perf_counter() - start)
            for seconds, times in zip(bare_seconds, bare, strict=True):
                times.append(seconds)
    rate, own, largest = (arguments.images / min(times) for times in (ours, *bare))
    return {
        "model": model,
        "device": _name(device),
        "threads": arguments.threads,
        "cores": os.cpu_count() or 1,
        "images": arguments.images,
        "images_per_pass": sizes[0],
        "images_per_second": rate,
        "bare_images_per_second": own,
        "over_bare": rate / own,
        "largest_images_per_second": largest,
        "over_largest": rate / largest,
    }


def _bare(network: Network, images: torch.Tensor, number: int) -> float:
    """Seconds of the network alone on ``number`` images, passes as large as ``images``."""
    start = time.perf_counter()
    with torch.inference_mode():
        for begin in range(0, number, len(images)):
            found = network.module(images[: number - begin])
        found.cpu()  # a GPU works on after it was told: this waits for it
    return time.perf_counter() - start


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
