"""Feeding a ViT-B/16 of 224 pixels from JPEGs of 500 x 375: images a second into a network that does nothing.

    python -m benchmarks.scale.feeding [--images 1024] [--workers 1,2] [--device cpu] [--write]

"Ours" is the way of frozen features: images decoded ahead by threads, out of a file of ``seqsearch pool build``, with timm's
evaluation transform. "Loader" is a torch ``DataLoader`` with as many worker processes over the same JPEGs as files, and
torchvision's transform as timm makes it. On a GPU, ours is `Network.overlapped`. On a CPU one worker is `Network.features`, and
more are the decoding threads that `Network.overlapped` has, alone: the rest of its work is a GPU's. Rounds of both alternate; the
median of each counts. Starting the loader's processes does not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_model_data_config
from torch.utils.data import DataLoader, Dataset

from benchmarks.common.results import write_result
from seqsearch.backbones.timm_model import TimmModel
from seqsearch.building.pool import Options, build_parquet
from seqsearch.features.extraction import PIECE, Network
from seqsearch.pools.base import Pool, row_offsets
from seqsearch.pools.open import build_pool

MODEL, BATCH, ROUNDS, WIDTH, HEIGHT = "vit_base_patch16_224", 64, 5, 500, 375


class Null(torch.nn.Module):
    """Takes images and computes nothing of them."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return images[:, :, 0, 0]


class NullModel(TimmModel):
    """A ViT-B/16 for those who feed it."""

    def module(self) -> torch.nn.Module:
        return Null()


class Files(Dataset[torch.Tensor]):
    """JPEG files through the transform of the model."""

    def __init__(self, paths: list[Path], transform: Any) -> None:
        self._paths, self._transform = paths, transform

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> torch.Tensor:
        with Image.open(self._paths[index]) as image:
            found: torch.Tensor = self._transform(image.convert("RGB"))
        return found


def photographs(root: Path, number: int) -> None:
    """Random crops of real photographs, 64 to a class."""
    from tests.photos import photographs

    pictures, rng = list(photographs().values()), np.random.default_rng(0)
    for i in range(number):
        picture = pictures[i % len(pictures)]
        x, y = rng.integers(picture.width - WIDTH + 1), rng.integers(picture.height - HEIGHT + 1)
        folder = root / f"class {i // 64:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        picture.crop((int(x), int(y), int(x) + WIDTH, int(y) + HEIGHT)).save(folder / f"{i:05d}.jpg", quality=90)


def ours(network: Network, pool: Pool, workers: int) -> float:
    """Images a second."""
    rows = np.arange(row_offsets(pool.classes)[-1])
    batches = [rows[low : low + BATCH] for low in range(0, len(rows), BATCH)]
    start = time.perf_counter()
    if network.device.type == "cuda":
        done = sum(map(len, network.overlapped(pool, batches, workers)))
    elif workers == 1:
        done = sum(map(len, network.features(pool, batches)))
    else:
        pieces = [rows[low : low + PIECE] for low in range(0, len(rows), PIECE)]
        with ThreadPoolExecutor(workers) as decoders:
            done = sum(map(len, decoders.map(lambda piece: pool.images(piece, network.backbone.view), pieces)))
    return done / (time.perf_counter() - start)


def loaders(loader: DataLoader[torch.Tensor], device: torch.device) -> float:
    """Images a second. The first batch is waited for, and does not count."""
    network, batches = Null(), iter(loader)
    next(batches)
    start, number = time.perf_counter(), 0
    for images in batches:
        network(images.to(device, non_blocking=True)).cpu()
        number += len(images)
    return number / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1024)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/scale_feeding.json")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = timm.create_model(MODEL, num_classes=0)
    transform = create_transform(**resolve_model_data_config(model), is_training=False)
    device, rows = torch.device(asked.device), []
    network = Network(NullModel(MODEL, model, "benchmark"), device)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "photos"
        photographs(root, asked.images)
        paths = sorted(root.rglob("*.jpg"))
        build_parquet([("photos", build_pool(str(root)))], Path(scratch) / "pool.parquet", Options(), 2)
        pool = build_pool(f"{scratch}/pool.parquet")
        for workers in map(int, asked.workers.split(",")):
            loader = DataLoader(Files(paths, transform), BATCH, num_workers=workers, pin_memory=device.type == "cuda")
            rates = [(ours(network, pool, workers), loaders(loader, device)) for _ in range(ROUNDS)]
            mine, theirs = (statistics.median(each) for each in zip(*rates, strict=True))
            rows.append({"workers": workers, "ours": mine, "loader": theirs, "ratio": mine / theirs})
            print(json.dumps(rows[-1]), flush=True)
    if asked.write:
        write_result("scale_feeding", {"device": asked.device, "images": asked.images, "rows": rows})


if __name__ == "__main__":
    main()
